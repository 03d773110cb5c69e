"""What was recorded on real clusters (tests/iris/fixtures), read as the adapter reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bot.iris import records, status_file
from bot.iris.collect import Ferry
from bot.iris.records import Job, Task
from bot.iris.status_file import StatusFile

FIXTURES = Path(__file__).parent / "fixtures"
DEMO_STEPS = ("download", "normalize", "tokenize")


def load(*parts: str) -> Any:
    return json.loads(FIXTURES.joinpath(*parts).read_text())


def tree(name: str) -> list[Job]:
    """The job tree of a recording, the root first."""
    return sorted((records.job(job) for job in load(name, "jobs.json")["jobs"]), key=lambda job: job.submitted_ms or 0)


def tasks(name: str) -> dict[str, list[Task]]:
    recorded = load(name, "tasks.json").items()
    return {job_id: [records.task(task) for task in answer["tasks"]] for job_id, answer in recorded}


def failed_task(name: str) -> Task:
    return records.task(load("failures", f"{name}.json")["tasks"][0])


def said(name: str) -> StatusFile:
    return status_file.parse((FIXTURES / name / "status.json").read_bytes())


def ferry(name: str, **changes: Any) -> Ferry:
    jobs = changes.pop("tree", None) or tree(name)
    values: dict[str, Any] = {
        "root": jobs[0],
        "tree": jobs,
        "tasks": changes.pop("tasks", None) or tasks(name),
        "status": changes.pop("status", None) or said(name),
        "expected_steps": DEMO_STEPS,
        "ferry_module": "experiments.ferries.datakit_ferry",
        "commit_sha": "c" * 40,
    }
    return Ferry(**(values | changes))
