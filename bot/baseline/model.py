"""What a baseline is, where it is looked for, and what is said where there is none."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from bot.config.schema import Gate
from bot.github.names import RepoRef

Source = Literal["artifact", "mirror"]


class Tier(msgspec.Struct, frozen=True):
    """One gate of one repository: whose scheduled runs are meant. `number` is the tier's, as the mirror names it."""

    repo: RepoRef
    number: int
    gate: Gate
    default_branch: str


class Archive(msgspec.Struct, frozen=True):
    """What an operator set for baselines.

    `mirror` is where the tier workflows copy their reports (`gs://bucket/folder`), None where there is no such place.
    `folder` keeps reports that were read before. Reading the mirror takes at most `patience` seconds, retries included:
    a fraction of the effect's deadline.
    """

    folder: Path
    mirror: str | None = None
    patience: float = 45.0


class BaselinePin(msgspec.Struct, frozen=True):
    """One baseline, held fast: whatever the schedule does later, this run is judged against this report.

    `sha` is the commit that the scheduled run measured, `report` the report's JSON text as it was uploaded. From the
    mirror there is no artifact (`artifact_id` 0), and `source_reason` says in sentences why it had to be the mirror.
    """

    run_id: int
    run_url: str
    sha: str
    created_at: datetime
    artifact_id: int
    report: str
    source: Source = "artifact"
    source_reason: str = ""


class Located(msgspec.Struct, frozen=True):
    pin: BaselinePin


class Missing(msgspec.Struct, frozen=True):
    """There is no baseline to compare with; `reason` is sentences for the reviewer, with code spans only.

    `passing`: it may be there a little later, because something did not answer.
    """

    reason: str
    passing: bool = False
