"""What a pull request's tree must not hold before it is written to this machine or travels in a bundle.

Iris' bundler follows symbolic links, so one to `/proc/self/environ` would carry the submitter's secrets to the cluster;
the Iris client reads `.marin.yaml` from the folder it runs in. Both stop a tree here, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

MARIN_SETTINGS = b".marin.yaml"
MAX_NAME = 255  # bytes, NAME_MAX of Linux' file systems
MAX_PATH = 3072  # bytes; PATH_MAX is 4096, and the tree's own place needs room
MAX_LINK = 4095
MAX_HOPS = 40  # links followed before Linux itself gives up with ELOOP


class Refusal(msgspec.Struct, frozen=True):
    """Why a tree is not made: a sentence for the comment. The same commit is refused again, so nothing is retried."""

    reason: str


class Quota(msgspec.Struct, frozen=True):
    """How large one tree may be."""

    max_bytes: int = 2 * 2**30
    max_files: int = 200_000


class Entry(msgspec.Struct, frozen=True):
    """One blob of a commit's tree. `path` and `target` are bytes: a name is whatever the pull request made it.

    `target` is where a symbolic link leads, None for a regular file. `size` is in bytes.
    """

    path: bytes
    blob: bytes
    size: int
    executable: bool = False
    target: bytes | None = None


def refuse(entries: Sequence[Entry], quota: Quota) -> Refusal | None:
    """The first reason not to make this tree."""
    if len(entries) > quota.max_files:
        return Refusal(f"the tree has {len(entries)} files, over the limit of {quota.max_files}")
    if (total := sum(entry.size for entry in entries)) > quota.max_bytes:
        return Refusal(f"the tree takes {total / 2**20:.0f} MB, over the limit of {quota.max_bytes / 2**20:.0f} MB")
    for entry in entries:
        if problem := _bad_name(entry.path):
            return Refusal(f"`{shown(entry.path)}` {problem}")
    links = {entry.path: entry.target for entry in entries if entry.target is not None}
    for path, target in links.items():
        if target.startswith(b"/"):
            return Refusal(f"the symbolic link `{shown(path)}` leads to the absolute path `{shown(target)}`")
        if not target or b"\0" in target or len(target) > MAX_LINK or escapes(path, links):
            return Refusal(f"the symbolic link `{shown(path)}` leads out of the tree, to `{shown(target)}`")
    return None


def _bad_name(path: bytes) -> str | None:
    parts = path.split(b"/")
    if len(path) > MAX_PATH or any(len(part) > MAX_NAME for part in parts):
        return "has a longer name than this machine can hold"
    if any(part in (b"", b".", b"..") for part in parts):
        return "is a path that leads out of its folder"
    if any(part.lower() == b".git" for part in parts):
        return "would be taken for git's own data"
    if MARIN_SETTINGS in parts:
        return "is a tracked `.marin.yaml`, which would change how the ferry is submitted"
    return None


def escapes(link: bytes, links: dict[bytes, bytes]) -> bool:
    """Does following this link, and every link on its way, ever leave the tree?

    Walks as the kernel does: a `..` after a link leads to the parent of what the link points at, which is why comparing
    the text of paths is not enough.
    """
    at = link.split(b"/")[:-1]
    ahead = links[link].split(b"/")
    hops = 0
    while ahead:
        part = ahead.pop(0)
        if part in (b"", b"."):
            continue
        if part == b"..":
            if not at:
                return True
            at.pop()
            continue
        at.append(part)
        target = links.get(b"/".join(at))
        if target is None:
            continue
        hops += 1
        if target.startswith(b"/"):
            return True
        if hops > MAX_HOPS:
            return False
        at.pop()
        ahead = target.split(b"/") + ahead
    return False


def shown(name: bytes) -> str:
    """A hostile name for a sentence: printable, short, and unable to end the code span it stands in."""
    text = name.decode("utf-8", "backslashreplace")
    text = "".join(char if char.isprintable() and char != "`" else f"\\x{ord(char):02x}" for char in text)
    return text if len(text) <= 200 else text[:200] + "…"


def parse_listing(output: bytes) -> Iterable[tuple[bytes, bytes, int, bytes]]:
    """Read `ls-tree -r -z -l`: `MODE TYPE ID SIZE TAB PATH NUL` → (mode, id, size, path), submodules left out."""
    for line in output.split(b"\0")[:-1]:
        details, _, path = line.partition(b"\t")
        mode, kind, blob, size = details.split()
        if kind == b"blob":
            yield mode, blob, int(size), path
