"""Which folders a tool needs to be seen."""

from __future__ import annotations

import os
from pathlib import Path

from bot.sandbox.tail import TailLog, plain
from bot.sandbox.tools import search_path, visible


def environment(folder: Path, home: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"include-system-site-packages = false\nhome = {home}\n")
    return folder


def test_a_virtual_environment_on_the_systems_python_is_all_there_is(tmp_path: Path) -> None:
    venv = environment(tmp_path / "venv", "/usr/bin")
    assert visible([venv]) == [venv]


def test_the_installation_that_a_virtual_environment_stands_on_is_seen_too(tmp_path: Path) -> None:
    (tmp_path / "python-3.12" / "bin").mkdir(parents=True)
    venv = environment(tmp_path / "venv", str(tmp_path / "python-3.12" / "bin"))
    assert visible([venv]) == [venv, tmp_path / "python-3.12"]


def test_a_link_to_a_tool_is_seen_at_both_ends(tmp_path: Path) -> None:
    venv = environment(tmp_path / "venv-1", "/usr/bin")
    (tmp_path / "venv").symlink_to(venv)
    assert visible([tmp_path / "venv"]) == [tmp_path / "venv", venv]


def test_no_interpreter_is_worth_the_whole_machine(tmp_path: Path) -> None:
    for home in ("/bin", "/", "relative", str(tmp_path / "nowhere" / "bin")):
        venv = environment(tmp_path / f"venv{len(home)}", home)
        assert visible([venv]) == [venv]


def test_tools_come_before_the_system(tmp_path: Path) -> None:
    assert search_path([tmp_path]).split(os.pathsep)[:2] == [str(tmp_path / "bin"), "/usr/local/bin"]


def test_output_is_made_safe_to_show() -> None:
    assert plain(b"\x1b[1;31mred\x1b[0m\x1b]0;title\x07 \x00\xe2\x80\xae a\r\nb\x9b\n\n") == "red  a\nb�"


def test_a_tail_starts_at_a_line() -> None:
    log = TailLog()
    log.feed(b"first line\nsecond line\n")
    assert log.tail(16) == "second line"
    assert log.tail() == "first line\nsecond line"
