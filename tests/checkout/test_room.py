"""What pull requests make the bot fetch and lay out is bounded: by size, and to the one repository."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer

from bot.checkout.mirror import Mirror
from bot.checkout.refusals import Quota, Refusal
from bot.checkout.repository import Repository
from bot.checkout.room import taken
from bot.checkout.trees import Trees
from bot.faults import Fault
from tests.checkout.origin import Origin
from tests.checkout.test_mirror import token

MB = 2**20
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


@pytest.fixture
async def small(origin: Origin, tmp_path: Path, aiohttp_server: Callable[..., Awaitable[TestServer]]) -> Mirror:
    """A mirror that may take 4 MB."""
    server = await aiohttp_server(origin.app())
    return Mirror(tmp_path / "state", str(server.make_url("/marin/marin.git")), 4 * MB)


async def test_a_pull_request_that_brings_too_much_is_refused_and_leaves_nothing(origin: Origin, small: Mirror) -> None:
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    origin.commit("refs/pull/1/head", {"huge": os.urandom(6 * MB)}, main)
    pull = origin.commit("refs/pull/2/head", {"a.py": b"2"}, main)
    with pytest.raises(Fault) as caught:
        await small.sync(1, "main", token)
    assert caught.value.public == (
        "the repository's mirror would take more than 4 MB of the bot's disk; its operator can set PERF_GATE_MIRROR_MB"
    )
    assert not caught.value.retryable
    assert await taken(small.git_dir) < MB
    # The next pull request is none the worse for it.
    assert (await small.sync(2, "main", token)).pull == pull


async def test_many_small_files_are_too_much_as_well(origin: Origin, small: Mirror) -> None:
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    origin.commit("refs/pull/1/head", {f"part-{n}": os.urandom(MB // 4) for n in range(24)}, main)
    with pytest.raises(Fault, match="would take more than 4 MB"):
        await small.sync(1, "main", token)
    assert await taken(small.git_dir) < MB


async def test_heads_of_earlier_runs_make_way(
    origin: Origin, small: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.checkout.room._SPARED", "now")
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    heads = [origin.commit(f"refs/pull/{n}/head", {"data": os.urandom(3 * MB // 2)}, main) for n in range(1, 5)]
    for number, head in enumerate(heads, start=1):
        assert (await small.sync(number, "main", token)).pull == head
        assert await small.has(main)
    assert await taken(small.git_dir) <= 4 * MB
    assert not await small.has(heads[0])
    # A run that still needs an earlier one has it again by its SHA.
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    assert await small.ensure(heads[0], token)


async def test_packs_that_a_crash_left_half_fetched_are_removed(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})
    await mirror.sync(None, "main", token)
    left = mirror.git_dir / "objects" / "pack" / "tmp_pack_dead01"
    left.write_bytes(b"PACK" * MB)
    await Mirror(tmp_path / "state", mirror._url).sync(None, "main", token)
    assert not left.exists()
    assert await mirror.read((await mirror.resolve("refs/perf-gate/base")) or "", "a.py") == b"1"


async def test_neither_large_files_nor_submodules_are_fetched(origin: Origin, mirror: Mirror, tmp_path: Path) -> None:
    """The commit says where more is to be had; nobody goes there, and a pointer stays a pointer."""
    elsewhere = mirror._url.replace("/marin/marin.git", "/evil/more.git")
    files: dict[bytes | str, bytes | str] = {
        ".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n",
        ".lfsconfig": f"[lfs]\n\turl = {elsewhere}/info/lfs\n".encode(),
        ".gitmodules": f'[submodule "more"]\n\tpath = more\n\turl = {elsewhere}\n'.encode(),
        "weights.bin": POINTER,
    }
    plain = origin.commit("refs/heads/main", files)
    listed = origin.git("ls-tree", plain) + f"\n160000 commit {'1' * 40}\tmore\n"
    tree = origin.git("mktree", "--missing", stdin=listed.encode())
    head = origin.git("commit-tree", tree, "-p", plain, "-m", "a submodule")
    origin.git("update-ref", "refs/pull/3/head", head)
    assert (await mirror.sync(3, "main", token)).pull == head
    laid_out = await Trees(tmp_path / "trees").materialise(mirror, head, "3-work")
    assert isinstance(laid_out, Path)
    assert (laid_out / "weights.bin").read_bytes() == POINTER
    assert not (laid_out / "more").exists()
    assert origin.asked
    assert {path.split("/")[1] for path in origin.asked} == {"marin"}
    assert not [path for path in origin.asked if "lfs" in path]


async def test_a_bomb_that_is_small_in_git_is_refused_before_it_is_laid_out(origin: Origin, tmp_path: Path) -> None:
    """One blob of zeros, many times: a few kilobytes in the mirror, and more on disk than it may take."""
    trees = Trees(tmp_path / "trees", Quota(max_bytes=8 * MB))
    sha = origin.commit("refs/heads/main", {f"zeros-{n}": bytes(MB) for n in range(10)})
    refused = await trees.materialise(Repository(origin.folder), sha, "4-work")
    assert refused == Refusal("the tree takes 10 MB, over the limit of 8 MB")
    assert not trees.root.exists()
