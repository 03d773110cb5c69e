"""The comment's tables, drawn from the same rows that the verdict was made of. Columns and cells are the skill's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import islice

from bot.assessment.model import Assessment
from bot.comment.markdown import bullets, code, plain, table, text
from bot.comment.numbers import NOTHING, change, count, duration, mark, measured
from bot.config.schema import Band, Thresholds
from bot.verdict.model import Judgement, VerdictName
from bot.verdict.report import PerfReport

HEADLINES: Mapping[VerdictName, str] = {
    "pass": "✅ pass",
    "warn": "⚠ warn",
    "inconclusive": "⚠ inconclusive",
    "fail": "❌ fail",
    "not_comparable": "⚠ not comparable",
}


def comparison(
    judgement: Judgement, baseline: PerfReport | None, treatment: PerfReport | None, thresholds: Thresholds
) -> str:
    """Verdict, reasons and every table of one pair, for `perf-gate compare --markdown`."""
    parts = [
        "\n".join([f"**Verdict:** {HEADLINES[judgement.verdict]}", *problem_lines(judgement)]),
        run_summary(judgement, baseline, treatment, thresholds),
        stage_timings(judgement, thresholds),
        infra(baseline, treatment),
        remarks(judgement),
    ]
    return "\n\n".join(part for part in parts if part)


def problem_lines(judgement: Judgement) -> list[str]:
    """`**Hard fails:**` and `**Warns:**`, each left out where there is none; other verdicts give their reasons."""
    lines = []
    if judgement.verdict == "fail":
        lines.append(f"**Hard fails:** {sentences(judgement.hard_fails, 3)}")
    elif judgement.verdict in ("inconclusive", "not_comparable"):
        lines.append(f"**Why:** {sentences(judgement.reasons)}")
    if judgement.warns and judgement.verdict in ("fail", "warn", "inconclusive"):
        lines.append(f"**Warns:** {sentences(judgement.warns, 3)}")
    if vanished := [
        name for name, row in judgement.stages.items() if row.baseline is not None and row.treatment is None
    ]:
        more = f" and {len(vanished) - 5} more" if len(vanished) > 5 else ""
        names = ", ".join(code(name, 60) for name in vanished[:5])
        lines.append(f"⚠ **Only in the baseline:** {names}{more}. The treatment may have done less work.")
    return lines


def sentences(items: tuple[str, ...], most: int = 8) -> str:
    """Sentences of the verdict on one line."""
    shown = " ".join(text(item, 400) for item in items[:most])
    return f"{shown} … and {len(items) - most} more." if len(items) > most else shown


# Far more files and stages than there is room for; the rest of a huge diff or a hostile report is only counted.
_MOST_FILES = 250
_MOST_STAGES = 300


def assessment_table(assessment: Assessment, budget: int = 14_000) -> str:
    """The five answers of each file and its one-line summary."""
    rows = [
        [
            code(path),
            *map(_yes_or_no, (answers.trivial, answers.shuffle, answers.memory, answers.cpu, answers.design)),
            text(answers.summary, 200),
        ]
        for path, answers in islice(assessment.per_file.items(), _MOST_FILES)
    ]
    if not rows:
        return ""
    header = ["File", "Trivial?", "Shuffle?", "Memory?", "CPU?", "Design?", "Summary"]
    return table(header, rows, budget=budget, more="files", unlisted=len(assessment.per_file) - len(rows))


def run_summary(
    judgement: Judgement, baseline: PerfReport | None, treatment: PerfReport | None, thresholds: Thresholds
) -> str:
    total, memory = judgement.total, judgement.memory
    wall = duration(total.treatment)
    if total.delta is not None:
        wall += f" ({change(total, *_limits(thresholds.total))})"
    rows = [
        ["Iris job", _code(_job(baseline)), _code(_job(treatment))],
        ["Status", _text(_status(baseline)), _text(_status(treatment))],
        ["Total wall-time", duration(total.baseline), wall],
        ["Peak worker memory (MB)", measured(memory.baseline), measured(memory.treatment)],
    ]
    return "### Run summary\n\n" + table(["", "Baseline", "Treatment"], rows)


def stage_timings(judgement: Judgement, thresholds: Thresholds) -> str:
    limits = _limits(thresholds.stage)
    # Where there is no room for all, the stages that made the verdict are shown.
    telling = {name for name, row in judgement.stages.items() if row.verdict in ("warn", "fail")}
    first = set(sorted(judgement.stages, key=lambda name: name not in telling)[:_MOST_STAGES])
    listed = [(name, row) for name, row in judgement.stages.items() if name in first]
    rows = [
        [text(name, 60), duration(row.baseline), duration(row.treatment), change(row, *limits), mark(row)]
        for name, row in listed
    ]
    if not rows:
        return ""
    header = ["Stage", "Baseline", "Treatment", "Δ", "Verdict"]
    foremost = {index for index, (name, _) in enumerate(listed) if name in telling}
    unlisted = len(judgement.stages) - len(rows)
    timings = table(header, rows, budget=8_000, more="stages", foremost=foremost, unlisted=unlisted)
    return f"### Stage timings\n\n{timings}"


def infra(baseline: PerfReport | None, treatment: PerfReport | None) -> str:
    def row(label: str, field: str) -> list[str]:
        return [label, *(count(getattr(report, field)) if report else NOTHING for report in (baseline, treatment))]

    rows = [
        row("Preemptions", "preemption_count"),
        row("Failed shards", "failed_shards"),
        ["Infra failures", *map(_infra_failures, (baseline, treatment))],
        [
            "Task states",
            *(_counts(report.task_state_counts) if report else NOTHING for report in (baseline, treatment)),
        ],
    ]
    return "### Infra\n\n" + table(["", "Baseline", "Treatment"], rows)


def remarks(judgement: Judgement) -> str:
    """Flags, then the footnotes to the tables."""
    parts = []
    if judgement.flags:
        parts.append("### Flags\n\n" + _shown(judgement.flags, most=10))
    if judgement.footnotes:
        # A line between, else both lists would be one.
        parts.append("Notes to the tables:\n" + _shown(judgement.footnotes, most=12))
    return "\n\n".join(parts)


def _shown(items: Sequence[str], most: int) -> str:
    """What is only counted is not made ready to be shown: a hostile report has ten thousand footnotes."""
    return bullets([*(text(item, 400) for item in items[:most]), *items[most:]], most)


def _limits(band: Band) -> tuple[Decimal, Decimal]:
    return band.warn_percent, band.fail_percent


def _yes_or_no(answer: bool) -> str:
    return "yes" if answer else "no"


def _job(report: PerfReport | None) -> str | None:
    return report.iris_job_id if report else None


def _status(report: PerfReport | None) -> str | None:
    return report.status if report else None


def _code(value: str | None) -> str:
    return NOTHING if value is None else code(value)


def _text(value: str | None) -> str:
    return NOTHING if value is None else text(value, 60)


def _infra_failures(report: PerfReport | None) -> str:
    if report is None:
        return NOTHING
    if report.infra_failures is None:
        return f"(not reported; ooms={count(report.ooms)})"
    return _counts({name: value for name, value in report.infra_failures.items() if value})


def _counts(counts: Mapping[str, Decimal | None], most: int = 12) -> str:
    shown = [f"{text(plain(name, 40))}={count(value)}" for name, value in list(counts.items())[:most]]
    if not shown:
        return "(none)"
    return ", ".join([*shown, f"… and {len(counts) - most} more"] if len(counts) > most else shown)
