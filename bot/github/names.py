"""How things on GitHub are called: a repository as seen by one installation, a comment by its marker, who is asking."""

from __future__ import annotations

import re
from typing import Final, Literal

import msgspec

_FULL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*/[A-Za-z0-9._-]+")

APP: Final = "app"
Identity = int | Literal["app"]
"""Who asks GitHub: an installation, by its id, or the App itself."""


class RepoRef(msgspec.Struct, frozen=True):
    """A repository (`owner/name`) and the installation through which the App reaches it. ValueError on another name."""

    installation_id: int
    full_name: str

    def __post_init__(self) -> None:
        if not _FULL_NAME.fullmatch(self.full_name) or self.name in {".", ".."}:
            raise ValueError(f"a repository is called owner/name, not {self.full_name!r}")

    @property
    def owner(self) -> str:
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]


class Marker(msgspec.Struct, frozen=True):
    """By what a comment of ours is found again: an HTML comment that opens the body, or is the last line of it.

    Nowhere else, because a body also quotes what people and programs wrote, which may hold any line; the first and the
    last are always the bot's own.
    """

    text: str
    opens: bool = True

    def marks(self, body: str) -> bool:
        if self.opens:
            return body.startswith(self.text)
        return body.rstrip().rpartition("\n")[2].strip() == self.text
