"""Has the preflight what its commands need? Their programs among the sandbox's tools, and packages from somewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence

from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.cli.checks.repositories import configurations
from bot.config.load import CONFIG_PATH
from bot.config.schema import RepositoryConfig
from bot.config.settings import PREFIX, Settings
from bot.sandbox.configured import packages_of
from bot.sandbox.tools import search_path

_NEARLY = 0.9
"""A kernel keeps some of a machine's memory to itself."""
_INSTALLERS = frozenset({"uv", "uvx", "pip"})


def memory_bytes() -> int:
    """Of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


async def provisions(around: Surroundings) -> Sequence[Found]:
    found = [
        one for name, config in (await configurations(around)).items() for one in _of(name, config, around.settings)
    ]
    return found or [unknown("no repository's configuration can be read")]


def _of(name: str, config: RepositoryConfig, settings: Settings) -> Iterator[Found]:
    runner, commands = config.preflight.runner, config.preflight.commands
    if runner != "sandbox":
        yield ok(f"{name}: its commands run elsewhere ({runner})")
        return
    # What lies in the commit itself is looked for when it is laid out.
    programs = dict.fromkeys(command.run[0] for command in commands if "/" not in command.run[0])
    path = search_path(settings.sandbox_tools)
    lacking = [program for program in programs if shutil.which(program, path=path) is None]
    for program in lacking:
        fix = f"put it into the bin/ of a folder that {PREFIX}SANDBOX_TOOLS names"
        yield wrong(f"{name}: `{program}` is not among the sandbox's tools, so every run will be stuck", fix)
    if _INSTALLERS & set(programs) and not packages_of(settings).reachable and settings.package_cache is None:
        fix = f"set {PREFIX}PACKAGE_INDEX, such as https://pypi.org/simple, or {PREFIX}PACKAGE_CACHE"
        yield unknown(f"{name}: its commands can install nothing: the sandbox reaches no index and has no cache", fix)
    if (most := max((command.memory_mb for command in commands), default=0)) * 2**20 * _NEARLY > memory_bytes():
        fix = f"take a larger machine, or set memory_mb under [[preflight.commands]] of {CONFIG_PATH}"
        said = f"{name}: a command may take {most} MB, and this machine has {memory_bytes() // 2**20}"
        yield unknown(f"{said}: tests can end for want of memory, and look red", fix)
    if not lacking:
        yield ok(f"{name}: {', '.join(programs) or 'what its commands name'} can be run in the sandbox")
