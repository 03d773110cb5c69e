"""A tier's scheduled runs as GitHub's API tells them: the one word by which a report is believed."""

from __future__ import annotations

from bot.baseline.model import Tier
from bot.github.adapter import GitHub
from bot.github.model import WorkflowRun
from bot.verdict.report import PerfReport

# Two months of a daily tier: three times the history that noise is told by, in one answer of about a megabyte.
LISTED = 60


async def scheduled_runs(gh: GitHub, tier: Tier) -> list[WorkflowRun]:
    """The latest successful runs that the schedule started on the default branch, newest first. One request."""
    return await scheduled_successes(gh, tier, most=LISTED)


async def scheduled_successes(gh: GitHub, tier: Tier, *, most: int) -> list[WorkflowRun]:
    """The same, at most so many."""
    return await gh.actions.scheduled_successes(tier.repo, tier.gate.workflow, tier.default_branch, most=most)


def not_from_the_schedule(run: WorkflowRun, default_branch: str) -> str | None:
    """GitHub was asked for just that; an answer that says otherwise must not become the measure of a pull request."""
    if run.event != "schedule":
        return "was not started by the schedule"
    if run.conclusion != "success":
        return "was not successful"
    if run.head_branch != default_branch:
        return f"did not run on `{default_branch}`"
    if run.head_repository_id not in {None, run.repository_id}:
        return "ran the code of another repository"
    return None


def same_commit(run: WorkflowRun, report: PerfReport) -> bool:
    return report.commit_sha is not None and report.commit_sha.lower() == run.head_sha


def of(run: WorkflowRun) -> str:
    return f"scheduled run {run.id}"
