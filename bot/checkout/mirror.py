"""A bare mirror of one repository, kept fresh by fetching its default branch and the heads of its pull requests.

A fork's head is fetched from the base repository's `refs/pull/N/head`, which stays when the fork is deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from bot.checkout.git import Finished, call, failure, succeed
from bot.checkout.repository import Repository, checked
from bot.checkout.room import MIRROR_BYTES, cut_off, shrink, taken
from bot.checkout.upkeep import put_together, tidy
from bot.faults import Fault

Token = Callable[[], Awaitable[str]]

FETCH_TIMEOUT = 900.0  # seconds; the first fetch of a large repository is the long one
SLOW_AFTER = 60  # seconds without 1 kB/s end a transfer, so that a dead connection is noticed long before the time-out
USER = "x-access-token"  # GitHub's user name for installation tokens

# git asks this program for user name and password. It answers for the one origin it was started for: a redirect to
# another host asks with another name and gets nothing. The token is in no argument, no URL and no file.
ASKPASS = """#!/bin/sh
case "$1" in
  "Username for '$PERF_GATE_GIT_ORIGIN'"*) printf '%s\\n' "$PERF_GATE_GIT_USER" ;;
  "Password for '$PERF_GATE_GIT_USER_ORIGIN'"*) printf '%s\\n' "$PERF_GATE_GIT_TOKEN" ;;
  *) exit 1 ;;
