"""How far a ferry is and when it may end, stage by stage against the baseline's stage times.

The remaining time is the baseline's, at the pace of what is done so far: the days of a cluster differ by a factor that
all stages share (the same code once took 27 % longer than the day before, and every stage of it did), so the first
stages tell something about the later ones, the more, the more of the work they are. The range around it is what the
tier's own history varies, where there is one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from statistics import stdev

import msgspec

from bot.watching.look import Step

# Without a history: wall times vary by 7 to 22 % a stage, and by 27 % between two runs of equal code on record.
USUAL_SPREAD = 0.30
_LEAST_SPREAD, _MOST_SPREAD = 0.10, 0.60
_FEWEST_RUNS = 4
_SLOWEST, _FASTEST = 2.0, 0.5
# A stage beyond its usual time may end at any moment, or not: this part of it is taken to be left.
_LEFT_OF_A_LATE_STAGE = 0.10
MOST_PERCENT = 99
# A later end than was said by less than this is no news.
_SLACK = timedelta(minutes=10)


class Usual(msgspec.Struct, frozen=True):
    """What the tier's runs usually take, seconds: each stage, the whole, and how much the whole varies (a fraction)."""

    stages: Mapping[str, float]
    total: float
    spread: float = USUAL_SPREAD


class Outlook(msgspec.Struct, frozen=True):
    """Percent of the work done, and when the ferry is expected to end, with the range."""

    percent: int
    end: datetime
    earliest: datetime
    latest: datetime

    def differs(self, told: Outlook | None) -> bool:
        """Whether somebody who read `told` would want to know: another tenth, or an end that was not within reach."""
        if told is None or self.percent // 10 != told.percent // 10:
            return True
        slack = max(_SLACK, (told.latest - told.earliest) / 2)
        return abs(self.end - told.end) > slack


def usual(stages: Mapping[str, float], total: float | None, history: Sequence[float | None]) -> Usual | None:
    """`stages` and `total` are the baseline's, `history` the totals of the tier's earlier runs. None without stages."""
    known = {name: seconds for name, seconds in stages.items() if seconds > 0}
    if not known:
        return None
    whole = max(total or 0.0, sum(known.values()))
    runs = [math.log(seconds) for seconds in history if seconds]
    spread = USUAL_SPREAD
    if len(runs) >= _FEWEST_RUNS:
        # Two deviations hold about 19 of 20 runs.
        spread = min(_MOST_SPREAD, max(_LEAST_SPREAD, 2 * stdev(runs)))
    return Usual(known, whole, spread)


def outlook(steps: Collection[Step], known: Usual | None, started_at: datetime | None, now: datetime) -> Outlook | None:
    """None before the ferry runs, and where the baseline has none of its stages: a queue has no known end."""
    if known is None or started_at is None:
        return None
    seen = {step.name: step for step in steps}
    if steps and not known.stages.keys() & seen.keys():
        return None
    done = left = taken = late = 0.0
    for name, seconds in known.stages.items():
        step = seen.get(name)
        if step is not None and step.state == "done":
            done, taken = done + seconds, taken + step.seconds
        elif step is not None and step.state == "running":
            rest = max(seconds - step.seconds, seconds * _LEFT_OF_A_LATE_STAGE)
            left += rest
            done += seconds - rest
            if step.seconds > seconds:
                # Only a stage that is late already says something about the pace before it is over.
                taken += step.seconds
                late = max(late, step.seconds - seconds)
            else:
                taken += seconds - rest
        elif step is None or step.state == "waiting":
            left += seconds
        else:
            done, taken = done + seconds, taken + seconds
    # What the launcher does between and around the stages, in proportion.
    around = known.total - sum(known.stages.values())
    share = done / (done + left) if done + left else 1.0
    pace = min(_SLOWEST, max(_FASTEST, taken / done)) if done else 1.0
    rest_seconds = (left + around * (1 - share)) * (1 + (pace - 1) * share)
    spread = known.spread
    return Outlook(
        percent=min(MOST_PERCENT, math.floor(100 * share)),
        end=_minute(now + timedelta(seconds=rest_seconds)),
        earliest=_minute(now + timedelta(seconds=rest_seconds * (1 - spread))),
        # What has been late for an hour may well be late for another.
        latest=_minute(now + timedelta(seconds=rest_seconds * (1 + spread) + late)),
    )


def _minute(when: datetime) -> datetime:
    return when.replace(second=0, microsecond=0) + timedelta(minutes=(when.second + 30) // 60)
