"""One way to call git: a bare environment, none of this machine's configuration, a time-out, an end to every process.

The repositories come from pull requests, so hooks, file-system monitors, filters, local transports and prompts are off
for every call (see gitconfig(5) and git(1) for each name below).
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from bot import journal
from bot.faults import Fault

OPTIONS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "protocol.allow=never"),
    *("-c", "protocol.file.allow=never"),
    *("-c", "protocol.http.allow=always"),
    *("-c", "protocol.https.allow=always"),
    # Command-line config is trusted: the folder may belong to the operator while the service runs as another user.
    *("-c", "safe.directory=*"),
    # Objects of a head that was pushed away must stay readable while its run goes on.
    *("-c", "gc.pruneExpire=never"),
    # Nothing is packed anew within a fetch, whose bound on files it would meet: `upkeep.put_together` does it.
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    "--no-pager",
    "--literal-pathspecs",
)
# What git may know of the bot's own environment: where programs are and how to reach the network.
INHERITED = (
    "PATH",
    *("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
FIXED = {
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
MAX_OUTPUT = 256 * 2**20  # far above a listing of the largest repository; a bound, so that no diff can fill the memory
MAX_ERROR = 16 * 2**10

# What curl and git say when the other side or the way to it failed for now (LC_ALL=C).
_TRANSIENT = (
    "Could not resolve host",
    "Couldn't connect",
    "Failed to connect",
    "Connection refused",
    "Connection reset",
    "Connection timed out",
    "Operation timed out",
    "Operation too slow",
    "Empty reply from server",
    "early EOF",
    "unexpected disconnect",
    "the remote end hung up",
    "RPC failed",
    "TLS connection",
    "cannot lock ref",
    "returned error: 429",
    "returned error: 5",
)


class Finished(msgspec.Struct, frozen=True):
    """How a call ended. `error` is git's standard error, decoded, for logs only."""

    code: int
    output: bytes
    error: str


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git process."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {**kept, **FIXED, **(extra or {})}


def command(git_dir: Path, *arguments: str | bytes) -> list[str | bytes]:
    return ["git", f"--git-dir={git_dir}", *OPTIONS, *arguments]


async def call(
    git_dir: Path,
    *arguments: str | bytes,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    seconds: float = 60,
    largest_file: int | None = None,
    writes: bool = False,
) -> Finished:
    """Run git to its end, whatever its exit code. Raises Fault: no git, over `seconds`, or too much output. The kernel
    ends it (SIGXFSZ) at a file of more than `largest_file` bytes, and where it `writes` together with this process: the
    next process takes every lock that it finds for a dead one's."""
    what = _named(arguments)
    bounded = ["setpriv", "--pdeathsig", "KILL", "--"] if writes else []
    bounded += ["prlimit", f"--fsize={largest_file}", "--"] if largest_file is not None else []
    with journal.child(_told(arguments)) as ran:
        process = await _start([*bounded, *command(git_dir, *arguments)], environment(extra), reads=bool(stdin))
        try:
            async with asyncio.timeout(seconds):
                _, output, error = await asyncio.gather(
                    _feed(process, stdin), _read(process.stdout, MAX_OUTPUT), _read(process.stderr, MAX_ERROR)
                )
                code = await process.wait()
        except TimeoutError:
            raise Fault("git took too long", f"{what}: over {seconds:g} s", retryable=True) from None
        finally:
            await _end(process)
        ran.ended(code, error or b"")
    if output is None:
        raise Fault("git answered with more data than the bot accepts", f"{what}: over {MAX_OUTPUT} bytes")
    return Finished(code, output, (error or b"more than fits").decode("utf-8", "replace"))


async def succeed(
    git_dir: Path,
    *arguments: str | bytes,
    stdin: bytes = b"",
    extra: Mapping[str, str] | None = None,
    seconds: float = 60,
    writes: bool = False,
) -> bytes:
    """Run git, expecting exit 0. Raises Fault otherwise."""
    finished = await call(git_dir, *arguments, stdin=stdin, extra=extra, seconds=seconds, writes=writes)
    if finished.code != 0:
        raise failure(finished, arguments)
    return finished.output


def failure(finished: Finished, arguments: tuple[str | bytes, ...]) -> Fault:
    """The fault that a failed call means. Network trouble is worth another try, anything else is not."""
    transient = any(sign in finished.error for sign in _TRANSIENT)
    public = "the repository could not be reached" if transient else "git could not read the repository"
    private = f"{_named(arguments)}: exit {finished.code}: {finished.error.strip()}"
    return Fault(public, private, retryable=transient)


async def _start(argv: list[str | bytes], env: dict[str, str], *, reads: bool) -> asyncio.subprocess.Process:
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE if reads else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except FileNotFoundError:
        raise Fault("git is not installed where the bot runs", "no git on PATH") from None
    except asyncio.CancelledError:
        # asyncio itself would kill git alone here and leave what git had started by then.
        await _end(await starting)
        raise


def _named(arguments: tuple[str | bytes, ...]) -> str:
    return "git " + " ".join(part if isinstance(part, str) else os.fsdecode(part) for part in arguments[:6])


def _told(arguments: tuple[str | bytes, ...]) -> str:
    """For the journal: what git was asked to do, without the settings before it and without addresses."""
    words = [part if isinstance(part, str) else os.fsdecode(part) for part in arguments]
    while words[:1] == ["-c"]:
        del words[:2]
    return " ".join(["git", *(word for word in words[:12] if not word.startswith(("-", "/")) and "://" not in word)])


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    if process.stdin is None:
        return
    # Git may end before it has read everything; uvloop tells that by a RuntimeError on a closed pipe.
    with suppress(BrokenPipeError, ConnectionResetError, RuntimeError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _read(stream: asyncio.StreamReader | None, limit: int) -> bytes | None:
    """All of the stream, or None when it is longer than `limit`; it is drained either way, so that git can end."""
    assert stream is not None  # noqa: S101 — it was asked for
    parts, size = [], 0
    while part := await stream.read(2**16):
        size += len(part)
        if size <= limit:
            parts.append(part)
    return b"".join(parts) if size <= limit else None


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a call that was given up, its transports and helpers included, and reap it."""
    if process.returncode is not None:
        return
    _kill_group(process.pid)
    await asyncio.shield(process.wait())
    # Once more: what the leader was starting while the first signal went round is in the group by now.
    _kill_group(process.pid)


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
