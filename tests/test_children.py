"""Child processes of every adapter: what they say, how they end, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import sys
from io import FileIO
from pathlib import Path

import pytest

from bot import children
from bot.children import Pipe

ENVIRONMENT = {"PATH": os.defpath}


async def run(
    *argv: str | bytes, stdin: bytes = b"", seconds: float = 60, most: int = 2**20, cwd: Path | None = None
) -> children.Ended:
    return await children.run(
        argv, environment=ENVIRONMENT, seconds=seconds, most_output=most, most_errors=most, stdin=stdin, cwd=cwd
    )


class Watched(FileIO):
    """Notices when something else had closed it before its own close."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "rb")
        self.closed_before: list[bool] = []

    def close(self) -> None:
        if not self.closed:
            try:
                os.fstat(self.fileno())
            except OSError:
                self.closed_before.append(True)
            else:
                self.closed_before.append(False)
        super().close()


async def test_a_pipe_is_read_to_its_end_and_closed_once() -> None:
    read, write = os.pipe()
    watched = Watched(read)
    os.write(write, b"one\ntwo")
    os.close(write)
    with Pipe(watched) as reader:
        assert await reader.readline() == b"one\n"
        assert await reader.read() == b"two"
    assert watched.closed_before == [False]


async def test_a_pipe_that_is_left_early_is_closed_too() -> None:
    read, write = os.pipe()
    watched = Watched(read)
    with Pipe(watched):
        os.write(write, b"one")
    os.close(write)
    assert watched.closed_before == [False]


async def test_both_outputs_and_the_code_are_heard(tmp_path: Path) -> None:
    ended = await run("sh", "-c", "pwd; echo bad >&2; exit 3", cwd=tmp_path)
    assert (ended.code, ended.output.text, ended.errors.text) == (3, f"{tmp_path}\n".encode(), b"bad\n")
    assert ended.output.whole
    assert ended.errors.whole


async def test_it_gets_no_environment_but_its_own() -> None:
    ended = await run(sys.executable, "-I", "-c", "import os; print(sorted(os.environ))")
    assert ended.output.text.decode().strip() in ("['PATH']", "['LC_CTYPE', 'PATH']")


async def test_it_inherits_no_descriptor() -> None:
    with os.fdopen(os.dup(0), "rb") as file:
        os.set_inheritable(file.fileno(), True)
        ended = await run("ls", "/proc/self/fd")
    # The fourth is that of the listing.
    assert ended.output.text.split() == [b"0", b"1", b"2", b"3"]


async def test_more_is_said_to_it_than_a_pipe_holds_while_it_says_as_much() -> None:
    said = os.urandom(3 * 2**20)
    ended = await run("cat", stdin=said, most=len(said))
    assert ended.output.text == said
    assert ended.output.whole


async def test_one_that_ends_without_hearing_is_no_trouble() -> None:
    assert (await run("true", stdin=bytes(2**20))).code == 0


async def test_what_is_too_long_is_cut_and_the_child_still_ends() -> None:
    ended = await run("sh", "-c", "head -c 1000000 /dev/zero; echo done >&2", most=1000)
    assert (ended.code, len(ended.output.text), ended.output.whole) == (0, 1000, False)
    assert ended.errors.text == b"done\n"


async def test_exactly_as_much_as_is_kept_is_whole() -> None:
    ended = await run("printf", "12345", most=5)
    assert (ended.output.text, ended.output.whole) == (b"12345", True)


async def test_one_that_ends_by_a_signal_tells_it() -> None:
    assert (await run("sh", "-c", "kill -TERM $$")).code == -15


async def test_when_its_time_is_over_its_whole_group_ends_and_what_it_said_is_kept() -> None:
    ended = await run("sh", "-c", "sleep 60 & echo $!; wait", seconds=1)
    assert ended.code is None
    await until_gone(int(ended.output.text))


async def test_what_it_leaves_behind_ends_with_it() -> None:
    ended = await run("sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!")
    assert ended.code == 0
    await until_gone(int(ended.output.text))


async def test_a_cancelled_one_is_not_left_running(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    os.mkfifo(told)
    running = asyncio.create_task(run("sh", "-c", f"echo $$ > {told}; exec sleep 60"))
    pid = int(await asyncio.to_thread(told.read_text))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_no_such_program_is_an_error_at_once() -> None:
    before = descriptors()
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        await run("no-such-program", stdin=b"something")
    assert descriptors() == before


async def test_one_whose_end_could_not_be_seen_is_ended_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def refuse(pid: int) -> int:
        begun.append(pid)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        await run("sleep", "60")
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)


async def test_where_descriptors_run_out_none_is_lost() -> None:
    """Else each attempt takes two more, and the process never comes out of it."""
    await run("true")
    before, heard = descriptors(), set()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for most in range(before - 12, before + 16):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        try:
            heard.add((await run("cat", stdin=b"word")).output.text.decode())
        except OSError as error:
            heard.add(os.strerror(error.errno or 0))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert descriptors() == before
    assert heard == {"word", "Too many open files"}


async def test_no_descriptor_is_left_open() -> None:
    await run("true")
    before = descriptors()
    await run("cat", stdin=b"word")
    await run("sleep", "60", seconds=0.1)
    assert descriptors() == before


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def until_gone(pid: int) -> None:
    """It is no child of this process, but its end can be watched as that of one."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        async with asyncio.timeout(30):
            await children.gone(pidfd)
    finally:
        os.close(pidfd)
