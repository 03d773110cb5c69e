"""Scheduled workflow runs and what they left behind."""

from __future__ import annotations

import aiohttp
from yarl import URL

from bot.faults import Fault
from bot.github.client import Client
from bot.github.model import Artifact, Gone, TooLarge, WorkflowRun
from bot.github.names import RepoRef
from bot.github.transport import location_of, read_bounded, unreachable
from bot.github.wire import ArtifactBody, ArtifactList, RunBody, RunList

_DOWNLOAD_TIMEOUT = aiohttp.ClientTimeout(total=120, sock_connect=10)
_DOING = "download a workflow artifact"


class Actions:
    """`bare` is a session without credentials, for the storage that artifacts are kept in."""

    def __init__(self, client: Client, bare: aiohttp.ClientSession) -> None:
        self._client = client
        self._bare = bare

    async def scheduled_successes(self, repo: RepoRef, workflow: str, branch: str, *, most: int) -> list[WorkflowRun]:
        """The latest successful runs that the schedule started on `branch`, newest first, at most 100 of them.

        None of them without the workflow. `workflow` is the file's name without its folder.
        """
        answer = await self._client.look_up(
            repo.installation_id,
            "/repos/{owner}/{repo}/actions/workflows/{workflow}/runs{?branch,event,status,per_page}",
            "look up the scheduled runs",
            owner=repo.owner,
            repo=repo.name,
            workflow=workflow,
            branch=branch,
            event="schedule",
            status="success",
            per_page=most,
        )
        runs = [] if answer is None else answer.read(RunList).workflow_runs
        return sorted(map(_workflow_run, runs), key=lambda run: (run.created_at, run.id), reverse=True)

    async def artifacts(self, repo: RepoRef, run_id: int) -> list[Artifact]:
        """Everything the run uploaded, latest first: a re-run attempt uploads under the same name again."""
        found: list[ArtifactBody] = []
        pages = self._client.pages(
            repo.installation_id,
            "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts{?per_page}",
            "list the artifacts of a workflow run",
            owner=repo.owner,
            repo=repo.name,
            run_id=run_id,
            per_page=100,
        )
        async for page in pages:
            found += page.read(ArtifactList).artifacts
        latest_first = sorted(found, key=lambda body: body.id, reverse=True)
        return [Artifact(body.id, body.name, body.expired, body.size_in_bytes) for body in latest_first]

    async def download(self, repo: RepoRef, artifact_id: int, *, limit: int) -> bytes | Gone | TooLarge:
        """The artifact's zip, of at most `limit` bytes."""
        answer = await self._client.get(
            repo.installation_id,
            "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip",
            _DOING,
            accepts=frozenset({302, 404, 410}),
            owner=repo.owner,
            repo=repo.name,
            artifact_id=artifact_id,
        )
        if answer.status in {404, 410}:
            return Gone()
        address = location_of(answer)
        if answer.status != 302 or address is None or address.scheme not in {"http", "https"}:
            raise Fault("GitHub did not say where the workflow artifact lies.", f"HTTP {answer.status}", retryable=True)
        return await self._fetch(address, limit)

    async def _fetch(self, address: URL, limit: int) -> bytes | Gone | TooLarge:
        """The storage answers 400 or 403 when an Authorization header comes along; the address holds for one minute."""
        try:
            async with self._bare.get(address, allow_redirects=False, timeout=_DOWNLOAD_TIMEOUT) as response:
                if response.status in {404, 410}:
                    return Gone()
                if response.status != 200:
                    # Retried from the start: that gets a new address. The address itself is a secret for its minute.
                    public = f"The storage of workflow artifacts refused the download (HTTP {response.status})."
                    raise Fault(public, f"{address.host}{address.path}", retryable=True)
                body = await read_bounded(response, limit)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(_DOING, error) from error
        return TooLarge(limit) if body is None else body


def _workflow_run(body: RunBody) -> WorkflowRun:
    head = body.head_repository
    return WorkflowRun(
        id=body.id,
        head_sha=body.head_sha,
        created_at=body.created_at,
        url=body.html_url,
        event=body.event,
        head_branch=body.head_branch,
        conclusion=body.conclusion,
        repository_id=body.repository.id,
        repository_full_name=body.repository.full_name,
        head_repository_id=head.id if head else None,
    )
