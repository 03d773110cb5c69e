"""The self-test: silent on a sound cage, and it names the hole in every cage that was weakened on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.sandbox.cage import Cage
from bot.sandbox.escapes import SENTENCES, read_probe
from bot.sandbox.model import CommandResult
from bot.sandbox.packages import Packages
from tests.sandbox.weakened import NO_PID_NAMESPACE, PARENT, weakened


async def test_a_sound_cage_passes(tree: Path) -> None:
    assert await Cage().self_test(tree.parent) is None
    assert [path.name for path in tree.parent.iterdir()] == ["tree"]


async def test_it_passes_in_the_systems_temporary_folder_too() -> None:
    assert await Cage().self_test() is None


async def test_it_passes_with_tools_packages_and_a_door(tree: Path) -> None:
    seed = tree.parent / "seed"
    seed.mkdir()
    cage = Cage(packages=Packages("https://packages.example.org/simple", seed=seed))
    assert await cage.self_test(tree.parent) is None


@pytest.mark.parametrize(
    ("holes", "changes", "environment"),
    [
        ({"host_file", "bundle", "git"}, {"--chdir": ["--bind", PARENT, PARENT, "--chdir"]}, ""),
        ({"host_file"}, {"--new-session": ["--new-session", "--ro-bind", "/etc", "/etc"]}, ""),
        ({"environment"}, {}, "SECRET=canary"),
        ({"network"}, {"--unshare-all": ["--unshare-pid", "--unshare-ipc", "--unshare-uts"]}, ""),
        ({"processes"}, {"--proc": ["--ro-bind", "/proc"]}, ""),
        ({"kill", "processes", "survivor"}, NO_PID_NAMESPACE, ""),
        ({"remount"}, {"--remount-ro": ["--dir"]}, ""),
        ({"user_namespace"}, {"--disable-userns": []}, ""),
        ({"packages"}, {"--ro-bind": ["--bind"]}, ""),
    ],
)
async def test_every_hole_is_found_and_named(
    tree: Path, holes: set[str], changes: dict[str, list[str]], environment: str
) -> None:
    tools = tree.parent / "tools"
    (tools / "bin").mkdir(parents=True)
    tools.chmod(0o777)
    cage = Cage([tools], bwrap=weakened(tree.parent, changes, environment))
    said = await cage.self_test(tree.parent)
    assert said is not None
    assert {hole for hole, sentence in SENTENCES.items() if sentence in said} >= holes


@pytest.mark.parametrize(
    "result",
    [
        CommandResult(1, False, "Traceback: something"),
        CommandResult(None, True, ""),
        CommandResult(0, False, ""),
        CommandResult(0, False, "not JSON"),
        CommandResult(0, False, "[]"),
        CommandResult(0, False, '{"escaped": 1}'),
        CommandResult(0, False, '{"escaped": ["what nobody tried"]}'),
    ],
)
def test_a_probe_that_says_nothing_has_proven_nothing(result: CommandResult) -> None:
    said = read_probe(result)
    assert said is not None
    assert said.startswith("the sandbox's self-test did not finish")


def test_what_was_seen_outside_counts_though_the_probe_says_nothing() -> None:
    assert read_probe(CommandResult(0, False, '{"escaped": []}'), ["survivor"]) == SENTENCES["survivor"]
    said = read_probe(CommandResult(0, False, '{"escaped": ["network"]}'), ["kill"])
    assert said == f"{SENTENCES['network']}; {SENTENCES['kill']}"
