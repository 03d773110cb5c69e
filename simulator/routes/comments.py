"""Issue comments and reactions. What an App writes fires webhooks like anyone else's words."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from simulator.call import Call, Reply
from simulator.clock import parse_stamp
from simulator.conversation_payloads import issue_comment
from simulator.errors import Refusal, invalid, not_accessible, not_found
from simulator.events import Announcer
from simulator.paging import page
from simulator.routes.writing import acting_app, checked_body, put_reaction
from simulator.state import Comment, Repository

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
        comment = self._comment(call, issues_repository(call, "write"))
        return await put_reaction(call, comment)

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


def _since(call: Call) -> datetime | None:
    try:
        return parse_stamp(call.query["since"]) if "since" in call.query else None
    except ValueError:
        raise invalid("IssueComment", "since", "invalid") from None
