"""A ferry that came to nothing is submitted once more, openly; what a second one of that kind means.

Rules: DESIGN "The run"; seed 002, "Treatment flakes". One more ferry for each gate of a run, whatever the
first one died of: a third would be a hunt for the answer that pleases.
"""

from __future__ import annotations

from msgspec.structs import replace

from bot.conversation import again
from bot.gating.draft import Draft
from bot.gating.model import Attempt, GateRun
from bot.gating.states import RunState
from bot.verdict.model import Branch, Finding, Judgement

MOST_ATTEMPTS = 2
# The rule of `bot.verdict` by which a treatment fails at once.
_MORE_OOM = "more_oom"


def wanted(draft: Draft, judgement: Judgement) -> str:
    """Why this gate's ferry is submitted again, as the rest of a sentence about the one before; empty: it is not."""
    gate = draft.run.gates[-1]
    attempt = gate.attempts[-1]
    # A closed pull request submits nothing new, and neither does a run that is being stopped.
    if len(gate.attempts) >= MOST_ATTEMPTS or not draft.pr.is_open or draft.run.stop_requested_by:
        return ""
    if judgement.verdict == "inconclusive":
        return again.was_inconclusive()
    if judgement.verdict == "not_comparable" and ended_badly(attempt):
        return again.ended_badly(attempt.ferry_state)
    return ""


def submit_again(draft: Draft, why: str) -> None:
    """A new attempt has a new name, so it can never be taken for the one before; its slot is waited for anew."""
    gate = draft.run.gates[-1]
    following = Attempt(number=gate.attempts[-1].number + 1, again_because=why)
    draft.change_gate(attempts=(*gate.attempts, following))
    # What was half said about one ferry says nothing about the next.
    draft.change(stop_asked_by="", retry_asked="")
    draft.reason = f"gate {gate.number} is submitted again: {why}"
    draft.enter(RunState.queued)
    draft.acquire_tier()
    draft.check_after(0)


def ended_badly(attempt: Attempt) -> bool:
    """Whether the ferry itself, not what was made of its report, came to no good end."""
    return bool(attempt.ferry_state) and attempt.ferry_state != "succeeded"


def with_earlier_attempts(gate: GateRun, judgement: Judgement) -> Judgement:
    """What a ferry that failed means beside the one before it: the same error of the application twice is a fail."""
    before, last = gate.attempts[-2:-1], gate.attempt
    if judgement.verdict != "not_comparable" or not before or last is None:
        return judgement
    first = before[0]
    both = ended_badly(first) and ended_badly(last) and first.cause is not None and last.cause is not None
    if not both or first.cause is None or last.cause is None or not last.cause.same_as(first.cause):
        return judgement
    said = again.same_error_twice(last.cause.error)
    branch = Branch("same_error_twice", "fail", (Finding("status", said),))
    return replace(
        judgement,
        verdict="fail",
        reasons=(said,),
        hard_fails=(said, *judgement.hard_fails),
        tree=(branch, *judgement.tree),
    )


def on_another_cluster(cluster: str, judgement: Judgement) -> Judgement:
    """Other machines did the work: the numbers are shown, and no verdict is drawn from them. That more ran out of
    memory is no number of that kind: the memory a worker is given is the same on every machine (DESIGN "The run")."""
    said = again.on_another_cluster(cluster)
    branch = Branch("another_cluster", "not_comparable", (Finding("cluster", said),))
    if judgement.tree and judgement.tree[0].rule == _MORE_OOM:
        return replace(judgement, tree=(judgement.tree[0], branch, *judgement.tree[1:]))
    return replace(judgement, verdict="not_comparable", reasons=(said,), tree=(branch, *judgement.tree))
