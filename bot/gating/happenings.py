"""What GitHub tells of a pull request, by a delivery or when it is looked at: what people said and did."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from bot.conversation.commands import Said
from bot.gating.model import Place
from bot.gating.words import HeardIn

Button = Literal["go", "skip", "continue", "retry"]


class Mentioned(msgspec.Struct, frozen=True, tag=True):
    """A person's new comment. `bare`: it holds only an answer, which counts while the bot waits for one.

    `comment_id` numbers what `heard_in` names. `said_at` is GitHub's time of it; `about_sha` the commit that a review
    is about; `actor_id` is of the account, whose login may change. All are empty where not known.
    """

    place: Place
    comment_id: int
    actor: str
    said: Said
    bare: bool = False
    heard_in: HeardIn = "comment"
    said_at: datetime | None = None
    about_sha: str = ""
    actor_id: int = 0


class Edited(msgspec.Struct, frozen=True, tag=True):
    """A comment says something to the bot only since it was edited; edits never command."""

    place: Place
    comment_id: int
    bare: bool = False
    heard_in: HeardIn = "comment"


class Unheard(msgspec.Struct, frozen=True, tag=True):
    """A comment for the bot that it failed to handle, again and again, through a bug of its own."""

    place: Place
    comment_id: int
    heard_in: HeardIn = "comment"


class HeadMoved(msgspec.Struct, frozen=True, tag=True):
    """The pull request got a new head (`synchronize`, or found by looking). `before`: the head it had, where known."""

    place: Place
    head_sha: str
    before: str = ""


class Closed(msgspec.Struct, frozen=True, tag=True):
    """`at`: GitHub's time of what is told, where known; of a late delivery it is before what is known already."""

    place: Place
    merged: bool
    at: datetime | None = None


class Reinstalled(msgspec.Struct, frozen=True, tag=True):
    """The App was installed anew: the pull request is reached through another installation."""

    place: Place


class BaseChanged(msgspec.Struct, frozen=True, tag=True):
    """The pull request is to be merged into another branch."""

    place: Place
    base_ref: str


class OwnCommentTouched(msgspec.Struct, frozen=True, tag=True):
    """Somebody deleted (`gone`) or edited a comment that a machine wrote, perhaps this one."""

    place: Place
    comment_id: int
    gone: bool


class Reopened(msgspec.Struct, frozen=True, tag=True):
    """With the head it has now: of pushes to a closed pull request GitHub tells nothing. `at` as of `Closed`."""

    place: Place
    head_sha: str = ""
    at: datetime | None = None


class Pressed(msgspec.Struct, frozen=True, tag=True):
    """A person pressed a button of a check run of ours, or GitHub's own Re-run (`retry`).

    `cause`: the effect that told it on, which may do so twice; empty where a delivery did. `about` is what the button
    offered, as whoever pressed it saw it.
    """

    installation_id: int
    full_name: str
    run_id: str
    head_sha: str
    check_id: int
    actor: str
    button: Button
    actor_id: int = 0
    cause: str = ""
    about: str = ""


class SuiteRerequested(msgspec.Struct, frozen=True, tag=True):
    """A person pressed GitHub's Re-run all checks. Of which pull requests the delivery may not say (of forks it never
    does), so `place` names none: its number is 0."""

    place: Place
    head_sha: str
    actor: str
    actor_id: int = 0


class CommentLost(msgspec.Struct, frozen=True, tag=True):
    """The canonical comment was deleted (`gone`), or somebody changed what it says."""

    place: Place
    gone: bool


Happening = (
    Mentioned
    | Edited
    | Unheard
    | HeadMoved
    | Closed
    | Reinstalled
    | BaseChanged
    | OwnCommentTouched
    | Reopened
    | Pressed
    | SuiteRerequested
    | CommentLost
)
