"""The command line of bubblewrap: new namespaces, no capability, a root of its own with only what is named in it.

Each option stands against an escape that was tried (bwrap(1) has their meaning): `--unshare-user` and `--cap-drop ALL`,
because the real root could otherwise remount what is read-only; `--disable-userns`, because a nested user namespace
would give the capabilities back; `--new-session`, because a shared terminal takes typed input from its processes;
`--die-with-parent` and the process namespace, because nothing may outlive a kill. The environment is the caller's
affair: `--clearenv` would leave it readable in `/proc/1/environ`, so bwrap itself must be started with the final one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Bind: TypeAlias = Path | tuple[Path, str]
"""A path of this machine that is seen at the same place, or at the place named with it."""

NOBODY = 65534  # the uid and gid inside; outside, what they stand for is whoever started bwrap
SCRATCH_MB = 2048  # for /tmp and for /dev/shm each; they are memory
_MERGED = ("bin", "sbin", "lib", "lib64")
# Loader cache and the links behind many of /usr/bin's names; neither says anything about this machine's owner.
_HARMLESS = ("/etc/ld.so.cache", "/etc/alternatives")
# What finding and trusting a host takes.
_NAMES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")
_CERTIFICATES = ("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/tls", "/etc/pki/ca-trust")


class NotInstalled(Exception):
    """bubblewrap is missing; the message says how to install it."""


def find(name: str = "bwrap") -> str:
    """The program's absolute path. Raises NotInstalled."""
    found = shutil.which(name)
    if found is None:
        raise NotInstalled("bubblewrap is not installed here: `apt-get install bubblewrap` brings it")
    return found


def wrap(
    argv: Sequence[str],
    *,
    read_only: Sequence[Bind] = (),
    read_write: Sequence[Bind] = (),
    env: Mapping[str, str] | None = None,
    network: bool,
    chdir: str,
    certificates: bool = False,
    scratch_mb: int = SCRATCH_MB,
    status_fd: int | None = None,
    bwrap: str | None = None,
) -> list[str]:
    """`argv` in a cage. Inside there are /usr, a private /tmp, /proc and /dev, and the binds; all else is absent.

    The environment of the wrapped process is the one that the returned command is started with, plus `env`. Values of
    `env` stand in the argument list, which every user of this machine can read: secrets never go there. bwrap writes
    JSON lines about itself to `status_fd`, the first with the `child-pid` of the cage's first process. The authorities
    that this machine trusts are seen with `network`, and where `certificates` asks for them.
    """
    return [
        bwrap or find(),
        *("--unshare-user", "--unshare-all", *(["--share-net"] if network else []), "--disable-userns"),
        *("--cap-drop", "ALL", "--uid", str(NOBODY), "--gid", str(NOBODY)),
        *("--new-session", "--die-with-parent"),
        *(["--json-status-fd", str(status_fd)] if status_fd is not None else []),
        *_system(),
        *("--proc", "/proc", "--dev", "/dev"),
        *_tmpfs("/dev/shm", scratch_mb),  # noqa: S108 — the cage's own
        *_tmpfs("/tmp", scratch_mb),  # noqa: S108 — the cage's own
        *(_binds("--ro-bind-try", [Path(path) for path in _NAMES]) if network else []),
        *(_binds("--ro-bind-try", [Path(path) for path in _CERTIFICATES]) if network or certificates else []),
        *_binds("--ro-bind", read_only),
        *_binds("--bind", read_write),
        # The cage's own root and /dev are memory without a limit; nothing needs to write there.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *(word for name, value in (env or {}).items() for word in ("--setenv", name, value)),
        *("--chdir", chdir, "--", *argv),
    ]


def _system() -> list[str]:
    """/usr, and the root's names that lead into it (or are folders of their own on older systems)."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _MERGED:
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", os.fspath(path.readlink()), f"/{name}"]
        elif path.is_dir():
            words += ["--ro-bind", f"/{name}", f"/{name}"]
    return words + _binds("--ro-bind-try", [Path(path) for path in _HARMLESS])


def _tmpfs(place: str, megabytes: int) -> list[str]:
    return ["--size", str(megabytes * 2**20), "--tmpfs", place]


def _binds(option: str, binds: Sequence[Bind]) -> list[str]:
    pairs = [bind if isinstance(bind, tuple) else (bind, os.fspath(bind)) for bind in binds]
    return [word for source, place in pairs for word in (option, os.fspath(source), place)]
