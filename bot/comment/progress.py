"""The comment while a run is on its way: where it is, since when, and what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.comment.attempts import again_line, climbed_over, earlier_attempts
from bot.comment.exclusions import exclusions
from bot.comment.ferry import (
    as_seen,
    health_line,
    launches_line,
    machines_line,
    progress_line,
    queue_line,
    stale_line,
    trouble_lines,
    trouble_sections,
)
from bot.comment.limits import Section
from bot.comment.markdown import code, table, text
from bot.comment.numbers import NOTHING, duration
from bot.comment.preflight import what_is_run
from bot.comment.sentences import baseline_line, commit_line, gate_title, head_moved, moment, stale_warning
from bot.comment.verdict import assessment_section, earlier_gate, thresholds_of
from bot.gating.ceiling import proposal_weakens
from bot.gating.granting import permissions_of, role_to_waive
from bot.gating.model import Attempt, GateRun, Run
from bot.gating.states import JUDGING, RunState
from bot.verdict.report import BadReport, parse_report

_DOING: Mapping[RunState, str] = {
    RunState.assessing: "reading the diff",
    RunState.awaiting_reviewer: "waiting for an answer to the question below",
    RunState.preparing: "checking out the commit",
    RunState.locating_baseline: "looking for the scheduled baseline",
    RunState.queued: "waiting for the tier's slot: one ferry of a tier at a time",
    RunState.submitting: "submitting the ferry to Iris",
    RunState.ferrying: "watching the ferry",
    RunState.collecting: "collecting the ferry's perf report",
    RunState.comparing: "comparing the two reports",
    RunState.awaiting_escalation: "waiting for `@perf-gate continue` after a warning",
}
_STAGE = {"waiting": "waiting", "running": "running", "done": "done", "failed": "failed"}


def progress_comment(run: Run, author: str, now: datetime) -> list[Section]:
    gate = run.gate
    title = f" — {gate_title(run.plan_of(gate.number))}" if gate else ""
    lines = [
        f"🤖 ## Zephyr perf gate{title}",
        f"**Status:** {_doing(run)}, since {moment(run.since)}",
        f"**Next:** {_next(run, author)}",
    ]
    attempt = gate.attempt if gate else None
    if gate is not None and attempt is not None:
        lines.append(again_line(attempt))
        lines.append(launches_line(attempt))
        lines += trouble_lines(attempt)
        lines.append(queue_line(attempt) if run.state is RunState.queued else progress_line(attempt))
    lines.append(climbed_over(run))
    lines.append(commit_line(run))
    if gate is not None and gate.baseline is not None:
        lines.append(baseline_line(gate.baseline, now))
        lines.append(stale_warning(gate.baseline, run.plan_of(gate.number), now))
    asked = run.state is not RunState.awaiting_reviewer
    return [
        Section("\n".join(line for line in lines if line)),
        Section(head_moved(run)),
        *(Section(part) for part in (trouble_sections(attempt) if attempt else ())),
        Section(_stages(gate, now)),
        earlier_attempts(gate, thresholds_of(run)) if gate else Section(""),
        # While it asks, the assessment stands in the question.
        Section(assessment_section(run) if asked and run.assessment else _exclusions(run)),
        *(earlier_gate(run, earlier, thresholds_of(run), now) for earlier in run.gates[:-1]),
    ]


def _doing(run: Run) -> str:
    return what_is_run(run) if run.state is RunState.testing else _DOING[run.state]


def _exclusions(run: Run) -> str:
    return f"Not counted: {exclusions(run)}" if run.exclusions else ""


def _next(run: Run, author: str) -> str:
    if run.state is RunState.assessing:
        return "a question, or the reason why there is none."
    if run.state is RunState.awaiting_reviewer:
        return _who_answers(run, author)
    # Until Iris is known to have it there may be nothing that could be stopped.
    submitting = run.state is RunState.submitting
    if run.retry_requested_by:
        again = f"{code(run.retry_requested_by)} asked"
        if submitting:
            return f"what Iris has of this ferry is stopped, and then the gate is submitted again, as {again}."
        return f"the ferry is being stopped, and the gate is submitted again when it is gone, as {again}."
    if run.stop_requested_by and run.state in JUDGING:
        return f"the ferry has ended: its verdict, and then nothing more, as {code(run.stop_requested_by)} asked."
    if run.stop_requested_by and submitting:
        by = code(run.stop_requested_by)
        return f"nothing more is submitted, and what Iris has of this ferry is stopped, as {by} asked."
    if run.stop_requested_by:
        return f"the ferry is being stopped, as {code(run.stop_requested_by)} asked."
    if run.state is RunState.ferrying:
        return "the verdict, here, when the ferry has ended."
    return "this comment is kept up to date; the verdict will stand here."


def _who_answers(run: Run, author: str) -> str:
    """The question itself calls whoever asked; one call is enough."""
    permissions = permissions_of(run)
    if proposal_weakens(run, author):
        role = role_to_waive(run, run.proposed)
        return f"a person other than the author, with {role} access, answers `@perf-gate go`."
    # Who asked need not be one who may answer.
    asker = f"{code(run.asked_by)} or another" if permissions.go == permissions.ask else "a"
    return f"{asker} person with {permissions.go} access answers `@perf-gate go`."


def _stages(gate: GateRun | None, now: datetime) -> str:
    attempt = gate.attempt if gate else None
    if gate is None or attempt is None or not attempt.job_id:
        return ""
    parts = [f"Iris job {code(attempt.job_id)}: {text(attempt.ferry_state or 'submitted')}{as_seen(attempt)}"]
    parts += [line for line in (health_line(attempt, now), stale_line(attempt)) if line]
    if attempt.progress:
        before = _baseline_stages(gate)
        rows = [
            [text(stage.name, 60), before.get(stage.name, NOTHING), _so_far(stage.seconds), _state(attempt, index)]
            for index, stage in enumerate(attempt.progress)
        ]
        if attempt.machines:
            parts.append(machines_line(gate, attempt))
        parts.append(table(["Stage", "Baseline", "So far", "State"], rows, budget=8_000, more="stages"))
    return "\n\n".join(parts)


def _so_far(seconds: float) -> str:
    return duration(seconds) if seconds else NOTHING


def _state(attempt: Attempt, index: int) -> str:
    stage = attempt.progress[index]
    shards = f", {stage.shards_done}/{stage.shards_total} shards" if stage.shards_total else ""
    return f"{_STAGE[stage.state]}{shards}"


def _baseline_stages(gate: GateRun) -> dict[str, str]:
    if gate.baseline is None:
        return {}
    report = parse_report(gate.baseline.report)
    # What was pinned was parsed before; a report that no longer parses is told by the verdict, not here.
    return {} if isinstance(report, BadReport) else {n: duration(s) for n, s in report.stage_wall_seconds.items()}
