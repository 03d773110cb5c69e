"""The rules of the verdict, in their order; each says what it found, and the first that finds anything decides.

The source is the gate's threshold table and its list of what makes a pair inconclusive; where those are general, the
order and boundaries here are exact: a value equal to a limit belongs to the milder side, a missing counter is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Final

import msgspec

from bot.config.schema import Thresholds
from bot.verdict.arithmetic import EXACT, delta, exceeds, extremes, spread_within
from bot.verdict.model import Finding, Noise, RowVerdict, VerdictName
from bot.verdict.report import PerfReport, shown
from bot.verdict.signals import MEMORY_FIELD, Signal, Signals
from bot.verdict.wording import limit, number, percent

SUCCEEDED: Final = "succeeded"
CHURN_BUCKETS: Final = ("preempted", "hardware_fault")
FAILING_BUCKETS: Final = ("scheduling_timeout", "application_failure", "other")
KNOWN_BUCKETS: Final = frozenset({"oom", *CHURN_BUCKETS, *FAILING_BUCKETS})
_ZERO = Decimal(0)


class Pair(msgspec.Struct, frozen=True):
    """Two readable reports and all that their comparison depends on."""

    baseline: PerfReport
    treatment: PerfReport
    signals: Signals
    thresholds: Thresholds
    worker_generations: tuple[str | None, str | None]
    noise: Noise | None = None


Find = Callable[[Pair], list[Finding]]


class Rule(msgspec.Struct, frozen=True):
    """One branch of the tree: by what name, what it finds, and what follows if that is anything."""

    name: str
    verdict: VerdictName
    find: Find


def bucket(report: PerfReport, name: str) -> Decimal:
    """A bucket of `infra_failures`; where the whole map is missing, `ooms` stands in for its oom."""
    if report.infra_failures is None:
        return (report.ooms or _ZERO) if name == "oom" else _ZERO
    return report.infra_failures.get(name) or _ZERO


def mismatched(pair: Pair) -> list[Finding]:
    """Rule 1 (its part on wrong types is `validate_report`): a run compared with itself, or with another ferry."""
    ours, theirs = pair.baseline, pair.treatment
    found: list[Finding] = []
    if ours.iris_job_id is not None and ours.iris_job_id == theirs.iris_job_id:
        found.append(
            Finding(
                "iris_job_id",
                f"Both reports have the iris_job_id {shown(theirs.iris_job_id)}: a run cannot be compared with itself.",
            )
        )
    if ours.ferry_module is not None and theirs.ferry_module is not None and ours.ferry_module != theirs.ferry_module:
        found.append(
            Finding(
                "ferry_module",
                f"ferry_module differs: {shown(ours.ferry_module)} in the baseline,"
                f" {shown(theirs.ferry_module)} in the treatment.",
            )
        )
    return found


def more_oom(pair: Pair) -> list[Finding]:
    """Rule 2."""
    return _more("infra_failures.oom", bucket(pair.baseline, "oom"), bucket(pair.treatment, "oom"))


def unfinished(pair: Pair) -> list[Finding]:
    """Rule 3."""
    sides = (("baseline", pair.baseline.status), ("treatment", pair.treatment.status))
    return [
        Finding("status", f"The {side}'s status is {shown(status)}, not {SUCCEEDED}: there is no full run to compare.")
        for side, status in sides
        if status is not None and status != SUCCEEDED
    ]


def churn(pair: Pair) -> list[Finding]:
    """Rule 4: durations split across attempts or machines are not comparable."""
    found: list[Finding] = []
    ours, theirs = pair.baseline.preemption_count or _ZERO, pair.treatment.preemption_count or _ZERO
    allowed = pair.thresholds.preemptions_over_baseline
    if not ours and theirs:
        said = f"preemption_count is {number(theirs)} in the treatment and 0 in the baseline; any is churn."
        found.append(Finding("preemption_count", said, ours, theirs, "0"))
    elif theirs > EXACT.add(ours, Decimal(allowed)):
        said = (
            f"preemption_count is {number(theirs)} in the treatment and {number(ours)} in the baseline,"
            f" more than {allowed} above it."
        )
        found.append(Finding("preemption_count", said, ours, theirs, f"baseline + {allowed}"))
    for field, count in (
        ("task_state_counts.preempted", pair.treatment.task_state_counts.get("preempted")),
        ("infra_failures.hardware_fault", bucket(pair.treatment, "hardware_fault")),
    ):
        if count:
            said = f"{field} is {number(count)} in the treatment; any above 0 is churn."
            found.append(Finding(field, said, None, count, "0"))
    before, after = pair.worker_generations
    if before is not None and after is not None and before != after:
        said = f"The treatment ran on worker generation {shown(after)}, the baseline on {shown(before)}."
        found.append(Finding("worker_generation", said))
    return found


def nothing_compares(pair: Pair) -> list[Finding]:
    """Rule 5."""
    if pair.signals.wall:
        return []
    said = "Neither wall_seconds_total nor any stage of stage_wall_seconds can be compared (the footnotes say why)."
    return [Finding("wall_seconds_total", said)]


def beyond_fail(pair: Pair) -> list[Finding]:
    """Rule 6."""
    return [*crossed(pair.signals.all, "fail"), *more_failures(pair)]


def more_failures(pair: Pair) -> list[Finding]:
    """The part of rule 6 that counts: absolute under every policy."""
    found: list[Finding] = []
    for name in FAILING_BUCKETS:
        found += _more(f"infra_failures.{name}", bucket(pair.baseline, name), bucket(pair.treatment, name))
    return found + _more("failed_shards", pair.baseline.failed_shards or _ZERO, pair.treatment.failed_shards or _ZERO)


def contention(pair: Pair) -> list[Finding]:
    """Rule 7: only wall times warn, and they look like a busy cluster rather than like more work."""
    signals, thresholds = pair.signals, pair.thresholds
    slower = [signal for signal in signals.wall if signal.row.verdict == "warn"]
    if not slower or signals.memory.row.verdict == "warn":
        return []
    found: list[Finding] = []
    stages = signals.compared_stages
    if len(stages) >= thresholds.contention_min_stages and all(treatment > ours for ours, treatment in stages):
        least, greatest = extremes(stages)
        if spread_within(least, greatest, thresholds.contention_spread_points):
            said = (
                f"The slowdown looks like contention: all {len(stages)} compared stages are slower by nearly the same"
                f" share, {percent(delta(*least))} to {percent(delta(*greatest))}, within"
                f" {number(thresholds.contention_spread_points)} points of each other."
            )
            points = f"{number(thresholds.contention_spread_points)} points"
            found.append(Finding("stage_wall_seconds", said, limit=points))
    ours, theirs = pair.baseline.sum_task_wall_seconds_total, pair.treatment.sum_task_wall_seconds_total
    most = thresholds.contention_work_percent
    if ours and theirs is not None and not exceeds(ours, theirs, most):
        said = (
            f"The slowdown looks like contention: sum_task_wall_seconds_total, the work done, went from {number(ours)}"
            f" s to {number(theirs)} s ({percent(delta(ours, theirs), most)}), not above {limit(most)}."
        )
        found.append(Finding("sum_task_wall_seconds_total", said, ours, theirs, limit(most)))
    return found


def beyond_warn(pair: Pair) -> list[Finding]:
    """Rule 8."""
    return crossed(pair.signals.all, "warn")


RULES: Final = (
    Rule("mismatched", "not_comparable", mismatched),
    Rule("more_oom", "fail", more_oom),
    Rule("unfinished", "not_comparable", unfinished),
    Rule("churn", "inconclusive", churn),
    Rule("nothing_compares", "not_comparable", nothing_compares),
    Rule("beyond_fail", "fail", beyond_fail),
    Rule("contention", "inconclusive", contention),
    Rule("beyond_warn", "warn", beyond_warn),
)


def _more(field: str, ours: Decimal, theirs: Decimal) -> list[Finding]:
    if theirs <= ours:
        return []
    said = f"{field} is {number(theirs)} in the treatment and {number(ours)} in the baseline; any more is a hard fail."
    return [Finding(field, said, ours, theirs, number(ours))]


def crossed(signals: Iterable[Signal], verdict: RowVerdict) -> list[Finding]:
    """Every signal whose row has this verdict."""
    return [_crossing(signal) for signal in signals if signal.row.verdict == verdict]


def _crossing(signal: Signal) -> Finding:
    row, band = signal.row, signal.band
    unit = "MB" if signal.field == MEMORY_FIELD else "s"
    name, bound = ("hard-fail", band.fail_percent) if row.verdict == "fail" else ("warn", band.warn_percent)
    values = f"from {number(row.baseline or _ZERO)} {unit} to {number(row.treatment or _ZERO)} {unit}"
    change = percent(row.delta or _ZERO, band.warn_percent, band.fail_percent)
    said = f"{signal.field} went {values}: {change}, above the {name} limit of {limit(bound)}."
    return Finding(signal.field, said, row.baseline, row.treatment, limit(bound))
