"""A mirror goes on whatever was killed in it: locks, half packs and many packs are put right before the next fetch."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer

from bot.checkout import git
from bot.checkout.mirror import Mirror
from bot.faults import Fault
from tests.checkout.origin import Origin
from tests.checkout.test_mirror import token

MB = 2**20
# What git makes while it works and removes at its end, which SIGKILL takes from it.
LEFT = (
    "refs/perf-gate/base.lock",
    "packed-refs.lock",
    "HEAD.lock",
    "shallow.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/multi-pack-index.lock",
    "objects/pack/pack-dead.keep",
    "objects/pack/tmp_pack_dead01",
    "objects/pack/.tmp-4711-pack-dead.pack",
    "objects/pack/.tmp-4711-pack-dead.idx",
    "gc.pid",
)


def left_in(mirror: Mirror) -> list[str]:
    return [name for name in LEFT if (mirror.git_dir / name).exists()]


def packs(mirror: Mirror) -> int:
    return len(list((mirror.git_dir / "objects" / "pack").glob("pack-*.pack")))


async def test_what_a_killed_git_left_wedges_no_later_fetch(origin: Origin, mirror: Mirror) -> None:
    """The process lives on: a git that took too long was ended by it."""
    first = origin.commit("refs/heads/main", {"a.py": b"1"})
    await mirror.sync(None, "main", token)
    for name in LEFT:
        file = mirror.git_dir / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    second = origin.commit("refs/heads/main", {"a.py": b"2"}, first)
    assert (await mirror.sync(None, "main", token)).default_branch == second
    assert left_in(mirror) == []
    assert await mirror.read(first, "a.py") == b"1"


@pytest.mark.parametrize("ended_by", ["time", "giving up"])
async def test_a_fetch_that_does_not_come_to_its_end_leaves_no_half_pack(
    origin: Origin, mirror: Mirror, monkeypatch: pytest.MonkeyPatch, ended_by: str
) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})
    await mirror.sync(None, "main", token)
    half = mirror.git_dir / "objects" / "pack" / "tmp_pack_dead01"
    call = git.call

    async def dying(git_dir: Path, *arguments: str | bytes, **options: object) -> git.Finished:
        if "fetch" not in arguments:
            return await call(git_dir, *arguments, **options)  # type: ignore[arg-type]
        half.write_bytes(b"PACK")
        if ended_by == "time":
            raise Fault("git took too long", "over 900 s", retryable=True)
        raise asyncio.CancelledError

    monkeypatch.setattr("bot.checkout.mirror.call", dying)
    with pytest.raises(Fault if ended_by == "time" else asyncio.CancelledError):
        await mirror.sync(None, "main", token)
    assert not half.exists()


async def test_git_packs_nothing_anew_within_a_bounded_fetch(
    origin: Origin, tmp_path: Path, aiohttp_server: Callable[..., Awaitable[TestServer]]
) -> None:
    """Packing anew writes a file as large as all packs together, which the bound of one fetch would cut off."""
    server = await aiohttp_server(origin.app())
    mirror = Mirror(tmp_path / "state", str(server.make_url("/marin/marin.git")), 4 * MB)
    head = origin.commit("refs/heads/main", {"a.py": os.urandom(3 * MB)})
    await mirror.sync(None, "main", token)
    for name in ("gc.auto", "gc.autoPackLimit"):
        await git.succeed(mirror.git_dir, "config", name, "1")
    for n in range(3):
        head = origin.commit("refs/heads/main", {"a.py": b"%d" % n}, head)
        await mirror.sync(None, "main", token)
    assert packs(mirror) == 4
    assert [file.name for file in (mirror.git_dir / "objects").rglob("tmp_*")] == []


async def test_many_packs_are_put_together_and_no_head_is_lost(
    origin: Origin, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.checkout.upkeep.MOST_PACKS", 4)
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    heads = []
    for n in range(6):
        # Pushed over and over: no ref leads to the earlier heads any more.
        heads.append(origin.commit("refs/pull/7/head", {"a.py": b"%d" % n}, main))
        assert (await mirror.sync(7, "main", token)).pull == heads[-1]
    assert packs(mirror) <= 4
    assert [await mirror.read(head, "a.py") for head in heads] == [b"%d" % n for n in range(6)]
    assert list((mirror.git_dir / "objects").glob("[0-9a-f][0-9a-f]")) == []


async def test_a_fetch_that_can_be_done_without_never_lets_go_of_heads(
    origin: Origin,
    tmp_path: Path,
    aiohttp_server: Callable[..., Awaitable[TestServer]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Looking at the baseline's commit is given half a minute: no time to pack a repository anew."""
    monkeypatch.setattr("bot.checkout.room._SPARED", "now")
    server = await aiohttp_server(origin.app())
    mirror = Mirror(tmp_path / "state", str(server.make_url("/marin/marin.git")), 4 * MB)
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    pull = origin.commit("refs/pull/1/head", {"data": os.urandom(2 * MB)}, main)
    await mirror.sync(1, "main", token)
    baseline = origin.commit("refs/heads/nightly", {"data": os.urandom(3 * MB)}, main)
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    assert not await mirror.ensure(baseline, token, make_way=False)
    assert await mirror.resolve("refs/perf-gate/pull/1") == pull
    assert await mirror.ensure(baseline, token)


def test_a_git_that_writes_ends_with_its_bot(origin: Origin, tmp_path: Path) -> None:
    """An orphan would go on under locks that the next process takes for a dead one's."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    hang = f"git.call(Path({str(origin.folder)!r}), 'hash-object', {str(fifo)!r}, writes=True)"
    program = f"import asyncio\nfrom pathlib import Path\nfrom bot.checkout import git\nasyncio.run({hang})"
    # The second opens once git, which waits for what is to be read there, has opened it too.
    with subprocess.Popen([sys.executable, "-c", program]) as bot, fifo.open("wb", buffering=0) as writing:
        bot.kill()
        poll = select.poll()
        poll.register(writing, select.POLLERR)
        assert poll.poll(10_000), "git reads on"
