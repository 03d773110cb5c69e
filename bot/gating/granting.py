"""Who may give which command: what the configuration of a run says of it."""

from __future__ import annotations

from bot.config.load import builtin_config
from bot.config.schema import Permissions, RepositoryConfig, Role
from bot.gating.events import Authorised
from bot.gating.model import PullRequest, Run


def config_of(run: Run | None) -> RepositoryConfig:
    """The configuration that the run is pinned to; of a run that was not assessed yet, the built-in one."""
    return RepositoryConfig.model_validate_json(run.config) if run is not None and run.config else builtin_config()


def permissions_of(run: Run | None) -> Permissions:
    return config_of(run).permissions


def is_author(pr: PullRequest, event: Authorised) -> bool:
    """Whether it is their own pull request. Logins change, and a former one is free for others: ids tell, if known."""
    if event.actor_id and event.author_id:
        return event.actor_id == event.author_id
    return is_author_called(pr, event.actor)


def is_author_called(pr: PullRequest, login: str) -> bool:
    return pr.place is not None and login.lower() == pr.place.author.lower()


def role_to_waive(run: Run | None, chosen: str) -> Role:
    """The least role that may let `chosen` stand in place of a higher max_gate."""
    permissions = permissions_of(run)
    return permissions.skip if chosen == "skip" else permissions.override
