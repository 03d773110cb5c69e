"""GitHub's deliveries, read: which pull request hears of one, and as what. Pure; the body is verified and parsed JSON.

Documents: https://docs.github.com/en/webhooks/webhook-events-and-payloads (issue_comment, pull_request,
pull_request_review, pull_request_review_comment, check_run).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from bot.conversation.commands import Misunderstood, parse_bare, parse_comment
from bot.gating.envelope import CHECK_ACTIONS, NEW, SUITE_ACTIONS, TOUCHED, Comment, Envelope, Review, User, read
from bot.gating.events import Event
from bot.gating.happenings import (
    BaseChanged,
    Button,
    Closed,
    Edited,
    HeadMoved,
    Mentioned,
    OwnCommentTouched,
    Pressed,
    Reopened,
    SuiteRerequested,
    Unheard,
)
from bot.gating.model import Place
from bot.gating.words import HeardIn

# What the bot writes on its check runs: run, commit, and the number among that run's check runs.
_EXTERNAL_ID = re.compile(r"perf-gate:((\d+)-(\d+)-\d+):([0-9a-f]{40,64}):\d+")
_BUTTONS: Mapping[str, Button] = {"go": "go", "skip": "skip", "continue": "continue"}


class _Words(msgspec.Struct, frozen=True):
    """What a person said, and where. `about_sha`: the commit a review is about."""

    heard_in: HeardIn
    id: int
    actor: User
    body: str
    at: datetime | None
    about_sha: str
    number: int
    author: User | None


_COMMENT: HeardIn = "comment"
_REVIEW: HeardIn = "review"
_THREAD: HeardIn = "thread"


def route(event: str, body: bytes, mention: str, repositories: Collection[str]) -> Sequence[tuple[str, Event]]:
    """The events this delivery means, each with its aggregate's key. Raises msgspec.MsgspecError on a wrong shape."""
    envelope = read(body)
    if envelope.repository is None or envelope.installation is None:
        return ()
    if envelope.repository.full_name.lower() not in repositories:
        return ()
    if event == "check_run":
        return _pressed(envelope)
    if event == "check_suite":
        return _rerequested(envelope)
    heard = (_touched(event, envelope) or _spoken(event, envelope, mention)) if event in NEW else _pull(envelope)
    return () if heard is None else ((heard.place.key, heard),)


def unheard(event: str, body: bytes, mention: str, repositories: Collection[str]) -> Sequence[tuple[str, Event]]:
    """Whose comment went unanswered when this delivery was given up, as far as it can be read without parsing it."""
    try:
        envelope = read(body)
    except msgspec.MsgspecError:
        return ()
    words = _words(event, envelope)
    if words is None or envelope.action != NEW[event] or envelope.repository is None or envelope.installation is None:
        return ()
    if envelope.repository.full_name.lower() not in repositories or f"@{mention.lower()}" not in words.body.lower():
        return ()
    place = _place(envelope, words.number, words.author)
    return ((place.key, Unheard(place, words.id, words.heard_in)),)


def _words(event: str, envelope: Envelope) -> _Words | None:
    """What a person wrote on a pull request, in whichever of the three places."""
    pull, issue = envelope.pull_request, envelope.issue
    said: Comment | Review | None
    if event == "issue_comment":
        if issue is None or issue.pull_request is None:
            return None
        said, heard_in, number, author = envelope.comment, _COMMENT, issue.number, issue.user
    elif pull is None:
        return None
    elif event == "pull_request_review":
        said, heard_in, number, author = envelope.review, _REVIEW, pull.number, pull.user
    else:
        said, heard_in, number, author = envelope.comment, _THREAD, pull.number, pull.user
    # Bots never command, this App itself least of all (its own comments come back as deliveries).
    if said is None or said.user is None or said.user.type != "User":
        return None
    at, about = (said.created_at, "") if isinstance(said, Comment) else (said.submitted_at, said.commit_id or "")
    return _Words(heard_in, said.id, said.user, said.body or "", at, about, number, author)


def _spoken(event: str, envelope: Envelope, mention: str) -> Mentioned | Edited | None:
    words = _words(event, envelope)
    if words is None:
        return None
    heard = hear(_place(envelope, words.number, words.author), words.id, words.actor.login, words.body, mention)
    if heard is None:
        return None
    known = {"said_at": words.at, "about_sha": words.about_sha, "actor_id": words.actor.id}
    heard = replace(heard, heard_in=words.heard_in, **known)
    if envelope.action == NEW[event]:
        return heard
    return _edit(envelope, heard, mention) if envelope.action == "edited" else None


