"""Check runs of this App: found by their external id, made, and changed.

Source: https://docs.github.com/en/rest/checks/runs. Only Apps may write them, each its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from bot.github.client import Client
from bot.github.model import AppInfo
from bot.github.names import RepoRef
from bot.github.wire import CheckRunBody, CheckRunList

Status = Literal["queued", "in_progress", "completed"]
Conclusion = Literal["success", "neutral", "failure", "skipped", "cancelled", "action_required"]

_ABSENT = frozenset({404})


class Button(msgspec.Struct, frozen=True):
    """At most 20 characters of label and identifier, 40 of description. Shown once the check run has completed."""

    label: str
    description: str
    identifier: str


class CheckRun(msgspec.Struct, frozen=True):
    """What a check run is to show; `conclusion` where, and only where, it is completed."""

    name: str
    external_id: str
    details_url: str
    status: Status
    title: str
    summary: str
    conclusion: Conclusion | None = None
    buttons: tuple[Button, ...] = ()


class Standing(msgspec.Struct, frozen=True):
    """A check run as GitHub lists it. `completed`: it never runs again."""

    id: int
    external_id: str
    completed: bool


class Checks:
    def __init__(self, client: Client, app: Callable[[], Awaitable[AppInfo]]) -> None:
        self._client = client
        self._app = app

    async def ours(self, repo: RepoRef, head_sha: str, name: str) -> list[Standing]:
        """Each check run of ours of that name on that commit, in the order they were made."""
        app = await self._app()
        found: dict[int, Standing] = {}
        pages = self._client.pages(
            repo.installation_id,
            "/repos/{owner}/{repo}/commits/{ref}/check-runs{?check_name,filter,app_id,per_page}",
            "look for the check run",
            owner=repo.owner,
            repo=repo.name,
            ref=head_sha,
            check_name=name,
            filter="all",
            app_id=app.id,
            per_page=100,
        )
        async for page in pages:
            for body in page.read(CheckRunList).check_runs:
                if body.app is not None and body.app.id == app.id:
                    found[body.id] = Standing(body.id, body.external_id or "", body.status == "completed")
        return [found[check_id] for check_id in sorted(found)]

    async def create(self, repo: RepoRef, head_sha: str, shown: CheckRun) -> int:
        """Make it on that commit, of a fork too; its id. A retryable Fault leaves open whether it was made."""
        answer = await self._client.write(
            repo.installation_id,
            "POST",
            "/repos/{owner}/{repo}/check-runs",
            "show a check run",
            body={"head_sha": head_sha, **_body(shown)},
            owner=repo.owner,
            repo=repo.name,
        )
        return answer.read(CheckRunBody).id

    async def update(self, repo: RepoRef, check_id: int, shown: CheckRun) -> bool:
        """Make it show this. False where there is no such check run. One that has completed never runs again."""
        answer = await self._client.write(
            repo.installation_id,
            "PATCH",
            "/repos/{owner}/{repo}/check-runs/{check_run_id}",
            "change the check run",
            body=_body(shown),
            accepts=_ABSENT,
            owner=repo.owner,
            repo=repo.name,
            check_run_id=check_id,
        )
        return answer.status != 404


def _body(shown: CheckRun) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": shown.name,
        "external_id": shown.external_id,
        "details_url": shown.details_url,
        "status": shown.status,
        "output": {"title": shown.title, "summary": shown.summary},
        "actions": [
            {"label": button.label, "description": button.description, "identifier": button.identifier}
            for button in shown.buttons
        ],
    }
    if shown.conclusion is not None:
        body["conclusion"] = shown.conclusion
    return body
