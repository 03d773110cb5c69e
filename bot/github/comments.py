"""Comments of the bot: each written once and kept true, whatever was lost on the way.

A comment is ours when this very App wrote it; a marker alone proves nothing, since anybody can paste one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Literal

from bot.github.client import Client
from bot.github.model import AppInfo, Comment
from bot.github.names import Marker, RepoRef
from bot.github.wire import CommentBody

Reaction = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]

_ABSENT = frozenset({404})


class Comments:
    def __init__(self, client: Client, app: Callable[[], Awaitable[AppInfo]]) -> None:
        self._client = client
        self._app = app

    async def list(self, repo: RepoRef, pull: int, *, since: datetime | None = None) -> list[Comment]:
        """All comments, oldest first; with `since`, those updated at or after it."""
        app = await self._app()
        variables: dict[str, str | int] = {"owner": repo.owner, "repo": repo.name, "number": pull, "per_page": 100}
        if since is not None:
            variables["since"] = since.strftime("%Y-%m-%dT%H:%M:%SZ")
        found: dict[int, Comment] = {}
        pages = self._client.pages(
            repo.installation_id,
            "/repos/{owner}/{repo}/issues/{number}/comments{?per_page,since}",
            "list the comments",
            **variables,
        )
        async for page in pages:
            # By id: a comment deleted between two pages shifts the rest, and a page can repeat what came before.
            found |= {body.id: _comment(body, app) for body in page.read(list[CommentBody])}
        return [found[comment_id] for comment_id in sorted(found)]

    async def get(self, repo: RepoRef, comment_id: int) -> Comment | None:
        app = await self._app()
        answer = await self._client.look_up(
            repo.installation_id,
            "/repos/{owner}/{repo}/issues/comments/{comment_id}",
            "read a comment",
            owner=repo.owner,
            repo=repo.name,
            comment_id=comment_id,
        )
        return None if answer is None else _comment(answer.read(CommentBody), app)

    async def find(self, repo: RepoRef, pull: int, marker: Marker) -> Comment | None:
        """The oldest comment of ours with this marker."""
        listed = await self.list(repo, pull)
        return next((one for one in listed if one.author_is_own_app and marker.marks(one.body)), None)

    async def upsert(
        self, repo: RepoRef, pull: int, marker: Marker, body: str, known_id: int | None, *, first: bool = False
    ) -> Comment:
        """Make the one comment of ours that carries `marker` say `body`, and return it. Writes nothing where it does.

        Safe to repeat after any failure: what an unanswered attempt posted is found by marker and authorship. Where
        there are several, the oldest stays and the others are deleted. `first`: nobody has tried to post it before, so
        no listing can lag behind such a try. ValueError when `body` lacks its marker.
        """
        if not marker.marks(body):
            raise ValueError(f"the body does not carry its marker {marker.text!r}, and could never be found again")
        known = None if known_id is None else await self.get(repo, known_id)
        if known is None or not known.author_is_own_app:
            known = await self._settle(repo, pull, marker)
        if known is not None:
            edited = known if _same(known.body, body) else await self._edit(repo, known.id, body)
            if edited is not None:
                return edited
        posted = await self._post(repo, pull, body)
        if first:
            return posted
        # What an earlier attempt posted may have been missing from the listing a moment ago: look once more.
        oldest = await self._settle(repo, pull, marker, posted)
        if oldest is None or oldest.id == posted.id:
            return posted
        return await self._edit(repo, oldest.id, body) or await self.upsert(repo, pull, marker, body, None)

    async def rewrite(self, repo: RepoRef, comment_id: int, body: str) -> Comment | None:
        """Make a comment that this App wrote say `body`, without a look at it first; None where it is gone.

        For a first attempt: one that follows another looks (`upsert`), since that one may have done it.
        """
        return await self._edit(repo, comment_id, body)

    async def react(self, repo: RepoRef, comment_id: int, content: Reaction) -> bool:
        """Put a reaction on a comment; a second time changes nothing. False where the comment is gone."""
        answer = await self._client.write(
            repo.installation_id,
            "POST",
            "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
            "react to a comment",
            body={"content": content},
            accepts=_ABSENT,
            urgent=True,
            owner=repo.owner,
            repo=repo.name,
            comment_id=comment_id,
        )
        return answer.status != 404

    async def _settle(self, repo: RepoRef, pull: int, marker: Marker, posted: Comment | None = None) -> Comment | None:
        """The oldest comment of ours with this marker, after deleting the younger ones."""
        listed = await self.list(repo, pull)
        ours = {c.id: c for c in listed if c.author_is_own_app and marker.marks(c.body)}
        if posted is not None:
            ours[posted.id] = posted
        oldest_first = sorted(ours)
        for younger in oldest_first[1:]:
            await self._delete(repo, younger)
        return ours[oldest_first[0]] if ours else None

    async def _post(self, repo: RepoRef, pull: int, body: str) -> Comment:
        answer = await self._client.write(
            repo.installation_id,
            "POST",
            "/repos/{owner}/{repo}/issues/{number}/comments",
            "write a comment",
            body={"body": body},
            owner=repo.owner,
            repo=repo.name,
            number=pull,
        )
        return _comment(answer.read(CommentBody), await self._app())

    async def _edit(self, repo: RepoRef, comment_id: int, body: str) -> Comment | None:
        """The comment as edited; None where somebody deleted it meanwhile."""
        answer = await self._client.write(
            repo.installation_id,
            "PATCH",
            "/repos/{owner}/{repo}/issues/comments/{comment_id}",
            "edit a comment",
            body={"body": body},
            accepts=_ABSENT,
            owner=repo.owner,
            repo=repo.name,
            comment_id=comment_id,
        )
        return None if answer.status == 404 else _comment(answer.read(CommentBody), await self._app())

    async def _delete(self, repo: RepoRef, comment_id: int) -> None:
        await self._client.write(
            repo.installation_id,
            "DELETE",
            "/repos/{owner}/{repo}/issues/comments/{comment_id}",
            "delete a duplicate comment",
            accepts=_ABSENT,
            owner=repo.owner,
            repo=repo.name,
            comment_id=comment_id,
        )


def _comment(body: CommentBody, app: AppInfo) -> Comment:
    return Comment(
        id=body.id,
        author_login=body.user.login if body.user else "ghost",
        author_is_own_app=_is_own(body, app),
        body=body.body,
        created_at=body.created_at,
        updated_at=body.updated_at,
        url=body.html_url,
        author_is_person=body.user is not None and body.user.type == "User",
        node_id=body.node_id,
        author_id=body.user.id if body.user else 0,
    )


def _is_own(body: CommentBody, app: AppInfo) -> bool:
    """No person's login can end in `[bot]`. The App's id alone proves nothing: people can comment through an App."""
    if body.user is None or body.user.type != "Bot":
        return False
    through = body.performed_via_github_app
    return body.user.login == app.login or (through is not None and through.id == app.id)


def _same(stored: str, wanted: str) -> bool:
    """GitHub may hand back other line ends than it was given, and no blanks at the end."""
    return stored.replace("\r\n", "\n").rstrip() == wanted.replace("\r\n", "\n").rstrip()
