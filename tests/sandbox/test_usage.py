"""What a command takes with all it started is bounded, not only what its first process takes."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.sandbox.cage import KILLED, Cage
from bot.sandbox.memory import memory_bytes
from bot.sandbox.model import CommandResult, Limits
from bot.sandbox.tools import interpreter
from bot.sandbox.usage import Excess, Usage

LONG = timedelta(minutes=2)
EAGER = Limits(disk_bytes=2**24, disk_files=50, disk_every=0.1, memory_every=0.1)
# Each of the forks takes 100 MB of its own, far below what one process may have.
FORKS = """
import os, signal
print("started", flush=True)
for _ in range(6):
    if not os.fork():
        mine = bytearray(100 * 2**20)
        mine[:: 4096] = b"x" * len(mine[:: 4096])
        signal.pause()
signal.pause()
"""
# Forks that only look at what their parent has share its pages.
READERS = """
import os
ours = bytearray(100 * 2**20)
ours[:: 4096] = b"x" * len(ours[:: 4096])
read, write = os.pipe()
for _ in range(6):
    if not os.fork():
        os.close(write)
        os.read(read, 1)
        os._exit(0)
os.close(read)
import time
end = time.monotonic() + 1
while time.monotonic() < end: pass
"""
# Memory that belongs to no process alone: 100 MB for each of three, far below what one process may have.
SHARED = {
    "mapped and shared": "kept.append(mmap.mmap(-1, size)); kept[0][::4096] = bytes(len(kept[0][::4096]))",
    "in a file that has no name": "hold(os.memfd_create('x'))",
    "in a file that has no name and is mapped alone": "kept.append(mmapped(os.memfd_create('x')))",
    "of System V": "kept.append(attached(libc.shmget(0, size, 0o1600)))",
}
SHARING = """
import ctypes, mmap, os, signal
libc, size, kept = ctypes.CDLL(None), 100 * 2**20, []
libc.shmat.restype = ctypes.c_void_p

def hold(file):
    os.truncate(file, size)
    for _ in range(100):
        os.write(file, bytes(2**20))

def mmapped(file):
    hold(file)
    area = mmap.mmap(file, size)
    sum(area[::4096])
    os.close(file)
    return area

def attached(segment):
    place = libc.shmat(segment, None, 0)
    ctypes.memset(place, 1, size)
    return place

for _ in range(3):
    if not os.fork():
        {attack}
        signal.pause()
signal.alarm(4)
signal.pause()
"""
# What several processes look at together, as shared_memory of the standard library does it.
TOGETHER = """
import mmap, os
with open("/dev/shm/ours", "w+b") as file:
    file.truncate(100 * 2**20)
    area = mmap.mmap(file.fileno(), 0)
area[::4096] = b"x" * len(area[::4096])
read, write = os.pipe()
for _ in range(4):
    if not os.fork():
        os.close(write)
        sum(area[::4096])
        os.read(read, 1)
        os._exit(0)
os.close(read)
import time
end = time.monotonic() + 0.6
while time.monotonic() < end: pass
"""

# A few processes that together have 40,000 descriptors: each is one more thing to look at, and costs them nothing.
MUCH_TO_LOOK_AT = """
import os, signal
kept = [os.dup(0) for _ in range(4000)]
for _ in range(9):
    if not os.fork():
        break
signal.alarm(4)
signal.pause()
"""
# 100 MB for each of three, which are handed on to a fork every few milliseconds, among many who do nothing.
MOVING = """
import os, signal, time
for _ in range(500):
    if not os.fork():
        signal.pause()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
end = time.monotonic() + 6
for _ in range(3):
    if not os.fork():
        mine = bytearray(100 * 2**20)
        mine[:: 4096] = b"x" * len(mine[:: 4096])
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)
            signal.setitimer(signal.ITIMER_REAL, 0.003)
            signal.sigwait([signal.SIGALRM])
        os._exit(0)
while time.monotonic() < end:
    signal.sigtimedwait([], 0.1)
