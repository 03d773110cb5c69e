"""The adapters of a deployment, opened as `perf-gate serve` opens them, without its database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.cli.checks.model import Surroundings
from bot.config.settings import Settings
from bot.deployment import iris_settings, other_clusters
from bot.engine.port import Clock
from bot.github.adapter import GitHub
from bot.iris.adapter import Iris
from bot.sandbox.submitting import SubmitCage


@asynccontextmanager
async def surroundings(settings: Settings, clock: Clock) -> AsyncIterator[Surroundings]:
    """Raises Fault with a sentence for the operator: a key that is damaged is told here, not as GitHub's silence."""
    config = [settings.iris_config] if settings.iris_config else []
    key = settings.private_key.get_secret_value()
    async with (
        GitHub.open(settings.github_api_url, str(settings.app_id), key, clock.now) as github,
        Iris.open(iris_settings(settings), clock.now, SubmitCage.around(settings.iris_command, config)) as iris,
        other_clusters(settings, clock) as others,
    ):
        github.prove_key()
        yield Surroundings(settings, github, iris, clock.now, others)
