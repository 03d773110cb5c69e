"""Ten known escapes, each attempted by a hostile commit in the real cage: what it could have reached is as it was.

The commit comes by git from a real repository, is laid out twice as the bot does it, and runs in the first tree. The
same attack in a cage with a hole gets through, and that is noticed: what is seen of a sound cage says something.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.checkout.removal import remove_tree
from bot.checkout.repository import Repository
from tests.checkout.origin import IDENTITY
from tests.sandbox.hostile import ATTACKS, Attack
from tests.sandbox.machine import CANARY, Machine, broken, machine_around
from tests.sandbox.weakened import NO_PID_NAMESPACE, PARENT, weakened

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
BY_NAME = {attack.name: attack for attack in ATTACKS}
SEEN = {"--chdir": ["--bind", PARENT, PARENT, "--chdir"]}
WRITABLE = {"--ro-bind": ["--bind"]}


@pytest.fixture
def machine(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", CANARY)
    monkeypatch.setenv("HF_TOKEN", CANARY)
    with machine_around(tree) as machine:
        yield machine


def test_the_ten_are_those_that_were_named() -> None:
    assert set(BY_NAME) == NAMED_IN_THE_ISSUE
    assert len(ATTACKS) == 10


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_escape_is_blocked(machine: Machine, attack: Attack) -> None:
    result, reached = await machine.attacked(attack)
    assert result.fault == ""
    # The one that ends all it sees, and so itself, says so before.
    assert "came to its end" in result.tail, result.tail
    assert reached == []
    await machine.trees.remove("1-work")
    assert not machine.work.exists()


@pytest.mark.parametrize("tree", ["reachable"], indirect=True)
@pytest.mark.parametrize(
    ("name", "changes", "environment", "seen"),
    [
        ("remount", {"65534": ["0"], "--cap-drop": ["--cap-add"], "--disable-userns": []}, "", "tools/poisoned"),
        ("remount", WRITABLE, "", "tools/poisoned"),
        ("host file read", SEEN, "", "printed: "),
        ("/proc/1/environ", {}, f"LEAKED={CANARY}", "printed: "),
        ("network", {"--unshare-all": ["--unshare-pid", "--unshare-ipc"]}, "", "somebody came through a door"),
        ("network", SEEN, "", "printed: GOT THROUGH"),
        ("nested user namespace", {"--disable-userns": []}, "", "printed: GOT THROUGH"),
        ("kill of the parent", NO_PID_NAMESPACE, "", "the victim was ended"),
        ("symlink into the bundle", SEEN, "", "trees/1-pristine/ferry.py"),
        ("replaced .git", SEEN, "", "origin/config"),
        ("replaced .git", SEEN, "", "origin/hooks/post-checkout"),
        ("poisoned package cache", WRITABLE, "", "seed/archive-v0/one/canaries.py"),
        ("poisoned package cache", WRITABLE, "", "tools/bin/python"),
        ("a process that outlives the group kill", NO_PID_NAMESPACE, "", "a process outlived its command"),
    ],
)
async def test_the_same_attack_is_noticed_where_the_cage_has_a_hole(
    machine: Machine, name: str, changes: dict[str, list[str]], environment: str, seen: str
) -> None:
    broken(machine, weakened(machine.folder, changes, environment))
    _, reached = await machine.attacked(BY_NAME[name])
    assert [one for one in reached if one.startswith(seen)], reached


async def test_no_git_of_the_bot_listens_to_a_replaced_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the attack the bot goes on: it lists and lays out trees beside the folder with the hostile .git."""
    await machine.attacked(BY_NAME["replaced .git"])
    ran = machine.folder / "ran"
    # The trap is set: a git of ours that listened to that folder would run its code, outside the cage.
    await asyncio.to_thread(
        subprocess.run, ["git", "-c", "safe.directory=*", "status"], cwd=machine.work, env=IDENTITY, check=True
    )
    assert ran.exists()
    ran.unlink()
    sha = machine.origin.commit("refs/heads/main", {"a": b"1"})
    laid_out = await machine.trees.materialise(Repository(machine.origin.folder), sha, "2-work")
    assert isinstance(laid_out, Path)
    # Even run right there, the bot's way of calling git takes nothing from that folder.
    monkeypatch.chdir(machine.work)
    assert await Repository(machine.origin.folder).resolve("main") == sha
    # And if it were asked about that very folder.
    assert await Repository(machine.work / ".git").resolve("main") is None
    assert not ran.exists()


async def test_what_attacks_left_in_a_tree_is_removed_without_being_followed(machine: Machine) -> None:
    await machine.attacked(BY_NAME["symlink into the bundle"])
    assert (machine.work / "bundle").is_symlink()
    remove_tree(machine.work)
    assert (machine.trees.path("1-pristine") / "ferry.py").exists()
    assert (machine.folder / "secrets" / "key.pem").read_text() == CANARY


async def test_links_of_the_commit_itself_never_come_so_far(machine: Machine) -> None:
    for target in ("/proc/self/environ", "../../secrets/key.pem", str(machine.folder / "secrets" / "key.pem")):
        sha = machine.origin.commit("refs/pull/2/head", {"stolen": target})
        refused = await machine.trees.materialise(Repository(machine.origin.folder), sha, "2-pristine")
        assert not isinstance(refused, Path)
        assert not machine.trees.path("2-pristine").exists()