def _edit(envelope: Envelope, now: Mentioned, mention: str) -> Edited | None:
    """An edit that says something else to the bot than the comment said before; other edits are nobody's affair."""
    changed = envelope.changes.body if envelope.changes else None
    if changed is None:
        return None
    before = hear(now.place, now.comment_id, now.actor, changed.was or "", mention)
    return None if before is not None and before.said == now.said else edited(now)


def edited(heard: Mentioned) -> Edited:
    """What a comment says only since it was edited."""
    return Edited(heard.place, heard.comment_id, heard.bare, heard.heard_in)


def hear(place: Place, comment_id: int, actor: str, body: str, mention: str) -> Mentioned | None:
    """What a person's comment says to the bot, however it came to be read; None where it says nothing to it."""
    said, bare = parse_comment(body, mention), False
    if said is None:
        said, bare = parse_bare(body), True
    if said is None or (bare and isinstance(said, Misunderstood)):
        return None
    return Mentioned(place, comment_id, actor, said, bare)


def _touched(event: str, envelope: Envelope) -> OwnCommentTouched | None:
    """A comment of a machine that somebody else deleted or edited; the bot knows whether it is one of its own."""
    comment, issue, sender = envelope.comment, envelope.issue, envelope.sender
    if event != "issue_comment" or envelope.action not in TOUCHED:
        return None
    if comment is None or issue is None or sender is None or comment.user is None:
        return None
    if comment.user.type != "Bot" or sender.login == comment.user.login:
        return None
    place = _place(envelope, issue.number, issue.user)
    return OwnCommentTouched(place, comment.id, gone=envelope.action == "deleted")


def _pressed(envelope: Envelope) -> Sequence[tuple[str, Event]]:
    """A button, or Re-run, of a check run that is ours: its external id says of which pull request, of a fork's too."""
    check, sender, repository = envelope.check_run, envelope.sender, envelope.repository
    if check is None or sender is None or sender.type != "User" or repository is None or envelope.installation is None:
        return ()
    ours = _EXTERNAL_ID.fullmatch(check.external_id or "")
    identifier = envelope.requested_action.identifier if envelope.requested_action else ""
    name, _, about = identifier.partition(":")
    button: Button | None = "retry" if envelope.action == "rerequested" else _BUTTONS.get(name)
    if ours is None or button is None or int(ours[2]) != repository.id or envelope.action not in CHECK_ACTIONS:
        return ()
    key = f"{repository.id}/{int(ours[3])}"
    at = (envelope.installation.id, repository.full_name)
    return ((key, Pressed(*at, ours[1], ours[4], check.id, sender.login, button, sender.id, about=about)),)


def _rerequested(envelope: Envelope) -> Sequence[tuple[str, Event]]:
    suite, sender = envelope.check_suite, envelope.sender
    if envelope.action not in SUITE_ACTIONS or suite is None or sender is None or sender.type != "User":
        return ()
    place = _place(envelope, 0, None)
    return ((place.key, SuiteRerequested(place, suite.head_sha, sender.login, sender.id)),)


def run_of_check(external_id: str) -> tuple[str, int] | None:
    """The run that a check run of ours belongs to, and the number of its pull request."""
    ours = _EXTERNAL_ID.fullmatch(external_id)
    return None if ours is None else (ours[1], int(ours[3]))


def _pull(envelope: Envelope) -> HeadMoved | Closed | Reopened | BaseChanged | None:
    pull = envelope.pull_request
    if pull is None:
        return None
    place = _place(envelope, pull.number, pull.user)
    if envelope.action == "synchronize":
        return HeadMoved(place, pull.head.sha, envelope.before)
    if envelope.action == "closed":
        return Closed(place, bool(pull.merged), pull.updated_at)
    if envelope.action == "reopened":
        return Reopened(place, pull.head.sha, pull.updated_at)
    changed = envelope.changes.base if envelope.changes else None
    if envelope.action == "edited" and changed is not None and pull.base is not None:
        return BaseChanged(place, pull.base.ref)
    return None


def _place(envelope: Envelope, number: int, author: User | None) -> Place:
    repository, installation = envelope.repository, envelope.installation
    assert repository is not None, "checked by route"  # noqa: S101
    assert installation is not None, "checked by route"  # noqa: S101
    # A deleted account's pull request has no user.
    login = author.login if author else "ghost"
    return Place(installation.id, repository.id, repository.full_name, number, login)
