"""The self-test: known ways out of a cage, really tried from inside. One that works closes the sandbox."""

from __future__ import annotations

import asyncio
import fcntl
import json
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import msgspec

from bot.sandbox.model import CommandResult
from bot.sandbox.ownership import give
from bot.sandbox.probe import PROBE
from bot.sandbox.tools import interpreter

SENTENCES = {
    "host_file": "code in the sandbox can read this machine's files",
    "environment": "code in the sandbox can read the bot's environment, and with it its secrets",
    "network": "code in the sandbox can reach the network",
    "processes": "code in the sandbox can see this machine's processes",
    "kill": "code in the sandbox can end processes of this machine",
    "remount": "code in the sandbox can write where it should only read",
    "user_namespace": "code in the sandbox can make a user namespace, and with it regain capabilities",
    "packages": "code in the sandbox can change the packages and tools that later commands use",
    "bundle": "code in the sandbox can change what is submitted to the cluster",
    "git": "code in the sandbox can change what git reads, and with it run code outside",
    "survivor": "a process of the sandbox can outlive its command",
}
_WITHIN = timedelta(seconds=60)
_MEMORY_MB = 1024
_VICTIM_LIVES = "600"  # seconds, far beyond the self-test's own time
_UNTOUCHED = "as it was"


class Run(Protocol):
    async def __call__(
        self,
        argv: Sequence[str],
        *,
        tree: Path,
        within: timedelta,
        memory_mb: int,
        also_visible: Sequence[Path] = ...,
    ) -> CommandResult: ...


class Expected(msgspec.Struct, frozen=True):
    """What a sound cage may show: names of variables, how many processes, folders inside that stay as they are."""

    variables: frozenset[str]
    processes: int
    kept: tuple[str, ...]


class _Scene(msgspec.Struct, frozen=True):
    """Beside the tree of the self-test stands what its code must not reach."""

    tree: Path
    outside: Path
    victim: subprocess.Popen[bytes]
    port: int
    abstract: str

    @property
    def canary(self) -> Path:
        return self.outside / "canary"

    def holes(self) -> list[str]:
        """What is seen from outside once the command has ended."""
        found = []
        if self.victim.poll() is not None:
            found.append("kill")
        for name in ("bundle", "mirror"):
            files = {file.name: file.read_text() for file in (self.outside / name).rglob("*") if file.is_file()}
            if files != {"kept": _UNTOUCHED}:
                found.append("bundle" if name == "bundle" else "git")
        if not _nobody_holds(self.tree / "alive"):
            found.append("survivor")
        return found


async def attempt_all(
    run: Run, expected: Expected, user_of: Callable[[Path], int | None], folder: Path | None = None
) -> str | None:
    """Run the probe in a fresh tree below `folder` (default: the system's temporary folder).

    `user_of` says as which user of this machine code in that tree runs, where not as ours. None: nothing got out; else
    every way out that was found, in one sentence.
    """
    python, needs = interpreter()
    with _scene(folder, user_of) as scene:
        told = {
            "canary": str(scene.canary),
            "victim": scene.victim.pid,
            "port": scene.port,
            "abstract": scene.abstract,
            "bundle": str(scene.outside / "bundle"),
            "mirror": str(scene.outside / "mirror"),
            "known": sorted(expected.variables),
            "processes": expected.processes,
            "kept": expected.kept,
        }
        result = await run(
            [str(python), "-I", "-c", PROBE, json.dumps(told)],
            tree=scene.tree,
            within=_WITHIN,
            memory_mb=_MEMORY_MB,
            also_visible=needs,
        )
        return read_probe(result, await asyncio.to_thread(scene.holes))


def read_probe(result: CommandResult, seen_outside: Sequence[str] = ()) -> str | None:
    """The verdict over what the probe printed and what was seen outside. A probe that did not come to an end has proven
    nothing."""
    if result.fault:
        return result.fault
    try:
        answer = json.loads(result.tail.splitlines()[-1])["escaped"] if result.exit_code == 0 else "no answer"
    except (IndexError, KeyError, TypeError, ValueError):
        answer = "no answer"
    if not isinstance(answer, list) or not set(map(str, answer)) <= set(SENTENCES):
        answer = None
    found = {*(answer or ()), *seen_outside}
    sentences = [sentence for name, sentence in SENTENCES.items() if name in found]
    if answer is None:
        sentences.append(f"the sandbox's self-test did not finish: {result.tail[-300:] or 'no output'}")
    return "; ".join(sentences) or None


@contextmanager
def _scene(folder: Path | None, user_of: Callable[[Path], int | None]) -> Iterator[_Scene]:
    top = Path(tempfile.mkdtemp(prefix="self-test-", dir=folder))
    tree, outside = top / "tree", top / "outside"
    try:
        top.chmod(0o755)
        tree.mkdir()
        for name in ("bundle", "mirror/hooks"):
            (outside / name).mkdir(parents=True)
        (outside / "canary").touch()
        for name in ("bundle", "mirror"):
            (outside / name / "kept").write_text(_UNTOUCHED)
        user = user_of(tree)
        if user is not None:
            # Its code could change all this if it could come there.
            give(outside, user)
        with _doors() as (port, abstract), _victim(user) as victim:
            yield _Scene(tree, outside, victim, port, abstract)
    finally:
        shutil.rmtree(top)


@contextmanager
def _victim(user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """A process that code of this user could end if it could see it. It ends by itself, should ours be killed."""
    process = subprocess.Popen(["sleep", _VICTIM_LIVES], stdin=subprocess.DEVNULL, user=user, group=user)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _doors() -> Iterator[tuple[int, str]]:
    """Two listeners that a connection from inside would reach: a TCP port of this machine, an abstract UNIX name."""
    abstract = f"perf-gate-{secrets.token_hex(8)}"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        unix.bind("\0" + abstract)
        unix.listen()
        yield tcp.getsockname()[1], abstract


def _nobody_holds(lock: Path) -> bool:
    """Whether the lock that the surviving process took is free again, or was never taken."""
    if lock.is_symlink() or not lock.is_file():
        return True
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
