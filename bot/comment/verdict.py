"""The comment of a gate that came to a verdict: seed 002's shape, its tables' columns and cells."""

from __future__ import annotations

from datetime import datetime

from bot.comment.attempts import again_line, cause_section, climbed_over, earlier_attempts, parity_section
from bot.comment.corrections import corrections
from bot.comment.exclusions import exclusions, former_verdicts
from bot.comment.ferry import machines_line, trouble_before
from bot.comment.limits import Section
from bot.comment.markdown import block, code, details, title
from bot.comment.noise import chart, disagreement, noise_section
from bot.comment.numbers import about
from bot.comment.sentences import (
    baseline_line,
    commit_line,
    gate_title,
    head_moved,
    own_limits,
    sentence,
    stale_warning,
)
from bot.comment.tables import (
    HEADLINES,
    assessment_table,
    infra,
    problem_lines,
    remarks,
    run_summary,
    stage_timings,
)
from bot.config.schema import RepositoryConfig, Thresholds
from bot.gating.model import Attempt, GateRun, Run
from bot.gating.states import RunState
from bot.verdict.model import Judgement
from bot.verdict.report import PerfReport, parse_report
from bot.watching.health import NOTABLE_WAIT


def verdict_comment(run: Run, gate: GateRun, attempt: Attempt, judgement: Judgement, now: datetime) -> list[Section]:
    """Everything about the deciding gate; `judgement` is its attempt's."""
    plan, thresholds = run.plan_of(gate.number), thresholds_of(run)
    lines = [f"🤖 ## Zephyr perf gate — {gate_title(plan)}", f"**Verdict:** {HEADLINES[judgement.verdict]}"]
    lines += [climbed_over(run), f"**Next:** {code(run.asked_by)}: {_next(run, judgement)}"]
    lines += [again_line(attempt), former_verdicts(gate)]
    if gate.baseline is not None:
        lines += [baseline_line(gate.baseline, now), *problem_lines(judgement), disagreement(judgement)]
        lines.append(stale_warning(gate.baseline, plan, now))
    lines.append(commit_line(run))
    return [
        Section("\n".join(line for line in lines if line)),
        Section(head_moved(run)),
        Section(cause_section(attempt)),
        Section(trouble_before(attempt)),
        Section(assessment_section(run)),
        *(Section(part) for part in _tables(gate, attempt, judgement, thresholds)),
        earlier_attempts(gate, thresholds),
        Section(own_limits(thresholds)),
        *(earlier_gate(run, earlier, thresholds, now) for earlier in run.gates[:-1]),
        raw_report(attempt),
    ]


def thresholds_of(run: Run) -> Thresholds:
    return RepositoryConfig.model_validate_json(run.config).thresholds


def assessment_section(run: Run) -> str:
    """Seed 002's "Diff assessment": the table, the rationale, and who changed the proposal."""
    assessment = run.assessment
    if assessment is None:
        return ""
    parts = ["### Diff assessment", assessment_table(assessment)]
    rationale = f"Rationale: {sentence(assessment.rationale, 600)}"
    for line in corrections(run):
        rationale += f" · {sentence(line, 600)}"
    if run.override:
        rationale += f" · {sentence(run.override, 600)}"
    if run.exclusions:
        rationale += f" · {exclusions(run)}"
    parts.append(rationale)
    flagged = ", ".join(code(path) for path in list(assessment.flagged)[:10])
    parts.append(f"Flagged, not gated: {flagged}" if flagged else "")
    return "\n\n".join(part for part in parts if part)