"""
# Folders of 200 letters, one in the other, beyond the 4,096 bytes of a path (PATH_MAX).
DEEP = """
import os, signal
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
signal.alarm(3)
signal.pause()
"""


async def python(program: str, tree: Path, memory_mb: int, limits: Limits = EAGER) -> CommandResult:
    executable, needs = interpreter()
    return await Cage(limits=limits).run(
        [str(executable), "-c", program], tree=tree, within=LONG, memory_mb=memory_mb, also_visible=needs
    )


async def test_processes_that_eat_memory_together_are_ended_and_it_is_said(tree: Path) -> None:
    result = await python(FORKS, tree, memory_mb=400)
    assert (result.exit_code, result.timed_out, result.fault) == (KILLED, False, "")
    lines = result.tail.splitlines()
    assert lines[0] == "started"
    assert lines[-1] == (
        "ended by the sandbox: its processes and what they keep in /tmp took more than 400 MB of memory"
    )


async def test_what_forks_share_counts_once(tree: Path) -> None:
    assert (await python(READERS, tree, memory_mb=400)).exit_code == 0


@pytest.mark.parametrize("tree", ["reachable"], indirect=True)
@pytest.mark.parametrize("kind", SHARED)
async def test_memory_that_is_no_processes_own_counts_too(tree: Path, kind: str) -> None:
    result = await python(SHARING.replace("{attack}", SHARED[kind]), tree, memory_mb=250)
    assert (result.exit_code, result.fault) == (KILLED, ""), result
    assert result.tail.endswith("took more than 250 MB of memory")


@pytest.mark.parametrize("tree", ["reachable"], indirect=True)
async def test_a_file_in_memory_that_many_map_counts_once(tree: Path) -> None:
    assert (await python(TOGETHER, tree, memory_mb=180)).exit_code == 0


async def test_memory_that_cannot_be_counted_in_time_ends_the_command_and_is_no_verdict_on_it(tree: Path) -> None:
    limits = Limits(memory_every=0.1, memory_within=0.02)
    result = await python(MUCH_TO_LOOK_AT, tree, memory_mb=400, limits=limits)
    assert (result.exit_code, result.timed_out) == (None, False), result
    assert result.fault == (
        "what it takes of memory could not be counted within 0.02 s, so nothing kept it to 400 MB; it was ended"
    )


async def test_other_work_that_fills_the_threads_keeps_no_look_at_the_memory_waiting(tmp_path: Path) -> None:
    over = threading.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(1))
    elsewhere = loop.run_in_executor(None, over.wait)
    try:
        usage = Usage(1, Limits(memory_every=0, memory_within=1), [tmp_path])
        excess = await usage.exceeded(os.getpid())
    finally:
        over.set()
        await elsewhere
    assert excess == Excess("its processes and what they keep in /tmp took more than 1 MB of memory")


@pytest.mark.parametrize("tree", ["reachable"], indirect=True)
async def test_memory_that_moves_from_process_to_process_is_seen_all_the_same(tree: Path) -> None:
    result = await python(MOVING, tree, memory_mb=250)
    assert result.exit_code == KILLED, result
    assert result.tail.endswith("took more than 250 MB of memory")


def test_a_cage_that_is_not_set_up_yet_does_not_take_what_this_machine_keeps_in_its_folders() -> None:
    with subprocess.Popen(["tail", "-f", "/dev/null"]) as outside:
        try:
            used = shutil.disk_usage("/tmp").used
            assert memory_bytes(outside.pid, enough=0) < used
        finally:
            outside.kill()


async def test_files_in_memory_count_as_memory(tree: Path) -> None:
    script = "head -c 300M /dev/zero > /tmp/a; head -c 300M /dev/zero > /dev/shm/b; tail -f /dev/null"
    result = await Cage(limits=EAGER).run(["sh", "-c", script], tree=tree, within=LONG, memory_mb=500)
    assert result.exit_code == KILLED
    assert result.tail.endswith("took more than 500 MB of memory")


async def test_a_command_that_fills_the_disk_is_ended(tree: Path) -> None:
    script = "for i in 1 2 3 4; do head -c 6M /dev/urandom > big$i; done; tail -f /dev/null"
    result = await Cage(limits=EAGER).run(["sh", "-c", script], tree=tree, within=LONG, memory_mb=500)
    assert result == CommandResult(KILLED, False, "ended by the sandbox: it wrote more than 16 MB to the disk")


async def test_a_command_that_makes_files_without_end_is_ended(tree: Path) -> None:
    script = "i=0; while :; do mkdir d$i; i=$((i+1)); done"
    result = await Cage(limits=EAGER).run(["sh", "-c", script], tree=tree, within=LONG, memory_mb=500)
    assert result == CommandResult(KILLED, False, "ended by the sandbox: it made more than 50 files")


async def test_files_that_were_deleted_and_are_kept_open_are_on_the_disk_all_the_same(tree: Path) -> None:
    script = 'for i in 3 4 5 6; do eval "exec $i>f; head -c 6M /dev/urandom >&$i"; rm f; done; tail -f /dev/null'
    result = await Cage(limits=EAGER).run(
        ["sh", "-c", f"(sleep 4; kill $$) & {script}"], tree=tree, within=LONG, memory_mb=500
    )
    assert result == CommandResult(KILLED, False, "ended by the sandbox: it wrote more than 16 MB to the disk")


async def test_files_lower_than_a_path_reaches_are_not_left_uncounted(tree: Path) -> None:
    result = await python(DEEP, tree, memory_mb=500, limits=replace(EAGER, disk_bytes=2**30))
    assert result.tail == (
        "ended by the sandbox: it made folders that stand too deep in one another to count what is in them"
    ), result


async def test_its_cache_counts_too(tree: Path) -> None:
    cache = tree.parent / "cache"
    cache.mkdir()
    script = "head -c 20M /dev/urandom > /cache/big; tail -f /dev/null"
    result = await Cage(limits=EAGER).run(["sh", "-c", script], tree=tree, within=LONG, memory_mb=500, cache=cache)
    assert result.tail == "ended by the sandbox: it wrote more than 16 MB to the disk"
