"""A bare git repository on disk, driven by the real git: hermetic environment, no hooks, no user configuration."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

_SHA = re.compile(r"[0-9a-f]{40}")
_BRANCH = re.compile(r"refs/heads/[A-Za-z0-9][A-Za-z0-9_-]*")
NOBODY_SHA = "0" * 40


class GitFailed(Exception):
    """git ended with a non-zero code; the message is what it wrote to standard error."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        # A repository made by another user (a demo's folder) is served all the same.
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "GIT_CONFIG_KEY_1": "core.hooksPath",
        "GIT_CONFIG_VALUE_1": "/dev/null",
        **(extra or {}),
    }


@dataclass(frozen=True)
class Identity:
    name: str
    email: str
    date: datetime

    def stamped(self) -> str:
        """As a raw git object has it."""
        return f"{self.name} <{self.email}> {int(self.date.timestamp())} +0000"

    def variables(self, role: str) -> dict[str, str]:
        return {
            f"GIT_{role}_NAME": self.name,
            f"GIT_{role}_EMAIL": self.email,
            f"GIT_{role}_DATE": self.date.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }


@dataclass(frozen=True)
class TreeEntry:
    """One line of `git ls-tree`: `kind` is blob, tree or commit; `size` is 0 for the latter two."""

    mode: str
    kind: str
    sha: str
    size: int
    path: str


class GitRepository:
    """A bare repository. Every method raises `GitFailed` where git does, unless it says otherwise."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[str, ...], bytes] = {}
        self._commits: set[str] = set()

    async def run(self, *arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        return await run_git("--git-dir", str(self.path), *arguments, stdin=stdin, env=env)

    async def known(self, *arguments: str) -> bytes:
        """`run`, once for all: only for what full SHAs alone decide."""
        if arguments not in self._known:
            self._known[arguments] = await self.run(*arguments)
        return self._known[arguments]

    @classmethod
    async def create(cls, path: Path, default_branch: str) -> GitRepository:
        await run_git("init", "--quiet", "--bare", "--template=", f"--initial-branch={default_branch}", str(path))
        return cls(path)

    @classmethod
    async def clone(cls, source: Path, path: Path) -> GitRepository:
        await run_git("clone", "--quiet", "--bare", "--no-local", "--template=", str(source), str(path))
        return cls(path)

    async def resolve(self, revision: str) -> str | None:
        """The commit that a branch, tag or (abbreviated) SHA names; None where nothing does."""
        if not revision or revision.startswith("-"):
            return None
        if (near := self._at_hand(revision)) is not None:
            return near
        try:
            found = await self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitFailed:
            return None
        sha = found.decode().strip()
        self._commits.add(sha)
        return sha

    def _at_hand(self, revision: str) -> str | None:
        """A commit that is known to be one, or a branch that lies in a file of its own: most of what is asked for.

        Starting git costs milliseconds, and every request asks.
        """
        if revision in self._commits:
            return revision
        if not _BRANCH.fullmatch(revision):
            return None
        try:
            sha = (self.path / revision).read_text("ascii").strip()
        except (OSError, ValueError):
            return None
        return sha if _SHA.fullmatch(sha) else None

    async def update_ref(self, ref: str, sha: str) -> None:
        await self.run("update-ref", ref, sha)

    async def merge_base(self, one: str, other: str) -> str | None:
        try:
            return (await self.known("merge-base", one, other)).decode().strip()
        except GitFailed:
            return None

    async def ls_tree(self, revision: str, path: str = "") -> list[TreeEntry]:
        """Entries at exactly `path`, or inside it where it ends with a slash; all of the root for an empty path."""
        arguments = ("ls-tree", "-z", "--long", revision, *(["--", path] if path else []))
        output = await (self.known if _SHA.fullmatch(revision) else self.run)(*arguments)
        entries = []
        for line in filter(None, output.split(b"\0")):
            facts, name = line.split(b"\t", 1)
            mode, kind, sha, size = facts.decode().split()
            entries.append(TreeEntry(mode, kind, sha, 0 if size == "-" else int(size), name.decode()))
        return entries

    async def blob(self, sha: str) -> bytes:
        return await self.known("cat-file", "blob", sha)

    async def commit(
        self,
        ref: str,
        files: Mapping[str, str | bytes | None],
        *,
        parents: Sequence[str],
        message: str,
        identity: Identity,
        executable: Sequence[str] = (),
    ) -> str:
        """Commit the first parent's tree with `files` put in (None removes), move the ref there and give the SHA."""
        stream = [f"commit {ref}\nmark :1\n".encode()]
        stream += [f"{role} {identity.stamped()}\n".encode() for role in ("author", "committer")]
        stream.append(_data(message.encode()))
        stream += [f"{word} {parent}\n".encode() for word, parent in zip(("from", "merge"), parents, strict=False)]
        for path, content in files.items():
            if content is None:
                stream.append(f"D {_quoted(path)}\n".encode())
                continue
            mode = "100755" if path in executable else "100644"
            stream.append(f"M {mode} inline {_quoted(path)}\n".encode())
            stream.append(_data(content.encode() if isinstance(content, str) else content))
        stream.append(b"get-mark :1\n")
        return (await self.run("fast-import", "--quiet", "--force", stdin=b"".join(stream))).decode().strip()

    async def commit_tree(self, tree: str, *, parents: Sequence[str], message: str, identity: Identity) -> str:
        who = {**identity.variables("AUTHOR"), **identity.variables("COMMITTER")}
        links = [word for parent in parents for word in ("-p", parent)]
        return (await self.run("commit-tree", tree, *links, stdin=message.encode(), env=who)).decode().strip()

    async def merged_tree(self, base: str, head: str) -> str | None:
        """The tree of a merge of the two commits; None where they conflict."""
        try:
            return (await self.known("merge-tree", "--write-tree", base, head)).decode().split("\n", 1)[0]
        except GitFailed:
            return None

    async def merge(self, base: str, head: str, *, message: str, identity: Identity) -> str | None:
        """A merge commit of the two, on no branch; None where they conflict."""
        tree = await self.merged_tree(base, head)
        if tree is None:
            return None
        return await self.commit_tree(tree, parents=[base, head], message=message, identity=identity)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> str:
    """A path as `git fast-import` reads it: quoted, C escapes."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def spooled(content: bytes) -> IO[bytes]:
    """A file for git to read from: a pipe breaks, on each event loop differently, where git ends unread."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(content)
    file.seek(0)
    return file


async def run_git(*arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
    with spooled(stdin or b"") as source:
        # In a thread, and by subprocess: an event loop's own way may fork, which takes long in a large process.
        done = await asyncio.to_thread(
            subprocess.run,
            ["git", *arguments],
            stdin=source,
            capture_output=True,
            env=environment(env),
            check=False,
        )
    if done.returncode != 0:
        problem = done.stderr.decode(errors="replace").strip()
        raise GitFailed(problem or f"git {arguments[0]} ended with {done.returncode}")
    return done.stdout
