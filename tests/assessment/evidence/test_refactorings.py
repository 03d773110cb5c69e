"""What does the same work comes out as the first gate, in the hottest files too, and says what it looked for."""

from __future__ import annotations

import pytest

from tests.assessment.evidence.package_of_zephyr import FILES, ROOT, edited

HELPER = """    def _target_of(self, item):
        key = self._key_fn(item)
        return deterministic_hash(key) % self._num_output_shards

    def write(self, item):
        target = self._target_of(item)
"""


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(
            [
                (
                    "shuffle.py",
                    "    def write(self, item):\n        key = self._key_fn(item)\n"
                    "        target = deterministic_hash(key) % self._num_output_shards\n",
                    HELPER,
                )
            ],
            id="helper extracted from the innermost loop",
        ),
        pytest.param(
            [
                (
                    "external_sort.py",
                    "    budget = int(memory_limit * fraction)\n    fan_in = budget //",
                    "    fan_in = int(memory_limit * fraction) //",
                )
            ],
            id="an intermediate result loses its name",
        ),
        pytest.param(
            [
                (
                    "writers.py",
                    "    if folder:\n        os.makedirs(folder, exist_ok=True)",
                    "    if not folder:\n        return\n    os.makedirs(folder, exist_ok=True)",
                )
            ],
            id="early return",
        ),
        pytest.param(
            [
                (
                    "plan.py",
                    "            sources.append(SourceItem(len(sources), path, rows=splits(path)))\n        else:\n"
                    "            sources.append(SourceItem(len(sources), path, rows=None))\n",
                    "            rows = splits(path)\n        else:\n            rows = None\n"
                    "        sources.append(SourceItem(len(sources), path, rows=rows))\n",
                )
            ],
            id="merged branches in the planner",
        ),
        pytest.param(
            [
                (
                    "stats.py",
                    "def emit",
                    "def per_second(n, elapsed):\n    return n / elapsed if elapsed > 0 else 0.0\n\n\ndef emit",
                ),
                (
                    "stats.py",
                    "items / elapsed if elapsed > 0 else 0.0\n    byte",
                    "per_second(items, elapsed)\n    byte",
                ),
                ("stats.py", "size / elapsed if elapsed > 0 else 0.0", "per_second(size, elapsed)"),
            ],
            id="shared helper of statistics",
        ),
        pytest.param(
            [("shuffle.py", 'logger.info("closed', 'logger.debug("closing")\n        logger.info("closed')],
            id="one more log line per shard",
        ),
        pytest.param([("plan.py", "nothing to read", "no source to read")], id="text of an error"),
        pytest.param([("stats.py", "LENGTH = 200", "LENGTH = 300")], id="length of a shown text"),
        pytest.param([("shuffle.py", "SECONDS = 60.0", "SECONDS = 30.0")], id="how often progress is logged"),
    ],
)
def test_the_same_work_is_gate_1(edits: list[tuple[str, str, str]]) -> None:
    result = edited(*edits)
    assert result.max_gate == "1", result.rationale
    for answers in result.per_file.values():
        assert not answers.trivial
        assert answers.climbs == ()


def test_code_that_moves_to_another_file_is_gate_1() -> None:
    function = (
        FILES["external_sort.py"].split("_WRITE_BATCH_SIZE = 10_000")[1].split("\n\n\ndef external_sort_merge")[0]
    )
    result = edited(
        ("external_sort.py", function, ""), ("writers.py", "\n\n\ndef ensure", function + "\n\n\ndef ensure")
    )
    assert result.max_gate == "1", result.rationale
    assert result.per_file[f"{ROOT}/writers.py"].summary.startswith("moves in compute_fan_in")
    assert result.per_file[f"{ROOT}/external_sort.py"].summary.startswith("moves out compute_fan_in")
