"""What was last seen of a ferry, and what of that was told."""

from __future__ import annotations

from typing import Literal

import msgspec

from bot.watching.outlook import Outlook
from bot.watching.queue import Queue


class StageProgress(msgspec.Struct, frozen=True):
    """One pipeline stage as the cluster shows it. `shards_total` 0 where unknown."""

    name: str
    state: Literal["waiting", "running", "done", "failed"]
    seconds: float
    shards_done: int = 0
    shards_total: int = 0


class Told(msgspec.Struct, frozen=True):
    """What the comment was last written for: a line that names all that matters at once, and the outlook and queue."""

    news: str = ""
    outlook: Outlook | None = None
    queue: Queue | None = None
