"""Which permissions count: a live run's are pinned with it, before and after it the default branch says."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.config.load import CONFIG_PATH, BadConfig, builtin_config, load_repository_config
from bot.config.schema import Permissions
from bot.effects.context import Rooms, place_of, repo_of
from bot.gating.granting import permissions_of
from bot.gating.model import PullRequest

HOLD = timedelta(minutes=1)
"""How long the default branch's file is believed without another look."""


async def permissions(rooms: Rooms, pr: PullRequest, now: datetime) -> Permissions:
    """Who may give which command on this pull request. Never by the head's configuration."""
    if pr.run is not None and pr.run.config and not pr.run.state.ended:
        return permissions_of(pr.run)
    place = place_of(pr)
    known = rooms.permissions.get(place.repository_id)
    if known is None or now - known[1] >= HOLD:
        # Without a branch's name: GitHub takes the default branch's.
        text = await rooms.github.contents.read(repo_of(place), CONFIG_PATH, "HEAD")
        known = rooms.permissions[place.repository_id] = (_permissions_in(text), now)
    return known[0]


def _permissions_in(text: bytes | None) -> Permissions:
    """What cannot be read runs nothing, and the assessment tells why; until it is mended the built-in roles count."""
    try:
        return load_repository_config((text or b"").decode("utf-8")).permissions
    except (BadConfig, UnicodeDecodeError):
        return builtin_config().permissions
