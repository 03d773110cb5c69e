"""The ceiling that an author may not go under: the highest that the diff, or another person, asked for.

A pull request's own author may raise it and take that back, but what somebody else named, and what a run of the same
commit was let climb to, is only lowered by somebody else (DESIGN "Trust").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from bot.assessment.model import Assessment
from bot.gating.model import Run
from bot.gating.words import Handover, MaxGate

RANK = {"skip": 0, "1": 1, "2": 2, "3": 3}


class Bar(NamedTuple):
    """A ceiling, and who named it and why: nobody where the diff alone asks for it. None is lower than all."""

    max_gate: MaxGate | None
    by: str = ""
    reason: str = ""

    @property
    def rank(self) -> int:
        return -1 if self.max_gate is None else RANK[self.max_gate]


def judged(assessment: Assessment | None) -> MaxGate:
    """What the diff alone asks for."""
    return assessment.max_gate if assessment is not None and assessment.in_scope else "1"


def bar(run: Run, author: str) -> tuple[MaxGate, str]:
    """(the ceiling that the author may not go under, who named it if not the diff)."""
    named = highest_named(run, author)
    return named.max_gate or judged(run.assessment), named.by


def highest_named(run: Run, author: str) -> Bar:
    """The same, with the reason for it."""
    given = run.handover or Handover(run.head_sha)
    return max(Bar(judged(run.assessment)), handed_on(run, given, author), key=lambda one: one.rank)


def handed_on(run: Run, given: Handover, author: str) -> Bar:
    """The highest ceiling that people named for the commit of `run`, in it or (as `given` says) before it."""
    named = [Bar(given.max_gate, given.named_by, given.reason)]
    its_author = run.by_author
    if not (run.asked_by.lower() == author.lower() if its_author is None else its_author):
        named.append(Bar(run.requested, run.asked_by, run.requested_reason))
    if run.state.ended:
        named.append(Bar(run.max_gate, run.approved_by))
    return max([*named, *_answered(run, author)], key=lambda one: one.rank)


def _answered(run: Run, author: str) -> Iterator[Bar]:
    """What the answers of others ask for that stand: without them, where the commit is merged into another base, the
    author would come to less."""
    files = run.assessment.per_file if run.assessment is not None else {}
    for one in run.corrections:
        stands = one.path in files and getattr(files[one.path], one.question) is one.yes
        raises = one.yes is not (one.question == "trivial")
        if stands and raises and one.by.lower() != author.lower():
            yield Bar("1" if one.question == "trivial" else "3", one.by, one.reason)


def proposal(run: Run, author: str) -> MaxGate:
    """What the question proposes: as was asked for, else what everybody could let stand."""
    return run.requested or bar(run, author)[0]


def climbs(run: Run, max_gate: MaxGate) -> int:
    """The last gate of the run's ladder that this ceiling lets run; 0 for none. The first runs under any ceiling."""
    gates = [plan.number for plan in run.plan]
    if max_gate == "skip" or not gates:
        return RANK[max_gate]
    return max((gate for gate in gates if gate <= RANK[max_gate]), default=gates[0])


def weakens(run: Run, chosen: MaxGate, author: str) -> bool:
    """Whether `chosen` measures nothing, or less than was asked for: on a short ladder two ceilings may be the same."""
    return chosen == "skip" or climbs(run, chosen) < climbs(run, bar(run, author)[0])


def proposal_weakens(run: Run, author: str) -> bool:
    """Whether the author's own `go` is not enough."""
    return weakens(run, run.proposed, author)


def after_correction(run: Run, before: Assessment, *, by_author: bool) -> Handover | None:
    """What is still handed to `run` when somebody corrected its diff, which asked for what `before` says.

    A ceiling that was no more than the diff had asked for follows the diff down, but not by the author's word.
    """
    given, now = run.handover, judged(run.assessment)
    if given is None or given.max_gate is None or by_author:
        return given
    follows = RANK[now] < RANK[given.max_gate] <= RANK[judged(before)]
    return replace(given, max_gate=now) if follows else given
