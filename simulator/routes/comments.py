"""Issue comments and reactions. What an App writes fires webhooks like anyone else's words."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from simulator.call import Call, Reply
from simulator.clock import parse_stamp
from simulator.conversation_payloads import REACTIONS, issue_comment, reaction
from simulator.errors import Refusal, invalid, not_accessible, not_found
from simulator.events import Announcer
from simulator.paging import page
from simulator.state import App, Comment, Reaction, Repository

# Measured on api.github.com: 65,536 characters, and behind that the column's 262,144 bytes.
MOST_CHARACTERS = 65_536
MOST_BYTES = 262_144

Level = Literal["read", "write"]


class CommentRoutes:
    def __init__(self, announcer: Announcer) -> None:
        self._announcer = announcer

    async def list(self, call: Call) -> Reply:
        """Ascending by id; a stale listing lacks the newest."""
        repository = issues_repository(call, "read")
        issue = call.issue(repository)
        since = _since(call)
        found = [
            comment
            for comment in issue.comments
            if (since is None or comment.updated_at >= since)
            and (call.hide_after_id is None or comment.id <= call.hide_after_id)
        ]
        shown, headers = page(call, found)
        return Reply(200, [issue_comment(call.world, comment) for comment in shown], headers)

    async def create(self, call: Call) -> Reply:
        repository = issues_repository(call, "write")
        issue = call.issue(repository)
        body = checked_body(call)
        app = acting_app(call)
        comment = await self._announcer.add_comment(issue, app.bot, body, app=app)
        payload = issue_comment(call.world, comment)
        return Reply(201, payload, {"Location": payload["url"]})

    async def get(self, call: Call) -> Reply:
        return Reply(200, issue_comment(call.world, self._comment(call, issues_repository(call, "read"))))

    async def update(self, call: Call) -> Reply:
        comment = self._own(call)
        await self._announcer.edit_comment(comment, acting_app(call).bot, checked_body(call))
        return Reply(200, issue_comment(call.world, comment))

    async def delete(self, call: Call) -> Reply:
        await self._announcer.delete_comment(self._own(call), acting_app(call).bot)
        return Reply(204)

    async def react(self, call: Call) -> Reply:
        """201 the first time, 200 where the caller had already reacted so."""
        comment = self._comment(call, issues_repository(call, "write"))
        content = (call.body or {}).get("content")
        if content not in REACTIONS:
            raise invalid("Reaction", "content", "custom", "content is not a member of the list")
        bot = acting_app(call).bot
        for known in comment.reactions:
            if known.author is bot and known.content == content:
                return Reply(200, reaction(call.world, known))
        added = Reaction(call.world.next_id(), bot, content, call.world.clock.now())
        comment.reactions.append(added)
        await call.world.changed()
        return Reply(201, reaction(call.world, added))

    def _comment(self, call: Call, repository: Repository) -> Comment:
        comment = call.world.comments.get(call.number("comment_id"))
        if comment is None or comment.issue.repository is not repository:
            raise not_found()
        return comment

    def _own(self, call: Call) -> Comment:
        """An App may change what it wrote itself; anyone else's words it may not."""
        comment = self._comment(call, issues_repository(call, "write"))
        if comment.author is not acting_app(call).bot:
            raise not_accessible("issues", "write")
        return comment


def issues_repository(call: Call, level: Level) -> Repository:
    """`issues` or `pull_requests` permission opens the conversation of a pull request."""
    try:
        return call.repository("pull_requests", level)
    except Refusal as refusal:
        if refusal.status != 403:
            raise
    return call.repository("issues", level)


def checked_body(call: Call) -> str:
    body = call.body.get("body") if isinstance(call.body, dict) else None
    if not isinstance(body, str):
        raise Refusal(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(body) > MOST_CHARACTERS or len(body.encode()) > MOST_BYTES:
        raise invalid("IssueComment", "body", "custom", f"body is too long (maximum is {MOST_CHARACTERS} characters)")
    return body


def _since(call: Call) -> datetime | None:
    try:
        return parse_stamp(call.query["since"]) if "since" in call.query else None
    except ValueError:
        raise invalid("IssueComment", "since", "invalid") from None


def acting_app(call: Call) -> App:
    """The App that writes. Raises Refusal 401 for a caller who is none."""
    if call.caller.token is None:
        raise Refusal(401, "Requires authentication")
    return call.caller.token.installation.app
