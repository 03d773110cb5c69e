"""Reviews, comments on lines of the diff, and the webhooks they fire."""

from __future__ import annotations

from typing import Any

from simulator.events import Announcer
from simulator.pull_payloads import outline
from simulator.review_payloads import review, review_comment
from simulator.state import Account, App, Pull, Review, ReviewComment, ReviewState

Json = dict[str, Any]


class Reviewing:
    def __init__(self, announcer: Announcer) -> None:
        self._announcer = announcer
        self._world = announcer.world

    async def submit(self, pull: Pull, author: Account, body: str | None, state: ReviewState = "commented") -> Review:
        now = self._world.clock.now()
        which = Review(self._world.next_id(), pull, author, body, state, pull.head_sha, now)
        pull.reviews.append(which)
        await self._review_event("submitted", which, author, {})
        return which

    async def edit(self, which: Review, editor: Account, body: str) -> None:
        before, which.body = which.body, body
        await self._review_event("edited", which, editor, {"changes": {"body": {"from": before or ""}}})

    async def comment(
        self,
        pull: Pull,
        author: Account,
        body: str,
        path: str,
        *,
        in_reply_to: ReviewComment | None = None,
        app: App | None = None,
    ) -> ReviewComment:
        """GitHub wraps a single comment into a review without words, and tells of both."""
        now = self._world.clock.now()
        around = await self.submit(pull, author, None)
        which = ReviewComment(self._world.next_id(), around, author, body, path, now, now, in_reply_to, app)
        self._world.review_comments[which.id] = which
        await self._comment_event("created", which, author, {})
        return which

    async def edit_comment(self, which: ReviewComment, editor: Account, body: str) -> None:
        before, which.body = which.body, body
        which.updated_at = self._world.clock.now()
        await self._comment_event("edited", which, editor, {"changes": {"body": {"from": before}}})

    async def _review_event(self, action: str, which: Review, sender: Account, extra: Json) -> None:
        payload = {
            "action": action,
            **extra,
            "review": review(self._world, which),
            "pull_request": outline(self._world, which.pull),
        }
        await self._announcer.announce("pull_request_review", payload, which.pull.repository, sender)

    async def _comment_event(self, action: str, which: ReviewComment, sender: Account, extra: Json) -> None:
        pull = which.review.pull
        payload = {
            "action": action,
            **extra,
            "comment": review_comment(self._world, which),
            "pull_request": outline(self._world, pull),
        }
        await self._announcer.announce("pull_request_review_comment", payload, pull.repository, sender)
