"""Workflow runs and their artifacts; the download leads to another origin."""

from __future__ import annotations

import operator

from simulator.artifacts import signed_address
from simulator.call import Call, Reply
from simulator.clock import stamp
from simulator.errors import Refusal, not_found
from simulator.paging import page
from simulator.run_payloads import artifact as artifact_payload
from simulator.run_payloads import workflow_run
from simulator.state import Repository, WorkflowRun


async def list_runs(call: Call) -> Reply:
    """Newest first. `status` is compared with the status and with the conclusion, as GitHub does."""
    repository = call.repository("actions", "read")
    workflow = call.params["workflow_id"]
    if not await _exists(repository, workflow):
        raise not_found()
    query = call.query
    runs = [
        run
        for run in reversed(repository.runs)
        if workflow in {run.workflow, str(run.workflow_id)}
        and query.get("branch", run.branch) == run.branch
        and query.get("event", run.event) == run.event
        and query.get("actor", run.actor.login) == run.actor.login
        and query.get("head_sha", run.head_sha) == run.head_sha
        and query.get("status", run.status) in {run.status, run.conclusion}
        and _created_within(run, query.get("created"))
    ]
    runs.sort(key=lambda run: run.created_at, reverse=True)
    shown, headers = page(call, runs)
    body = {"total_count": len(runs), "workflow_runs": [workflow_run(call.world, run) for run in shown]}
    return Reply(200, body, headers)


async def _exists(repository: Repository, workflow: str) -> bool:
    if workflow in repository.workflows or workflow in {str(number) for number in repository.workflows.values()}:
        return True
    head = await repository.git.resolve(f"refs/heads/{repository.default_branch}")
    return bool(head and await repository.git.ls_tree(head, f".github/workflows/{workflow}"))


def _created_within(run: WorkflowRun, wanted: str | None) -> bool:
    """GitHub's date syntax: `>=X`, `<=X`, `>X`, `<X`, `X..Y` or `X`; a shorter X is a prefix."""
    if wanted is None:
        return True
    when = stamp(run.created_at)
    if ".." in wanted:
        start, end = wanted.split("..", 1)
        return start <= when[: len(start)] and when[: len(end)] <= end
    for sign, compare in ((">=", operator.ge), ("<=", operator.le), (">", operator.gt), ("<", operator.lt)):
        if wanted.startswith(sign):
            limit = wanted.removeprefix(sign)
            return bool(compare(when[: len(limit)], limit))
    return when.startswith(wanted)


async def list_artifacts(call: Call) -> Reply:
    repository = call.repository("actions", "read")
    run = call.world.run(repository, call.number("run_id"))
    if run is None:
        raise not_found()
    found = [one for one in run.artifacts if call.query.get("name", one.name) == one.name]
    shown, headers = page(call, found)
    body = {"total_count": len(found), "artifacts": [artifact_payload(call.world, run, one) for one in shown]}
    return Reply(200, body, headers)


async def download_artifact(call: Call) -> Reply:
    """302 to a signed address that lives one minute; 410 once the artifact has expired."""
    repository = call.repository("actions", "read")
    wanted = call.number("artifact_id")
    if call.params["archive_format"] != "zip":
        raise not_found()
    for run in repository.runs:
        for artifact in run.artifacts:
            if artifact.id == wanted:
                if artifact.expires_at <= call.world.clock.now():
                    raise Refusal(410, "Artifact has expired")
                return Reply(302, None, {"Location": signed_address(call.world, artifact.id)})
    raise not_found()
