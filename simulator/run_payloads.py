"""Workflow runs and artifacts as GitHub's JSON."""

from __future__ import annotations

from typing import Any

from simulator.clock import stamp
from simulator.payloads import api_of, digest, minimal_repository, node_id, page_of, user
from simulator.state import Artifact, WorkflowRun
from simulator.world import World

Json = dict[str, Any]


def workflow_run(world: World, run: WorkflowRun) -> Json:
    api, page = api_of(world, run.repository), page_of(world, run.repository)
    url = f"{api}/actions/runs/{run.id}"
    where = minimal_repository(world, run.repository)
    author = {"name": run.actor.login, "email": f"{run.actor.id}@users.noreply.github.com"}
    return {
        "id": run.id,
        "name": run.workflow.rsplit(".", 1)[0],
        "node_id": node_id("WorkflowRun", run.id),
        "head_branch": run.branch,
        "head_sha": run.head_sha,
        "path": f".github/workflows/{run.workflow}",
        "display_title": run.message.partition("\n")[0],
        "run_number": run.number,
        "event": run.event,
        "status": run.status,
        "conclusion": run.conclusion,
        "workflow_id": run.workflow_id,
        "check_suite_id": run.id + 1,
        "check_suite_node_id": node_id("CheckSuite", run.id + 1),
        "url": url,
        "html_url": f"{page}/actions/runs/{run.id}",
        "pull_requests": [],
        "created_at": stamp(run.created_at),
        "updated_at": stamp(run.updated_at),
        "actor": user(world, run.actor),
        "triggering_actor": user(world, run.actor),
        "run_attempt": 1,
        "referenced_workflows": [],
        "run_started_at": stamp(run.created_at),
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": f"{api}/check-suites/{run.id + 1}",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": None,
        "workflow_url": f"{api}/actions/workflows/{run.workflow_id}",
        "head_commit": {
            "id": run.head_sha,
            "tree_id": run.head_sha,
            "message": run.message,
            "timestamp": stamp(run.created_at),
            "author": author,
            "committer": author,
        },
        "repository": where,
        "head_repository": where,
    }


def artifact(world: World, run: WorkflowRun, which: Artifact) -> Json:
    url = f"{api_of(world, run.repository)}/actions/artifacts/{which.id}"
    return {
        "id": which.id,
        "node_id": node_id("Artifact", which.id),
        "name": which.name,
        "size_in_bytes": len(which.content),
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": which.expires_at <= world.clock.now(),
        "digest": digest(which.content),
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.created_at),
        "expires_at": stamp(which.expires_at),
        "workflow_run": {
            "id": run.id,
            "repository_id": run.repository.id,
            "head_repository_id": run.repository.id,
            "head_branch": run.branch,
            "head_sha": run.head_sha,
        },
    }
