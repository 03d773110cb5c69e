"""Comments on lines of the diff: read, answered in their thread, reacted to. Reviews take neither."""

from __future__ import annotations

from simulator.call import Call, Reply
from simulator.errors import not_found
from simulator.paging import page
from simulator.review_payloads import review_comment
from simulator.reviewing import Reviewing
from simulator.routes.writing import acting_app, checked_body, put_reaction
from simulator.state import Repository, ReviewComment


class ReviewRoutes:
    def __init__(self, reviewing: Reviewing) -> None:
        self._reviewing = reviewing

    async def list(self, call: Call) -> Reply:
        """Ascending by id."""
        pull = call.pull(call.repository("pull_requests", "read"))
        found = [one for one in call.world.review_comments.values() if one.review.pull is pull]
        shown, headers = page(call, found)
        return Reply(200, [review_comment(call.world, one) for one in shown], headers)

    async def get(self, call: Call) -> Reply:
        return Reply(200, review_comment(call.world, self._comment(call, call.repository("pull_requests", "read"))))

    async def reply(self, call: Call) -> Reply:
        """Only the first comment of a thread can be answered: an answer to an answer is 404."""
        repository = call.repository("pull_requests", "write")
        root, pull = self._comment(call, repository), call.pull(repository)
        if root.in_reply_to is not None or root.review.pull is not pull:
            raise not_found()
        body, app = checked_body(call), acting_app(call)
        added = await self._reviewing.comment(pull, app.bot, body, root.path, in_reply_to=root, app=app)
        payload = review_comment(call.world, added)
        return Reply(201, payload, {"Location": payload["url"]})

    async def react(self, call: Call) -> Reply:
        comment = self._comment(call, call.repository("pull_requests", "write"))
        return await put_reaction(call, comment)

    def _comment(self, call: Call, repository: Repository) -> ReviewComment:
        found = call.world.review_comments.get(call.number("comment_id"))
        if found is None or found.review.pull.repository is not repository:
            raise not_found()
        return found
