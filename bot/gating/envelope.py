"""The deliveries that are heard, and their wire shape: of GitHub's payloads only what the bot reads.

Documents: https://docs.github.com/en/webhooks/webhook-events-and-payloads (issue_comment, pull_request,
pull_request_review, pull_request_review_comment, check_run).
"""

from __future__ import annotations

from datetime import datetime

import msgspec

NEW = {"issue_comment": "created", "pull_request_review": "submitted", "pull_request_review_comment": "created"}
"""Where people speak, and the action by which something new is said there."""

TOUCHED = frozenset({"deleted", "edited"})
"""What becomes of a comment that is there."""

CHECK_ACTIONS = frozenset({"requested_action", "rerequested"})
SUITE_ACTIONS = frozenset({"rerequested"})
PULL_ACTIONS = frozenset({"synchronize", "closed", "reopened"})
ACTIONS = {"pull_request": PULL_ACTIONS, "check_run": CHECK_ACTIONS, "check_suite": SUITE_ACTIONS}
"""Elsewhere: the actions that always matter."""


class User(msgspec.Struct):
    login: str
    type: str = "User"
    id: int = 0


class Repository(msgspec.Struct):
    id: int
    full_name: str


class Installation(msgspec.Struct):
    id: int


class Comment(msgspec.Struct):
    id: int
    body: str | None
    user: User | None
    created_at: datetime | None = None


class Review(msgspec.Struct):
    id: int
    body: str | None
    user: User | None
    submitted_at: datetime | None = None
    commit_id: str | None = None


class Before(msgspec.Struct):
    was: str | None = msgspec.field(name="from", default=None)


class Changes(msgspec.Struct):
    body: Before | None = None
    base: dict[str, msgspec.Raw] | None = None


class Issue(msgspec.Struct):
    number: int
    user: User | None
    pull_request: dict[str, msgspec.Raw] | None = None


class Head(msgspec.Struct):
    sha: str


class Base(msgspec.Struct):
    ref: str


class Pull(msgspec.Struct):
    number: int
    user: User | None
    head: Head
    base: Base | None = None
    merged: bool | None = False
    updated_at: datetime | None = None


class CheckRun(msgspec.Struct):
    id: int
    external_id: str | None = None


class CheckSuite(msgspec.Struct):
    head_sha: str


class RequestedAction(msgspec.Struct):
    identifier: str = ""


class Envelope(msgspec.Struct, omit_defaults=True):
    action: str = ""
    repository: Repository | None = None
    installation: Installation | None = None
    comment: Comment | None = None
    issue: Issue | None = None
    pull_request: Pull | None = None
    review: Review | None = None
    before: str = ""
    changes: Changes | None = None
    check_run: CheckRun | None = None
    check_suite: CheckSuite | None = None
    requested_action: RequestedAction | None = None
    sender: User | None = None


class Said(msgspec.Struct):
    """A comment or a review of which only the words are looked at, and whose they are."""

    body: str | None = None
    user: User | None = None


read = msgspec.json.Decoder(Envelope).decode
"""Raises msgspec.MsgspecError on a wrong shape."""
