from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(params=["reachable", "private"])
def tree(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A throw-away tree: where an unprivileged user reaches it (root then drops to one), and where none does."""
    top = Path(tempfile.mkdtemp(prefix="cage-test-"))
    top.chmod(0o755 if request.param == "reachable" else 0o700)
    tree = top / "tree"
    tree.mkdir()
    yield tree
    shutil.rmtree(top)
