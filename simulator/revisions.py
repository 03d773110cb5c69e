"""Commits and diffs read from the real repository, and as GitHub's JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simulator.git import GitRepository
from simulator.payloads import api_of, node_id, page_of
from simulator.state import Repository
from simulator.world import World

Json = dict[str, Any]

# docs.github.com "Repository limits", diff limits: no single file's diff may exceed 20,000 loadable lines or 500 KB.
MOST_PATCH_LINES = 20_000
MOST_PATCH_BYTES = 500_000

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
_RENAMES = "--find-renames=50%"


@dataclass(frozen=True)
class Change:
    """One file of a diff. `patch` None: binary, too large, or nothing but a rename."""

    status: str
    path: str
    previous_path: str | None
    sha: str
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, str]
    """Name, address, ISO 8601 date."""
    committer: tuple[str, str, str]
    message: str


async def changes(git: GitRepository, base: str, head: str) -> list[Change]:
    """The files that differ between two commits, in git's order."""
    raw = _raw(await git.known("diff", "--raw", "-z", "--no-abbrev", _RENAMES, base, head))
    counts = _counts(await git.known("diff", "--numstat", "-z", _RENAMES, base, head))
    patches = _patches(await git.known("diff", "--no-ext-diff", "--no-textconv", _RENAMES, base, head), raw)
    return [
        Change(_STATUS[letter], path, previous, sha, *counts.get(path, (0, 0)), patch=patches[number])
        for number, (letter, path, previous, sha) in enumerate(raw)
    ]


def _raw(output: bytes) -> list[tuple[str, str, str | None, str]]:
    """(status letter, path, former path, blob) of each entry of `git diff --raw -z`."""
    words = iter(output.decode().split("\0"))
    entries = []
    for facts in words:
        if not facts:
            break
        _, _, before, after, status = facts.split(" ")
        first = next(words)
        previous, path = (first, next(words)) if status[0] in "RC" else (None, first)
        entries.append((status[0], path, previous, before if status == "D" else after))
    return entries


def _counts(output: bytes) -> dict[str, tuple[int, int]]:
    """Lines added and deleted by path; a binary file counts none."""
    words = iter(output.decode().split("\0"))
    counts = {}
    for line in words:
        if not line:
            break
        added, deleted, path = line.split("\t")
        if not path:  # a rename: the two names follow as words of their own
            next(words)
            path = next(words)
        counts[path] = (0, 0) if added == "-" else (int(added), int(deleted))
    return counts


def _patches(output: bytes, entries: Sequence[tuple[str, str, str | None, str]]) -> list[str | None]:
    sections = iter(re.split(rb"(?:\A|(?<=\n))diff --git ", output)[1:])
    patches: list[str | None] = []
    for letter, *_ in entries:
        section = next(sections)
        if letter == "T":  # git writes a change of type as a removal and an addition
            section += next(sections)
        start = section.find(b"\n@@ ")
        text = section[start + 1 :].rstrip(b"\n") if start >= 0 else b""
        fits = text and len(text) <= MOST_PATCH_BYTES and text.count(b"\n") < MOST_PATCH_LINES
        patches.append(text.decode(errors="replace") if fits else None)
    return patches


async def commits(git: GitRepository, *revisions: str, most: int | None = None) -> list[Commit]:
    """`git log` of the revisions, oldest first; with `most`, only the newest so many of them."""
    limit = [f"--max-count={most}"] if most is not None else []
    layout = "%x00".join(["%H", "%T", "%P", "%an", "%ae", "%aI", "%cn", "%ce", "%cI", "%B"]) + "%x01"
    output = (await git.run("log", "--topo-order", *limit, f"--format={layout}", *revisions, "--")).decode(
        errors="replace"
    )
    found = []
    for record in output.split("\x01")[:-1]:
        sha, tree, parents, *who, message = record.lstrip("\n").split("\0")
        author, committer = (who[0], who[1], who[2]), (who[3], who[4], who[5])
        found.append(Commit(sha, tree, tuple(parents.split()), author, committer, message.rstrip("\n")))
    return found[::-1]


async def count(git: GitRepository, revisions: str) -> int:
    return int(await git.known("rev-list", "--count", revisions, "--"))


def diff_entry(world: World, repository: Repository, revision: str, change: Change) -> Json:
    path = quote(change.path, safe="/")
    entry: Json = {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page_of(world, repository)}/blob/{revision}/{path}",
        "raw_url": f"{page_of(world, repository)}/raw/{revision}/{path}",
        "contents_url": f"{api_of(world, repository)}/contents/{path}?ref={revision}",
    }
    if change.patch is not None:
        entry["patch"] = change.patch
    if change.previous_path is not None:
        entry["previous_filename"] = change.previous_path
    return entry


def commit(world: World, repository: Repository, which: Commit) -> Json:
    api, page = api_of(world, repository), page_of(world, repository)
    return {
        "sha": which.sha,
        "node_id": node_id("Commit", int(which.sha[:12], 16)),
        "commit": {
            "author": _signature(which.author),
            "committer": _signature(which.committer),
            "message": which.message,
            "tree": {"sha": which.tree, "url": f"{api}/git/trees/{which.tree}"},
            "url": f"{api}/git/commits/{which.sha}",
            "comment_count": 0,
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        },
        "url": f"{api}/commits/{which.sha}",
        "html_url": f"{page}/commit/{which.sha}",
        "comments_url": f"{api}/commits/{which.sha}/comments",
        # An account is named only where the address belongs to one; here none does.
        "author": None,
        "committer": None,
        "parents": [
            {"sha": sha, "url": f"{api}/commits/{sha}", "html_url": f"{page}/commit/{sha}"} for sha in which.parents
        ],
    }


def _signature(who: tuple[str, str, str]) -> Json:
    name, address, date = who
    return {"name": name, "email": address, "date": date}
