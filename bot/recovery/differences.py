"""A pull request as GitHub has it against what the bot believes of it: the events that nobody delivered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from bot.comment.canonical import digest
from bot.gating.deliveries import edited, hear
from bot.gating.events import Event
from bot.gating.happenings import BaseChanged, Closed, CommentLost, HeadMoved, Reopened
from bot.gating.model import PullRequest
from bot.github.model import Comment, PullInfo


@dataclass(frozen=True, slots=True)
class Seen:
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
    # Older ones than any that was heard were said before this bot listened, or fell off the list of the heard.
    first = min(pr.heard, default=None)
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
