"""Folders of trials."""

from __future__ import annotations

from pathlib import Path


def make(folder: Path) -> None:
    """The user of the bot's cage must be able to enter."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
