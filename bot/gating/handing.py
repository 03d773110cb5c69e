"""What a run hands to the next one of the same commit, so that no word given about that commit is lost with a run.

Answers that people corrected hold for the same diff: the same head merged into the same base. How far it was to climb
holds for the head: the author must not come to less by having the run begun anew.
"""

from __future__ import annotations

from msgspec.structs import replace

from bot.assessment.model import Assessment
from bot.gating import ceiling
from bot.gating.answering import corrected
from bot.gating.model import Run
from bot.gating.words import Correction, Handover

# Commits that a pull request remembers: a push that is taken back makes one of before the head again.
_MOST_COMMITS = 5


def remembered(known: tuple[Handover, ...], before: Run | None, author: str, head_now: str) -> tuple[Handover, ...]:
    """What is `known` by commit, the last ones, with what the run `before` leaves.

    `head_now` is the pull request's head as far as it is known, or empty.
    """
    if before is None:
        return known
    # A run that never came to read its diff is about the commit of its first mention, where that is known, or the head.
    head = before.head_sha or (before.consent.head_sha if before.consent is not None else head_now)
    given = (before.handover if before.head_sha else None) or of_commit(known, head) or Handover(head)
    bar = ceiling.handed_on(before, given, author)
    given = replace(given, max_gate=bar.max_gate, named_by=bar.by, reason=bar.reason)
    if before.assessment is not None:
        given = replace(given, merge_base=before.merge_base, base_ref=before.base_ref, corrections=before.corrections)
    others = tuple(one for one in known if one.head_sha != head)
    return (*others[-_MOST_COMMITS + 1 :], given) if head else known


def of_commit(known: tuple[Handover, ...], head_sha: str) -> Handover | None:
    return next((one for one in known if one.head_sha == head_sha), None)


def corrected_before(
    given: Handover | None, found: Assessment, head_sha: str, merge_base: str, base_ref: str
) -> tuple[Assessment, tuple[Correction, ...]]:
    """The assessment as people had corrected it for this very diff, and what they had corrected."""
    if given is None or (given.head_sha, given.merge_base, given.base_ref) != (head_sha, merge_base, base_ref):
        return found, ()
    kept = tuple(one for one in given.corrections if one.path in found.per_file)
    for one in kept:
        found = corrected(found, one.path, one.question, yes=one.yes)
    return found, kept
