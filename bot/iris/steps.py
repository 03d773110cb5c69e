"""Which ferry step a child job belongs to, by its name.

Three forms are known, all below a root job:
    zephyr-normalize-c3f17b03-p0-a0[/zephyr-normalize-c3f17b03-p0-workers-a0]                      Iris of June 2026
    zephyr-normalize-79153c99-coordinator-723f8b4d[/…-coordinator-723f8b4d-workers]                later
    zephyr-normalize-c3f17b03-p0-a0-coord, …-workers, or the same without the step below one with it      earlier
A step may run several pipelines one after another (p0, p1, …), and a pipeline several attempts: another `a<N>`, or
another hash with the same p<N> when the ferry's step runner tried again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from bot.iris.records import Job

# Levanter's cache copy and probe are the end of tokenizing: the upstream collector counts them as tokenize.
STEP_OF_PREFIX = {
    "zephyr-download-hf-": "download",
    "zephyr-normalize-": "normalize",
    "zephyr-minhash-attrs-": "minhash",
    "zephyr-fuzzy-dups-": "fuzzy_dups",
    "zephyr-consolidate-filter-": "consolidate",
    "zephyr-tokenize-train-": "tokenize",
    "zephyr-levanter-cache-copy-": "tokenize",
    "zephyr-levanter-cache-probe-": "tokenize",
}
_WORKERS = re.compile(r"-workers(-|$)")
_CONTEXT = re.compile(r"^[0-9a-f]+")
_PIPELINE = re.compile(r"-p(\d+)(?=-|$)")
_ATTEMPT = re.compile(r"-a(\d+)(?=-|$)")
# A step that did not get through: what came later in its place counts instead.
_LOST = frozenset({"failed", "worker_failed", "unschedulable"})


class Pipeline(msgspec.Struct, frozen=True):
    """A direct child of the root job that ran one pipeline of a step. `number` and `attempt` are None where unnamed."""

    job: Job
    step: str
    prefix: str
    context: str
    number: int | None
    attempt: int | None


def pipeline(root_id: str, job: Job) -> Pipeline | None:
    """What this job is to the ferry, None for the root, grandchildren, worker pools and jobs of no known step.

    Only direct children count: workers run inside their coordinator's time.
    """
    name = job.id.removeprefix(f"{root_id}/")
    if name == job.id or "/" in name or _WORKERS.search(name):
        return None
    for prefix, step in STEP_OF_PREFIX.items():
        if name.startswith(prefix):
            rest = name[len(prefix) :]
            context = _CONTEXT.match(rest)
            return Pipeline(
                job,
                step,
                prefix,
                context[0] if context else "",
                _number(_PIPELINE.search(f"-{rest}")),
                _number(_ATTEMPT.search(f"-{rest}")),
            )
    return None


def step_of(root_id: str, job_id: str) -> str | None:
    """The step a job anywhere in the tree works for."""
    name = job_id.removeprefix(f"{root_id}/")
    if name == job_id:
        return None
    return next((step for prefix, step in STEP_OF_PREFIX.items() if name.startswith(prefix)), None)


def latest_attempts(pipelines: Iterable[Pipeline]) -> tuple[list[Pipeline], list[Pipeline]]:
    """(those that count, those that were superseded by a later attempt of the same pipeline).

    Of one context and pipeline the highest attempt counts. Across contexts a lost one is superseded by any later one of
    the same pipeline number; so is a killed one where pipelines are numbered (a coordinator left over from an earlier
    attempt). Without numbers a killed coordinator is how newer Zephyr ends a good pipeline, so it counts.
    """
    same: dict[tuple[str, str, int | None], list[Pipeline]] = defaultdict(list)
    for item in pipelines:
        same[item.prefix, item.context, item.number].append(item)
    current: list[Pipeline] = []
    superseded: list[Pipeline] = []
    for group in same.values():
        numbered = [p for p in group if p.attempt is not None]
        newest = max((p.attempt or 0 for p in numbered), default=0)
        for item in group:
            (superseded if item.attempt is not None and item.attempt < newest else current).append(item)
    for item in list(current):
        if _given_up(item) and any(_replaces(other, item) for other in current):
            current.remove(item)
            superseded.append(item)
    return current, superseded


def _given_up(item: Pipeline) -> bool:
    return item.job.state in _LOST or (item.job.state == "killed" and item.number is not None)


def _replaces(other: Pipeline, item: Pipeline) -> bool:
    later = (other.job.submitted_ms or 0) > (item.job.submitted_ms or 0)
    return later and (other.prefix, other.number) == (item.prefix, item.number) and other.context != item.context


def _number(match: re.Match[str] | None) -> int | None:
    return int(match[1]) if match else None
