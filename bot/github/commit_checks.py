"""What continuous integration says of a commit: the check runs of other Apps.

Statuses of the older kind are not read: GitHub Actions and its like write check runs.
https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from bot.github.client import Client
from bot.github.model import AppInfo
from bot.github.names import RepoRef

Colour = Literal["green", "red", "open"]
_GREEN = frozenset({"success", "neutral", "skipped"})
# Somebody cancelled it, or it waits for a person: neither says that the code is bad.
_OPEN = frozenset({"cancelled", "action_required", "stale"})


class CommitCheck(msgspec.Struct, frozen=True):
    """One check run, the latest of its name. `title` is its own one-line summary, `url` its page."""

    name: str
    colour: Colour
    title: str = ""
    url: str = ""


class _App(msgspec.Struct, frozen=True):
    id: int


class _Output(msgspec.Struct, frozen=True):
    title: str | None = None


class _Body(msgspec.Struct, frozen=True):
    name: str
    status: str
    conclusion: str | None
    html_url: str | None = None
    app: _App | None = None
    output: _Output = _Output()


class _List(msgspec.Struct, frozen=True):
    check_runs: list[_Body]


class CommitChecks:
    def __init__(self, client: Client, own: Callable[[], Awaitable[AppInfo]]) -> None:
        self._client = client
        self._own = own

    async def of(self, repo: RepoRef, sha: str) -> list[CommitCheck]:
        """The check runs of this commit, in order of their names, our own App's aside. Raises Fault."""
        own = (await self._own()).id
        found: list[CommitCheck] = []
        pages = self._client.pages(
            repo.installation_id,
            "/repos/{owner}/{repo}/commits/{ref}/check-runs{?per_page}",
            "read the checks of a commit",
            owner=repo.owner,
            repo=repo.name,
            ref=sha,
            per_page=100,
        )
        async for page in pages:
            others = (run for run in page.read(_List).check_runs if run.app is None or run.app.id != own)
            found += [CommitCheck(run.name, _colour(run), run.output.title or "", run.html_url or "") for run in others]
        return sorted(found, key=lambda check: check.name)


def _colour(run: _Body) -> Colour:
    if run.status != "completed" or run.conclusion is None or run.conclusion in _OPEN:
        return "open"
    return "green" if run.conclusion in _GREEN else "red"