esac
"""


class Heads(msgspec.Struct, frozen=True):
    """What the other side had when it was fetched. `pull` is None where no pull request was asked for."""

    default_branch: str
    pull: str | None


class Mirror(Repository):
    """One repository's mirror under `root`, fetched from `git_url` (http or https, such as
    https://github.com/owner/name.git), of at most `most_bytes` on disk. One object per repository: its fetches take
    turns."""

    def __init__(self, root: Path, git_url: str, most_bytes: int = MIRROR_BYTES) -> None:
        super().__init__(root / "mirror.git")
        self._askpass = root / "askpass"
        self._url = git_url
        self._most_bytes = most_bytes
        self._turn = asyncio.Lock()
        self._made = False

    def moved_to(self, git_url: str) -> None:
        """The repository was renamed: it is fetched from there now, in the same turns into the same folder."""
        self._url = git_url

    async def sync(self, pull: int | None, default_branch: str, token: Token | None) -> Heads:
        """Fetch the default branch and, where asked, a pull request's head.

        `token` gives the installation token of this moment; None fetches anonymously. Raises Fault: retryable for the
        network and the server, not for a missing ref or a refused token.
        """
        specs = [f"+refs/heads/{default_branch}:refs/perf-gate/base"]
        if pull is not None:
            specs.append(f"+refs/pull/{pull}/head:refs/perf-gate/pull/{pull}")
        async with self._turn:
            await self._fetch(specs, token)
            base = await self.resolve("refs/perf-gate/base")
            head = await self.resolve(f"refs/perf-gate/pull/{pull}") if pull is not None else None
        if base is None or (pull is not None and head is None):
            raise Fault("the repository's branches could not be read", f"no commit after fetching {specs}")
        return Heads(base, head)

    async def ensure(self, sha: str, token: Token | None, *, make_way: bool = True) -> bool:
        """Have this one commit, fetched by its SHA where no ref leads to it any more; False when it is gone.

        Without `make_way` also where only heads of earlier runs leave no room for it: letting go of them takes long,
        and a run under way may need one."""
        async with self._turn:
            if await self.has(sha):
                return True
            try:
                await self._fetch([f"+{checked(sha)}:refs/perf-gate/pin/{sha}"], token, make_way=make_way)
            except Fault as fault:
                if fault.retryable:
                    raise
                return False
            return await self.has(sha)

    async def _fetch(self, specs: list[str], token: Token | None, *, make_way: bool = True) -> None:
        await self._create()
        extra = self._credentials(await token()) if token else {}
        arguments = (
            *("-c", "http.lowSpeedLimit=1000", "-c", f"http.lowSpeedTime={SLOW_AFTER}", "-c", "credential.helper="),
            # What comes is one file then, which can be bounded.
            *("-c", "fetch.unpackLimit=1"),
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--force"),
            *("--end-of-options", self._url, *specs),
        )
        finished = await self._within_bounds(arguments, extra, make_way=make_way)
        if finished is None:
            limit = f"{self._most_bytes / 2**20:.0f} MB"
            public = f"the repository's mirror would take more than {limit} of the bot's disk"
            raise Fault(f"{public}; its operator can set PERF_GATE_MIRROR_MB", f"fetching {specs}")
        if finished.code != 0:
            raise _refused(finished, specs)
        await put_together(self.git_dir)

    async def _within_bounds(
        self, arguments: tuple[str, ...], extra: dict[str, str], *, make_way: bool
    ) -> Finished | None:
        """How the fetch ended; None where the mirror has no room for it. Whatever cut it off, nothing of it stays."""
        try:
            # Of the git before, which may have been killed in any state.
            await tidy(self.git_dir)
            room = self._most_bytes - await taken(self.git_dir)
            finished = await self._bounded(arguments, extra, room)
            if finished is None and make_way and (more := await self._make_way()) > room:
                finished = await self._bounded(arguments, extra, more)
        finally:
            await tidy(self.git_dir)
        return finished

    async def _bounded(self, arguments: tuple[str, ...], extra: dict[str, str], room: int) -> Finished | None:
        """How the fetch ended; None where it was cut off, because it brought more than `room` bytes."""
        if room <= 0:
            return None
        finished = await call(
            self.git_dir, *arguments, extra=extra, seconds=FETCH_TIMEOUT, largest_file=room, writes=True
        )
        # git says of its helper's end only that it was invalid.
        full = finished.code != 0 and await cut_off(self.git_dir, room)
        if finished.code != 0:
            await tidy(self.git_dir)
        return None if full else finished

    async def _make_way(self) -> int:
        """Let go of the heads of earlier runs; the bytes that may come then."""
        await shrink(self.git_dir)
        return self._most_bytes - await taken(self.git_dir)

    def _credentials(self, token: str) -> dict[str, str]:
        parts = urlsplit(self._url)
        return {
            "GIT_ASKPASS": str(self._askpass),
            "PERF_GATE_GIT_ORIGIN": f"{parts.scheme}://{parts.netloc}",
            "PERF_GATE_GIT_USER_ORIGIN": f"{parts.scheme}://{USER}@{parts.netloc}",
            "PERF_GATE_GIT_USER": USER,
            "PERF_GATE_GIT_TOKEN": token,
        }

    async def _create(self) -> None:
        """Make what is missing, once a process; a second time it changes nothing."""
        if self._made:
            return
        self.git_dir.mkdir(parents=True, exist_ok=True)
        if not self._askpass.exists():
            partial = self._askpass.with_suffix(".new")
            partial.write_text(ASKPASS, "ascii")
            partial.chmod(0o700)
            partial.rename(self._askpass)
        # `init` itself takes locks.
        await tidy(self.git_dir)
        # Always: an interrupted first one leaves a folder that only looks like a repository, and git completes it.
        await succeed(self.git_dir, "init", "--quiet", "--bare", "--template=", str(self.git_dir), writes=True)
        self._made = True


def _refused(finished: Finished, specs: list[str]) -> Fault:
    """Why a fetch failed."""
    if "couldn't find remote ref" in finished.error:
        missing = finished.error.partition("couldn't find remote ref ")[2].splitlines()[0]
        return Fault(f"the repository has no `{missing}`", finished.error.strip())
    if "Authentication failed" in finished.error or "could not read Username" in finished.error:
        return Fault("GitHub refused the bot's access to the repository", finished.error.strip())
    return failure(finished, ("fetch", *specs))
