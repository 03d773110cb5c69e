"""Reading commits: what changed between two, what a file held, how far two are apart. Nothing here writes."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bot.assessment.model import FileChange, Status
from bot.checkout.git import Finished, call, failure, succeed
from bot.checkout.paths import MAX_FILE, printable
from bot.faults import Fault

_log = logging.getLogger(__name__)

SHA = re.compile(r"[0-9a-f]{40}")
REGULAR = (b"100644", b"100755")
ABSENT = b"000000"
MAX_FILES_READ = 64 * 2**20  # bytes in all, so that one diff cannot fill the memory
_STATUS: dict[bytes, Status] = {b"A": "added", b"D": "deleted", b"M": "modified", b"R": "renamed"}


class Distance(msgspec.Struct, frozen=True):
    """Commits that only the one and only the other side has."""

    only_first: int
    only_second: int


class _Raw(msgspec.Struct, frozen=True):
    """One entry of `git diff-tree --raw -z`: modes and blob ids of both sides."""

    modes: tuple[bytes, bytes]
    blobs: tuple[bytes, bytes]
    status: Status
    old: bytes | None
    path: bytes


def every_path(path: str) -> bool:
    return True


class Repository:
    """A git folder: a bare one, or the `.git` of a clone. Methods raise Fault when git fails or takes too long."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir

    async def resolve(self, name: str) -> str | None:
        """The commit that a branch, tag, SHA or other revision names; None where it names none."""
        arguments = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        finished = await call(self.git_dir, *arguments)
        sha = finished.output.decode("ascii", "replace").strip()
        return sha if finished.code == 0 and SHA.fullmatch(sha) else None

    async def has(self, sha: str) -> bool:
        """Is this commit here?"""
        return await self.resolve(checked(sha)) is not None

    async def merge_base(self, first: str, second: str) -> str | None:
        """The best common ancestor; None for unrelated histories."""
        arguments = ("merge-base", checked(first), checked(second))
        finished = await call(self.git_dir, *arguments)
        if finished.code == 1 and not finished.output:
            return None
        return _expect(finished, arguments).decode("ascii").strip()

    async def changes(
        self, base: str, head: str, wanted: Callable[[str], bool] = every_path, max_bytes: int = MAX_FILE
    ) -> list[FileChange]:
        """Every file that differs between two commits, moves recognised. Contents are read for `wanted` paths only,
        where the file is at most `max_bytes` long; elsewhere `base` and `head` stay None."""
        arguments = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--find-renames", "--no-ext-diff")
        raw = await succeed(self.git_dir, *arguments, checked(base), checked(head))
        entries = parse_raw(raw)
        chosen = [entry for entry in entries if entry.status != "special" and _is_wanted(entry, wanted)]
        contents = await self.blobs({blob for entry in chosen for blob in entry.blobs if blob.strip(b"0")}, max_bytes)
        read = {id(entry) for entry in chosen}
        return [_change(entry, contents if id(entry) in read else {}) for entry in entries]

    async def patch(self, base: str, head: str) -> bytes | None:
        """The difference of two commits as a patch, for people to read; None where it is too large for that."""
        arguments = ("diff-tree", "-r", "-p", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color")
        try:
            return await succeed(self.git_dir, *arguments, checked(base), checked(head))
        except Fault as fault:
            _log.warning("no patch", extra={"base": base, "head": head, "error": str(fault)})
            return None

    async def read(self, sha: str, path: str, max_bytes: int = MAX_FILE) -> bytes | None:
        """A regular file's bytes in a commit; None where there is none of this name. Fault when over `max_bytes`."""
        if path.startswith("/") or ".." in path.split("/"):
            return None  # no path of a repository, and git takes it for an error
        arguments = ("ls-tree", "-z", "-l", "--full-tree", checked(sha), "--", path)
        listing = await succeed(self.git_dir, *arguments)
        details, _, name = listing.rstrip(b"\0").partition(b"\t")
        mode, _, blob, size = (details.split() + [b""] * 4)[:4]
        # A folder's name with a slash lists what is in it, hence the comparison.
        if mode not in REGULAR or name != os.fsencode(path):
            return None
        if int(size) > max_bytes:
            raise Fault(f"`{path}` is too large to read", f"{path} at {sha}: {int(size)} bytes, limit {max_bytes}")
        return await succeed(self.git_dir, "cat-file", "blob", blob)

    async def read_folder(
        self, sha: str, folder: str, wanted: Callable[[str], bool] = every_path, max_bytes: int = MAX_FILE
    ) -> dict[str, bytes]:
        """The wanted regular files below a folder of a commit, by path; those over `max_bytes` are left out."""
        listing = await succeed(
            self.git_dir, "ls-tree", "-r", "-z", "--full-tree", checked(sha), "--", folder.strip("/") + "/"
        )
        blobs: dict[str, bytes] = {}
        for entry in listing.split(b"\0")[:-1]:
            details, _, name = entry.partition(b"\t")
            mode, _, blob = details.split(b" ")
            if mode in REGULAR and wanted(printable(name)):
                blobs[printable(name)] = blob
        contents = await self.blobs(set(blobs.values()), max_bytes)
        return {path: contents[blob] for path, blob in blobs.items() if blob in contents}

    async def words_written(self, sha: str, words: Set[str], wanted: Callable[[str], bool]) -> frozenset[str]:
        """Which of these identifiers stand as whole words in the wanted text files of a commit."""
        if not words:
            return frozenset()
        arguments = ("grep", "-I", "-w", "-F", "-o", "-z", "--no-color", "--full-name", "-f", "-", checked(sha))
        listed = "".join(f"{word}\n" for word in sorted(words)).encode()
        finished = await call(self.git_dir, *arguments, stdin=listed)
        if finished.code == 1 and not finished.output:
            return frozenset()
        found, place = set(), b""
        # `SHA:path`, a NUL, the word and a line break, and so on.
        for piece in _expect(finished, arguments).split(b"\0"):
            word, _, following = piece.partition(b"\n") if place else (b"", b"", piece)
            if word and wanted(printable(place.partition(b":")[2])):
                found.add(word.decode())
            place = following
        return frozenset(found)

    async def distance(self, first: str, second: str, paths: Sequence[str] = ()) -> Distance | None:
        """How many commits (touching `paths`, where given) each side has alone; None when one is not here."""
        if not (await self.has(first) and await self.has(second)):
            return None
        arguments = ("rev-list", "--count", "--left-right", f"{first}...{second}", "--", *paths)
        left, right = (await succeed(self.git_dir, *arguments)).split()
        return Distance(int(left), int(right))

    async def commit_date(self, sha: str) -> datetime | None:
        """When the commit was made (committer date, UTC); None when it is not here."""
        if not await self.has(sha):
            return None
        output = await succeed(self.git_dir, "log", "-1", "--no-show-signature", "--format=%ct", sha, "--")
        return datetime.fromtimestamp(int(output), UTC)

    async def blobs(self, ids: set[bytes], max_bytes: int) -> dict[bytes, bytes]:
        """The contents of the blobs that fit both limits, by id."""
        if not ids:
            return {}
        listed = b"".join(blob + b"\n" for blob in sorted(ids))
        sizes = await succeed(self.git_dir, "cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=listed)
        fitting, total = [], 0
        for line in sizes.splitlines():
            blob, size = line.split(b" ")
            if size.isdigit() and int(size) <= max_bytes and total + int(size) <= MAX_FILES_READ:
                fitting.append(blob)
                total += int(size)
        if not fitting:
            return {}
        asked = b"".join(blob + b"\n" for blob in fitting)
        return parse_batch(await succeed(self.git_dir, "cat-file", "--batch", stdin=asked))


def checked(sha: str) -> str:
    """A full commit SHA and nothing else: what follows on a command line can then never be an option or a revision."""
    if not SHA.fullmatch(sha):
        raise Fault("a commit's SHA is malformed", f"not a SHA: {sha!r}")
    return sha


def parse_raw(output: bytes) -> list[_Raw]:
    """Read `diff-tree --raw -z`: `:MODE MODE BLOB BLOB STATUS NUL PATH NUL`, moves with two paths (git-diff(1), "Raw
    output format"). NUL ends a name, so any other byte may stand in it."""
    fields = iter(output.split(b"\0")[:-1])
    entries = []
    for header in fields:
        old_mode, mode, old_blob, blob, letter = header.lstrip(b":").split(b" ")
        path, old = next(fields), None
        if letter[:1] in b"RC":
            old, path = path, next(fields)
        status = _STATUS.get(letter[:1], "special")
        if not {old_mode, mode} <= {*REGULAR, ABSENT}:
            status = "special"
        entries.append(_Raw((old_mode, mode), (old_blob, blob), status, old, path))
    return entries


def parse_batch(output: bytes) -> dict[bytes, bytes]:
    """Read `cat-file --batch`: `ID TYPE SIZE LF BYTES LF`, again and again."""
    contents, at = {}, 0
    while at < len(output):
        end = output.index(b"\n", at)
        blob, _, size = output[at:end].split(b" ")
        contents[blob] = output[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return contents


def _is_wanted(entry: _Raw, wanted: Callable[[str], bool]) -> bool:
    return wanted(printable(entry.path)) or (entry.old is not None and wanted(printable(entry.old)))


def _change(entry: _Raw, contents: dict[bytes, bytes]) -> FileChange:
    old = printable(entry.old) if entry.old is not None else None
    base, head = (contents.get(blob) for blob in entry.blobs)
    return FileChange(printable(entry.path), entry.status, old, base, head)


def _expect(finished: Finished, arguments: tuple[str, ...]) -> bytes:
    if finished.code != 0:
        raise failure(finished, arguments)
    return finished.output
