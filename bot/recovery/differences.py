"""A pull request as GitHub has it against what the bot believes of it: the events that nobody delivered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from bot.comment.canonical import digest
from bot.gating.deliveries import edited, hear
from bot.gating.events import Event
from bot.gating.happenings import BaseChanged, Closed, CommentLost, HeadMoved, Reopened
from bot.gating.hearing import MOST_HEARD
from bot.gating.model import PullRequest, Run
from bot.github.model import Comment, PullInfo


class Seen(msgspec.Struct, frozen=True):
    """What GitHub showed. `canonical` is the comment that the bot keeps, None where it is gone."""

    pull: PullInfo
    comments: Sequence[Comment]
    canonical: Comment | None


def differences(pr: PullRequest, seen: Seen, mention: str) -> list[Event]:
    """In the order in which they should have been heard: commands first, since they were given before this look."""
    place = pr.place
    if place is None:
        return []
    found: list[Event] = []
    first = _listening_from(pr)
    for comment in sorted(seen.comments, key=lambda comment: comment.id):
        if first is None or comment.id <= first or comment.id in pr.heard:
            continue
        if not comment.author_is_person:
            continue
        heard = hear(place, comment.id, comment.author_login, comment.body, mention)
        if heard is None:
            continue
        # Edits never command: an edited comment may not say what its author said, and nobody knows when it came to.
        if comment.updated_at != comment.created_at:
            if not heard.bare and f"comment:{comment.id}" not in pr.edits_answered:
                found.append(edited(heard))
        else:
            found.append(replace(heard, said_at=comment.created_at, actor_id=comment.author_id))
    if pr.is_open and seen.pull.state == "closed":
        # First of all: what is closed is not read again, whatever else became of it.
        found.append(Closed(place, seen.pull.merged, seen.pull.updated_at))
    if not pr.is_open and seen.pull.state == "open":
        # With its head: a push that was found while it was closed is known already, and is not told again below.
        found.append(Reopened(place, seen.pull.head_sha, seen.pull.updated_at))
    if pr.head_sha and seen.pull.head_sha != pr.head_sha:
        found.append(HeadMoved(place, seen.pull.head_sha, pr.head_sha))
    known_base = (pr.run.base_moved_to or pr.run.base_ref) if pr.run is not None else ""
    if known_base and seen.pull.base_ref != known_base:
        found.append(BaseChanged(place, seen.pull.base_ref))
    if pr.comment_id and pr.comment_digest:
        if seen.canonical is None:
            found.append(CommentLost(place, gone=True))
        elif digest(seen.canonical.body) != pr.comment_digest:
            found.append(CommentLost(place, gone=False))
    return found


def last_known_alive(run: Run) -> datetime:
    """From when on comments are read that this life of the bot did not see: it was there when the run came so far.

    Not the state alone, since a start moves on what came due before anything is looked at.
    """
    attempts = (attempt for gate in run.gates for attempt in gate.attempts)
    moments = (run.since, run.asked_at, *(attempt.submitted_at for attempt in attempts))
    return min(moment for moment in moments if moment is not None)


def _listening_from(pr: PullRequest) -> int | None:
    """The number of the comment after which everything was to be heard; None where the bot never spoke nor heard.

    Older ones were said before this bot listened, or fell off the list of the heard. Where it was asked elsewhere than
    in a comment, its own is the first.
    """
    if len(pr.heard) >= MOST_HEARD:
        return min(pr.heard)
    own = (pr.comment_id, pr.run.question_id if pr.run is not None else 0)
    return min((*pr.heard, *(number for number in own if number)), default=None)
