"""Moving the write-ahead log, beside the commits and never in their way."""

from __future__ import annotations

from pathlib import Path

from bot.engine.sqlite.checkpoint import Checkpoints


def test_a_log_that_cannot_be_looked_at_keeps_no_commit_from_being_told(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "no folder" / "state.db", pause=0)
    checkpoints.committed()
    checkpoints.close()
