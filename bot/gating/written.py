"""What the bot has written on GitHub: outcomes of the effects that speak."""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.gating.marks import Check


class Asked(msgspec.Struct, frozen=True, tag=True):
    """The question stands as a comment of its own, since `at` by GitHub's clock."""

    run_id: str
    comment_id: int
    at: datetime | None = None


class Noticed(msgspec.Struct, frozen=True, tag=True):
    """People were called by a comment; `node_id` is GitHub's global id of it."""

    run_id: str
    node_id: str


class Published(msgspec.Struct, frozen=True, tag=True):
    """The canonical comment holds what was rendered; `digest` is of that text."""

    comment_id: int
    digest: str


class Checked(msgspec.Struct, frozen=True, tag=True):
    """The check run shows what was rendered."""

    check: Check


Written = Asked | Noticed | Published | Checked
