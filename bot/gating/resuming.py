"""A run that takes up where an ended one of the same head left off: `retry` at its last gate, `continue` above it.

The reviewer's word was for this commit and this ceiling, so it is not asked for again; the configuration is read anew,
since it may be what was mended. Ends stay final: this is a new run, with new names on the cluster.
"""

from __future__ import annotations

from msgspec.structs import replace

from bot.assessment.model import Assessment
from bot.gating import ceiling
from bot.gating.draft import Draft
from bot.gating.model import GateRun, Resumption, Run
from bot.gating.states import RunState
from bot.gating.words import Exclusion

# An end after which there is something to take up. A run that passed has nothing to repeat: it is asked about anew.
_RESUMABLE = frozenset(
    {RunState.failed, RunState.warned, RunState.inconclusive, RunState.stuck, RunState.stopped, RunState.halted}
)


def resumable(run: Run, head_sha: str) -> bool:
    """Whether the answer that was given for this run still holds for what would be run."""
    answered = run.max_gate is not None and run.max_gate != "skip" and run.assessment is not None
    return answered and run.state in _RESUMABLE and run.head_sha == head_sha


def resume(draft: Draft, actor: str, *, above: bool = False, cluster: str = "") -> None:
    """Begin the new run, at the gate where the ended one stopped, or `above` it."""
    before = draft.run
    at = before.gates[-1].number if before.gates else 0
    kept = before.gates[:-1]
    if above:
        kept = (*kept, replace(before.gates[-1], continued_by=actor))
        at = next(plan.number for plan in before.plan if plan.number > at)
    draft.begin_run(actor)
    draft.change(
        resumes=Resumption(
            run_id=before.id,
            head_sha=before.head_sha,
            gate=at,
            gates=kept,
            max_gate=before.max_gate,
            approved_by=before.approved_by,
            override=before.override,
            exclusions=_below(before.exclusions, at),
            advice=_advice(before.assessment, before.base_ref),
        ),
        cluster=cluster,
    )


def takes_up(draft: Draft) -> bool:
    """Whether the word given to the run before covers this one: the same commit, read the same way, its gate there."""
    run, resumes = draft.run, draft.run.resumes
    if resumes is None:
        return False
    known = {plan.number for plan in run.plan}
    same = run.head_sha == resumes.head_sha and _advice(run.assessment, run.base_ref) == resumes.advice
    # Of a ladder that has grown since, the author's word may leave gates out that it did not leave out then.
    its_author = resumes.approved_by.lower() == draft.author.lower()
    less = its_author and resumes.max_gate is not None and ceiling.weakens(run, resumes.max_gate, draft.author)
    return same and not less and (resumes.gate in known or not resumes.gate)


def take_up(draft: Draft) -> None:
    """The run is as the one before was when its gate began."""
    resumes = draft.run.resumes
    assert resumes is not None, "asked only where `takes_up` says so"  # noqa: S101
    draft.change(
        max_gate=resumes.max_gate,
        approved_by=resumes.approved_by,
        override=resumes.override,
        exclusions=resumes.exclusions,
    )


def first_gate(run: Run) -> tuple[tuple[GateRun, ...], int]:
    """(gates that were climbed before, the gate to begin with)."""
    resumes = run.resumes
    known = {plan.number for plan in run.plan}
    if resumes is None or not resumes.gate:
        return (), run.plan[0].number
    return tuple(gate for gate in resumes.gates if gate.number in known), resumes.gate


def _below(exclusions: tuple[Exclusion, ...], gate: int) -> tuple[Exclusion, ...]:
    """What was left out of the gates that are kept; the gates to come count every stage again."""
    kept = [one for one in exclusions if one.since_gate < gate]
    return tuple(one if one.until_gate is not None else replace(one, until_gate=gate) for one in kept if gate > 1)


def _advice(assessment: Assessment | None, base_ref: str) -> str:
    """What the assessment came to, and against what, as far as an answer depended on it."""
    return f"{assessment.max_gate} {assessment.in_scope} {base_ref}" if assessment else ""
