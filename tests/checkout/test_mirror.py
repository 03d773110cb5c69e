"""The mirror, fetching over real HTTP from git's own server program."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.checkout import git
from bot.checkout.mirror import Mirror
from bot.faults import Fault
from tests.checkout.origin import Origin


async def token() -> str:
    return "ghs_secret"


async def test_a_sync_brings_the_default_branch_and_the_pull_requests_head(origin: Origin, mirror: Mirror) -> None:
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    pull = origin.commit("refs/pull/7/head", {"a.py": b"2"}, main)
    heads = await mirror.sync(7, "main", token)
    assert (heads.default_branch, heads.pull) == (main, pull)
    assert await mirror.read(pull, "a.py") == b"2"


async def test_a_head_that_was_pushed_away_stays_readable(origin: Origin, mirror: Mirror) -> None:
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    first = origin.commit("refs/pull/7/head", {"a.py": b"2"}, main)
    await mirror.sync(7, "main", token)
    second = origin.commit("refs/pull/7/head", {"a.py": b"3"}, main)
    assert (await mirror.sync(7, "main", token)).pull == second
    assert await mirror.read(first, "a.py") == b"2"


async def test_a_commit_that_no_ref_leads_to_is_fetched_by_its_sha(origin: Origin, mirror: Mirror) -> None:
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    lost = origin.commit("refs/pull/7/head", {"a.py": b"2"}, main)
    origin.commit("refs/pull/7/head", {"a.py": b"3"}, main)
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    await mirror.sync(7, "main", token)
    assert not await mirror.has(lost)
    assert await mirror.ensure(lost, token)
    assert await mirror.read(lost, "a.py") == b"2"
    assert not await mirror.ensure("0" * 39 + "1", token)


async def test_syncs_of_one_mirror_take_turns(origin: Origin, mirror: Mirror) -> None:
    main = origin.commit("refs/heads/main", {"a.py": b"1"})
    pulls = [origin.commit(f"refs/pull/{n}/head", {"a.py": b"%d" % n}, main) for n in range(1, 5)]
    heads = await asyncio.gather(*[mirror.sync(n, "main", token) for n in range(1, 5)])
    assert [head.pull for head in heads] == pulls


async def test_a_missing_pull_request_is_named_and_not_worth_a_retry(origin: Origin, mirror: Mirror) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})
    with pytest.raises(Fault) as caught:
        await mirror.sync(9, "main", token)
    assert caught.value.public == "the repository has no `refs/pull/9/head`"
    assert not caught.value.retryable


async def test_a_failing_server_is_worth_a_retry(origin: Origin, mirror: Mirror) -> None:
    origin.broken_with = 503
    with pytest.raises(Fault) as caught:
        await mirror.sync(None, "main", token)
    assert caught.value.retryable
    assert caught.value.public == "the repository could not be reached"


async def test_nobody_listening_is_worth_a_retry(tmp_path: Path, unused_tcp_port: int) -> None:
    with pytest.raises(Fault) as caught:
        await Mirror(tmp_path, f"http://127.0.0.1:{unused_tcp_port}/a/b.git").sync(None, "main", token)
    assert caught.value.retryable


async def test_a_refused_token_is_said_and_never_shown(origin: Origin, mirror: Mirror) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})

    async def stale() -> str:
        return "ghs_canary_stale"

    with pytest.raises(Fault) as caught:
        await mirror.sync(None, "main", stale)
    assert caught.value.public == "GitHub refused the bot's access to the repository"
    assert not caught.value.retryable
    assert "canary" not in str(caught.value)


async def test_the_token_is_in_no_argument_and_no_file(
    origin: Origin, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})
    lines: list[str] = []
    begin = subprocess.Popen

    def spy(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
        lines.append(" ".join(map(str, arguments)))
        return begin(arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", spy)
    await mirror.sync(None, "main", token)
    assert any("fetch" in line for line in lines)
    assert not any("ghs_secret" in line for line in lines)
    written = [path.read_bytes() for path in mirror.git_dir.parent.rglob("*") if path.is_file()]
    assert written
    assert not any(b"ghs_secret" in data for data in written)


async def test_a_redirect_to_another_host_does_not_get_the_token(
    origin: Origin, tmp_path: Path, aiohttp_server: Callable[..., Awaitable[TestServer]]
) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})
    elsewhere = await aiohttp_server(origin.app())
    app = web.Application()

    async def move(request: web.Request) -> web.Response:
        return web.Response(status=301, headers={"Location": str(elsewhere.make_url(request.rel_url.path_qs))})

    app.router.add_get("/{path:.*}", move)
    front = await aiohttp_server(app)
    mirror = Mirror(tmp_path / "state", str(front.make_url("/marin/marin.git")))
    with pytest.raises(Fault, match="refused"):
        await mirror.sync(None, "main", token)
    assert set(origin.seen) == {""}


async def test_local_transports_are_closed(origin: Origin, tmp_path: Path) -> None:
    origin.commit("refs/heads/main", {"a.py": b"1"})
    for url in (f"file://{origin.folder}", str(origin.folder), "ext::sh -c date"):
        with pytest.raises(Fault) as caught:
            await Mirror(tmp_path / "state", url).sync(None, "main", None)
        assert "not allowed" in caught.value.private


async def test_nothing_of_the_machines_environment_reaches_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_GATE_WEBHOOK_SECRET", "canary")
    monkeypatch.setenv("GIT_SSH_COMMAND", "canary")
    assert "canary" not in git.environment().values()
    assert git.environment()["GIT_CONFIG_GLOBAL"] == "/dev/null"


async def test_a_git_that_takes_too_long_is_worth_a_retry(origin: Origin) -> None:
    with pytest.raises(Fault) as caught:
        await git.call(origin.folder, "-c", "alias.hang=!tail -f /dev/null", "hang", seconds=0)
    assert caught.value.retryable
    assert caught.value.public == "git took too long"


async def test_a_git_that_is_given_up_takes_all_it_started_with_it(origin: Origin, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    readable = asyncio.Event()
    asyncio.get_running_loop().add_reader(reader, readable.set)
    try:
        # The grandchild holds the FIFO open: its end is the end of the file.
        hang = f"alias.hang=!exec 3> {fifo}; echo started >&3; exec tail -f /dev/null"
        call = asyncio.create_task(git.call(origin.folder, "-c", hang, "hang"))
        await readable.wait()
        assert os.read(reader, 100) == b"started\n"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while True:
            readable.clear()
            await readable.wait()
            with suppress(BlockingIOError):
                assert os.read(reader, 100) == b""
                break
    finally:
        asyncio.get_running_loop().remove_reader(reader)
        os.close(reader)


async def test_a_renamed_repository_is_fetched_by_its_new_name_into_the_same_folder(
    origin: Origin, mirror: Mirror
) -> None:
    first = origin.commit("refs/heads/main", {"a.py": b"1"})
    await mirror.sync(None, "main", token)
    mirror.moved_to(mirror._url.replace("/marin/marin.git", "/marin/zephyr.git"))
    second = origin.commit("refs/heads/main", {"a.py": b"2"}, first)
    assert (await mirror.sync(None, "main", token)).default_branch == second
    assert origin.asked[-1].startswith("/marin/zephyr.git/")
    assert await mirror.has(first)
