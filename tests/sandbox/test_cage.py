"""The cage, with real bubblewrap: what it lets through, what it does not, and how each end is told."""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from bot.sandbox.cage import Cage
from bot.sandbox.model import CommandResult, Limits
from bot.sandbox.tail import KEPT
from bot.sandbox.tools import interpreter

LONG = timedelta(minutes=1)


async def sh(script: str, tree: Path, *, within: timedelta = LONG, log: Path | None = None) -> CommandResult:
    return await Cage().run(["sh", "-c", script], tree=tree, within=within, memory_mb=512, log=log)


async def test_a_command_works_in_its_tree(tree: Path) -> None:
    (tree / "input").write_text("hello")
    result = await sh("cat input > output && pwd && id -u", tree)
    assert result == CommandResult(0, False, "/wt\n65534")
    assert (tree / "output").read_text() == "hello"


async def test_a_failing_command_is_an_exit_code_and_its_last_words(tree: Path) -> None:
    assert await sh("echo first; echo last >&2; exit 3", tree) == CommandResult(3, False, "first\nlast")


async def test_a_crash_is_an_exit_code_too(tree: Path) -> None:
    assert (await sh("kill -SEGV $$", tree)).exit_code == 128 + 11


async def test_only_the_tree_and_the_scratch_folders_can_be_written(tree: Path) -> None:
    result = await sh("for d in / /usr /dev /etc /wt /tmp /dev/shm; do touch $d/x 2>/dev/null && echo $d; done", tree)
    assert result.tail.split() == ["/wt", "/tmp", "/dev/shm"]


