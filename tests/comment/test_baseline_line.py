"""What the comment says of the baseline: which run, how old, how far away, and whence its report came."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from bot.comment.sentences import LATE_START, baseline_line, stale_warning
from bot.gating.model import Baseline
from tests.comment.page import read
from tests.comment.scenes import NOW, baseline, config, plans, report

RUN = "[#9001](https://github.com/marin-community/marin/actions/runs/9001)"
OPENING = f"**Baseline:** scheduled run {RUN}, sha=`9c4d2b7e1f`, age=0d"


def line(**changes: object) -> str:
    said = baseline_line(replace(baseline(report()), **changes), NOW)
    assert said.startswith(OPENING)
    return said.removeprefix(OPENING)


@pytest.mark.parametrize(
    ("commits", "seconds", "touching", "said"),
    [
        (None, None, None, ", how far from the merge base is not known"),
        (0, 0.0, 0, ", the merge base itself"),
        (1, 7500.0, 0, ", 1 commit and 2 h 5 min from the merge base, none of them in scope"),
        (61, 9 * 86400.0, 4, ", 61 commits and 9 d from the merge base, 4 of them in scope"),
        (3, None, 1, ", 3 commits from the merge base, 1 of them in scope"),
        (3, 40.0, None, ", 3 commits from the merge base"),
    ],
)
def test_how_far_baseline_and_merge_base_are_apart(
    commits: int | None, seconds: float | None, touching: int | None, said: str
) -> None:
    assert line(commits_apart=commits, seconds_apart=seconds, zephyr_commits_apart=touching) == said


def test_a_report_from_the_mirror_says_so_and_why() -> None:
    why = "The artifact `tier1-report` of scheduled run 9001, 94 days old, has expired or was deleted."
    said = line(commits_apart=0, source="mirror", source_reason=why)
    assert said == f", the merge base itself, report from the GCS mirror: {why}"


def test_a_baseline_that_was_stored_before_there_was_a_mirror_is_an_artifacts() -> None:
    stored = msgspec.to_builtins(baseline(report()))
    for name in ("seconds_apart", "source", "source_reason"):
        del stored[name]
    assert msgspec.json.decode(msgspec.json.encode(stored), type=Baseline) == baseline(report())


def test_a_reason_stays_text() -> None:
    said = line(commits_apart=0, source="mirror", source_reason="@rev <b> `@rev` [x](http://x)")
    page = read(said)
    assert (page.mentions, page.tags, page.links) == ([], [], [])


@pytest.mark.parametrize("gate", [1, 2, 3])
def test_a_baseline_is_stale_once_the_next_run_must_be_over(gate: int) -> None:
    """Tier 3 a week, and what its own run takes: on Monday morning last Monday's is the best there is."""
    plan = next(plan for plan in plans(config()) if plan.number == gate)
    fresh = timedelta(seconds=plan.period_seconds + plan.wall_seconds) + LATE_START
    assert timedelta(seconds=plan.period_seconds) == timedelta(days=7 if gate == 3 else 1)

    def warned(age: timedelta) -> str:
        pinned: Baseline = baseline(report(), age=age)
        return stale_warning(pinned, plan, NOW)

    assert warned(fresh) == ""
    assert warned(fresh + timedelta(seconds=1)).startswith("⚠ **The baseline is ")
