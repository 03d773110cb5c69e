"""How the tests of the verdict speak: a healthy pair, changed in one place, and judged from its JSON text."""

from __future__ import annotations

from typing import Any

from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.model import Judgement
from bot.verdict.report import parse_json
from tests.verdict.pairs import Literal, clean_report, dumps

Report = dict[str, Any]


def baseline(**changes: Any) -> Report:
    """A healthy scheduled run: total 2000 s, stages of 100 s (download) to 600 s (tokenize), 14000 MB."""
    return {**clean_report("/bot/baseline"), **changes}


def treatment(**changes: Any) -> Report:
    """The same healthy run again under another job, which did 10 % more work, so that no slowdown is contention."""
    return {**clean_report("/bot/treatment"), "sum_task_wall_seconds_total": 44000, **changes}


def stages(**changes: Any) -> dict[str, Any]:
    """The healthy stages with some changed; `None` is null."""
    return {**clean_report("")["stage_wall_seconds"], **changes}


def buckets(**changes: Any) -> dict[str, Any]:
    return {**clean_report("")["infra_failures"], **changes}


def exactly(text: str) -> Literal:
    """A JSON number with just these digits."""
    return Literal(text)


def judged(ours: Any, theirs: Any, thresholds: Thresholds | None = None, **options: Any) -> Judgement:
    """Judged as the product does: from JSON text."""
    return judge(parse_json(dumps(ours)), parse_json(dumps(theirs)), thresholds or Thresholds(), **options)
