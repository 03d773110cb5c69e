"""A thread dump of a coordinator, as py-spy prints it.

    Thread 22944 (idle): "actor-method_1"
        _worker (concurrent/futures/thread.py:81)
        Thread.run (threading.py:982)
The innermost frame comes first. The threads that serve calls are those of a pool: `_worker` is below all they do.
"""

from __future__ import annotations

import re

from bot.watching.look import Threads

_THREAD = re.compile(r'^Thread \S+ \([^)]*\)(?:: "(?P<name>[^"]*)")?')
_POOL = re.compile(r"^_worker \(.*concurrent/futures/thread\.py:\d+\)$")
# Actors are served by a pool of this name; other pools of the process say nothing about its pipeline.
_SERVING = "actor-method"


def parse(dump: str, job_id: str) -> Threads | None:
    """None where the text is no dump of the process that `job_id` names."""
    # Children of the process are printed after it.
    threads = _threads(re.split(r"^-{20,}$", dump, maxsplit=1, flags=re.MULTILINE)[0])
    if not threads:
        return None
    pool = [frames for name, frames in threads if name.startswith(_SERVING)]
    # A dump without names: any pool thread may be the one.
    pool = pool or [frames for _, frames in threads if any(map(_POOL.match, frames))]
    everything = [frame for _, frames in threads for frame in frames]
    return Threads(
        job_id=job_id,
        total=len(threads),
        pool=len(pool),
        idle=sum(bool(frames and _POOL.match(frames[0])) for frames in pool),
        waits_for_stage=any("_wait_for_stage" in frame for frame in everything),
        loops=any("_coordinator_loop" in frame for frame in everything),
    )


def _threads(dump: str) -> list[tuple[str, list[str]]]:
    """(name, frames, the innermost first) of each thread."""
    found: list[tuple[str, list[str]]] = []
    for line in dump.splitlines():
        if match := _THREAD.match(line):
            found.append((match["name"] or "", []))
        elif found and line.startswith("    "):
            found[-1][1].append(line.strip())
    return found
