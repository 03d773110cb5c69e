"""Whose launch differs is said of whom: the workflow launched the baseline, the script nothing of this pair."""

from __future__ import annotations

from bot.cli.checks.parity import told
from bot.comment.attempts import parity_section
from bot.gating.model import GateRun
from bot.parity.model import Difference, Parity

BY_HAND = Parity("c" * 40, (Difference("memory", "`4G`", "`2G`", "script"),))
BOTH = Parity("c" * 40, (Difference("cpu", "`2`", "`1`"), *BY_HAND.differences))


def test_doctor_names_the_file_that_is_to_be_mended() -> None:
    cpu, memory = told("marin gate 1", 1, BOTH)
    assert cpu.fix == "make [gates.1] of .github/perf-gate.toml and the workflow the same"
    assert memory.fix == "make [gates.1] of .github/perf-gate.toml and scripts/ci/submit_perf_run.py the same"


def test_the_comment_blames_no_pair_for_what_only_the_script_does() -> None:
    by_hand, both = (parity_section(GateRun(1, parity=parity)) for parity in (BY_HAND, BOTH))
    assert "⚠" not in by_hand
    assert "Launched by hand a treatment would differ" in by_hand
    warned, _, folded = both.partition("<details>")
    assert "cpu" in warned
    assert "memory" not in warned
    assert "memory" in folded
