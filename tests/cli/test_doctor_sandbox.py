"""`perf-gate doctor` and the sandbox: it is really tried, and what is wrong comes with what to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cli.checks.model import Check
from bot.cli.checks.sandbox import sandbox
from bot.sandbox import bubblewrap
from bot.sandbox.configured import packages_of
from tests.cli.test_doctor import look
from tests.conversations.world import world


async def test_a_sandbox_that_holds_is_told_with_what_it_reaches(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        lines = await look(w, Check("sandbox", sandbox))
        assert [found.state for _, found in lines] == ["ok", "ok"]
        assert lines[0][1].said.startswith("it holds: bubblewrap, as ")
        assert lines[1][1].said == "its commands reach nothing"


async def test_a_machine_without_bubblewrap_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str = "bwrap") -> str:
        raise bubblewrap.NotInstalled("bubblewrap is not installed here")

    async with world(tmp_path) as w:
        monkeypatch.setattr(bubblewrap, "find", missing)
        ((_, found),) = await look(w, Check("sandbox", sandbox))
        assert (found.state, found.said) == ("wrong", "it does not hold: bubblewrap is not installed here")
        assert "docs/sandbox.md" in found.fix
        monkeypatch.undo()


async def test_settings_say_what_the_sandbox_reaches(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        changes = {
            "package_index": "https://pypi.org/simple",
            "package_hosts": ("download.pytorch.org", "mirror.example.org:8443"),
        }
        settings = w.app.rooms.settings.model_copy(update=changes)
        assert sorted(map(str, packages_of(settings).reachable)) == [
            "download.pytorch.org",
            "files.pythonhosted.org",
            "mirror.example.org:8443",
            "pypi.org",
        ]
