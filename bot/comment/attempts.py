"""What a gate's ferries came to: why one ended badly, which came before it and why there is another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.comment.limits import Section
from bot.comment.markdown import block, bullets, code, details, text, title
from bot.comment.sentences import sentence
from bot.comment.tables import HEADLINES, stage_timings
from bot.config.schema import Thresholds
from bot.gating.model import Attempt, GateRun, Run
from bot.verdict.model import Judgement
from bot.watching.cause import Cause, CauseKind

_KINDS: Mapping[CauseKind, str] = {
    "oom": "out of memory",
    "application": "an error of the application",
    "preempted": "preempted machines",
    "hardware": "a lost machine or a fault of its hardware",
    "unschedulable": "no machine could be had",
    "killed": "stopped from outside; Iris does not say by whom",
    "unknown": "not known",
}
_LONGEST = 2000


def again_line(attempt: Attempt) -> str:
    """That this is not the first ferry of its gate, at the top: a re-submission is never silent."""
    if not attempt.again_because:
        return ""
    return f"**Attempt {attempt.number}:** submitted once more, since the one before {sentence(attempt.again_because)}."


def cause_section(attempt: Attempt) -> str:
    """How the ferry ended where it did not end well, with the cause from its tasks; also of workers lost on the way."""
    ended = f"The treatment ferry ended {text(attempt.ferry_state or 'badly')}" if attempt.error else ""
    cause = attempt.cause
    if cause is None:
        return f"{ended}; Iris says:\n\n{block(attempt.error[:_LONGEST])}" if ended else ""
    return f"{ended}. {_cause(cause)}" if ended else _cause(cause)


def _cause(cause: Cause) -> str:
    where = f" in {code(cause.task, 200)}" if cause.task else ""
    exit_code = f", exit code {cause.exit_code}" if cause.exit_code else ""
    parts = [f"**Cause:** {_KINDS[cause.kind]}{where}{exit_code}."]
    if cause.error:
        parts[0] += " Iris says:"
        parts.append(block(cause.error[:_LONGEST]))
    if cause.log:
        parts += ["Its log:", block("\n".join(cause.log)[-_LONGEST:])]
    return "\n\n".join(parts)


def earlier_attempts(gate: GateRun, thresholds: Thresholds) -> Section:
    """The ferries before the last one, folded: nothing that was measured is dropped."""
    before = gate.attempts[:-1]
    if not before:
        return Section("")
    shown = [_attempt(gate.number, one, thresholds) for one in before]
    short = bullets([f"attempt {one.number}, {code(one.job_id)}: {_came_to(one)}" for one in before])
    return Section("\n\n".join(shown), cut=f"Earlier attempts:\n\n{short}")


def _attempt(number: int, attempt: Attempt, thresholds: Thresholds) -> str:
    parts = [f"Iris job {code(attempt.job_id)}"]
    judgement = attempt.judgement
    if judgement is not None and judgement.verdict != "not_comparable":
        parts.append(bullets([sentence(reason, 400) for reason in judgement.reasons[:6]]))
        parts.append(stage_timings(judgement, thresholds))
    parts.append(cause_section(attempt))
    return details(f"Attempt {attempt.number} of gate {number}: {_came_to(attempt)}", "\n\n".join(filter(None, parts)))


def _came_to(attempt: Attempt) -> str:
    judgement: Judgement | None = attempt.judgement
    if judgement is not None and judgement.verdict != "not_comparable":
        return HEADLINES[judgement.verdict]
    return f"ended {title(attempt.ferry_state or 'without a word', 60)}"


def climbed_over(run: Run) -> str:
    """Gates below the last one that did not pass: a later pass does not undo them."""
    said = [
        f"{HEADLINES[gate.judgement.verdict]} at gate {gate.number}"
        + (f", and {code(gate.continued_by)} let it climb on" if gate.continued_by else "")
        for gate in run.gates[:-1]
        if gate.judgement is not None and gate.judgement.verdict != "pass"
    ]
    return f"**Before:** {'; '.join(said)}" if said else ""


def parity_section(gate: GateRun) -> str:
    """Differences in how the two sides were launched that were let pass, and what could not be compared."""
    parity = gate.parity
    if parity is None or not (parity.differences or parity.unverified):
        return ""
    parts = []
    if parity.stopping:
        differing = bullets(_told(map(str, parity.stopping)))
        parts.append(f"⚠ The treatment's launch is not the baseline's:\n\n{differing}")
    if parity.by_hand:
        # It launched nothing of this pair.
        parts.append(details("Launched by hand a treatment would differ", bullets(_told(map(str, parity.by_hand)))))
    if parity.unverified:
        folded = bullets(_told(parity.unverified))
        parts.append(details("Of the baseline's launch not verified", folded))
    return "\n\n".join(parts)


def _told(sentences: Iterable[str]) -> list[str]:
    return [sentence(one, 400) for one in sentences]
