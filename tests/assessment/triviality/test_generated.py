"""The proof on generated changes of real modules: a smaller draw of `python -m bench.assessment.generator`."""

from __future__ import annotations

from pathlib import Path

from bench.assessment.generator.sweep import sweep
from bench.assessment.generator.wheels import read_package

ZEPHYR = read_package(Path(__file__).parent / "zephyr")
SEED = 20


def test_no_mutation_is_ever_called_trivial() -> None:
    tally = sweep([ZEPHYR], "mutations", 160, SEED)
    assert tally.made.total() >= 150
    assert len(tally.made) >= 35
    assert [(edit.kind, path, proof.rules) for path, edit, proof in tally.surprises] == []


def test_preserving_edits_are_proven_trivial() -> None:
    tally = sweep([ZEPHYR], "preserving edits", 160, SEED)
    assert tally.made.total() >= 150
    assert len(tally.made) >= 8
    assert tally.share >= 0.98


def test_the_same_seed_makes_the_same_changes() -> None:
    first, second, other = (sweep([ZEPHYR], "mutations", 12, seed) for seed in (1, 1, 2))
    assert first.made == second.made
    assert first.made != other.made
