"""The report that a scheduled run uploaded as its artifact, downloaded and checked."""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.baseline.artifact import LARGEST_ZIP, Unusable, report_in
from bot.baseline.model import Missing, Tier
from bot.baseline.scheduled import of, same_commit
from bot.github.adapter import GitHub
from bot.github.model import Artifact, Gone, TooLarge, WorkflowRun
from bot.verdict.report import BadReport, PerfReport, parse_report


class Uploaded(msgspec.Struct, frozen=True):
    artifact_id: int
    text: str
    report: PerfReport


async def uploaded(gh: GitHub, tier: Tier, run: WorkflowRun, now: datetime) -> Uploaded | Missing:
    """Two requests and a download. Fault only where GitHub could not be asked."""
    name = tier.gate.artifact
    artifact = _choose(await gh.actions.artifacts(tier.repo, run.id), name)
    if artifact is None:
        return Missing(f"The {of(run)} of `{tier.gate.workflow}` left no artifact `{name}`.")
    archive = Gone() if artifact.expired else await gh.actions.download(tier.repo, artifact.id, limit=LARGEST_ZIP)
    if isinstance(archive, Gone):
        age = (now - run.created_at).days
        return Missing(f"The artifact `{name}` of {of(run)}, {age} days old, has expired or was deleted.")
    if isinstance(archive, TooLarge):
        return Missing(f"The artifact `{name}` of {of(run)} is larger than {archive.limit} bytes.")
    text = report_in(archive)
    if isinstance(text, Unusable):
        return Missing(f"The artifact `{name}` of {of(run)} {text.problem}.")
    return _checked(run, artifact, text)


def _checked(run: WorkflowRun, artifact: Artifact, text: str) -> Uploaded | Missing:
    report = parse_report(text)
    if isinstance(report, BadReport):
        # In a code span, where nothing that the report says can act as Markdown.
        wrong = str(report).replace("`", "'")
        return Missing(f"The perf report of {of(run)} cannot be used: `{wrong}`.")
    if report.commit_sha is not None and not same_commit(run, report):
        # Shortened: long enough to tell two commits apart, and too short to be used as a message by whoever wrote it.
        said = "".join(char for char in report.commit_sha if char.isalnum())[:12]
        return Missing(
            f"The perf report of {of(run)} was measured at `{said}`, but the run is of `{run.head_sha[:12]}`."
        )
    return Uploaded(artifact.id, text, report)


def _choose(artifacts: list[Artifact], name: str) -> Artifact | None:
    """The latest of that name that can still be had, else the latest of that name."""
    named = [artifact for artifact in artifacts if artifact.name == name]
    return next((artifact for artifact in named if not artifact.expired), named[0] if named else None)
