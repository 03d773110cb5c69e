"""What the deltas are worth: the section beneath the skill's tables, and the chart of the tier's history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from statistics import median

from bot.comment.markdown import bullets, table, text
from bot.comment.numbers import NOTHING, change, duration
from bot.comment.tables import HEADLINES, sentences
from bot.config.schema import Thresholds
from bot.verdict.arithmetic import delta
from bot.verdict.model import Judgement, Noise, Policy, Reading, Row
from bot.verdict.noise import FEWEST
from bot.verdict.past import PastRun
from bot.verdict.report import PerfReport
from bot.verdict.wording import limit, percent, rough

_NAMES: dict[Policy, str] = {"table": "the fixed table", "calibrated": "this tier's own noise"}
# Below it a chart says less than a sentence.
_FEWEST_POINTS = 3
# Mermaid's own first colour is all but white; these two stand out on a light page and on a dark one.
_COLOURS = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#2f81f7, #db6d28"}}}}%%'
_HEADER = ["Signal", "Δ to the baseline", "Δ to its usual", "What it means"]


def disagreement(judgement: Judgement) -> str:
    """One line for the top, where the reading that does not decide would have decided otherwise, or could not."""
    if judgement.fallback:
        return f"**Decided by the fixed table:** {text(judgement.fallback)}"
    if judgement.other_verdict is None or judgement.other_verdict == judgement.verdict:
        return ""
    other: Policy = "table" if judgement.policy == "calibrated" else "calibrated"
    return f"**By {_NAMES[other]}:** {HEADLINES[judgement.other_verdict]}. {sentences(judgement.other_reasons, 3)}"


def noise_section(
    judgement: Judgement, baseline: PerfReport | None, treatment: PerfReport | None, thresholds: Thresholds
) -> str:
    """A row a signal that was read: what its delta means against the noise of the tier's last scheduled runs."""
    noise = judgement.noise
    if noise is None:
        return ""
    head = "### What the deltas are worth"
    if noise.n < FEWEST:
        few = f"Only {noise.n} scheduled run{'s' if noise.n > 1 else ''} of this tier could be read"
        return f"{head}\n\n{few}; from {FEWEST} on its noise is known. Until then no delta can be told from chance."
    rows = list(_rows(judgement, noise, baseline, treatment, thresholds))
    if not rows:
        return f"{head}\n\nNo signal of this run has {FEWEST} earlier measurements to compare it with."
    said = (
        f"Against the last {noise.n} scheduled runs of this tier; decided by {_NAMES[judgement.policy]}."
        f" A band is what unchanged code does by chance, and never less than the {limit(thresholds.stage.warn_percent)}"
        " from which a change counts; work is the summed wall time of a stage's tasks."
    )
    telling = {index for index, row in enumerate(rows) if "beyond" in row[-1]}
    stage_rows = table(_HEADER, rows, budget=8_000, more="signals", foremost=telling)
    return "\n\n".join(part for part in (head, said, stage_rows, _remarks(judgement, noise)) if part)


def _rows(
    judgement: Judgement,
    noise: Noise,
    baseline: PerfReport | None,
    treatment: PerfReport | None,
    thresholds: Thresholds,
) -> Iterator[list[str]]:
    bands = (thresholds.stage.warn_percent, thresholds.stage.fail_percent)
    if noise.total is not None:
        yield _row("total", change(judgement.total, *bands), noise.total, "the total's")
    if noise.memory is not None:
        yield _row("peak memory", change(judgement.memory, *bands), noise.memory, "its")
    for name in judgement.stages:
        if (reading := noise.stages.get(name)) is not None:
            yield _row(text(name, 60), change(judgement.stages[name], *bands), reading, "this stage's")
        if (reading := noise.work.get(name)) is not None:
            yield _row(f"{text(name, 60)}, work", _work_delta(name, baseline, treatment), reading, "its")


def _row(signal: str, to_baseline: str, reading: Reading, whose: str) -> list[str]:
    return [signal, to_baseline, rough(reading.change), meaning(reading, whose)]


def meaning(reading: Reading, whose: str) -> str:
    """`inside this stage's ±18% (n = 14)`, or `3.1 × beyond it`, as a cell."""
    width = f"±{rough(reading.width).lstrip('+')}"
    if reading.outcome == "inside":
        return f"inside {whose} {width} (n = {reading.n})"
    faster = " faster," if reading.outcome == "faster" else ""
    return f"**{reading.times:.1f} ×**{faster} beyond {whose} {width} (n = {reading.n})"


