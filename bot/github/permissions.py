"""What a person may do on a repository, asked each time: `author_association` in webhooks is not to be trusted."""

from __future__ import annotations

from bot.github.client import Client
from bot.github.model import Level, Permission
from bot.github.names import RepoRef
from bot.github.wire import PermissionBody

_LEVELS: dict[str, Level] = {"admin": "admin", "write": "write", "read": "read"}
NONE = Permission("none", "none")


class Permissions:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def of(self, repo: RepoRef, login: str) -> Permission:
        """What `login` may do. Bots, unknown users and levels that this code does not know may do nothing."""
        answer = await self._client.look_up(
            repo.installation_id,
            "/repos/{owner}/{repo}/collaborators/{username}/permission",
            "look up a permission",
            owner=repo.owner,
            repo=repo.name,
            username=login,
        )
        if answer is None:
            return NONE
        body = answer.read(PermissionBody)
        level = _LEVELS.get(body.permission, "none")
        return Permission(level, body.role_name or level)
