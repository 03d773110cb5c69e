"""Running one command of a pull request where it reaches nothing: no network, no host file, no secret."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from bot.sandbox import bubblewrap
from bot.sandbox.bubblewrap import Bind
from bot.sandbox.escapes import Expected, attempt_all
from bot.sandbox.execution import Ended, execute
from bot.sandbox.forwarder import FORWARDER, SOCKET
from bot.sandbox.model import CommandResult, Limits
from bot.sandbox.ownership import first_unreachable, give
from bot.sandbox.packages import CACHE, FILL, SEED, Packages
from bot.sandbox.proxy import Dial, Door, dial
from bot.sandbox.tail import TailLog
from bot.sandbox.tools import interpreter, search_path, visible
from bot.sandbox.usage import Usage, ending_first

TREE = "/wt"
HOME = "/tmp/home"  # noqa: S108 — inside the cage
_STARTED, _MISSING = b"+", b"-"
KILLED = 137  # what a shell says of a process that SIGKILL ended
# What a shell sets by itself.
_SHELL = ("LC_CTYPE", "PWD", "OLDPWD", "SHLVL", "_")
# bwrap's own two, the shell that becomes the command, and what that starts while it looks.
_PROCESSES = 5
# The first byte of output says that the command is there and starts now: what comes before is the cage's own trouble.
# Hard limits set inside cannot be raised again, and count processes in the cage's own user namespace.
_ENTER = """
limits=$1; python=$2; forwarder=$3; shift 3
mkdir -p "$HOME"
if [ -d %s ]; then fill || exit; fi
if [ -n "$python" ]; then "$python" -I -S -c "$forwarder" || exit; fi
command -v "$1" >/dev/null 2>&1 || { printf -- -; exit 127; }
printf +
exec /usr/bin/prlimit $limits -- "$@"
"""


class Cage:
    """`tools` are folders with a `bin` that commands may use, read-only, such as a virtual environment; `packages` says
    where their dependencies come from, `dial` how its hosts are reached.

    Where this process is root, commands run as an unprivileged user of this machine, if every path they need can be
    reached by one; otherwise as root's own user without capabilities, which `describe` says.
    """

    def __init__(
        self,
        tools: Sequence[Path] = (),
        limits: Limits | None = None,
        bwrap: str = "bwrap",
        packages: Packages | None = None,
        dial: Dial = dial,
    ) -> None:
        self._tools = tuple(tools)
        self._limits = limits or Limits()
        self._bwrap = bwrap
        self._packages = packages or Packages()
        self._dial = dial

    async def self_test(self, folder: Path | None = None) -> str | None:
        """Try to break out, from a tree in `folder`. None when nothing worked, else a sentence saying what did."""
        variables = frozenset({*self._environment(None), *_SHELL})
        kept = tuple(str(path) for path in (*visible(self._tools), SEED))
        processes = _PROCESSES + bool(self._packages.reachable)
        return await attempt_all(self.run, Expected(variables, processes, kept), self._user_of, folder)

    def describe(self, tree: Path) -> str:
        """How a command in this tree would be kept in, in one sentence for the operator."""
        if os.geteuid() != 0:
            return "bubblewrap, as the bot's own user"
        reason = self._why_not_dropped([tree, *self._needs(())])
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
        cache: Path | None = None,
    ) -> CommandResult:
        """Run `argv` in `tree`, which it may change, and with `cache` for its packages, a folder of its run's own.

        Its output's end goes to `log`; never raises for what it does.
        """
        try:
            bwrap = bubblewrap.find(self._bwrap)
        except bubblewrap.NotInstalled as error:
            return CommandResult(None, False, "", str(error))
        folders = [tree, *([cache] if cache else [])]
        needs = self._needs(also_visible)
        before = ending_first() + (_drop() if await self._hand_over(folders, needs) else [])
        written: list[Bind] = [(tree, TREE), *([(cache, CACHE)] if cache else [])]

        async with self._door() as door:

            def command(status_fd: int) -> list[str]:
                return before + bubblewrap.wrap(
                    ["/bin/sh", "-c", self._enter(cache), "sh", self._rlimits(memory_mb), *self._forward(door), *argv],
                    read_only=[*needs, *self._seed(), *door],
                    read_write=written,
                    env=self._environment(cache),
                    network=False,
                    certificates=bool(door),
                    chdir=TREE,
                    status_fd=status_fd,
                    bwrap=bwrap,
                )

            return await _told(argv, command, within, log, Usage(memory_mb, self._limits, folders))

    async def _hand_over(self, folders: Sequence[Path], needs: Sequence[Path]) -> bool:
        """Give the folders to whoever will fill them; whether that is the unprivileged user, and not our own."""
        drops = self._drops([*folders, *needs])
        if os.geteuid() == 0:
            # Back as well: as root without capabilities it could not enter what an earlier command was given.
            for folder in folders:
                await asyncio.to_thread(give, folder, bubblewrap.NOBODY if drops else 0)
        return drops

    @asynccontextmanager
    async def _door(self) -> AsyncIterator[list[Bind]]:
        """The door's socket, to be seen inside; nothing where no index was configured."""
        hosts = self._packages.reachable
        if not hosts:
            yield []
            return
        async with Door(hosts, self._dial).open() as socket:
            yield [(socket, SOCKET)]

    def _forward(self, door: Sequence[Bind]) -> list[str]:
        return [str(interpreter()[0]), FORWARDER] if door else ["", ""]

    def _enter(self, cache: Path | None) -> str:
        return FILL + _ENTER % (SEED if cache else "/nonexistent")

    def _seed(self) -> list[Bind]:
        return [(self._packages.seed, SEED)] if self._packages.seed else []

    def _needs(self, also_visible: Sequence[Path]) -> list[Path]:
        """Every path of this machine that must be seen at its own place."""
        packages = self._packages
        forwarder = interpreter()[1] if packages.reachable else []
        trusted = [packages.certificates] if packages.reachable and packages.certificates else []
        return list(dict.fromkeys([*visible(self._tools), *also_visible, *forwarder, *trusted]))

    def _rlimits(self, memory_mb: int) -> str:
        limits = self._limits
        return (
            f"--core=0 --as={memory_mb * 2**20} --nproc={limits.processes} "
            f"--fsize={limits.file_bytes} --nofile={limits.open_files}"
        )

    def _environment(self, cache: Path | None) -> dict[str, str]:
        packages = self._packages.environment()
        if cache is None:
            packages = {name: value for name, value in packages.items() if not value.startswith(CACHE)}
        return packages | {
            "PATH": search_path(self._tools),
            "HOME": HOME,
            "USER": "nobody",
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",  # noqa: S108 — inside the cage
        }

    def _user_of(self, tree: Path) -> int | None:
        """As whom code in this tree runs, where not as this process' own user."""
        return bubblewrap.NOBODY if self._drops([tree, *self._needs(interpreter()[1])]) else None

    def _drops(self, paths: Sequence[Path]) -> bool:
        return os.geteuid() == 0 and self._why_not_dropped(paths) is None

    def _why_not_dropped(self, paths: Sequence[Path]) -> str | None:
        if shutil.which("setpriv") is None:
            return "setpriv is not installed"
        seed = [self._packages.seed] if self._packages.seed else []
        blocked = first_unreachable([*paths, *seed])
        return f"other users cannot reach {blocked}" if blocked else None


