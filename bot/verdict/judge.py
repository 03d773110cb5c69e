"""Two reports in, a judgement with its reasons out: pure, exact, and total for any two JSON values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot.config.schema import Thresholds
from bot.verdict.calibrated import CALIBRATED, by_their_noise, known, readings
from bot.verdict.flags import flags, footnotes
from bot.verdict.model import Branch, Finding, Judgement, Noise, Policy
from bot.verdict.noise import FEWEST
from bot.verdict.past import PastRun
from bot.verdict.report import BadReport, Json, PerfReport, validate_report
from bot.verdict.rules import RULES, Pair, Rule
from bot.verdict.signals import measure
from bot.verdict.wording import percent

_MOST_PROBLEMS = 10
_NOT_BY_DELTA = (
    "Each verdict is by the tier's own noise: of what the signal usually is, and of a stage's work too."
    " The Δ beside it is to the one baseline."
)
_DELTA_RULES = frozenset({"beyond_fail", "contention", "beyond_warn", "all_within"})


def judge(
    baseline: Json,
    treatment: Json,
    thresholds: Thresholds,
    *,
    excluded: Collection[str] = frozenset(),
    worker_generations: tuple[str | None, str | None] = (None, None),
    history: Sequence[PastRun] = (),
    policy: Policy = "table",
    repeats: Sequence[PerfReport] = (),
) -> Judgement:
    """Judge a pair of parsed reports (see `report.parse_json`; an already validated `PerfReport` is taken as it is).

    `excluded` names stages, or "total", that do not count. `worker_generations` are the baseline's and the treatment's,
    None where unknown. `history` are the tier's earlier scheduled runs, oldest first, the baseline among them or not;
    with too few of them the table decides under either `policy`. `repeats` are more runs of the treatment's head, which
    make its noise smaller; the table knows only the one. Never raises for what a report holds.
    """
    ours = baseline if isinstance(baseline, PerfReport) else validate_report(baseline)
    theirs = treatment if isinstance(treatment, PerfReport) else validate_report(treatment)
    if not isinstance(ours, PerfReport) or not isinstance(theirs, PerfReport):
        return not_comparable([*_problems("baseline", ours), *_problems("treatment", theirs)])
    signals = measure(ours, theirs, thresholds, excluded)
    noise = readings(ours, [theirs, *repeats], signals, thresholds, history) if history else None
    pair = Pair(ours, theirs, signals, thresholds, worker_generations, noise)
    by_table = _tree(pair, RULES)
    by_noise = _tree(pair, CALIBRATED) if known(noise) else None
    decided, other = (by_noise, by_table) if policy == "calibrated" and by_noise else (by_table, by_noise)
    rows = by_their_noise(signals, noise, thresholds) if decided is by_noise and noise else signals
    return Judgement(
        verdict=decided[0].verdict,
        reasons=_sentences(decided[0].findings),
        total=rows.total.row,
        memory=rows.memory.row,
        stages={name: signal.row for name, signal in rows.stages.items()},
        flags=flags(pair, excluded),
        footnotes=(*((_NOT_BY_DELTA,) if decided is by_noise else ()), *footnotes(pair)),
        hard_fails=_said_by(decided, "more_oom", "beyond_fail"),
        warns=_said_by(decided, "beyond_warn"),
        tree=decided,
        policy="calibrated" if decided is by_noise else "table",
        noise=noise if noise is not None and noise.n else None,
        other_verdict=other[0].verdict if other else None,
        other_reasons=_sentences(other[0].findings) if other else (),
        fallback=_too_little(noise) if policy == "calibrated" and by_noise is None and _by_deltas(decided) else "",
    )


def not_comparable(problems: list[str]) -> Judgement:
    """The judgement over a pair that cannot be read, by the sentences that say why."""
    more = len(problems) - _MOST_PROBLEMS
    rest = [f"And {more} more of this kind."] if more > 0 else []
    said = (*problems[:_MOST_PROBLEMS], *rest)
    tree = (Branch("unreadable", "not_comparable", tuple(Finding("report", sentence) for sentence in said)),)
    return Judgement(verdict="not_comparable", reasons=said, tree=tree)


def _problems(side: str, result: PerfReport | Sequence[BadReport]) -> list[str]:
    return [] if isinstance(result, PerfReport) else [f"{side}: {problem}." for problem in result]


def _tree(pair: Pair, rules: Sequence[Rule]) -> tuple[Branch, ...]:
    """Every rule that found something, in order; never empty."""
    found = ((rule, rule.find(pair)) for rule in rules)
    branches = tuple(Branch(rule.name, rule.verdict, tuple(findings)) for rule, findings in found if findings)
    return branches or (Branch("all_within", "pass", (_all_within(pair, rules),)),)


def _said_by(tree: Sequence[Branch], *rules: str) -> tuple[str, ...]:
    return tuple(finding.sentence for branch in tree if branch.rule in rules for finding in branch.findings)


def _sentences(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(finding.sentence for finding in findings)


def _by_deltas(tree: Sequence[Branch]) -> bool:
    """Would another reading of the deltas have been asked at all?"""
    return tree[0].rule in _DELTA_RULES


def _too_little(noise: Noise | None) -> str:
    """Why the tier's noise, which was to decide, could not."""
    runs = noise.n if noise else 0
    if runs >= FEWEST:
        return f"The tier's own noise was to decide, but no wall time has {FEWEST} earlier measurements."
    read = f"only {runs} of its scheduled runs" if runs else "none of its scheduled runs"
    return f"The tier's own noise was to decide, but {read} could be read where {FEWEST} are needed."


def _all_within(pair: Pair, rules: Sequence[Rule]) -> Finding:
    if rules is CALIBRATED:
        return _nothing_stands_out(pair.noise)
    rows = [signal.row for signal in pair.signals.wall]
    worst = max((row.delta for row in rows if row.delta is not None), default=None)
    limits = (pair.thresholds.total.warn_percent, pair.thresholds.stage.warn_percent)
    largest = f"; the largest wall-time change is {percent(worst, *limits)}" if worst is not None else ""
    return Finding("report", f"Every compared signal is within its limit{largest}.")


def _nothing_stands_out(noise: Noise | None) -> Finding:
    runs = noise.n if noise else 0
    return Finding("report", f"No signal is slower than the last {runs} scheduled runs explain by their own noise.")
