"""The comment of a run that ended without a verdict: halted, waived, out of scope, stopped, stuck."""

from __future__ import annotations

from datetime import datetime

from bot.comment.attempts import cause_section, earlier_attempts, parity_section
from bot.comment.ferry import trouble_before
from bot.comment.limits import Section
from bot.comment.markdown import block, code
from bot.comment.sentences import baseline_line, commit_line, gate_title, head_moved, sentence, sha
from bot.comment.verdict import assessment_section, earlier_gate, raw_report, thresholds_of
from bot.gating.model import Run
from bot.gating.states import RunState
from bot.gating.tested import BaseChecks


def end_comment(run: Run, now: datetime) -> list[Section]:
    if run.state is RunState.waived:
        return [Section(_waived(run))]
    if run.state is RunState.halted:
        return _halted(run)
    if run.state is RunState.out_of_scope:
        return _out_of_scope(run)
    if run.state is RunState.stopped:
        return _stopped(run, now)
    return _stuck(run, now)


def _waived(run: Run) -> str:
    """Sentinel plus one line (seed 002, step 1a)."""
    why = f": {sentence(run.reason, 400)}" if run.reason else ""
    return f"🤖 Zephyr perf gate — waived by {code(run.approved_by)} for {sha(run.head_sha)}{why}"


def _halted(run: Run) -> list[Section]:
    """Seed 002's halt comment, and below it the command and what it printed last."""
    lines = [
        "🤖 ## Zephyr perf gate — halted (local tests failed)",
        f"Treatment worktree ({code(run.head_sha)}) failed lint / pyrefly / zephyr tests.",
        "Ferries were not submitted.",
        "Fix the failing tests and the gate will re-run.",
    ]
    failed = run.failed_command
    shown = f"{code(run.asked_by)}: the commit has to be mended first."
    if failed is not None:
        how = "failed" if failed.exit_code is None else f"ended with exit code {failed.exit_code}"
        shown = f"{code(run.asked_by)}: {code(failed.command)} {how}"
        shown += f"; it printed last:\n\n{block(failed.tail[-4000:])}" if failed.tail else "."
        shown += f"\n\n{_merge_base(failed.base, run)}"
    return [Section("\n".join(lines)), Section(head_moved(run)), Section(shown), Section(assessment_section(run))]


def _merge_base(base: BaseChecks | None, run: Run) -> str:
    """Whether the tests may have failed before: then the pull request is not to blame."""
    if base is None:
        merge_base = f"the merge base {sha(run.merge_base)}" if run.merge_base else "the merge base"
        return f"Whether the checks of {merge_base} are red could not be read."
    if not base.ended:
        return f"No check has ended for the merge base {sha(base.sha)}: whether it fails too is not known."
    if not base.red:
        return f"The merge base {sha(base.sha)} is green: {_of_checks(base.ended)}, none red."
    names = ", ".join(code(name) for name in base.red[:10]) + (" …" if len(base.red) > 10 else "")
    return (
        f"**The merge base {sha(base.sha)} is red itself** ({len(base.red)} of {_of_checks(base.ended)}: {names}), "
        "so this may not be the pull request's doing."
    )


def _of_checks(count: int) -> str:
    return f"{count} check" if count == 1 else f"{count} checks"


def _stopped(run: Run, now: datetime) -> list[Section]:
    """A gate that came to a verdict before keeps it; a ferry that was out is named, so that it can be found."""
    judged = [earlier_gate(run, gate, thresholds_of(run), now) for gate in run.gates if gate.judgement is not None]
    top = _top(run, "stopped", "nothing more happens; `@perf-gate retry` starts a new run.")
    return [Section(top), Section(head_moved(run)), Section(_ferry(run)), Section(assessment_section(run)), *judged]


def _out_of_scope(run: Run) -> list[Section]:
    top = _top(run, "out of scope", "to run it nevertheless, a reviewer says `@perf-gate go max_gate=1` (or 2, 3).")
    paths = list(run.assessment.out_of_scope.items()) if run.assessment else []
    rows = "\n".join(f"- {code(path)}: {sentence(reason, 200)}" for path, reason in paths[:20])
    more = f"\n- … and {len(paths) - 20} more" if len(paths) > 20 else ""
    return [Section(top), Section(rows + more)]


def _stuck(run: Run, now: datetime) -> list[Section]:
    gate = run.gate
    top = _top(run, "stuck: no verdict", f"{code(run.asked_by)}, `@perf-gate retry` tries again once it is mended.")
    if gate is not None and gate.baseline is not None:
        top += f"\n{baseline_line(gate.baseline, now)}"
    attempt = run.attempt
    earlier = [earlier_gate(run, before, thresholds_of(run), now) for before in run.gates[:-1]]
    attempts = earlier_attempts(gate, thresholds_of(run)) if gate is not None else Section("")
    raw = raw_report(attempt) if attempt is not None else Section("")
    return [
        Section(top),
        Section(head_moved(run)),
        Section(_cut_short(run)),
        Section(_ferry(run)),
        attempts,
        Section(parity_section(gate) if gate is not None else ""),
        Section(assessment_section(run)),
        *earlier,
        raw,
    ]


def _cut_short(run: Run) -> str:
    """What the preflight's command had printed when it was ended for its time."""
    if run.failed_command is None or not run.failed_command.tail:
        return ""
    return f"{code(run.failed_command.command)} had printed last:\n\n{block(run.failed_command.tail[-4000:])}"


def _ferry(run: Run) -> str:
    attempt = run.attempt
    if attempt is None or not attempt.job_id:
        return ""
    ferry = f"Iris job {code(attempt.job_id)}: {sentence(attempt.ferry_state or 'submitted', 60)}"
    parts = [ferry, cause_section(attempt), trouble_before(attempt)]
    return "\n\n".join(part for part in parts if part)


def _top(run: Run, what: str, following: str) -> str:
    gate = f", at {gate_title(run.plan_of(run.gate.number))}" if run.gate else ""
    lines = [f"🤖 ## Zephyr perf gate — {what}{gate}"]
    if run.reason:
        # A configuration has an error a line.
        lines.append(f"**Why:** {sentence('; '.join(run.reason.splitlines()))}")
    lines += [f"**Next:** {following}", commit_line(run)]
    return "\n".join(line for line in lines if line)
