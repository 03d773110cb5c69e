"""The verdict equals an independent reading of its rules on thousands of pairs."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.model import Judgement, Row
from bot.verdict.report import parse_json
from tests.verdict import oracle
from tests.verdict.pairs import BUCKETS, STAGES, dumps, generated

THRESHOLDS = Thresholds()


def assert_agree(baseline: str, treatment: str, excluded: frozenset[str] = frozenset()) -> Judgement:
    ours = judge(parse_json(baseline), parse_json(treatment), THRESHOLDS, excluded=excluded)
    theirs = oracle.judge(baseline, treatment, excluded)
    assert ours.verdict == theirs["verdict"], (ours, baseline, treatment)
    assert ours.reasons
    if "total" in theirs:
        assert set(ours.stages) == set(theirs["stages"])
        rows = [(ours.total, theirs["total"]), (ours.memory, theirs["memory"])]
        rows += [(row, theirs["stages"][name]) for name, row in ours.stages.items()]
        for row, (verdict, change) in rows:
            assert row.verdict == verdict
            assert_same_delta(row, change)
    return ours


def assert_same_delta(row: Row, change: Fraction | None) -> None:
    if change is None:
        assert row.delta is None
    else:
        assert row.delta is not None
        # Rounded only where the expansion does not end, at 28 digits.
        assert abs(Fraction(row.delta) - change) <= abs(change) * Fraction(1, 10**27)


def test_four_thousand_seeded_pairs() -> None:
    seen = Counter(assert_agree(*pair).verdict for pair in generated(seed=20260618, how_many=4000))
    # The generator reaches every verdict often; a rule that never decides would be a rule never tested.
    assert all(seen[verdict] >= 100 for verdict in ("pass", "warn", "inconclusive", "fail", "not_comparable")), seen


@pytest.mark.parametrize(
    "excluded", [frozenset({"minhash"}), frozenset({"total"}), frozenset({"minhash", "unheard_of"})]
)
def test_excluded_names_are_left_out_alike(excluded: frozenset[str]) -> None:
    for pair in generated(seed=7, how_many=300):
        assert_agree(*pair, excluded=excluded)


numbers = st.one_of(
    st.none(),
    st.integers(0, 5),
    st.decimals(0, 20000, places=3).map(float),
    st.sampled_from([95, 100, 105, 105.0000001, 110, 110.0000001, 115, 115.0001, 0, -0.0, 1e300]),
)
wrong = st.sampled_from(["3", True, -1, float("nan"), float("inf"), [], {}])
mostly_numbers = st.integers(0, 60).flatmap(lambda draw: wrong if draw == 0 else numbers)


def maps(names: list[str]) -> st.SearchStrategy[dict[str, Any] | None]:
    return st.one_of(st.none(), st.dictionaries(st.sampled_from(names), mostly_numbers, max_size=6))


reports = st.fixed_dictionaries(
    {},
    optional={
        "iris_job_id": st.sampled_from(["/bot/a", "/bot/b", "/bot/c", None]),
        "status": st.sampled_from(["succeeded", "succeeded", "succeeded", None, "failed"]),
        "ferry_module": st.sampled_from(["a.b", "a.b", "a.c", None]),
        "wall_seconds_total": mostly_numbers,
        "stage_wall_seconds": maps(STAGES),
        "sum_task_wall_seconds_total": mostly_numbers,
        "cached_steps": st.one_of(st.none(), st.lists(st.sampled_from(STAGES), max_size=2)),
        "ooms": mostly_numbers,
        "failed_shards": st.sampled_from([0, 0, 1, None]),
        "peak_worker_memory_mb": mostly_numbers,
        "preemption_count": st.sampled_from([0, 0, 1, 4, 5, None]),
        "task_state_counts": st.one_of(st.none(), st.just({"succeeded": 3}), st.just({"succeeded": 3, "preempted": 1})),
        "infra_failures": st.one_of(st.none(), st.just({}), maps(BUCKETS)),
    },
)


@settings(max_examples=1000, deadline=None)
@given(reports, reports)
def test_any_two_reports(baseline: dict[str, Any], treatment: dict[str, Any]) -> None:
    assert_agree(dumps(baseline), dumps(treatment))


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 10**6)
)
def test_contention_is_exact_between_stages_of_any_size(b1: int, t1: int, b2: int, t2: int, b3: int) -> None:
    """Δ with endless expansions, compared without rounding; c stands as near the 5 % limit as its integers allow."""
    baseline = {"stage_wall_seconds": {"a": b1 * 3, "b": b2 * 7, "c": b3 * 1000}}
    nudges = {"a": b1 * 3 + t1 * b1 // 10**7 * 3 + 1, "b": b2 * 7 + t2 * b2 // 10**7, "c": b3 * 1000 + b3 * 50 + 1}
    assert_agree(dumps(baseline), dumps({"stage_wall_seconds": nudges}))


def test_spread_of_exactly_five_points_with_endless_expansions() -> None:
    # 1/30 and 1/12 differ by exactly 1/20; neither ends in decimals.
    baseline = {"stage_wall_seconds": {"a": 30, "b": 12, "c": 15}}
    within = assert_agree(dumps(baseline), dumps({"stage_wall_seconds": {"a": 31, "b": 13, "c": 16}}))
    assert within.verdict == "inconclusive"
    wider = {"stage_wall_seconds": {"a": 31, "b": float(Decimal("13.000000001")), "c": 16}}
    assert assert_agree(dumps(baseline), dumps(wider)).verdict == "warn"
