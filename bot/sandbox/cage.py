"""Running one command of a pull request where it reaches nothing: no network, no host file, no secret."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from bot.sandbox import bubblewrap
from bot.sandbox.escapes import attempt_all
from bot.sandbox.execution import Ended, execute
from bot.sandbox.model import CommandResult, Limits
from bot.sandbox.ownership import first_unreachable, give
from bot.sandbox.tail import TailLog
from bot.sandbox.tools import search_path, visible

TREE = "/wt"
HOME = "/tmp/home"  # noqa: S108 — inside the cage
_STARTED, _MISSING = b"+", b"-"
# The first byte of output says that the command is there and starts now: what comes before is the cage's own trouble.
# Hard limits set inside cannot be raised again, and count processes in the cage's own user namespace.
_ENTER = """
limits=$1; shift
mkdir -p "$HOME"
command -v "$1" >/dev/null 2>&1 || { printf -- -; exit 127; }
printf +
exec /usr/bin/prlimit $limits -- "$@"
"""


class Cage:
    """`tools` are folders with a `bin` that commands may use, read-only, such as a virtual environment.

    Where this process is root, commands run as an unprivileged user of this machine, if every path they need can be
    reached by one; otherwise as root's own user without capabilities, which `describe` says.
    """

    def __init__(self, tools: Sequence[Path] = (), limits: Limits | None = None, bwrap: str = "bwrap") -> None:
        self._tools = tuple(tools)
        self._limits = limits or Limits()
        self._bwrap = bwrap

    async def self_test(self, folder: Path | None = None) -> str | None:
        """Try to break out, from a tree in `folder`. None when nothing worked, else a sentence saying what did."""
        return await attempt_all(self.run, folder)

    def describe(self, tree: Path) -> str:
        """How a command in this tree would be kept in, in one sentence for the operator."""
        if os.geteuid() != 0:
            return "bubblewrap, as the bot's own user"
        reason = self._why_not_dropped(tree, ())
        if reason is None:
            return f"bubblewrap, as the unprivileged user {bubblewrap.NOBODY}"
        # The kernel counts no processes of the real root, whatever its rlimits say.
        return f"bubblewrap, as root without capabilities and with no limit on processes, because {reason}"

    async def run(
        self,
        argv: Sequence[str],
        *,
        tree: Path,
        within: timedelta,
        memory_mb: int,
        log: Path | None = None,
        also_visible: Sequence[Path] = (),
    ) -> CommandResult:
        """Run `argv` in `tree`, which it may change. Its output's end goes to `log`; never raises for what it does."""
        try:
            bwrap = bubblewrap.find(self._bwrap)
        except bubblewrap.NotInstalled as error:
            return CommandResult(None, False, "", str(error))
        drop: list[str] = []
        if self._drops(tree, also_visible):
            await asyncio.to_thread(give, tree, bubblewrap.NOBODY)
            drop = _drop()

        def command(status_fd: int) -> list[str]:
            return drop + bubblewrap.wrap(
                ["/bin/sh", "-c", _ENTER, "sh", self._rlimits(memory_mb), *argv],
                read_only=[*visible(self._tools), *also_visible],
                read_write=[(tree, TREE)],
                env=self._environment(),
                network=False,
                chdir=TREE,
                status_fd=status_fd,
                bwrap=bwrap,
            )

        output = TailLog(log)
        try:
            ended = await execute(command, within, output)
        finally:
            output.close()
        return _result(argv, ended, output.tail())

    def _rlimits(self, memory_mb: int) -> str:
        limits = self._limits
        return (
            f"--core=0 --as={memory_mb * 2**20} --nproc={limits.processes} "
            f"--fsize={limits.file_bytes} --nofile={limits.open_files}"
        )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": search_path(self._tools),
            "HOME": HOME,
            "USER": "nobody",
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",  # noqa: S108 — inside the cage
        }

    def _drops(self, tree: Path, also_visible: Sequence[Path]) -> bool:
        return os.geteuid() == 0 and self._why_not_dropped(tree, also_visible) is None

    def _why_not_dropped(self, tree: Path, also_visible: Sequence[Path]) -> str | None:
        if shutil.which("setpriv") is None:
            return "setpriv is not installed"
        blocked = first_unreachable([tree, *visible(self._tools), *also_visible])
        return f"other users cannot reach {blocked}" if blocked else None


def _drop() -> list[str]:
    user = str(bubblewrap.NOBODY)
    return [shutil.which("setpriv") or "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"]


def _result(argv: Sequence[str], ended: Ended, tail: str) -> CommandResult:
    if ended.code is not None and ended.code < 0:
        return CommandResult(None, False, tail, f"the cage was killed from outside, by signal {-ended.code}")
    if ended.signal_byte == _STARTED:
        return CommandResult(ended.code, ended.timed_out, tail)
    if ended.signal_byte == _MISSING:
        if "/" in argv[0]:
            return CommandResult(127, False, f"{argv[0]}: not found")
        return CommandResult(None, False, "", f"`{argv[0]}` is not among the sandbox's tools")
    return CommandResult(None, ended.timed_out, "", f"the cage could not be set up: {tail or 'no word from it'}")
