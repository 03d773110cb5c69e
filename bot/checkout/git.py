"""One way to call git: a bare environment, none of this machine's configuration, a time-out, an end to every process.

The repositories come from pull requests, so hooks, file-system monitors, filters, local transports and prompts are off
for every call (see gitconfig(5) and git(1) for each name below).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from bot import children, journal
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
    """How a call ended. `error` is the beginning of git's standard error, decoded, for logs only."""

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
        try:
            ended = await children.run(
                [*bounded, *command(git_dir, *arguments)],
                environment=environment(extra),
                stdin=stdin,
                seconds=seconds,
                most_output=MAX_OUTPUT,
                most_errors=MAX_ERROR,
            )
        except FileNotFoundError:
            raise Fault("git is not installed where the bot runs", "no git on PATH") from None
        if ended.code is None:
            raise Fault("git took too long", f"{what}: over {seconds:g} s", retryable=True)
        ran.ended(ended.code, ended.errors.text)
    if not ended.output.whole:
        raise Fault("git answered with more data than the bot accepts", f"{what}: over {MAX_OUTPUT} bytes")
    return Finished(ended.code, ended.output.text, ended.errors.text.decode("utf-8", "replace"))


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


def _named(arguments: tuple[str | bytes, ...]) -> str:
    return "git " + " ".join(part if isinstance(part, str) else os.fsdecode(part) for part in arguments[:6])


def _told(arguments: tuple[str | bytes, ...]) -> str:
    """For the journal: what git was asked to do, without the settings before it and without addresses."""
    words = [part if isinstance(part, str) else os.fsdecode(part) for part in arguments]
    while words[:1] == ["-c"]:
        del words[:2]
    return " ".join(["git", *(word for word in words[:12] if not word.startswith(("-", "/")) and "://" not in word)])
