"""Sentences with code spans, people, commits: the small words of the comment."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal

from bot.comment.markdown import code, run_link, text
from bot.comment.numbers import about, age_in_days
from bot.config.load import builtin_config
from bot.config.schema import Band, Thresholds
from bot.conversation.notices import LOGIN
from bot.gating.model import Baseline, GatePlan, Run
from bot.gating.states import RunState
from bot.verdict.wording import number

# GitHub starts scheduled workflows late when it is busy ("Events that trigger workflows", schedule).
LATE_START = timedelta(hours=1)
_SPAN = re.compile(r"`([^`\n]+)`")


def sentence(value: str, limit: int = 1500) -> str:
    """Plain text in which `backticks` make code spans and nothing else does anything."""
    parts = _SPAN.split(value if len(value) <= limit else f"{value[: limit - 1]}…")
    return "".join(code(part) if index % 2 else _spaced(part) for index, part in enumerate(parts))


def _spaced(part: str) -> str:
    """The same text, with the blanks at its ends that keep it apart from a span."""
    shown = text(part, 1500)
    before = " " if part[:1].isspace() and shown else ""
    after = " " if part[-1:].isspace() and shown else ""
    return f"{before}{shown}{after}" or (" " if part else "")


def mention(login: str) -> str:
    """Calls a person; anything that is no login is only shown."""
    return f"@{login}" if LOGIN.fullmatch(login) else code(login)


def sha(value: str) -> str:
    return code(value[:10]) if value else "the head"


def moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")


def commit_line(run: Run) -> str:
    """The commit that is measured, and how far it may climb."""
    if not run.head_sha:
        return ""
    ceiling = f", up to max_gate={run.max_gate}" if run.max_gate else ""
    cluster = f", on the cluster {code(run.cluster, 60)}: not comparable with the baseline" if run.cluster else ""
    taken_up = f", taken up at gate {run.resumes.gate}" if run.resumes and run.resumes.gate > 1 else ""
    return f"**Commit:** {sha(run.head_sha)}{ceiling}{taken_up}{cluster}"


def gate_title(plan: GatePlan) -> str:
    return f"Gate {plan.number} ({text(plan.name, 60)})"


def baseline_line(baseline: Baseline, now: datetime) -> str:
    """Seed 002's line, how far the baseline is from what the pull request branched off, and whence its report is."""
    run = run_link(baseline.run_id, baseline.run_url)
    age = age_in_days(baseline.created_at, now)
    line = f"**Baseline:** scheduled run {run}, sha={code(baseline.sha[:10])}, age={age}{_apart(baseline)}"
    if baseline.source == "mirror":
        why = f": {sentence(baseline.source_reason, 500)}" if baseline.source_reason else ""
        line += f", report from the GCS mirror{why}"
    return line


def _apart(baseline: Baseline) -> str:
    """Differences that are not this change's: between the baseline and what the pull request branched off."""
    if baseline.commits_apart is None:
        return ", how far from the merge base is not known"
    if baseline.commits_apart == 0:
        return ", the merge base itself"
    commits = "1 commit" if baseline.commits_apart == 1 else f"{baseline.commits_apart} commits"
    if baseline.seconds_apart is not None and baseline.seconds_apart >= 60:
        commits += f" and {about(timedelta(seconds=baseline.seconds_apart))}"
    touching = baseline.zephyr_commits_apart
    return f", {commits} from the merge base" + ("" if touching is None else f", {touching or 'none'} of them in scope")


def stale_warning(baseline: Baseline, plan: GatePlan, now: datetime) -> str:
    """A baseline older than its schedule's period is said at the top: the reviewer decides whether to trust it."""
    age, period = now - baseline.created_at, timedelta(seconds=plan.period_seconds)
    # Until the next scheduled run is over the last one is as fresh as can be.
    if age <= period + timedelta(seconds=plan.wall_seconds) + LATE_START:
        return ""
    return (
        f"⚠ **The baseline is {about(age)} old, more than its schedule's {about(period)}:** "
        "differences may not be this change's."
    )


def head_moved(run: Run) -> str:
    """That the pull request is no longer what this run is about: another commit, or another base."""
    return "\n".join(line for line in (_head_moved(run), _base_moved(run)) if line)


def _base_moved(run: Run) -> str:
    if not run.base_moved_to:
        return ""
    anew = " `go` reads the new diff and asks anew." if run.state is RunState.awaiting_reviewer else ""
    now, before = code(run.base_moved_to, 80), code(run.base_ref, 80)
    return f"> ⚠ The base is {now} now; this run is about merging into {before}.{anew}"


def _head_moved(run: Run) -> str:
    if not run.head_moved_to or not run.head_sha:
        return ""
    # While it asks or after its end a run gives way to a new one at once.
    later = "" if run.state is RunState.awaiting_reviewer or run.state.ended else " when this run has ended"
    return (
        f"> ⚠ The head has moved to {sha(run.head_moved_to)} since; this run is about {sha(run.head_sha)}. "
        f"`@perf-gate` assesses the new one{later}."
    )


def own_limits(thresholds: Thresholds) -> str:
    """Where a repository's limits are not the built-in ones, the comment says so."""
    built_in = builtin_config().thresholds
    parts = [
        f"{name} above +{_percent(own.warn_percent)} / +{_percent(own.fail_percent)}"
        for name, own, usual in (
            ("total wall time", thresholds.total, built_in.total),
            ("stages", thresholds.stage, built_in.stage),
            ("memory", thresholds.memory, built_in.memory),
        )
        if own != usual
    ]
    usual = "; ".join(
        f"{name} {_band(band)}" for name, band in (("wall time", built_in.stage), ("memory", built_in.memory))
    )
    said = f"its own limits (warn / fail): {'; '.join(parts)}. The usual ones: {usual}." if parts else ""
    others = [
        f"{field.replace('_', ' ')} {getattr(thresholds, field)} (usually {getattr(built_in, field)})"
        for field in type(thresholds).model_fields
        if field not in ("total", "stage", "memory") and getattr(thresholds, field) != getattr(built_in, field)
    ]
    if not parts and not others:
        return ""
    more = f"{' Also ' if said else ''}{'; '.join(others)}." if others else ""
    return f"_This repository sets {said}{more}_"


def _band(band: Band) -> str:
    return f"+{_percent(band.warn_percent)} / +{_percent(band.fail_percent)}"


def _percent(value: Decimal) -> str:
    return f"{number(value)} %"
