"""The repository's own collector, where its default branch has one: the same script that wrote the baseline."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from bot.iris import process
from bot.iris.environment import child_environment
from bot.iris.process import Cage
from bot.iris.settings import IrisSettings

SCRIPT = Path("scripts/ci/collect_perf_metrics.py")
LARGEST_REPORT = 5 * 1024 * 1024


class NoReport(msgspec.Struct, frozen=True):
    """The script gave no usable report; `reason` is for the report's warnings."""

    reason: str


async def collect(
    settings: IrisSettings, cage: Cage, trusted: Path, job_id: str, status_path: str
) -> dict[str, Any] | NoReport | None:
    """Run the script of the trusted checkout. None where it has none.

    It runs with the interpreter beside the iris program, which has the packages it imports, and caged: it is trusted
    code, but it reads what the ferry wrote.
    """
    if not (trusted / SCRIPT).is_file():
        return None
    settings.home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="report-", dir=settings.home) as folder:
        out = Path(folder) / "perf-report.json"
        argv = [str(settings.command.parent / "python"), str(SCRIPT), "--job-id", job_id, "--status", status_path]
        argv += ["--out", str(out)]
        if settings.config is not None:
            argv += ["--iris-config", str(settings.config)]
        environment = child_environment(settings)
        caged = cage(argv, tree=trusted, environment=environment, writable=[settings.home])
        try:
            called = f"python {SCRIPT} --job-id {job_id}"
            done = await process.run(
                caged, cwd=trusted, environment=environment, within=settings.script_timeout, called=called
            )
        except OSError as error:
            return NoReport(f"could not be started: {error.strerror}")
        if done.timed_out:
            return NoReport("did not end in time")
        if done.exit_code != 0:
            return NoReport(f"ended with exit code {done.exit_code}: {done.last_words(1, 200)}")
        return _read(out, job_id)


def _read(out: Path, job_id: str) -> dict[str, Any] | NoReport:
    if not out.is_file() or out.stat().st_size > LARGEST_REPORT:
        return NoReport("wrote no report, or too large a one")
    try:
        report = json.loads(out.read_bytes())
        json.dumps(report, allow_nan=False)
    except (ValueError, RecursionError):
        return NoReport("wrote no JSON")
    return report if (problem := _problem(report, job_id)) is None else NoReport(problem)


def _problem(report: Any, job_id: str) -> str | None:
    if not isinstance(report, dict):
        return "wrote no JSON object"
    if report.get("iris_job_id") != job_id:
        return "reported on another job"
    if not _seconds(report.get("wall_seconds_total")):
        return "wrote a wall_seconds_total that is no number of seconds"
    stages = report.get("stage_wall_seconds")
    if not isinstance(stages, Mapping) or not all(_seconds(value) for value in stages.values()):
        return "wrote stage_wall_seconds that are not numbers of seconds"
    return None


def _seconds(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
