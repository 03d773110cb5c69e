"""Student's t against the printed tables, and variances that learn of each other."""

from __future__ import annotations

import random

import pytest

from bot.verdict.distribution import quantile, sharpened, upper_tail, variance

# One-sided 2.5 % and 0.5 % points as every textbook prints them.
PRINTED = [
    (0.025, 1, 12.706),
    (0.025, 2, 4.303),
    (0.025, 5, 2.571),
    (0.025, 13, 2.160),
    (0.025, 30, 2.042),
    (0.005, 1, 63.657),
    (0.005, 5, 4.032),
    (0.005, 20, 2.845),
]


@pytest.mark.parametrize(("alpha", "df", "printed"), PRINTED)
def test_the_points_are_those_of_the_printed_table(alpha: float, df: int, printed: float) -> None:
    assert quantile(alpha, df) == pytest.approx(printed, abs=0.0006)
    assert upper_tail(quantile(alpha, df), df) == pytest.approx(alpha, rel=1e-6)


def test_the_tail_is_symmetric_and_half_at_nothing() -> None:
    assert upper_tail(0, 7) == pytest.approx(0.5)
    assert upper_tail(-1.3, 7) == pytest.approx(1 - upper_tail(1.3, 7))


def test_stages_that_look_alike_are_told_by_each_other() -> None:
    rng = random.Random(5)
    samples = [[rng.gauss(0, 0.06) for _ in range(8)] for _ in range(6)]
    own, told = [variance(sample) for sample in samples], sharpened(samples)
    assert all(df > 7 for _, df in told)
    assert max(spread for spread, _ in told) / min(spread for spread, _ in told) < max(own) / min(own)


def test_a_loud_stage_does_not_lend_its_noise_to_quiet_ones() -> None:
    rng = random.Random(6)
    quiet = [[rng.gauss(0, 0.005) for _ in range(14)] for _ in range(2)]
    loud = [[rng.gauss(0, scale) for _ in range(14)] for scale in (0.1, 0.8)]
    told = sharpened([*quiet, *loud])
    assert told[0][0] < 3 * variance(quiet[0])
    assert told[3][0] > variance(loud[1]) / 2


@pytest.mark.parametrize("samples", [[[1.0, 2.0]], [[1.0, 2.0], [3.0, 3.5]], [[1.0, 1.0], [2.0, 2.0], [3.0, 4.0]]])
def test_too_few_to_compare_keep_their_own(samples: list[list[float]]) -> None:
    assert sharpened(samples) == [(variance(sample), 1) for sample in samples]