def _work_delta(name: str, baseline: PerfReport | None, treatment: PerfReport | None) -> str:
    ours, theirs = (_work(report, name) for report in (baseline, treatment))
    return percent(delta(ours, theirs)) if ours and theirs is not None else NOTHING


def _work(report: PerfReport | None, name: str) -> Decimal | None:
    return report.stage_sum_task_wall_seconds.get(name) if report else None


def _remarks(judgement: Judgement, noise: Noise) -> str:
    said = [smallest_visible(noise)]
    shared = [reading.shared for reading in noise.stages.values() if reading.shared is not None]
    if shared:
        typical = sorted(shared)[len(shared) // 2]
        said.append(
            f"All stages of this run were {rough(typical)} off their usual together; a stage is read without that part,"
            " which the total answers for."
        )
    if skipped := max((reading.skipped for reading in _every(noise)), default=0):
        said.append(f"Up to {skipped} earlier runs were left out, as before a lasting step of the level or astray.")
    if unread := _unread(judgement, noise):
        names = ", ".join(text(name, 60) for name in unread[:5])
        more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
        judged = ", and judged by the fixed table" if judgement.policy == "calibrated" else ""
        said.append(f"Fewer than {FEWEST} earlier measurements, so no band{judged}: {names}{more}.")
    return bullets(said, most=10)


def _unread(judgement: Judgement, noise: Noise) -> list[str]:
    """What counts and has too little history for a band."""
    singles = (("total", judgement.total, noise.total), ("peak memory", judgement.memory, noise.memory))
    unread = [name for name, row, reading in singles if row.delta is not None and reading is None]
    return unread + [
        name for name, row in judgement.stages.items() if row.delta is not None and name not in noise.stages
    ]


def smallest_visible(noise: Noise) -> str:
    """The sentence that says what this comparison could have missed."""
    parts = [f"{rough(noise.total.visible)} of the total" if noise.total else ""]
    for readings, what in ((noise.work, "of a stage's work"), (noise.stages, "of a stage's wall time")):
        widths = sorted(reading.visible for reading in readings.values())
        if widths:
            least, most = rough(widths[0]), rough(widths[-1])
            parts.append(f"{least} {what}" if least == most else f"{least} to {most} {what}")
    found = ", ".join(part for part in parts if part)
    return f"The smallest slowdown that this comparison would see nine times in ten: {found or 'unknown'}."


def _every(noise: Noise) -> list[Reading]:
    singles = [reading for reading in (noise.total, noise.memory) if reading is not None]
    return [*singles, *noise.stages.values(), *noise.work.values()]


def chart(history: Sequence[PastRun], total: Row, gate: int) -> str:
    """The tier's total wall time over its scheduled runs, the treatment as a bar at the end. Mermaid, minutes."""
    past = [run for run in history if run.total is not None][-20:]
    if len(past) < _FEWEST_POINTS or not total.treatment or total.treatment > 10**9:
        return ""
    minutes = [run.total / 60 for run in past if run.total is not None]
    ours = float(total.treatment) / 60
    # From 0: a bar that is cut off below exaggerates.
    highest = max(*minutes, ours) * 1.1
    line = ", ".join(f"{value:.1f}" for value in minutes)
    bars = ", ".join(["0"] * len(minutes) + [f"{ours:.1f}"])
    places = ", ".join([*(f'"{ago}"' for ago in range(len(past), 0, -1)), '"PR"'])
    usual = duration(Decimal(f"{median(minutes) * 60:.0f}"))
    return "\n".join(
        [
            f"Total wall time of the tier's scheduled runs from {past[0].at:%Y-%m-%d} to {past[-1].at:%Y-%m-%d} (line;"
            f" median {usual}) and of this pull request (bar):",
            "",
            "```mermaid",
            _COLOURS,
            "xychart-beta",
            f'    title "Gate {gate}: total wall time"',
            f'    x-axis "scheduled runs ago" [{places}]',
            f'    y-axis "minutes" 0 --> {highest:.1f}',
            f"    line [{line}]",
            f"    bar [{bars}]",
            "```",
        ]
    )
