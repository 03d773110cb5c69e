"""Thread dumps as recorded on real clusters: who is at work, and who only seems to be."""

from __future__ import annotations

import pytest

from bot.iris.threads import parse
from bot.watching.look import Threads
from tests.iris.recorded import FIXTURES


def dump(name: str) -> str:
    return (FIXTURES / "threads" / f"{name}.txt").read_text("utf-8")


def test_a_coordinator_at_work_waits_for_its_stage() -> None:
    found = parse(dump("coordinator"), "/bot/demo3/c")
    assert found == Threads("/bot/demo3/c", 9, pool=2, idle=1, waits_for_stage=True, loops=True)
    assert not found.zombie


def test_the_same_coordinator_after_its_pipeline_returned_is_a_zombie() -> None:
    found = parse(dump("zombie"), "/bot/demo3/c")
    assert found == Threads("/bot/demo3/c", 9, pool=2, idle=2, waits_for_stage=False, loops=True)
    assert found.zombie


@pytest.mark.parametrize("name", ["worker", "later_worker"])
def test_a_worker_is_no_zombie_coordinator(name: str) -> None:
    found = parse(dump(name), "/bot/demo3/w")
    assert found is not None
    assert not found.zombie


def test_only_the_process_itself_counts_and_not_its_children() -> None:
    found = parse(dump("worker"), "/bot/demo3/w")
    assert found is not None
    assert found.total == 7


def test_a_thread_that_collects_results_is_at_work() -> None:
    busy = dump("zombie").replace(
        '"actor-method_0"\n    _worker',
        '"actor-method_0"\n    ZephyrCoordinator._collect_results (zephyr/e.py:1)\n    _worker',
    )
    found = parse(busy, "/bot/demo3/c")
    assert found is not None
    assert (found.idle, found.zombie) == (1, False)


@pytest.mark.parametrize("text", ["", "py-spy: permission denied", "Process 12: python\nPython v3.11"])
def test_what_is_no_dump_says_nothing(text: str) -> None:
    assert parse(text, "/bot/demo3/c") is None
