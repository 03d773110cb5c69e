"""Tidied statistics, planning and writing of later months, all of it the same work."""

from __future__ import annotations

import pytest

from tests.assessment.evidence.package_of_later_zephyr import edited

Edits = list[tuple[str, str, str]]

WORKER_STORIES: dict[str, Edits] = {
    "the sampler is given its context": [
        ("worker.py", "def sample(at_start, proc):", "def sample(at_start, proc, ctx):"),
        ("worker.py", "    stage_counters = counters.current_stage()\n", "    stage = ctx.current_stage_name()\n"),
        (
            "worker.py",
            "stage_counters.set_counter(CPU_KEY, proc.cpu_percent())",
            "ctx.set_counter(CPU_KEY, proc.cpu_percent(), stage=stage)",
        ),
        ("worker.py", "stage_counters.set_counter(MEM_KEY, rss)", "ctx.set_counter(MEM_KEY, rss, stage=stage)"),
        ("worker.py", "stage_counters.update_counter(PEAK_KEY, rss)", "ctx.update_counter(PEAK_KEY, rss, stage=stage)"),
        (
            "worker.py",
            "def periodic_sampler(stop, interval, at_start, proc):",
            "def periodic_sampler(stop, interval, at_start, proc, ctx):",
        ),
        ("worker.py", "        sample(at_start, proc)\n", "        sample(at_start, proc, ctx)\n"),
    ],
    "a status without its throughput": [
        (
            "worker.py",
            """        def build():
            values = {key: entry for key, entry in self._last.items() if entry.stage == self._stage}
            shown = throughput(values, 1.0) if self._stage else None
            if shown is not None:
                logger.info("throughput %s", shown)
            return status_text(self._active_count, self._stage)

        push_status(self._limiter, build)
""",
            "        push_status(self._limiter, lambda: status_text(self._active_count, self._stage))\n",
        ),
    ],
    "a status derived from the list of shards": [
        ("worker.py", '        self._active_count = 0\n        self._stage = ""\n', ""),
        ("worker.py", "        self._active_count += 1\n        self._stage = task.stage\n", ""),
        ("worker.py", "            self._active_count = max(0, self._active_count - 1)\n", ""),
        (
            "worker.py",
            "            return status_text(self._active_count, self._stage)\n",
            "            with self._lock:\n                active = list(self._active)\n"
            '            return status_text(len(active), active[-1].stage if active else "")\n',
        ),
    ],
    "no join of one text": [("worker.py", '"".join(traceback.format_exc())', "traceback.format_exc()")],
    "no copy that nobody reads": [("worker.py", "            task.last = dict(counters)\n", "")],
    "one fold for counters": [
        (
            "worker.py",
            """        current = {}
        for entry in entries:
            for name, value in entry.live_counters().items():
                if name not in current:
                    current[name] = CounterEntry(value, name)
                else:
                    current[name].merge(value)
        return current
""",
            "        return fold(pair for entry in entries for pair in entry.live_counters().items())\n",
        ),
        (
            "worker.py",
            "class ZephyrWorker:",
            """def fold(named):
    merged = {}
    for name, value in named:
        known = merged.get(name)
        if known is None:
            merged[name] = CounterEntry(value, name)
            continue
        known.merge(value)
    return merged


class ZephyrWorker:""",
        ),
    ],
    "two locals inlined": [
        ("stats.py", "    item_rate = per_second(items, elapsed)\n    byte_rate = per_second(size, elapsed)\n", ""),
        (
            "stats.py",
            "item_rate=item_rate, byte_rate=byte_rate",
            "item_rate=per_second(items, elapsed), byte_rate=per_second(size, elapsed)",
        ),
    ],
    "a format moves": [
        ("stats.py", "def format_bytes(n):\n    return humanfriendly.format_size(int(n), binary=True)\n\n\n", ""),
        (
            "writers.py",
            "def pickle_chunks(",
            "def format_bytes(n):\n    return humanfriendly.format_size(int(n), binary=True)\n\n\ndef pickle_chunks(",
        ),
    ],
    "totals of one stage": [
        ("stats.py", "run.merged().items() if entry.stage == run.stage}", "run.merged(run.stage).items()}"),
    ],
    "a path cleaned by a helper": [
        ("plan.py", 're.sub(r"(?<!:)//+", "/", pattern)', "StoragePath.normalize(pattern)"),
    ],
    "a literal gets a name": [
        (
            "plan.py",
            'counters.update_counter("zephyr/partitions_skipped", 1)',
            "counters.update_counter(counters.PARTITIONS_SKIPPED, 1)",
        ),
    ],
    "existence asked of the path": [
        (
            "plan.py",
            "                fs = url_to_fs(path)[0]\n                if fs.exists(path):\n",
            "                if StoragePath(path).exists():\n",
        ),
    ],
    "what a reducer reads is counted": [
        (
            "plan.py",
            "            stream = reduce_gen(",
            "            totals = counters.current_stage()\n"
            "            totals.set_counter(counters.SHUFFLE_BYTES, reader.payload_bytes)\n"
            "            stream = reduce_gen(",
        ),
    ],
}


@pytest.mark.parametrize("edits", WORKER_STORIES.values(), ids=WORKER_STORIES)
def test_tidied_statistics_and_planning_are_gate_1(edits: Edits) -> None:
    result = edited(*edits)
    assert result.max_gate == "1", (result.rationale, [answers.evidence for answers in result.per_file.values()])