def _drop() -> list[str]:
    user = str(bubblewrap.NOBODY)
    return [shutil.which("setpriv") or "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"]


async def _told(
    argv: Sequence[str], command: Callable[[int], list[str]], within: timedelta, log: Path | None, usage: Usage
) -> CommandResult:
    """What `argv` came to in the cage that `command` makes; its output's end goes to `log`."""
    output = TailLog(log)
    try:
        ended = await execute(command, within, output, usage)
    except OSError as error:
        return CommandResult(None, False, "", _not_set_up(os.strerror(error.errno or 0)))
    finally:
        output.close()
    return _result(argv, ended, output.tail())


def _result(argv: Sequence[str], ended: Ended, tail: str) -> CommandResult:
    if ended.excess and not ended.excess.proven:
        return CommandResult(None, False, tail, ended.excess.why)
    if ended.excess:
        # Its own doing, as when the kernel ends what takes all memory.
        return CommandResult(KILLED, False, f"{tail}\nended by the sandbox: {ended.excess.why}".lstrip("\n"))
    if ended.code is not None and ended.code < 0:
        return CommandResult(None, False, tail, f"the cage was killed from outside, by signal {-ended.code}")
    if ended.signal_byte == _STARTED:
        return CommandResult(ended.code, ended.timed_out, tail)
    if ended.signal_byte == _MISSING:
        if "/" in argv[0]:
            return CommandResult(127, False, f"{argv[0]}: not found")
        return CommandResult(None, False, "", f"`{argv[0]}` is not among the sandbox's tools")
    return CommandResult(None, ended.timed_out, "", _not_set_up(tail or "no word from it"))


def _not_set_up(why: str) -> str:
    # EAGAIN of fork(2) and clone(2), as programs and the shell tell it.
    full = "Resource temporarily unavailable" in why or "Cannot fork" in why
    hint = "; the bot's user, or its container, may start no more processes (`ulimit -u`, pids.max)" if full else ""
    return f"the cage could not be set up: {why}{hint}"
