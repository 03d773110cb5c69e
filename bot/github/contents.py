"""Files of a repository and what it is, read over the API where a clone would be too much."""

from __future__ import annotations

from bot.github.client import Client
from bot.github.model import Repository
from bot.github.names import RepoRef
from bot.github.transport import RAW
from bot.github.wire import RepositoryBody

# GitHub serves files above 1 MB through the raw media type only, and none above 100 MB; the bot reads small ones.
_LARGEST_FILE = 1024 * 1024


class Contents:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, repo: RepoRef, path: str, ref: str, *, limit: int = _LARGEST_FILE) -> bytes | None:
        """The file's bytes at `ref` (a SHA or a branch); None without such a file. Fault above `limit` bytes."""
        answer = await self._client.get(
            repo.installation_id,
            "/repos/{owner}/{repo}/contents/{path}{?ref}",
            "read a file of the repository",
            accept=RAW,
            accepts=frozenset({404}),
            limit=limit,
            owner=repo.owner,
            repo=repo.name,
            path=path,
            ref=ref,
        )
        # A folder is answered with a listing, which does not carry the raw media type.
        listing = answer.headers.get("content-type", "").startswith("application/json")
        return None if answer.status == 404 or listing else answer.body

    async def repository(self, repo: RepoRef) -> Repository | None:
        """The repository under its present name, which differs from `repo` after a rename."""
        answer = await self._client.look_up(
            repo.installation_id, "/repos/{owner}/{repo}", "read the repository", owner=repo.owner, repo=repo.name
        )
        if answer is None:
            return None
        body = answer.read(RepositoryBody)
        return Repository(body.id, body.full_name, body.default_branch, body.private)
