"""What a reader should know of a pair although it changes no verdict: flags, and footnotes to the table."""

from __future__ import annotations

from collections.abc import Collection

from bot.verdict.arithmetic import apart, total_of
from bot.verdict.report import PerfReport, shown
from bot.verdict.rules import KNOWN_BUCKETS, Pair, bucket
from bot.verdict.signals import known_names, listed, one_sided
from bot.verdict.wording import number


def flags(pair: Pair, excluded: Collection[str]) -> tuple[str, ...]:
    """Most important first: a stage that vanished means the treatment may have done less."""
    return (
        *_vanished_stages(pair),
        *_task_totals(pair),
        *_missing_infra_failures(pair),
        *_unknown_buckets(pair),
        *_excluded_in_vain(pair, excluded),
    )


def footnotes(pair: Pair) -> tuple[str, ...]:
    """Why each "—" is one, and which optional signals are missing."""
    found = [f"{signal.field}: — (not counted), {signal.why_not}." for signal in pair.signals.all if signal.why_not]
    for field in ("preemption_count", "failed_shards", "sum_task_wall_seconds_total"):
        sides = [side for side, report in _sides(pair) if getattr(report, field) is None]
        if sides:
            meaning = "contention cannot be told by it" if field.startswith("sum_task") else "counted as 0"
            found.append(f"{field} is missing in the {' and the '.join(sides)}; {meaning}.")
    return tuple(found)


def _sides(pair: Pair) -> tuple[tuple[str, PerfReport], tuple[str, PerfReport]]:
    return ("baseline", pair.baseline), ("treatment", pair.treatment)


def _vanished_stages(pair: Pair) -> list[str]:
    only_baseline, _ = one_sided(pair.baseline, pair.treatment)
    if not only_baseline:
        return []
    return [f"Only in the baseline: {listed(only_baseline)}. The treatment may have done less work."]


def _task_totals(pair: Pair) -> list[str]:
    """The skill's self-check: a large divergence usually means one side did less work."""
    if not pair.baseline.task_state_counts or not pair.treatment.task_state_counts:
        return []
    ours, theirs = (total_of(report.task_state_counts.values()) for _, report in _sides(pair))
    most = pair.thresholds.task_totals_apart_percent
    if not apart(ours, theirs, most):
        return []
    return [
        f"task_state_counts total {number(ours)} tasks in the baseline and {number(theirs)} in the treatment,"
        f" more than {number(most)}% apart: one side may have done less work."
    ]


def _missing_infra_failures(pair: Pair) -> list[str]:
    return [
        f"infra_failures is missing in the {side}; ooms ({number(bucket(report, 'oom'))}) stands in for its oom, every"
        " other bucket counts as 0."
        for side, report in _sides(pair)
        if report.infra_failures is None
    ]


def _unknown_buckets(pair: Pair) -> list[str]:
    names = dict.fromkeys(name for _, report in _sides(pair) for name in report.infra_failures or ())
    found = []
    for name in names:
        ours, theirs = bucket(pair.baseline, name), bucket(pair.treatment, name)
        if name not in KNOWN_BUCKETS and (ours or theirs):
            found.append(
                f"infra_failures has an unknown bucket {shown(name)}: {number(ours)} in the baseline,"
                f" {number(theirs)} in the treatment. Shown, not judged."
            )
    return found


def _excluded_in_vain(pair: Pair, excluded: Collection[str]) -> list[str]:
    unknown = sorted(set(excluded) - known_names(pair.baseline, pair.treatment))
    return [f"Excluded, but in neither report: {listed(unknown)}."] if unknown else []
