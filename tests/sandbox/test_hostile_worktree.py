"""Ten known escapes, each attempted by a hostile commit in the real cage: what it could have reached is as it was.

The commit comes by git from a real repository, is laid out twice as the bot does it, and runs in the first tree. Around
it stands a machine with secrets: in files, in this process' environment, behind a port.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.checkout.removal import remove_tree
from bot.checkout.repository import Repository
from bot.checkout.trees import Trees
from bot.sandbox.cage import Cage
from bot.sandbox.model import CommandResult
from bot.sandbox.packages import Packages
from bot.sandbox.tools import interpreter
from tests.checkout.origin import Origin
from tests.sandbox.hostile import ATTACKS, PRELUDE, Attack

CANARY = "canary-5b8e2f"
NAMED_IN_THE_ISSUE = {
    "remount",
    "host file read",
    "/proc/1/environ",
    "network",
    "nested user namespace",
    "kill of the parent",
    "symlink into the bundle",
    "replaced .git",
    "poisoned package cache",
    "a process that outlives the group kill",
}


@dataclass
class Machine:
    """What the attacks are after. `folder` holds it all; every user may enter it where the tree is reachable."""

    folder: Path
    trees: Trees
    origin: Origin
    victim: subprocess.Popen[bytes]
    doors: tuple[socket.socket, ...]
    known: dict[str, object]

    @property
    def seed(self) -> Path:
        return self.folder / "seed"

    async def attacked(self, attack: Attack) -> tuple[CommandResult, Path]:
        """The hostile commit's command, run as the preflight runs it; how it ended, and the bundle."""
        files: dict[bytes | str, bytes | str] = {
            "attack.py": (PRELUDE + attack.program).encode(),
            "known.json": json.dumps(self.known).encode(),
            "ferry.py": b"print('the ferry of the commit')\n",
        }
        sha = self.origin.commit("refs/pull/1/head", files)
        source = Repository(self.origin.folder)
        work = await self.trees.materialise(source, sha, "1-work")
        bundle = await self.trees.materialise(source, sha, "1-pristine")
        assert isinstance(work, Path)
        assert isinstance(bundle, Path)
        cache = self.folder / "cache"
        cache.mkdir()
        cage = Cage(packages=Packages(seed=self.seed))
        python, needs = interpreter()
        result = await cage.run(
            [str(python), "attack.py"],
            tree=work,
            within=timedelta(seconds=60),
            memory_mb=1024,
            log=self.folder / "command.log",
            also_visible=needs,
            cache=cache,
        )
        return result, bundle

    def reached(self, bundle: Path, before: dict[str, bytes]) -> list[str]:
        """Everything of this machine that is not as it was; the trees' own files aside."""
        found = [name for name, data in contents(self.folder).items() if before.get(name, data) != data]
        found += [name for name in before if name not in contents(self.folder)]
        if self.victim.poll() is not None:
            found.append("the victim was ended")
        for door in self.doors:
            door.setblocking(False)
            try:
                door.accept()
                found.append("somebody came through a door")
            except BlockingIOError:
                pass
        if [path.name for path in sorted(bundle.iterdir())] != ["attack.py", "ferry.py", "known.json"]:
            found.append("the bundle has another file")
        if (bundle / "ferry.py").read_bytes() != b"print('the ferry of the commit')\n":
            found.append("the bundle has another ferry")
        return found


def contents(folder: Path) -> dict[str, bytes]:
    """What must stay: secrets, seed, mirror."""
    kept = [folder / name for name in ("secrets", "seed", "origin")]
    files = [path for top in kept for path in top.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def machine(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    folder = tree.parent
    for place, name, text in (("secrets", "key.pem", CANARY), ("seed/archive-v0/one", "canaries.py", "SONG = 1")):
        (folder / place).mkdir(parents=True)
        (folder / place / name).write_text(text)
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", CANARY)
    monkeypatch.setenv("HF_TOKEN", CANARY)
    origin, trees = Origin.create(folder / "origin"), Trees(folder / "trees")
    victim = subprocess.Popen(["tail", "-f", "/dev/null"])
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix, socket.socket(socket.AF_UNIX) as abstract:
        tcp.bind(("127.0.0.1", 0))
        unix.bind(str(folder / "socket"))
        abstract.bind(f"\0{folder.name}")
        for door in (tcp, unix, abstract):
            door.listen()
        known = {
            "secrets": [str(folder / "secrets" / "key.pem")],
            "tools": [str(path) for path in interpreter()[1]],
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
        yield Machine(folder, trees, origin, victim, (tcp, unix, abstract), known)
    victim.kill()
    victim.wait()


def test_the_ten_are_those_that_were_named() -> None:
    assert {attack.name for attack in ATTACKS} == NAMED_IN_THE_ISSUE
    assert len(ATTACKS) == 10


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_escape_is_blocked(machine: Machine, attack: Attack) -> None:
    before = contents(machine.folder)
    result, bundle = await machine.attacked(attack)
    assert result.fault == ""
    # The attack came to its end, but for the one that ends all it sees: itself.
    assert result.exit_code is not None
    assert "Traceback" not in result.tail, result.tail
    assert machine.reached(bundle, {name: data for name, data in before.items() if not name.startswith("origin")}) == []
    printed = (machine.folder / "command.log").read_text("utf-8", "replace")
    assert CANARY not in printed
    assert "GOT THROUGH" not in printed
    assert not (machine.folder / "ran").exists()
    work = machine.trees.path("1-work")
    if (work / "alive").exists():
        with (work / "alive").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where somebody still holds it
    await machine.trees.remove("1-work")
    assert not work.exists()


async def test_no_git_of_the_bot_listens_to_a_replaced_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the attack the bot goes on: it lists and lays out trees beside the folder with the hostile .git."""
    (attack,) = [one for one in ATTACKS if one.name == "replaced .git"]
    await machine.attacked(attack)
    work = machine.trees.path("1-work")
    assert (work / ".git" / "config").is_file()
    sha = machine.origin.commit("refs/heads/main", {"a": b"1"})
    assert isinstance(await machine.trees.materialise(Repository(machine.origin.folder), sha, "2-work"), Path)
    # Even run right there, the bot's way of calling git takes nothing from that folder.
    monkeypatch.chdir(work)
    assert await Repository(machine.origin.folder).resolve("main") == sha
    assert not (machine.folder / "ran").exists()


async def test_what_attacks_left_in_a_tree_is_removed_without_being_followed(machine: Machine) -> None:
    (attack,) = [one for one in ATTACKS if one.name == "symlink into the bundle"]
    _, bundle = await machine.attacked(attack)
    remove_tree(machine.trees.path("1-work"))
    assert (bundle / "ferry.py").exists()
    assert (machine.folder / "secrets" / "key.pem").read_text() == CANARY


async def test_links_of_the_commit_itself_never_come_so_far(machine: Machine) -> None:
    for target in ("/proc/self/environ", "../../secrets/key.pem", str(machine.folder / "secrets" / "key.pem")):
        sha = machine.origin.commit("refs/pull/2/head", {"stolen": target})
        refused = await machine.trees.materialise(Repository(machine.origin.folder), sha, "2-pristine")
        assert not isinstance(refused, Path)
        assert not machine.trees.path("2-pristine").exists()
