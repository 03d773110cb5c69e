"""GitHub, as the rest of the bot knows it: one object per App, one session, one folder of calls per concern."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import aiohttp

from bot.github.actions import Actions
from bot.github.auth import READ_CONTENTS, AppKey, Tokens
from bot.github.checks import Checks
from bot.github.client import Client
from bot.github.comments import Comments
from bot.github.commit_checks import CommitChecks
from bot.github.contents import Contents
from bot.github.deliveries import Deliveries
from bot.github.minimizing import Minimizing
from bot.github.model import AppGrants, AppInfo, InstallationInfo
from bot.github.names import APP, RepoRef
from bot.github.pace import WRITE_SPACING, Ledger, Pace
from bot.github.permissions import Permissions
from bot.github.pulls import Pulls
from bot.github.threads import Threads
from bot.github.transport import Transport
from bot.github.wire import AppBody, GrantsBody, InstallationBody, VisibilityBody


class GitHub:
    """Made by `GitHub.open`. Every call raises Fault; what may be absent is None."""

    def __init__(
        self, client: Client, tokens: Tokens, pace: Pace, bare: aiohttp.ClientSession, clock: Callable[[], datetime]
    ) -> None:
        self._client = client
        self._pace = pace
        self._tokens = tokens
        self._known_app: AppInfo | None = None
        self.comments = Comments(client, self.app)
        self.threads = Threads(client, self.app)
        self.checks = Checks(client, self.app)
        self.minimizing = Minimizing(client)
        self.pulls = Pulls(client)
        self.contents = Contents(client)
        self.permissions = Permissions(client, clock)
        self.actions = Actions(client, bare)
        self.commit_checks = CommitChecks(client, self.app)
        self.deliveries = Deliveries(client)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        api_url: str,
        app_id: str,
        private_key_pem: str,
        clock: Callable[[], datetime],
        *,
        write_spacing: timedelta = WRITE_SPACING,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> AsyncIterator[GitHub]:
        """Speak to `api_url` as this App until the block ends.

        `wait` lives through the short waits, in seconds that `monotonic` counts.
        """
        key = AppKey(app_id, private_key_pem)
        # Two sessions, neither with cookies: what leads to the artifacts' storage must never carry a credential.
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as bare,
        ):
            transport = Transport(session, api_url, clock)
            pace = Pace(clock, spacing=write_spacing, monotonic=monotonic, wait=wait)
            tokens = Tokens(transport, key, clock, pace)
            yield cls(Client(transport, tokens, pace, wait=wait), tokens, pace, bare, clock)

    def prove_key(self) -> None:
        """Fault where the App's key is none or damaged, before the first request meets it; see `AppKey.prove`."""
        self._tokens.key.prove()

    def keep_pace_in(self, ledger: Ledger, *, shared: bool) -> None:
        """See `Pace.keep_in`."""
        self._pace.keep_in(ledger, shared=shared)

    @property
    def requests_left(self) -> dict[str, int]:
        """GitHub's word of how many requests are left until the limit's reset, by installation (or "app")."""
        return {str(who): left for who, left in self._client.requests_left.items()}

    async def app(self) -> AppInfo:
        """Who this App is; asked once."""
        if self._known_app is None:
            body = (await self._client.get(APP, "/app", "learn who it is")).read(AppBody)
            self._known_app = AppInfo(body.id, body.slug, body.name)
        return self._known_app

    async def grants(self) -> AppGrants:
        """What the App is registered with, as it is now."""
        body = (await self._client.get(APP, "/app", "learn what it may")).read(GrantsBody)
        return AppGrants(body.slug, body.html_url, body.permissions, tuple(body.events))

    async def installation(self, full_name: str) -> int | None:
        """The id of the installation that covers `owner/name`; None where the App is not installed there."""
        found = await self.installed(full_name)
        return None if found is None else found.id

    async def installed(self, full_name: str) -> InstallationInfo | None:
        """The same with what its owner granted."""
        owner, _, name = full_name.partition("/")
        answer = await self._client.look_up(
            APP, "/repos/{owner}/{repo}/installation", "look up its installation", owner=owner, repo=name
        )
        if answer is None:
            return None
        body = answer.read(InstallationBody)
        return InstallationInfo(body.id, body.permissions, body.suspended_at is not None)

    async def is_public(self, repo: RepoRef) -> bool:
        """Whether everybody may read the repository. Fault where GitHub does not say; absent is not public."""
        answer = await self._client.look_up(
            repo.installation_id, "/repos/{owner}/{repo}", "learn who may read it", owner=repo.owner, repo=repo.name
        )
        return answer is not None and answer.read(VisibilityBody).is_public

    async def token(self, installation_id: int) -> str:
        """A token for git, which can read contents and nothing else: it is handed to a child process."""
        return await self._tokens.token(installation_id, READ_CONTENTS)
