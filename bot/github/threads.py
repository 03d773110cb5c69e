"""Comments on lines of the diff: reacted to, and answered in their thread.

Reviews themselves have neither: GitHub's API takes no reaction and no answer to a review's body.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.github.client import Client
from bot.github.comments import Reaction
from bot.github.model import AppInfo
from bot.github.names import Marker, RepoRef
from bot.github.wire import ThreadBody

_ABSENT = frozenset({404})


class Threads:
    def __init__(self, client: Client, app: Callable[[], Awaitable[AppInfo]]) -> None:
        self._client = client
        self._app = app

    async def react(self, repo: RepoRef, comment_id: int, content: Reaction) -> bool:
        """Put a reaction on a comment; a second time changes nothing. False where the comment is gone."""
        answer = await self._client.write(
            repo.installation_id,
            "POST",
            "/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions",
            "react to a comment on the diff",
            body={"content": content},
            accepts=_ABSENT,
            urgent=True,
            owner=repo.owner,
            repo=repo.name,
            comment_id=comment_id,
        )
        return answer.status != 404

    async def answer(self, repo: RepoRef, pull: int, comment_id: int, marker: Marker, body: str) -> int | None:
        """Say `body` in the comment's thread, once: the id of what says it, None where the
        comment is gone, and its thread with it.

        An answer whose own answer was lost is found by marker and authorship, so this is safe to repeat.
        """
        asked = await self._client.look_up(
            repo.installation_id,
            "/repos/{owner}/{repo}/pulls/comments/{comment_id}",
            "read a comment on the diff",
            owner=repo.owner,
            repo=repo.name,
            comment_id=comment_id,
        )
        if asked is None:
            return None
        if (answered := await self._answered(repo, pull, marker)) is not None:
            return answered
        # Only the first comment of a thread can be answered.
        first = asked.read(ThreadBody).in_reply_to_id or comment_id
        answer = await self._client.write(
            repo.installation_id,
            "POST",
            "/repos/{owner}/{repo}/pulls/{number}/comments/{comment_id}/replies",
            "answer in a thread of the diff",
            body={"body": body},
            accepts=_ABSENT,
            owner=repo.owner,
            repo=repo.name,
            number=pull,
            comment_id=first,
        )
        return None if answer.status == 404 else answer.read(ThreadBody).id

    async def _answered(self, repo: RepoRef, pull: int, marker: Marker) -> int | None:
        app = await self._app()
        pages = self._client.pages(
            repo.installation_id,
            "/repos/{owner}/{repo}/pulls/{number}/comments{?per_page,sort,direction}",
            "list the comments on the diff",
            owner=repo.owner,
            repo=repo.name,
            number=pull,
            per_page=100,
            sort="created",
            direction="desc",
        )
        # Newest first: what an attempt of a moment ago left stands on the first page.
        async for page in pages:
            said = page.read(list[ThreadBody])
            return next((one.id for one in said if one.is_by(app.login) and marker.marks(one.body)), None)
        return None