async def test_the_root_holds_nothing_of_this_machine(tree: Path) -> None:
    result = await sh("ls / && ls /etc /tmp 2>/dev/null", tree)
    assert set(result.tail.split()) <= {
        *("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "usr", "wt"),
        *("/etc:", "/tmp:", "alternatives", "ld.so.cache", "home"),
    }


async def test_no_variable_of_the_bot_reaches_the_command(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", "canary")
    result = await sh("cat /proc/*/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u; env | cut -d= -f1 | sort -u", tree)
    assert result.exit_code == 0
    ours = {"PATH", "HOME", "USER", "LANG", "TMPDIR", "UV_OFFLINE", "PIP_NO_INDEX", "UV_PYTHON_DOWNLOADS"}
    ours |= {"UV_LINK_MODE"}
    assert set(result.tail.split()) <= ours | {"PWD", "OLDPWD", "_"}


async def test_no_descriptor_of_the_bot_is_left_open(tree: Path) -> None:
    # 3 is the one that lists the folder.
    assert (await sh("ls /proc/self/fd", tree)).tail.split() == ["0", "1", "2", "3"]


async def test_a_command_that_hangs_is_ended_with_all_it_started(tree: Path) -> None:
    script = "mkfifo life; (setsid sh -c 'exec 9<>life; tail -f /dev/null' &) ; echo waiting; tail -f /dev/null"
    result = await sh(script, tree, within=timedelta(seconds=1.5))
    assert (result.exit_code, result.timed_out, result.tail, result.fault) == (None, True, "waiting", "")
    # A reader of the FIFO would let this open succeed: ENXIO says that nobody is left.
    with pytest.raises(OSError, match="No such device"):
        os.open(tree / "life", os.O_WRONLY | os.O_NONBLOCK)


async def test_a_background_process_does_not_outlive_its_command(tree: Path) -> None:
    result = await sh("mkfifo life; setsid sh -c 'exec 9<>life; tail -f /dev/null' >/dev/null 2>&1 & echo done", tree)
    assert result.tail == "done"
    with pytest.raises(OSError, match=r"No such device|No such file"):
        os.open(tree / "life", os.O_WRONLY | os.O_NONBLOCK)


async def test_giving_up_ends_the_command(tree: Path) -> None:
    running = asyncio.create_task(sh("mkfifo life; exec 9<>life; echo >ready; tail -f /dev/null", tree))
    while not (tree / "ready").exists():
        await asyncio.wait([running], timeout=0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(OSError, match="No such device"):
        os.open(tree / "life", os.O_WRONLY | os.O_NONBLOCK)


async def test_memory_is_limited(tree: Path) -> None:
    python, needs = interpreter()
    result = await Cage().run(
        [str(python), "-c", "x = bytearray(700 * 2**20)"],
        tree=tree,
        within=LONG,
        memory_mb=512,
        also_visible=needs,
    )
    assert result.exit_code == 1
    assert "MemoryError" in result.tail


async def test_processes_files_and_cores_are_limited_for_good(tree: Path) -> None:
    cage = Cage(limits=Limits(processes=20, file_bytes=2**20, open_files=64))

    async def run(script: str) -> CommandResult:
        return await cage.run(["bash", "-c", script], tree=tree, within=LONG, memory_mb=512)

    assert (await run("ulimit -u; ulimit -n; ulimit -c")).tail.split() == ["20", "64", "0"]
    assert (await run("ulimit -u 21")).exit_code != 0
    assert (await run("head -c 2M /dev/zero > big")).exit_code != 0
    assert (tree / "big").stat().st_size == 2**20


async def test_a_fork_bomb_meets_its_limit_or_the_operator_was_told(tree: Path) -> None:
    cage = Cage(limits=Limits(processes=20))
    script = "for i in $(seq 100); do tail -f /dev/null & done"
    bomb = await cage.run(["sh", "-c", script], tree=tree, within=LONG, memory_mb=512)
    limited = "Cannot fork" in bomb.tail
    assert limited is ("no limit on processes" not in cage.describe(tree))


async def test_the_log_holds_the_end_and_no_more(tree: Path) -> None:
    log = tree.parent / "command.log"
    result = await sh("seq 1 200000; printf '\\033[31mred\\033[0m \\377\\007 end\\n'", tree, log=log)
    assert result.tail.endswith("199999\n200000\nred � end")
    assert len(result.tail.encode()) <= 4096 + 2
    assert result.tail.splitlines()[0].isdigit()
    assert KEPT // 2 < log.stat().st_size <= 2 * KEPT
    assert log.read_bytes().endswith(b"end\n")


async def test_a_tool_that_is_not_there_is_the_sandboxes_fault_and_not_a_failed_test(tree: Path) -> None:
    result = await Cage().run(["no-such-tool", "x"], tree=tree, within=LONG, memory_mb=512)
    assert result == CommandResult(None, False, "", "`no-such-tool` is not among the sandbox's tools")


async def test_a_script_that_the_pull_request_lacks_is_its_own_failure(tree: Path) -> None:
    async def run() -> CommandResult:
        return await Cage().run(["./here"], tree=tree, within=LONG, memory_mb=512)

    assert await run() == CommandResult(127, False, "./here: not found")
    (tree / "here").write_text("#!/bin/sh\necho ran\n")
    assert (await run()).exit_code == 126
    (tree / "here").chmod(0o755)
    assert await run() == CommandResult(0, False, "ran")


async def test_a_virtual_environment_is_usable_and_read_only(tree: Path, tmp_path: Path) -> None:
    tools = Path(sys.prefix)
    cage = Cage([tools])
    result = await cage.run(
        ["python", "-c", "import msgspec, sys; print(sys.prefix)"], tree=tree, within=LONG, memory_mb=1024
    )
    assert result == CommandResult(0, False, str(tools))
    touched = await cage.run(["touch", str(tools / "x")], tree=tree, within=LONG, memory_mb=512)
    assert "Read-only file system" in touched.tail


async def test_a_hostile_command_line_is_not_read_as_options(tree: Path) -> None:
    result = await Cage().run(["echo", "--bind", "/", "$(id)", "two\nlines"], tree=tree, within=LONG, memory_mb=512)
    assert result.tail == "--bind / $(id) two\nlines"


async def test_without_bubblewrap_nothing_runs(tree: Path) -> None:
    cage = Cage(bwrap="no-bwrap-here")
    result = await cage.run(["touch", "ran"], tree=tree, within=LONG, memory_mb=512)
    assert result.fault == "bubblewrap is not installed here: `apt-get install bubblewrap` brings it"
    assert not (tree / "ran").exists()
    assert await cage.self_test(tree.parent) == result.fault


async def test_a_cage_that_cannot_be_set_up_is_a_fault(tree: Path) -> None:
    cage = Cage([tree / "bin"])
    (tree / "bin" / "bin").mkdir(parents=True)
    gone = await Cage(bwrap="/usr/bin/false").run(["true"], tree=tree, within=LONG, memory_mb=512)
    assert gone.fault == "the cage could not be set up: no word from it"
    assert (await cage.run(["true"], tree=tree, within=LONG, memory_mb=512)).exit_code == 0


def test_how_a_tree_is_kept_in_is_said(tree: Path) -> None:
    said = Cage().describe(tree)
    if os.geteuid() != 0:
        assert said == "bubblewrap, as the bot's own user"
    elif tree.parent.stat().st_mode & 1:
        assert said == "bubblewrap, as the unprivileged user 65534"
    else:
        assert said.startswith("bubblewrap, as root without capabilities")
        assert said.endswith(f"because other users cannot reach {tree.parent}")


async def test_as_root_the_command_runs_as_another_user_where_it_can(tree: Path) -> None:
    await sh("touch made", tree)
    dropped = os.geteuid() == 0 and bool(tree.parent.stat().st_mode & 1)
    assert (tree / "made").stat().st_uid == (65534 if dropped else os.geteuid())


async def test_a_tree_that_was_given_away_is_taken_back_where_a_later_command_runs_as_root(tree: Path) -> None:
    """A tool that others cannot reach was added between two commands; the tree itself is closed to others."""
    assert (await sh("touch made; chmod 700 .", tree)).exit_code == 0
    private = tree.parent / "tools"
    (private / "inner" / "bin").mkdir(parents=True)
    os.chmod(private, 0o700)  # noqa: PTH101 — done before anything runs
    result = await Cage([private / "inner"]).run(["touch", "made"], tree=tree, within=LONG, memory_mb=512)
    assert result == CommandResult(0, False, "")
    assert (tree / "made").stat().st_uid == os.geteuid()


async def test_when_memory_is_short_the_kernel_ends_the_cage_first(tree: Path) -> None:
    assert (await sh("cat /proc/self/oom_score_adj /proc/1/oom_score_adj", tree)).tail.split() == ["1000", "1000"]


@pytest.mark.parametrize("tree", ["reachable"], indirect=True)
async def test_what_one_cage_starts_takes_nothing_from_another_of_the_same_user(tree: Path) -> None:
    """Linux counts a user's processes for each user namespace, so one limit holds for one cage."""
    cage, other = Cage(limits=Limits(processes=20)), tree.parent / "other"
    other.mkdir()
    many = "mkfifo over; for i in $(seq 15); do cat over & done; echo > ready; wait"
    full = asyncio.create_task(cage.run(["sh", "-c", many], tree=tree, within=LONG, memory_mb=512))
    while not (tree / "ready").exists():
        await asyncio.wait([full], timeout=0.01)
    result = await cage.run(
        ["sh", "-c", "for i in $(seq 15); do cat < /dev/null & done; wait"], tree=other, within=LONG, memory_mb=512
    )
    assert result == CommandResult(0, False, "")
    full.cancel()
    with pytest.raises(asyncio.CancelledError):
        await full


async def test_a_command_that_this_machine_lets_nobody_start_is_the_sandboxes_fault(tree: Path) -> None:
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 — names are wanted
    result = await Cage().run(["echo", "x" * 2**18], tree=tree, within=LONG, memory_mb=512)
    assert result == CommandResult(None, False, "", "the cage could not be set up: Argument list too long")
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208


@pytest.mark.parametrize(
    "said", ["bwrap: Creating new namespace failed: Resource temporarily unavailable", "Cannot fork"]
)
async def test_when_no_more_processes_may_start_it_is_said_what_to_look_at(tree: Path, said: str) -> None:
    full = tree.parent / "bwrap"
    await asyncio.to_thread(full.write_text, f"#!/bin/sh\necho {said}\nexit 1\n")
    full.chmod(0o755)
    assert await Cage(bwrap=str(full)).self_test(tree.parent) == (
        f"the cage could not be set up: {said}; the bot's user, or its container, may start no more processes "
        "(`ulimit -u`, pids.max)"
    )
