"""The baseline of a gate: the report of the latest successful scheduled run of its workflow on the default branch.

Source: the zephyr perf-gate skill, "Locate the scheduled baseline". The bot never submits a baseline of its own, so
what cannot be located is a sentence for the reviewer, and no ferry is paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

from bot.baseline.artifact import LARGEST_ZIP, Unusable, report_in
from bot.config.schema import Gate
from bot.github.adapter import GitHub
from bot.github.model import Artifact, Gone, TooLarge, WorkflowRun
from bot.github.names import RepoRef
from bot.verdict.report import BadReport, PerfReport, parse_report


class BaselinePin(msgspec.Struct, frozen=True):
    """One baseline, held fast: whatever the schedule does later, this run is judged against this report.

    `sha` is the commit that the scheduled run measured, `report` the report's JSON text as it was uploaded.
    """

    run_id: int
    run_url: str
    sha: str
    created_at: datetime
    artifact_id: int
    report: str


@dataclass(frozen=True, slots=True)
class Located:
    pin: BaselinePin


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no baseline to compare with; `reason` is a sentence for the reviewer, with code spans only."""

    reason: str


async def locate(gh: GitHub, repo: RepoRef, gate: Gate, default_branch: str, now: datetime) -> Located | Missing:
    """Find, download and check the baseline. Fault only where GitHub could not be asked."""
    run = await gh.actions.latest_scheduled_success(repo, gate.workflow, default_branch)
    if run is None:
        return Missing(f"`{gate.workflow}` has no successful scheduled run on `{default_branch}`.")
    if (stranger := _not_from_the_schedule(run, default_branch)) is not None:
        return Missing(f"The {_of(run)} of `{gate.workflow}` {stranger}, so it is no baseline.")
    artifact = _choose(await gh.actions.artifacts(repo, run.id), gate.artifact)
    if artifact is None:
        return Missing(f"The {_of(run)} of `{gate.workflow}` left no artifact `{gate.artifact}`.")
    archive = Gone() if artifact.expired else await gh.actions.download(repo, artifact.id, limit=LARGEST_ZIP)
    if isinstance(archive, Gone):
        age = (now - run.created_at).days
        return Missing(f"The artifact `{gate.artifact}` of {_of(run)}, {age} days old, has expired or was deleted.")
    if isinstance(archive, TooLarge):
        return Missing(f"The artifact `{gate.artifact}` of {_of(run)} is larger than {archive.limit} bytes.")
    return _pinned(run, artifact, gate, archive)


def _pinned(run: WorkflowRun, artifact: Artifact, gate: Gate, archive: bytes) -> Located | Missing:
    text = report_in(archive)
    if isinstance(text, Unusable):
        return Missing(f"The artifact `{gate.artifact}` of {_of(run)} {text.problem}.")
    report = parse_report(text)
    if isinstance(report, BadReport):
        # In a code span, where nothing that the report says can act as Markdown.
        wrong = str(report).replace("`", "'")
        return Missing(f"The perf report of {_of(run)} cannot be used: `{wrong}`.")
    if (mismatch := _other_commit(run, report)) is not None:
        return Missing(mismatch)
    pin = BaselinePin(run.id, run.url, run.head_sha, run.created_at, artifact.id, text)
    return Located(pin)


def _not_from_the_schedule(run: WorkflowRun, default_branch: str) -> str | None:
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


def _choose(artifacts: list[Artifact], name: str) -> Artifact | None:
    """The latest of that name that can still be had, else the latest of that name."""
    named = [artifact for artifact in artifacts if artifact.name == name]
    return next((artifact for artifact in named if not artifact.expired), named[0] if named else None)


def _other_commit(run: WorkflowRun, report: PerfReport) -> str | None:
    if report.commit_sha is None or report.commit_sha.lower() == run.head_sha:
        return None
    # Shortened: long enough to tell two commits apart, and too short to be used as a message by whoever wrote it.
    said = "".join(char for char in report.commit_sha if char.isalnum())[:12]
    return f"The perf report of {_of(run)} was measured at `{said}`, but the run is of `{run.head_sha[:12]}`."


def _of(run: WorkflowRun) -> str:
    return f"scheduled run {run.id}"