def _next(run: Run, judgement: Judgement) -> str:
    if run.state is RunState.awaiting_escalation:
        return "`@perf-gate continue` climbs to the next gate; otherwise the warning stands after 7 days."
    if run.reason and run.state is RunState.warned and judgement.verdict == "pass":
        return f"a reviewer decides: {sentence(run.reason, 300)}."
    if run.reason and judgement.verdict in ("pass", "warn"):
        stands = "nothing to do" if judgement.verdict == "pass" else "the warning stands"
        return f"{stands}: {sentence(run.reason, 300)}."
    if judgement.policy == "table" and judgement.other_verdict == "pass" and judgement.verdict in ("warn", "fail"):
        return (
            "a reviewer decides: the table objects, the tier's own noise does not; `@perf-gate retry` measures again."
        )
    if judgement.verdict == "pass" and judgement.other_verdict in ("warn", "fail"):
        return "nothing has to be done; a look at what the other reading found is worth it."
    if run.cluster and judgement.verdict == "not_comparable":
        return "a reviewer reads the numbers; `@perf-gate retry` measures again on the usual cluster."
    if judgement.verdict == "pass":
        return "nothing to do; the gates that were asked for have passed."
    if judgement.verdict == "warn":
        return "a reviewer decides; `@perf-gate retry` measures again."
    if judgement.verdict == "inconclusive" and judgement.other_verdict in ("warn", "fail"):
        return "`@perf-gate retry` measures again; by the tier's own noise this is more than chance."
    above = _gate_above(run)
    if judgement.verdict == "inconclusive" and above:
        return f"`@perf-gate retry` measures again, `@perf-gate continue` climbs on to gate {above} all the same."
    if judgement.verdict == "inconclusive":
        return "`@perf-gate retry` measures again; this says nothing about the code."
    if judgement.verdict == "fail":
        return "the author decides; after a fix, push and say `@perf-gate`."
    return "`@perf-gate retry` measures again, once the cause is mended."


def _gate_above(run: Run) -> int | None:
    """The next gate of what was asked for, while `continue` can still mean it."""
    if run.gate is None or run.max_gate in (None, "skip"):
        return None
    ceiling = int(str(run.max_gate))
    return next((plan.number for plan in run.plan if run.gate.number < plan.number <= ceiling), None)


def _tables(gate: GateRun, attempt: Attempt, judgement: Judgement, thresholds: Thresholds) -> list[str]:
    before, after = _report(gate.baseline.report if gate.baseline else ""), _report(attempt.report)
    return [
        run_summary(judgement, before, after, thresholds),
        stage_timings(judgement, thresholds),
        infra(before, after),
        machines_line(gate, attempt),
        parity_section(gate),
        remarks(judgement),
        noise_section(judgement, before, after, thresholds),
        chart(gate.history, judgement.total, gate.number),
        _queue_wait(attempt),
    ]


def _report(stored: str) -> PerfReport | None:
    parsed = parse_report(stored) if stored else None
    return parsed if isinstance(parsed, PerfReport) else None


def _queue_wait(attempt: Attempt) -> str:
    if attempt.submitted_at is None or attempt.started_at is None:
        return ""
    waited = attempt.started_at - attempt.submitted_at
    if waited <= NOTABLE_WAIT:
        return ""
    return f"The ferry waited {about(waited)} for capacity before it ran; that is no perf signal and is not counted."


def earlier_gate(run: Run, gate: GateRun, thresholds: Thresholds, now: datetime) -> Section:
    """A gate climbed before, folded: its verdict in the summary, its tables inside."""
    attempt, judgement = gate.attempt, gate.judgement
    if attempt is None or judgement is None:
        return Section("")
    plan, verdict = run.plan_of(gate.number), HEADLINES[judgement.verdict]
    compared_with = [baseline_line(gate.baseline, now)] if gate.baseline is not None else []
    parts = [
        "\n".join(line for line in [former_verdicts(gate), *compared_with, *problem_lines(judgement)] if line),
        *_tables(gate, attempt, judgement, thresholds),
        earlier_attempts(gate, thresholds).body,
    ]
    body = "\n\n".join(part for part in parts if part)
    folded = details(f"Gate {plan.number} ({title(plan.name, 60)}): {verdict}", body)
    return Section(folded, cut=f"{gate_title(plan)}: {verdict} (its tables were cut for length)")


def raw_report(attempt: Attempt) -> Section:
    if not attempt.report:
        return Section("")
    folded = details("Raw treatment report", block(attempt.report, "json"))
    return Section(folded, cut="The raw treatment report is too long for a comment and was cut.")
