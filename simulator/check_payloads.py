"""Check runs and check suites as GitHub's JSON."""

from __future__ import annotations

from typing import Any

from simulator.clock import stamp, stamp_or_none
from simulator.payloads import api_of, app, node_id, page_of
from simulator.state import CheckRun, CheckSuite, Pull
from simulator.world import World

Json = dict[str, Any]


def pull_requests(world: World, suite: CheckSuite) -> list[Json]:
    """Open pull requests of this head, where it is a branch of the repository itself: of forks GitHub says none."""
    return [
        {
            "id": pull.id + 1,
            "number": pull.number,
            "url": f"{api_of(world, suite.repository)}/pulls/{pull.number}",
            "head": _end(world, suite, pull.head_ref, pull.head_sha),
            "base": _end(world, suite, pull.base_ref, pull.base_sha),
        }
        for pull in _pulls(suite)
    ]


def _pulls(suite: CheckSuite) -> list[Pull]:
    return [
        issue
        for issue in suite.repository.issues.values()
        if isinstance(issue, Pull)
        and issue.state == "open"
        and issue.head_sha == suite.head_sha
        and issue.head_repository is suite.repository
    ]


def _end(world: World, suite: CheckSuite, ref: str, sha: str) -> Json:
    where = suite.repository
    return {"ref": ref, "sha": sha, "repo": {"id": where.id, "url": api_of(world, where), "name": where.name}}


def check_run(world: World, run: CheckRun) -> Json:
    """As the REST API shows it."""
    url = f"{api_of(world, run.suite.repository)}/check-runs/{run.id}"
    return {
        "id": run.id,
        "node_id": node_id("CheckRun", run.id),
        "head_sha": run.suite.head_sha,
        "external_id": run.external_id,
        "url": url,
        "html_url": f"{page_of(world, run.suite.repository)}/runs/{run.id}",
        "details_url": run.details_url,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": stamp(run.started_at),
        "completed_at": stamp_or_none(run.completed_at),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": 0,
            "annotations_url": f"{url}/annotations",
        },
        "name": run.name,
        "check_suite": {"id": run.suite.id},
        "app": app(world, run.suite.app),
        "pull_requests": pull_requests(world, run.suite),
    }


def check_run_of_event(world: World, run: CheckRun) -> Json:
    """As webhooks carry it: with its suite."""
    outline = suite_outline(world, run.suite)
    return {**check_run(world, run), "check_suite": outline}


def suite_outline(world: World, suite: CheckSuite) -> Json:
    pulls = _pulls(suite)
    return {
        "id": suite.id,
        "node_id": node_id("CheckSuite", suite.id),
        "head_branch": pulls[0].head_ref if pulls else None,
        "head_sha": suite.head_sha,
        "status": suite.status,
        "conclusion": suite.conclusion,
        "url": f"{api_of(world, suite.repository)}/check-suites/{suite.id}",
        "before": None,
        "after": suite.head_sha,
        "pull_requests": pull_requests(world, suite),
        "app": app(world, suite.app),
        "created_at": stamp(suite.created_at),
        "updated_at": stamp(suite.updated_at),
    }


async def check_suite(world: World, suite: CheckSuite) -> Json:
    """As the events of the suite itself carry it: with its commit."""
    git = suite.repository.git
    shown = await git.run("log", "-1", "--format=%T%n%an%n%ae%n%cI%n%B", suite.head_sha)
    tree, name, email, when, message = shown.decode(errors="replace").split("\n", 4)
    person = {"name": name, "email": email}
    return {
        **suite_outline(world, suite),
        "latest_check_runs_count": len(suite.runs),
        "check_runs_url": f"{api_of(world, suite.repository)}/check-suites/{suite.id}/check-runs",
        "head_commit": {
            "id": suite.head_sha,
            "tree_id": tree,
            "message": message.strip(),
            "timestamp": when,
            "author": person,
            "committer": person,
        },
    }
