"""The name the bot answers to, in what it says: an operator may have chosen another than its own."""

from __future__ import annotations

import re

NAME = "perf-gate"
# Sentences tell commands in code spans, by the bot's own name.
_COMMAND = re.compile(rf"`@{NAME}(?=[` ])")


def addressed_as(mention: str, text: str) -> str:
    """`text` with every command in it addressed as people here have to address the bot."""
    return text if mention == NAME else _COMMAND.sub(f"`@{mention}", text)
