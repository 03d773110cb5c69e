"""Who may give which command: what the configuration of a run says of it."""

from __future__ import annotations

from bot.config.load import builtin_config
from bot.config.schema import Permissions, RepositoryConfig, Role
from bot.gating.model import Run


def permissions_of(run: Run | None) -> Permissions:
    """Those of the configuration that the run is pinned to; of a run that was not assessed yet, the built-in ones."""
    if run is None or not run.config:
        return builtin_config().permissions
    return RepositoryConfig.model_validate_json(run.config).permissions


def role_to_waive(run: Run | None, chosen: str) -> Role:
    """The least role that may let `chosen` stand in place of a higher max_gate."""
    permissions = permissions_of(run)
    return permissions.skip if chosen == "skip" else permissions.override
