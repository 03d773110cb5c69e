"""What is put behind a flag that is off is judged as if it were deleted, and what is turned on as if it were new."""

from __future__ import annotations

import ast

import pytest

from bot.assessment.definitions import definitions
from bot.assessment.switches import Switches
from tests.assessment.evidence.package_of_zephyr import edited

HEARTBEAT = "                coordinator.heartbeat.remote(self._id).result()\n"
BUDGET = "    budget = int(memory_limit * fraction)\n"
WORKER, WRITERS = "class ZephyrWorker:\n", "_MICRO_BATCH_SIZE = 8\n"
BEHIND = f"                if {{}}:\n    {HEARTBEAT}"
OFF = (
    "False",
    "not True",
    'os.environ.get("ZEPHYR_OLD")',
    'os.environ.get("ZEPHYR_OLD", "0") == "1"',
    'bool(int(os.getenv("ZEPHYR_OLD", "0")))',
    'os.environ.get("ZEPHYR_OLD", "").strip().lower() in ("1", "true")',
    'os.environ.get("ZEPHYR_OLD") is not None',
)


@pytest.mark.parametrize("off", OFF)
def test_work_behind_a_flag_that_is_off_is_judged_as_if_it_were_deleted(off: str) -> None:
    deleted = edited(("execution.py", HEARTBEAT, ""))
    assert deleted.max_gate == "3"
    flagged = edited(
        ("execution.py", WORKER, f"_OLD = {off}\n\n\n{WORKER}"), ("execution.py", HEARTBEAT, BEHIND.format("_OLD"))
    )
    assert flagged.max_gate == "3", flagged.rationale
    (answers,) = flagged.per_file.values()
    assert any("once less calls result, by default" in item for item in answers.evidence), answers.evidence


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("class ZephyrWorker:\n    beats: bool = False\n\n", BEHIND.format("self.beats")),
        (f"_BEATS = False\n\n\n{WORKER}", f"                if _BEATS and self._id:\n    {HEARTBEAT}"),
        (
            f"_BEATS = False\n\n\n{WORKER}    def _old(self, coordinator):\n{HEARTBEAT[8:]}\n",
            "                if _BEATS:\n                    self._old(coordinator)\n",
        ),
    ],
)
def test_a_field_a_part_of_a_condition_or_a_helper_hide_nothing(head: str, call: str) -> None:
    result = edited(("execution.py", WORKER, head), ("execution.py", HEARTBEAT, call))
    assert result.max_gate == "3", result.rationale


def test_a_new_parameter_that_nobody_passes_is_a_flag_too() -> None:
    result = edited(
        ("external_sort.py", "memory_limit, fraction=0.5)", "memory_limit, fraction=0.5, exact=False)"),
        ("external_sort.py", BUDGET, f"    budget = memory_limit\n    if exact:\n    {BUDGET}"),
    )
    (answers,) = result.per_file.values()
    assert any("computes memory_limit * fraction, by default" in item for item in answers.evidence), answers.evidence


def test_what_comes_after_an_early_end_is_left_out_as_well() -> None:
    early = f"                if not _OLD:\n                    continue\n{HEARTBEAT}"
    result = edited(("execution.py", WORKER, f"_OLD = False\n\n\n{WORKER}"), ("execution.py", HEARTBEAT, early))
    assert result.max_gate == "3", result.rationale


def test_a_flag_that_is_turned_on_is_what_it_turns_on() -> None:
    loop = "        for record in records:\n"
    flagged = f"{loop}            if _NATIVE:\n                record = orjson.dumps(record)\n"
    before = (("writers.py", WRITERS, f"_NATIVE = False\n{WRITERS}"), ("writers.py", loop, flagged))
    result = edited(("writers.py", "_NATIVE = False", "_NATIVE = True"), base=before)
    assert result.max_gate == "3", result.rationale


@pytest.mark.parametrize("condition", ["_OLD", "self.fast", "_NUMBER > 1", "unknown", "[] in _NUMBER", "_TWICE"])
def test_what_cannot_be_told_is_no_flag(condition: str) -> None:
    source = b"""
_OLD = compute()
_NUMBER = 2
_TWICE = False
_TWICE = True
class Worker:
    fast: bool = False
    def begin(self):
        self.fast = True
"""
    switches = Switches(list(definitions("a.py", source).values()))
    assert switches.of(ast.parse(condition, mode="eval").body, {}) is None
