"""Why a task failed, as one of the report's `infra_failures` buckets.

The buckets and their order are the upstream collector's: preemption and memory first, because they explain what would
otherwise look like an application's failure.
"""

from __future__ import annotations

import re

from bot.iris.records import Task

BUCKETS = ("preempted", "oom", "hardware_fault", "scheduling_timeout", "application_failure", "other")

_OUT_OF_MEMORY = re.compile(r"\boom\b|oom[- _]?killed|out of memory|memoryerror")
_HARDWARE = re.compile(r"\btpu\b|hardware|node_failure")
_SCHEDULING = re.compile(r"schedul|time[d]?[ -]?out")
# 128 + SIGKILL from a shell or container, -SIGKILL from a plain process: as the kernel's out-of-memory killer does.
_KILLED = frozenset({137, -9})
_UNENDED = frozenset({"pending", "building", "running", "assigned", "missing", ""})


def classify(task: Task) -> str | None:
    """The bucket, or None for a task that did not fail.

    A killed task did not fail: a coordinator that is done has its remaining workers killed in every healthy run.
    """
    if task.state in {"succeeded", "killed"} or task.state in _UNENDED:
        return None
    error = task.error.lower()
    if task.state == "preempted" or "preempt" in error:
        return "preempted"
    if task.exit_code in _KILLED or _OUT_OF_MEMORY.search(error):
        return "oom"
    if _HARDWARE.search(error):
        return "hardware_fault"
    # With an exit code of its own the program ran, and a time-out it speaks of is the program's.
    if task.state == "unschedulable" or (not task.exit_code and _SCHEDULING.search(error)):
        return "scheduling_timeout"
    if task.state in {"failed", "worker_failed"}:
        return "application_failure"
    return "other"
