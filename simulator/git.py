"""A bare git repository on disk, driven by the real git: hermetic environment, no hooks, no user configuration."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

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

    async def run(self, *arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
        return await run_git("--git-dir", str(self.path), *arguments, stdin=stdin, env=env)

    @classmethod
    async def create(cls, path: Path, default_branch: str) -> GitRepository:
        await run_git("init", "--quiet", "--bare", f"--initial-branch={default_branch}", str(path))
        return await cls(path).allow_any_fetch()

    @classmethod
    async def clone(cls, source: Path, path: Path) -> GitRepository:
        await run_git("clone", "--quiet", "--bare", "--no-local", str(source), str(path))
        return await cls(path).allow_any_fetch()

    async def allow_any_fetch(self) -> GitRepository:
        """As GitHub does: any reachable object by its SHA, and partial clones."""
        await self.run("config", "uploadpack.allowAnySHA1InWant", "true")
        await self.run("config", "uploadpack.allowFilter", "true")
        return self

    async def resolve(self, revision: str) -> str | None:
        """The commit that a branch, tag or (abbreviated) SHA names; None where nothing does."""
        if not revision or revision.startswith("-"):
            return None
        try:
            found = await self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitFailed:
            return None
        return found.decode().strip()

    async def update_ref(self, ref: str, sha: str) -> None:
        await self.run("update-ref", ref, sha)

    async def merge_base(self, one: str, other: str) -> str | None:
        try:
            return (await self.run("merge-base", one, other)).decode().strip()
        except GitFailed:
            return None

    async def ls_tree(self, revision: str, path: str = "", *, recursive: bool = False) -> list[TreeEntry]:
        """Entries at exactly `path`, or inside it where it ends with a slash; all of the root for an empty path."""
        flags = ["-r"] if recursive else []
        output = await self.run("ls-tree", "-z", "--long", *flags, revision, *(["--", path] if path else []))
        entries = []
        for line in filter(None, output.split(b"\0")):
            facts, name = line.split(b"\t", 1)
            mode, kind, sha, size = facts.decode().split()
            entries.append(TreeEntry(mode, kind, sha, 0 if size == "-" else int(size), name.decode()))
        return entries

    async def blob(self, sha: str) -> bytes:
        return await self.run("cat-file", "blob", sha)

    async def commit(
        self,
        files: Mapping[str, str | bytes | None],
        *,
        parents: Sequence[str],
        message: str,
        identity: Identity,
        executable: Sequence[str] = (),
    ) -> str:
        """Commit the first parent's tree with `files` put in (None removes) and return the SHA. Moves no branch."""
        with tempfile.TemporaryDirectory() as scratch:
            index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
            if parents:
                await self.run("read-tree", parents[0], env=index)
            lines = []
            for path, content in files.items():
                if content is None:
                    lines.append(f"0 {NOBODY_SHA}\t{path}")
                    continue
                data = content.encode() if isinstance(content, str) else content
                sha = (await self.run("hash-object", "-w", "--stdin", stdin=data)).decode().strip()
                lines.append(f"{'100755' if path in executable else '100644'} {sha}\t{path}")
            await self.run("update-index", "-z", "--index-info", stdin="\0".join([*lines, ""]).encode(), env=index)
            tree = (await self.run("write-tree", env=index)).decode().strip()
        return await self.commit_tree(tree, parents=parents, message=message, identity=identity)

    async def commit_tree(self, tree: str, *, parents: Sequence[str], message: str, identity: Identity) -> str:
        who = {**identity.variables("AUTHOR"), **identity.variables("COMMITTER")}
        links = [word for parent in parents for word in ("-p", parent)]
        return (await self.run("commit-tree", tree, *links, stdin=message.encode(), env=who)).decode().strip()

    async def merge(self, base: str, head: str, *, message: str, identity: Identity) -> str | None:
        """A merge commit of the two, on no branch; None where they conflict."""
        try:
            tree = (await self.run("merge-tree", "--write-tree", base, head)).decode().split("\n", 1)[0]
        except GitFailed:
            return None
        return await self.commit_tree(tree, parents=[base, head], message=message, identity=identity)


async def run_git(*arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> bytes:
    process = await asyncio.create_subprocess_exec(
        "git",
        *arguments,
        stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(env),
    )
    try:
        output, problem = await process.communicate(stdin)
    except BaseException:
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise
    if process.returncode != 0:
        raise GitFailed(
            problem.decode(errors="replace").strip() or f"git {arguments[0]} ended with {process.returncode}"
        )
    return output
