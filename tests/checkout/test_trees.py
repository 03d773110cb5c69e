"""Pinned trees: made from hostile commits, found again, removed whatever was done to them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bot.checkout.refusals import Quota, Refusal
from bot.checkout.removal import remove_tree
from bot.checkout.repository import Repository
from bot.checkout.trees import Trees
from bot.faults import Fault
from tests.checkout.origin import Content, Origin

Files = dict[bytes | str, Content]


async def make(origin: Origin, trees: Trees, files: Files, name: str = "7-1-work") -> Path | Refusal:
    sha = origin.commit("refs/heads/main", files)
    return await trees.materialise(Repository(origin.folder), sha, name)


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path / "trees")


async def test_a_tree_is_the_commits_files_and_no_git(origin: Origin, trees: Trees) -> None:
    path = await make(
        origin,
        trees,
        {"a/b.py": b"x", "run": b"#!/bin/sh\n", "empty": b"", "a/link": "../run", "big": b"z" * 3_000_000},
    )
    assert path == trees.path("7-1-work")
    assert (path / "a/b.py").read_bytes() == b"x"
    assert (path / "big").stat().st_size == 3_000_000
    assert (path / "empty").read_bytes() == b""
    assert stat.S_IMODE((path / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((path / "a/b.py").stat().st_mode) == 0o644
    assert (path / "a/link").readlink() == Path("../run")
    assert sorted(p.name for p in path.iterdir()) == ["a", "big", "empty", "run"]


async def test_attributes_of_the_pull_request_change_no_byte(origin: Origin, trees: Trees) -> None:
    path = await make(origin, trees, {".gitattributes": b"* text eol=crlf ident filter=lfs", "a": b"$Id$\n"})
    assert isinstance(path, Path)
    assert (path / "a").read_bytes() == b"$Id$\n"


@pytest.mark.parametrize("name", [b"\xff\xfe", b"two\nlines", b'"; rm -rf .', b"-rf", b" ", b"\x1b[2J", "数".encode()])
async def test_hostile_names_are_written_as_they_are(origin: Origin, trees: Trees, name: bytes) -> None:
    path = await make(origin, trees, {b"dir/" + name: b"x"})
    assert isinstance(path, Path)
    assert os.listdir(os.fsencode(path / "dir")) == [name]  # noqa: PTH208 — bytes are the point
    await trees.remove("7-1-work")
    assert not path.exists()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"env": "/proc/self/environ"}, "`env` leads to the absolute path `/proc/self/environ`"),
        ({"a/up": "../../x"}, "`a/up` leads out of the tree, to `../../x`"),
        ({"up": ".."}, "`up` leads out of the tree"),
        ({"here": ".", "out": "here/here/../x"}, "`out` leads out of the tree"),
        ({"d/x": b"", "s": "d", "out": "s/../../x"}, "`out` leads out of the tree"),
        ({"d/e/x": b"", "s": "d/e", "out": "s/../../../x"}, "`out` leads out of the tree"),
        ({"empty": ""}, "`empty` leads out of the tree"),
        ({"lib/.marin.yaml": b"env: {}"}, "`lib/.marin.yaml` is a tracked `.marin.yaml`"),
        ({".marin.yaml": "README"}, "`.marin.yaml` is a tracked `.marin.yaml`"),
        ({"a/.git/config": b""}, "`a/.git/config` would be taken for git's own data"),
        ({".GIT/hooks/x": b""}, "would be taken for git's own data"),
        ({"a/../../x": b""}, "`a/../../x` is a path that leads out of its folder"),
        ({b"x" * 300: b""}, "has a longer name than this machine can hold"),
        ({b"/".join([b"d" * 200] * 20): b""}, "has a longer name than this machine can hold"),
    ],
)
async def test_what_must_not_reach_this_machine_or_a_bundle_is_refused_by_name(
    origin: Origin, trees: Trees, files: Files, reason: str
) -> None:
    refusal = await make(origin, trees, {"README": b"x", **files})
    assert isinstance(refusal, Refusal)
    assert reason in refusal.reason
    assert not trees.path("7-1-work").exists()


@pytest.mark.parametrize(
    "files",
    [
        {"a/b/x": b"", "a/link": "b/../b/x"},
        {"CLAUDE.md": "AGENTS.md", "AGENTS.md": b""},
        {".claude/skills": "../.agents/skills", ".agents/skills/x": b""},
        {"dangling": "nowhere/at/all"},
        {"loop": "pool", "pool": "loop"},
    ],
)
async def test_links_that_stay_in_the_tree_are_kept(origin: Origin, trees: Trees, files: Files) -> None:
    assert isinstance(await make(origin, trees, files), Path)


async def test_a_name_cannot_break_out_of_its_code_span(origin: Origin, trees: Trees) -> None:
    refusal = await make(origin, trees, {b"a`@everyone\n": "/etc"})
    assert isinstance(refusal, Refusal)
    assert "`a\\x60@everyone\\x0a`" in refusal.reason


async def test_a_file_is_never_written_through_a_link_of_the_same_name(
    origin: Origin, trees: Trees, tmp_path: Path
) -> None:
    """A tree object with the entry "a" twice, as a link and as a folder: such trees have fooled checkouts before."""
    blob = origin.git("hash-object", "-w", "--stdin", stdin=b"payload")
    link = origin.git("hash-object", "-w", "--stdin", stdin=b"b")
    inner = origin.git("mktree", stdin=f"100644 blob {blob}\tfile\n".encode())
    raw = b"120000 a\0" + bytes.fromhex(link) + b"40000 a\0" + bytes.fromhex(inner)
    tree = origin.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    sha = origin.git("commit-tree", tree, "-m", "twice")
    with pytest.raises(Fault, match="could not be written"):
        await trees.materialise(Repository(origin.folder), sha, "7-1-work")
    assert not trees.path("7-1-work").exists()


async def test_a_tree_over_its_quota_is_refused_before_a_byte_is_written(origin: Origin, tmp_path: Path) -> None:
    small = Trees(tmp_path / "trees", Quota(max_bytes=2**20, max_files=2))
    heavy = await make(origin, small, {"a": b"x" * 2**21})
    assert heavy == Refusal("the tree takes 2 MB, over the limit of 1 MB")
    many = await make(origin, small, {"a": b"", "b": b"", "c": b""})
    assert many == Refusal("the tree has 3 files, over the limit of 2")
    assert not small.root.exists()


async def test_submodules_are_left_out(origin: Origin, trees: Trees) -> None:
    blob = origin.git("hash-object", "-w", "--stdin", stdin=b"x")
    tree = origin.git("mktree", "--missing", stdin=f"100644 blob {blob}\ta\n160000 commit {'1' * 40}\tsub\n".encode())
    path = await trees.materialise(
        Repository(origin.folder), origin.git("commit-tree", tree, "-m", "sub"), "7-1-pristine"
    )
    assert isinstance(path, Path)
    assert [p.name for p in path.iterdir()] == ["a"]


async def test_a_complete_tree_is_found_and_not_made_again(origin: Origin, trees: Trees) -> None:
    sha = origin.commit("refs/heads/main", {"a": b"1"})
    path = await trees.materialise(Repository(origin.folder), sha, "7-1-work")
    assert isinstance(path, Path)
    (path / "result-of-a-command").write_text("kept")
    assert await trees.materialise(Repository(origin.folder), sha, "7-1-work") == path
    assert (path / "result-of-a-command").exists()


async def test_a_tree_of_another_commit_or_without_its_marker_is_made_anew(origin: Origin, trees: Trees) -> None:
    source = Repository(origin.folder)
    first, second = origin.commit("refs/heads/main", {"a": b"1"}), origin.commit("refs/heads/main", {"a": b"2"})
    path = await trees.materialise(source, first, "7-1-work")
    assert isinstance(path, Path)
    assert await trees.materialise(source, second, "7-1-work") == path
    assert (path / "a").read_bytes() == b"2"
    trees.root.joinpath("7-1-work.complete").unlink()
    (path / "a").write_bytes(b"half")
    await trees.materialise(source, second, "7-1-work")
    assert (path / "a").read_bytes() == b"2"


async def test_sweeping_removes_all_that_is_not_kept(origin: Origin, trees: Trees) -> None:
    sha = origin.commit("refs/heads/main", {"a": b"1"})
    for name in ("7-1-work", "7-1-pristine", "8-1-work"):
        await trees.materialise(Repository(origin.folder), sha, name)
    (trees.root / "9-1-work.partial" / "deep").mkdir(parents=True)
    assert await trees.sweep({"7-1-work"}) == ["7-1-pristine", "8-1-work", "9-1-work.partial"]
    assert sorted(p.name for p in trees.root.iterdir()) == ["7-1-work", "7-1-work.complete"]
    assert await trees.sweep({"7-1-work"}) == []


@pytest.mark.parametrize("name", ["../x", "", "a/b", ".hidden", "x.partial", "x.complete", "a" * 300])
def test_a_name_is_never_a_path(trees: Trees, name: str) -> None:
    with pytest.raises(Fault):
        trees.path(name)


def test_removal_follows_no_link_and_minds_no_permission_and_no_depth(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").write_text("kept")
    tree = tmp_path / "tree"
    locked = tree / "locked" / "inner"
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    (tree / "removing-0").mkdir()
    (tree / "removing-1").write_text("a name that removal itself would take")
    (tree / "link").symlink_to(outside, target_is_directory=True)
    os.mkfifo(tree / "fifo")
    locked.chmod(0)
    locked.parent.chmod(0o500)
    here = os.open(tree, os.O_RDONLY)
    for _ in range(3000):  # far deeper than PATH_MAX
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    remove_tree(tree)
    assert not tree.exists()
    assert (outside / "keep").read_text() == "kept"


def test_a_link_in_place_of_a_tree_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "tree").symlink_to("outside")
    remove_tree(tmp_path / "tree")
    remove_tree(tmp_path / "never-was")
    assert [p.name for p in tmp_path.iterdir()] == ["outside"]
