"""The rules of `bot.verdict` with everything fixed that options, or an exported run, say."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot.config.schema import Thresholds
from bot.verdict.judge import judge
from bot.verdict.model import Judgement, Policy
from bot.verdict.past import PastRun
from bot.verdict.report import Json


class Judge(msgspec.Struct, frozen=True):
    """`judge` with everything the options fixed."""

    thresholds: Thresholds
    excluded: frozenset[str]
    worker_generations: tuple[str | None, str | None]
    history: tuple[PastRun, ...]
    policy: Policy

    def __call__(self, baseline: Json, treatment: Json, history: Sequence[PastRun] | None = None) -> Judgement:
        return judge(
            baseline,
            treatment,
            self.thresholds,
            excluded=self.excluded,
            worker_generations=self.worker_generations,
            history=self.history if history is None else history,
            policy=self.policy,
        )

    def with_options(self, given: Judge, configured: bool, policy: Policy | None) -> Judge:
        """An exported run's judge, with what the options of `compare` say instead."""
        return Judge(
            given.thresholds if configured else self.thresholds,
            self.excluded | given.excluded,
            given.worker_generations if any(given.worker_generations) else self.worker_generations,
            given.history or self.history,
            given.policy if configured or policy else self.policy,
        )
