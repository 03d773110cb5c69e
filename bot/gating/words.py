"""What people decided about a run, as it is kept: by whom, when, and the reason verbatim."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from bot.conversation.commands import Command
from bot.verdict.model import VerdictName

# GitHub numbers these three apart: a comment below the pull request, a review's body, a comment on a line of the diff.
HeardIn = Literal["comment", "review", "thread"]
# Characters of a reason that are kept; comments show some hundreds.
MOST_REASON = 2_000
MaxGate = Literal["skip", "1", "2", "3"]


class Exclusion(msgspec.Struct, frozen=True):
    """A stage (or "total") that a reviewer left out of the verdict, with the reason verbatim.

    It counts from gate `since_gate` on (0: from the first), and where it was taken back, before gate `until_gate`.
    """

    stage: str
    by: str
    at: datetime
    reason: str = ""
    since_gate: int = 0
    until_gate: int | None = None

    def counts_at(self, gate: int) -> bool:
        return self.since_gate <= gate and (self.until_gate is None or gate < self.until_gate)


class Correction(msgspec.Struct, frozen=True):
    """An answer of the assessment that `by` gave otherwise, with the reason verbatim.

    `comment_id` is that of the comment (0 for one on the diff or a review), `said_at` GitHub's time of it: what was
    said to the question before is no answer to it.
    """

    path: str
    question: str
    yes: bool
    by: str
    at: datetime
    reason: str = ""
    comment_id: int = 0
    said_at: datetime | None = None


class FormerVerdict(msgspec.Struct, frozen=True):
    """A verdict that a gate had until somebody had its reports judged again: `by` did what `cause` says to `stage`."""

    verdict: VerdictName
    until: datetime
    by: str
    cause: Literal["exclude", "include", "reanalyse"]
    stage: str = ""
    reason: str = ""


class Consent(msgspec.Struct, frozen=True):
    """An explicit max_gate in a first mention: `by` whom, for the head it was said about, and what they may decide.

    `is_author`: it is their own pull request; None where an earlier release left that to a comparison of logins.
    `base_ref`: the branch that it was to be merged into then; empty where an earlier release did not keep it.
    """

    by: str
    head_sha: str
    granted: tuple[str, ...] = ()
    is_author: bool | None = None
    base_ref: str = ""


class Held(msgspec.Struct, frozen=True):
    """An answer to a question that is still on its way to GitHub: as it was authorised, to be looked at again then."""

    comment_id: int
    actor: str
    said: Command
    actor_id: int = 0
    said_at: datetime | None = None
    heard_in: HeardIn = "comment"


class Handover(msgspec.Struct, frozen=True):
    """What a run leaves to the next one of the same head (`bot.gating.handing`).

    `corrections` hold for that head merged into `base_ref`, from `merge_base` on; `max_gate` is the highest ceiling
    that `named_by` named for that head (for `reason`, verbatim), or that a run of it was let climb to.
    """

    head_sha: str
    merge_base: str = ""
    base_ref: str = ""
    corrections: tuple[Correction, ...] = ()
    max_gate: MaxGate | None = None
    named_by: str = ""
    reason: str = ""
