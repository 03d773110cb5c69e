"""The self-test: known ways out of a cage, really tried from inside. One that works closes the sandbox."""

from __future__ import annotations

import json
import secrets
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from bot.sandbox.model import CommandResult
from bot.sandbox.tools import interpreter

# Each function returns whether it got out. They run in the order in which they are named here.
PROBE = r"""
import ctypes, json, os, socket, sys
canary, port, abstract = sys.argv[1], int(sys.argv[2]), sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)
ours = {"PATH", "HOME", "USER", "LANG", "LC_CTYPE", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}
pids = [name for name in os.listdir("/proc") if name.isdigit()]

def host_file():
    return os.path.exists(canary) or os.path.exists("/etc/shadow")

def environment():
    for pid in pids:
        with open(f"/proc/{pid}/environ", "rb") as file:
            names = {entry.partition(b"=")[0].decode() for entry in file.read().split(b"\0") if entry}
        if names - ours:
            return True

def network():
    for family, address in ((socket.AF_INET, ("127.0.0.1", port)), (socket.AF_UNIX, "\0" + abstract)):
        with socket.socket(family) as door:
            door.settimeout(2)
            if door.connect_ex(address) == 0:
                return True
    return any(name != "lo" for _, name in socket.if_nameindex())

def processes():
    return len(pids) > 5

def remount():
    remount_bind = 32 | 4096
    for place in (b"/usr", b"/"):
        if libc.mount(b"none", place, None, remount_bind, None) == 0:
            return True
    for name in ("/usr/.perf-gate-probe", "/.perf-gate-probe"):
        try:
            open(name, "w").close()
        except OSError:
            continue
        os.unlink(name)
        return True

def user_namespace():
    return libc.unshare(0x10000000) == 0

for attempt in (host_file, environment, network, processes, remount, user_namespace):
    try:
        out = bool(attempt())
    except OSError:
        out = False
    if out:
        print(json.dumps({"escaped": attempt.__name__}))
        break
else:
    print(json.dumps({"escaped": None}))
"""
SENTENCES = {
    "host_file": "code in the sandbox can read this machine's files",
    "environment": "code in the sandbox can read the bot's environment, and with it its secrets",
    "network": "code in the sandbox can reach the network",
    "processes": "code in the sandbox can see this machine's processes",
    "remount": "code in the sandbox can write where it should only read",
    "user_namespace": "code in the sandbox can make a user namespace, and with it regain capabilities",
}
_WITHIN = timedelta(seconds=60)
_MEMORY_MB = 1024


class Run(Protocol):
    async def __call__(
        self,
        argv: Sequence[str],
        *,
        tree: Path,
        within: timedelta,
        memory_mb: int,
        also_visible: Sequence[Path] = ...,
    ) -> CommandResult: ...


async def attempt_all(run: Run, folder: Path | None = None) -> str | None:
    """Run the probe in a fresh tree below `folder` (default: the system's temporary folder). None: nothing got out."""
    python, needs = interpreter()
    with _tree(folder) as tree, _doors() as (port, abstract), tempfile.NamedTemporaryFile() as canary:
        result = await run(
            [str(python), "-I", "-c", PROBE, canary.name, str(port), abstract],
            tree=tree,
            within=_WITHIN,
            memory_mb=_MEMORY_MB,
            also_visible=needs,
        )
    return read_probe(result)


def read_probe(result: CommandResult) -> str | None:
    """The probe's verdict. A probe that did not come to an end has proven nothing."""
    if result.fault:
        return result.fault
    try:
        answer = json.loads(result.tail.splitlines()[-1])["escaped"] if result.exit_code == 0 else "no answer"
    except (IndexError, KeyError, TypeError, ValueError):
        answer = "no answer"
    if answer is None:
        return None
    return SENTENCES.get(answer, f"the sandbox's self-test did not finish: {result.tail[-300:] or 'no output'}")


@contextmanager
def _tree(folder: Path | None) -> Iterator[Path]:
    tree = Path(tempfile.mkdtemp(prefix="self-test-", dir=folder))
    tree.chmod(0o755)
    try:
        yield tree
    finally:
        shutil.rmtree(tree)


@contextmanager
def _doors() -> Iterator[tuple[int, str]]:
    """Two listeners that a connection from inside would reach: a TCP port of this machine, an abstract UNIX name."""
    abstract = f"perf-gate-{secrets.token_hex(8)}"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        unix.bind("\0" + abstract)
        unix.listen()
        yield tcp.getsockname()[1], abstract
