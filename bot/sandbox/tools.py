"""Tools that a caged command may use: folders with a `bin`, such as a virtual environment, and what they stand on."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_SYSTEM = Path("/usr")
SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


def visible(tools: Sequence[Path]) -> list[Path]:
    """Every folder that must be seen for these tools to run; what lies in /usr is seen anyway.

    A virtual environment's interpreter is a link out of it, to the `home` in its pyvenv.cfg (PEP 405): the installation
    there is added, and each folder under its real path too, where a link leads to it.
    """
    folders: dict[Path, None] = {}
    for tool in tools:
        candidates = [tool.absolute(), tool.resolve()]
        if (home := _home(tool)) is not None:
            candidates += [home.parent, home.resolve().parent]
        for folder in candidates:
            if not folder.is_relative_to(_SYSTEM) and not _is_too_much(folder):
                folders[folder] = None
    return list(folders)


def interpreter() -> tuple[Path, list[Path]]:
    """This process's own Python, links resolved, and the folders it needs."""
    python = Path(sys.executable).resolve()
    return python, visible([python.parent.parent])


def search_path(tools: Sequence[Path]) -> str:
    """PATH inside the cage: the tools' programs before the system's."""
    return os.pathsep.join([*(str(tool.absolute() / "bin") for tool in tools), *SYSTEM_PATH])


def _home(tool: Path) -> Path | None:
    """The folder of the interpreter that a virtual environment was made from."""
    try:
        lines = (tool / "pyvenv.cfg").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    values = {key.strip(): value.strip() for key, sign, value in (line.partition("=") for line in lines) if sign}
    return Path(values["home"]) if values.get("home", "").startswith("/") else None


def _is_too_much(folder: Path) -> bool:
    """The parent of `/bin` is the whole machine, which no tool is worth."""
    return folder == Path("/") or not (folder / "bin").is_dir()
