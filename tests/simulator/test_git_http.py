"""A real git clones and fetches over HTTP with an installation token."""

from __future__ import annotations

import asyncio
import base64
import subprocess
from pathlib import Path

import pytest

from simulator.git import environment
from simulator.simulator import Simulator
from tests.simulator.client import AppClient

MARIN = "marin-community/marin"


async def git(*words: str, token: str | None = None, cwd: Path | None = None, trace: Path | None = None) -> str:
    """Run git; raises CalledProcessError with what it said."""
    secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    header = ["-c", f"http.extraHeader=Authorization: Basic {secret}"] if token else []
    command = ["git", *header, *words]
    env = environment({"GIT_TRACE_PACKET": str(trace)} if trace else None)
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, problem = await process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output, problem)
    return output.decode()


async def test_a_private_repository_is_cloned_with_a_token(
    simulator: Simulator, github: AppClient, tmp_path: Path
) -> None:
    url = f"{simulator.git_url}/{MARIN}.git"
    trace = tmp_path / "trace"
    await git(
        "-c", "protocol.version=2", "clone", "--quiet", url, str(tmp_path / "clone"), token=github.token, trace=trace
    )
    assert (tmp_path / "clone" / "lib/zephyr/plan.py").read_text().startswith("line 0\n")
    assert "clone< version 2" in trace.read_text()
    asked = [(one.method, one.status) for one in simulator.requests() if one.origin == "web"]
    assert asked == [("GET", 200), ("POST", 200), ("POST", 200)]


@pytest.mark.parametrize("version", ["0", "2"])
async def test_the_head_of_a_deleted_fork_is_fetched_by_ref_and_by_sha(
    simulator: Simulator, github: AppClient, tmp_path: Path, version: str
) -> None:
    pull = await simulator.open_pull(MARIN, author="frank", fork_owner="frank", files={"a.py": "first\n"})
    first = pull.head_sha
    second = await simulator.push(MARIN, pull.number, {"a.py": "second\n"})
    await simulator.delete_fork(MARIN, pull.number)
    url = f"{simulator.git_url}/{MARIN}.git"
    await git("init", "--quiet", "--bare", str(tmp_path))
    fetch = ["-c", f"protocol.version={version}", "fetch", "--quiet", url]
    await git(*fetch, f"refs/pull/{pull.number}/head:refs/heads/pull", token=github.token, cwd=tmp_path)
    assert (await git("rev-parse", "pull", cwd=tmp_path)).strip() == second
    await git(*fetch, "--depth=1", first, token=github.token, cwd=tmp_path)
    assert await git("show", f"{first}:a.py", cwd=tmp_path) == "first\n"


async def test_without_access_there_is_no_clone(simulator: Simulator, github: AppClient, tmp_path: Path) -> None:
    url = f"{simulator.git_url}/{MARIN}.git"
    for token, said in ((None, b"could not read Username"), ("ghs_wrong", b"Authentication failed")):
        with pytest.raises(subprocess.CalledProcessError) as failed:
            await git("clone", url, str(tmp_path / "clone"), token=token)
        assert said in failed.value.stderr or b"could not read" in failed.value.stderr
    await simulator.create_repository("rivals/secret", private=True)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        await git("clone", f"{simulator.git_url}/rivals/secret.git", str(tmp_path / "clone"), token=github.token)
    assert b"not found" in failed.value.stderr


async def test_nobody_pushes(simulator: Simulator, github: AppClient, tmp_path: Path) -> None:
    url = f"{simulator.git_url}/{MARIN}.git"
    await git("clone", "--quiet", url, str(tmp_path), token=github.token)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        await git("push", url, "main:other", token=github.token, cwd=tmp_path)
    assert b"403" in failed.value.stderr


async def test_git_meets_faults_too(simulator: Simulator, github: AppClient, tmp_path: Path) -> None:
    simulator.fault("status", path="*/info/refs", status=503)
    url = f"{simulator.git_url}/{MARIN}.git"
    with pytest.raises(subprocess.CalledProcessError) as failed:
        await git("ls-remote", url, token=github.token)
    assert b"503" in failed.value.stderr
    assert "refs/heads/main" in await git("ls-remote", url, token=github.token)
