"""A value with a name, an accessor with another, a result without one are the same work; what is gone is not."""

from __future__ import annotations

import pytest

from bot.assessment.assess import assess
from bot.assessment.model import FileChange
from bot.config.load import builtin_config

PATH = "lib/zephyr/src/zephyr/shuffle.py"
BASE = """
_SUFFIX = ".spill"


class ScatterReader:
    @property
    def total_chunks(self):
        return len(self._chunks)

    def _merge_sorted_chunks(self, folder):
        if self.total_chunks == 0:
            return
        yield from _merge_sorted_frames(self.get_frames(), folder, self.total_chunks)

    def get_frames(self):
        frames = []
        for chunk in self._chunks:
            frames.append(scan_parquet(chunk.path).filter(col("shard") == self._target).drop("shard"))
        return frames


def _groups(frames, fan_in):
    return [frames[i : i + fan_in] for i in range(0, len(frames), fan_in)]


def _merge_sorted_frames(frames, folder, fan_in):
    groups = _groups(frames, fan_in)
    runs = []
    for number, group in enumerate(groups):
        with open_run(folder, number, block_size=4096) as output:
            merge_sorted(group).sink_parquet(output, compression="zstd")
        with open_run(folder, number, block_size=4096) as again:
            runs.append(again)
    yield from merge_sorted(runs)
"""
NAMED = '_SUFFIX = ".spill"\n_COMPRESSION = "zstd"\n'


def gate(*edits: tuple[str, str]) -> str:
    head = BASE
    for old, new in edits:
        assert old in head
        head = head.replace(old, new)
    config = builtin_config()
    change = FileChange(PATH, "modified", None, BASE.encode(), head.encode())
    return assess([change], config.scope, config.modules).max_gate


def test_a_value_that_gets_a_name_is_the_same_value() -> None:
    assert gate(('_SUFFIX = ".spill"\n', NAMED), ('compression="zstd"', "compression=_COMPRESSION")) == "1"


def test_a_value_that_gets_the_name_of_another_is_another() -> None:
    other = NAMED.replace("zstd", "lz4")
    assert gate(('_SUFFIX = ".spill"\n', other), ('compression="zstd"', "compression=_COMPRESSION")) == "3"


def test_an_accessor_with_another_name_is_gate_1() -> None:
    assert gate(("total_chunks", "number_of_chunks")) == "1"


def test_a_result_that_is_gone_through_at_once_is_held_as_before() -> None:
    assert (
        gate(
            ("    groups = _groups(frames, fan_in)\n", ""), ("enumerate(groups)", "enumerate(_groups(frames, fan_in))")
        )
        == "1"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('.filter(col("shard") == self._target)', "", id="rows of every shard are read"),
        pytest.param("block_size=4096) as again", ") as again", id="one of two streams loses its buffer's size"),
        pytest.param("for chunk in self._chunks:", "for chunk in self._chunks[:1]:", id="only the first chunk is read"),
    ],
)
def test_what_is_no_longer_said_is_told(old: str, new: str) -> None:
    assert gate((old, new)) == "3"
