"""A machine with secrets around the tree of a hostile commit: in files, in the environment, behind a port.

Every file may be written and every process ended by the user that the hostile code runs as, so that nothing but the
cage keeps it off.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bot.checkout.repository import Repository
from bot.checkout.trees import Trees
from bot.sandbox.bubblewrap import NOBODY
from bot.sandbox.cage import Cage
from bot.sandbox.model import CommandResult
from bot.sandbox.packages import Packages
from bot.sandbox.tools import interpreter
from tests.checkout.origin import Origin
from tests.sandbox.hostile import PRELUDE, Attack

CANARY = "canary-5b8e2f"
LAST_WORDS = "\nprint('came to its end')\n"
# What must stay as it is.
KEPT = ("secrets", "seed", "tools", "origin", "trees/1-pristine")


@dataclass
class Machine:
    """What the attacks are after. `folder` holds it all; every user may enter it where the tree is reachable. `bwrap`
    is a sound one unless a test says otherwise."""

    folder: Path
    trees: Trees
    origin: Origin
    victim: subprocess.Popen[bytes]
    doors: tuple[socket.socket, ...]
    known: dict[str, object]
    bwrap: str = "bwrap"

    async def attacked(self, attack: Attack) -> tuple[CommandResult, list[str]]:
        """The hostile commit's command, run as the preflight runs it: how it ended, and everything that it reached."""
        files: dict[bytes | str, bytes | str] = {
            "attack.py": (PRELUDE + attack.program + LAST_WORDS).encode(),
            "known.json": json.dumps(self.known | {"sound": self.bwrap == "bwrap"}).encode(),
            "ferry.py": b"print('the ferry of the commit')\n",
        }
        sha = self.origin.commit("refs/pull/1/head", files)
        source = Repository(self.origin.folder)
        for name in ("1-work", "1-pristine"):
            assert isinstance(await self.trees.materialise(source, sha, name), Path)
        cache = self.folder / "cache"
        cache.mkdir()
        for kept in KEPT:
            open_to_all(self.folder / kept)
        before = self._contents()
        cage = Cage([self.folder / "tools"], bwrap=self.bwrap, packages=Packages(seed=self.folder / "seed"))
        python, needs = interpreter()
        result = await cage.run(
            [str(python), "attack.py"],
            tree=self.work,
            within=timedelta(seconds=60),
            memory_mb=1024,
            log=self.folder / "command.log",
            also_visible=needs,
            cache=cache,
        )
        return result, await asyncio.to_thread(self._reached, before)

    @property
    def work(self) -> Path:
        return self.trees.path("1-work")

    def _reached(self, before: dict[str, bytes]) -> list[str]:
        """Everything of this machine that is not as it was, and what the attack saw."""
        after = self._contents()
        found = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        if self.victim.poll() is not None:
            found.append("the victim was ended")
        for door in self.doors:
            door.setblocking(False)
            with suppress(BlockingIOError):
                door.accept()[0].close()
                found.append("somebody came through a door")
        printed = (self.folder / "command.log").read_text("utf-8", "replace")
        found += [f"printed: {line}" for line in printed.splitlines() if CANARY in line or "GOT THROUGH" in line]
        if self._outlived():
            found.append("a process outlived its command")
        return found

    def _outlived(self) -> bool:
        """Whether somebody holds the lock that the surviving process took; it is ended."""
        if not (self.work / "alive").exists():
            return False
        with (self.work / "alive").open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.kill(int((self.work / "ready").read_text()), signal.SIGKILL)
                return True
        return False

    def _contents(self) -> dict[str, bytes]:
        files = [path for kept in KEPT for path in (self.folder / kept).rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}


def open_to_all(top: Path) -> None:
    for path in (top, *top.rglob("*")):
        path.chmod(0o777)


@contextmanager
def machine_around(tree: Path) -> Iterator[Machine]:
    folder = tree.parent
    kept = (("secrets", "key.pem", CANARY), ("seed/archive-v0/one", "canaries.py", "SONG = 1"), ("tools/bin", "x", ""))
    for place, name, text in kept:
        (folder / place).mkdir(parents=True)
        (folder / place / name).write_text(text)
    origin, trees = Origin.create(folder / "origin"), Trees(folder / "trees")
    user = NOBODY if os.geteuid() == 0 and folder.stat().st_mode & 1 else None
    victim = subprocess.Popen(["tail", "-f", "/dev/null"], user=user, group=user)
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix, socket.socket(socket.AF_UNIX) as abstract:
        tcp.bind(("127.0.0.1", 0))
        unix.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o777)
        abstract.bind(f"\0{folder.name}")
        for door in (tcp, unix, abstract):
            door.listen()
        known = {
            "secrets": [str(folder / "secrets" / "key.pem")],
            "tools": [str(folder / "tools")],
            "port": tcp.getsockname()[1],
            "socket": str(folder / "socket"),
            "abstract": folder.name,
            "bot": os.getpid(),
            "victim": victim.pid,
            "bundle": str(trees.path("1-pristine")),
            "mirror": str(origin.folder),
            "seed": str(folder / "seed"),
            "ran": str(folder / "ran"),
        }
        try:
            yield Machine(folder, trees, origin, victim, (tcp, unix, abstract), known)
        finally:
            victim.kill()
            victim.wait()


def broken(machine: Machine, bwrap: str) -> None:
    """Let the attacks run in that cage, where they must not find this process."""
    machine.bwrap = bwrap
    machine.known["bot"] = machine.victim.pid
