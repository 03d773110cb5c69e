"""Golden files: every text the bot writes, readable in review as it will look on GitHub."""

from __future__ import annotations

import os
from pathlib import Path


def golden(path: Path, text: str) -> None:
    """Compare with the file; UPDATE_GOLDEN=1 writes it instead, to be read in review."""
    ends_well = text.rstrip() + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ends_well, "utf-8")
    assert ends_well == path.read_text("utf-8")
