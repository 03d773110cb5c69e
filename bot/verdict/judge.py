"""Two reports in, a judgement with its reasons out: pure, exact, and total for any two JSON values."""

from __future__ import annotations

from collections.abc import Collection

from bot.config.schema import Thresholds
from bot.verdict.flags import flags, footnotes
from bot.verdict.model import Judgement, VerdictName
from bot.verdict.report import Json, PerfReport, validate_report
from bot.verdict.rules import RULES, Pair, beyond_fail, beyond_warn, more_oom
from bot.verdict.signals import measure
from bot.verdict.wording import percent

_MOST_PROBLEMS = 10


def judge(
    baseline: Json,
    treatment: Json,
    thresholds: Thresholds,
    *,
    excluded: Collection[str] = frozenset(),
    worker_generations: tuple[str | None, str | None] = (None, None),
) -> Judgement:
    """Judge a pair of parsed reports (see `report.parse_json`; an already validated `PerfReport` is taken as it is).

    `excluded` names stages, or "total", that do not count. `worker_generations` are the baseline's and the treatment's,
    None where unknown. Never raises for what a report holds.
    """
    ours = baseline if isinstance(baseline, PerfReport) else validate_report(baseline)
    theirs = treatment if isinstance(treatment, PerfReport) else validate_report(treatment)
    if not isinstance(ours, PerfReport) or not isinstance(theirs, PerfReport):
        problems = [
            f"{side}: {problem}."
            for side, result in (("baseline", ours), ("treatment", theirs))
            if not isinstance(result, PerfReport)
            for problem in result
        ]
        return not_comparable(problems)
    signals = measure(ours, theirs, thresholds, excluded)
    pair = Pair(ours, theirs, signals, thresholds, worker_generations)
    verdict, reasons = _decide(pair)
    return Judgement(
        verdict=verdict,
        reasons=tuple(reasons),
        total=signals.total.row,
        memory=signals.memory.row,
        stages={name: signal.row for name, signal in signals.stages.items()},
        flags=flags(pair, excluded),
        footnotes=footnotes(pair),
        hard_fails=(*more_oom(pair), *beyond_fail(pair)),
        warns=tuple(beyond_warn(pair)),
    )


def not_comparable(problems: list[str]) -> Judgement:
    """The judgement over a pair that cannot be read, by the sentences that say why."""
    more = len(problems) - _MOST_PROBLEMS
    rest = [f"And {more} more of this kind."] if more > 0 else []
    return Judgement(verdict="not_comparable", reasons=(*problems[:_MOST_PROBLEMS], *rest))


def _decide(pair: Pair) -> tuple[VerdictName, list[str]]:
    for verdict, rule in RULES:
        if reasons := rule(pair):
            return verdict, reasons
    return "pass", [_all_within(pair)]


def _all_within(pair: Pair) -> str:
    rows = [signal.row for signal in pair.signals.wall]
    worst = max((row.delta for row in rows if row.delta is not None), default=None)
    limits = (pair.thresholds.total.warn_percent, pair.thresholds.stage.warn_percent)
    largest = f"; the largest wall-time change is {percent(worst, *limits)}" if worst is not None else ""
    return f"Every compared signal is within its limit{largest}."
