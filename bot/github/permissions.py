"""What a person may do on a repository, asked anew each minute: `author_association` in webhooks is not trusted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from bot.github.client import Client
from bot.github.model import Level, Permission
from bot.github.names import RepoRef
from bot.github.wire import PermissionBody

_LEVELS: dict[str, Level] = {"admin": "admin", "write": "write", "read": "read"}
NONE = Permission("none", "none")


HOLD = timedelta(minutes=1)
"""For how long what somebody may do is believed. Who was refused is asked about again: access may just have come."""


class Permissions:
    def __init__(self, client: Client, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock
        self._known: dict[tuple[RepoRef, str], tuple[Permission, datetime]] = {}

    async def of(self, repo: RepoRef, login: str) -> Permission:
        """What `login` may do. Bots, unknown users and levels that this code does not know may do nothing."""
        now = self._clock()
        self._known = {who: known for who, known in self._known.items() if now - known[1] < HOLD}
        who = (repo, login.lower())
        if who not in self._known:
            found = await self._look_up(repo, login)
            if found.permission not in ("admin", "write"):
                return found
            self._known[who] = (found, now)
        return self._known[who][0]

    async def _look_up(self, repo: RepoRef, login: str) -> Permission:
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
        return Permission(level, body.role_name or level, body.user.id if body.user else 0)
