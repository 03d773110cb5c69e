"""A ferry on its way, as the comment tells it: how far, until when, what is wrong and what was, who comes before it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bot.comment.markdown import block, bullets, code
from bot.comment.sentences import moment, sentence
from bot.gating.babysitting import waits_long
from bot.gating.climb import TOLD_LAUNCHES
from bot.gating.model import Attempt, GateRun
from bot.watching.health import NOTABLE_WAIT
from bot.watching.look import Machine
from bot.watching.queue import Ahead
from bot.watching.vitals import Health, Trouble, TroubleKind
from bot.watching.wording import counted, span

TITLES: Mapping[TroubleKind, str] = {
    TroubleKind.stalled: "stalled",
    TroubleKind.zombie: "a zombie coordinator",
    TroubleKind.workers_failing: "workers fail again and again with one error",
    TroubleKind.resource_exhausted: "the cluster has no resources left",
    TroubleKind.overdue: "past twice its tier's wall-time",
    TroubleKind.slow_stage: "a stage is slower than its gate allows",
}
# Seed 000's way out of each: what a person may do, since the bot does nothing by itself.
_ADVICE: Mapping[TroubleKind, str] = {
    TroubleKind.stalled: "It may recover and is watched on; nothing is stopped unasked, `@perf-gate stop` stops it.",
    TroubleKind.zombie: "The ferry's own step runner may try again; else only `@perf-gate stop` ends it.",
    TroubleKind.workers_failing: "Iris tries them again; `@perf-gate stop` ends the ferry if the code is at fault.",
    TroubleKind.resource_exhausted: "This is no perf signal: the ferry goes on when there is room again.",
    TroubleKind.overdue: "Nothing is stopped by itself: `@perf-gate stop` ends it.",
    TroubleKind.slow_stage: "",
}
_LONGEST_LOG = 3000


def progress_line(attempt: Attempt) -> str:
    """How far, and until when; empty where nobody knows."""
    seen = attempt.outlook
    if seen is None or attempt.ended_at is not None:
        return ""
    day = seen.end.date() == seen.earliest.date() == seen.latest.date()
    told = _clock if day else moment
    between = f"{told(seen.earliest)} to {told(seen.latest)}"
    share = f"about {seen.percent} % by the baseline's stage times"
    return f"**Progress:** {share}; expected end {moment(seen.end)} ({between})"


def launches_line(attempt: Attempt) -> str:
    """That Iris does not take the ferry; empty while it may be chance."""
    if attempt.job_id or attempt.launches < TOLD_LAUNCHES:
        return ""
    return (
        f"**Submitting:** Iris has not taken the ferry in {attempt.launches} tries; the last: "
        f"{sentence(attempt.launch_error, 300)}. It is tried again for about two hours."
    )


def as_seen(attempt: Attempt) -> str:
    """When all this was true; the comment is not written anew at every look."""
    looked = attempt.vitals.looked_at
    return f", as seen at {_clock(looked)} UTC" if looked and attempt.ended_at is None else ""


def trouble_lines(attempt: Attempt) -> list[str]:
    """One line each for the top of the comment; a short comment of its own calls the reviewer for the first."""
    return [f"**Trouble:** ⚠ {_title(one)}, since {moment(one.since)}" for one in attempt.vitals.current]


def trouble_sections(attempt: Attempt) -> list[str]:
    """The evidence of what is wrong now, and of what was wrong before."""
    return [*(_evidence(one) for one in attempt.vitals.current), trouble_before(attempt)]


def trouble_before(attempt: Attempt) -> str:
    """Trouble that is over; empty where there was none."""
    over = [one for one in attempt.vitals.troubles if one.until is not None]
    if not over:
        return ""
    told = [f"{_title(one)}, {moment(one.since)} to {moment(one.until or one.since)}" for one in over]
    return "Trouble on the way that is over:\n\n" + bullets(told)


def _title(trouble: Trouble) -> str:
    return TITLES[trouble.kind] + (f" ({code(trouble.what, 60)})" if trouble.what else "")


def _evidence(trouble: Trouble) -> str:
    parts = [" ".join(sentence(one, 600) for one in trouble.evidence)]
    if advice := _ADVICE[trouble.kind]:
        parts[0] = f"{parts[0]} {advice}"
    if trouble.log:
        parts.append(block("\n".join(trouble.log)[-_LONGEST_LOG:]))
    return "\n\n".join(parts)


def health_line(attempt: Attempt, now: datetime) -> str:
    """What is neither progress nor trouble: a queue, a slow tail, a silent controller."""
    vitals, since = attempt.vitals, attempt.vitals.since
    if vitals.health is Health.queued:
        wait = f"Waiting for capacity since {moment(since)}" if since else "Waiting for capacity"
        if waits_long(vitals, vitals.looked_at or now):
            wait += f", for more than {span(NOTABLE_WAIT)}; that is no perf signal and is not counted"
        return f"{wait}. {_told(vitals.evidence)}".rstrip()
    if vitals.health in (Health.starting, Health.straggling, Health.unreachable):
        return _told(vitals.evidence)
    if attempt.pending_reason and not vitals.current:
        return f"Iris says why it waits: {sentence(attempt.pending_reason, 300)}"
    return ""


def _told(evidence: tuple[str, ...]) -> str:
    return " ".join(f"{sentence(one, 600).rstrip('.')}." for one in evidence)


def stale_line(attempt: Attempt) -> str:
    if not attempt.stale:
        return ""
    names = ", ".join(code(name) for name in attempt.stale[:5])
    return f"Left over from earlier attempts, running without workers and not counted: {names}."


def machines_line(gate: GateRun, attempt: Attempt) -> str:
    """What the workers of both sides ran on; a cluster forgets machines that are gone, and then it is unknown.

    Empty where nothing is known of either.
    """
    treatment = "; ".join(_machine(one) for one in attempt.machines)
    baseline = "; ".join(_machine(one) for one in gate.baseline.machines) if gate.baseline else ""
    if not (treatment or baseline):
        return ""
    return f"Workers: treatment {treatment or 'unknown'}, baseline {baseline or 'unknown'}."


def _machine(machine: Machine) -> str:
    zone = machine.zone or machine.region
    kind = code(machine.kind, 80) if machine.kind else "of unknown type"
    return f"{kind} in {code(zone, 60) if zone else 'an unknown zone'}"


def queue_line(attempt: Attempt) -> str:
    """Place in the tier's queue and the expected start; empty before anybody looked."""
    queue = attempt.queue
    if queue is None or not queue.ahead:
        return ""
    first, others = queue.ahead[0], len(queue.ahead) - 1
    place = "next" if not others else f"number {queue.position}"
    behind = f", then {counted(others, 'ferry that waits', 'ferries that wait')}" if others else ""
    starts = f"expected start {moment(queue.starts_at)}" if queue.starts_at else "when this one starts is not known"
    return f"**Queue:** {place} in line. {_holder(first)}{behind}; {starts}"


def _holder(first: Ahead) -> str:
    whose = f"The ferry of {code(f'#{first.number}')}" if first.number else "A ferry of another repository"
    since = f" runs since {moment(first.submitted_at)}" if first.submitted_at else " comes first"
    until = f", expected until {_clock(first.end)} UTC" if first.end else ""
    return f"{whose}{since}{until}"


def _clock(when: datetime) -> str:
    return when.strftime("%H:%M")
