"""What changed between two commits, read by real git."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.assessment.model import FileChange
from bot.checkout.repository import Distance, Repository
from bot.faults import Fault
from tests.checkout.origin import Origin

LONG = b"\n".join(b"line %d" % n for n in range(40))


async def changed(origin: Origin, base: str, head: str, **options: object) -> dict[str, FileChange]:
    changes = await Repository(origin.folder).changes(base, head, **options)  # type: ignore[arg-type]
    return {change.path: change for change in changes}


async def test_every_kind_of_change_is_told_apart(origin: Origin) -> None:
    base = origin.commit(
        "refs/heads/main", {"same": b"s", "edit": b"old", "gone": b"g", "from": LONG, "file": b"f", "link": "edit"}
    )
    head = origin.commit(
        "refs/heads/pull",
        {"same": b"s", "edit": b"new", "new": b"n", "to/here": LONG + b"!", "file": "edit", "link": "same"},
        base,
    )
    changes = await changed(origin, base, head)
    assert changes == {
        "edit": FileChange("edit", "modified", None, b"old", b"new"),
        "gone": FileChange("gone", "deleted", None, b"g", None),
        "new": FileChange("new", "added", None, None, b"n"),
        "to/here": FileChange("to/here", "renamed", "from", LONG, LONG + b"!"),
        "file": FileChange("file", "special"),
        "link": FileChange("link", "special"),
    }


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"two\nlines.py", "two\nlines.py"),
        (b'quo"te.py', 'quo"te.py'),
        (b"tab\there", "tab\there"),
        (b"\xff\xfe.py", "\\xff\\xfe.py"),
        (b"--output=x", "--output=x"),
        (b":(exclude)x", ":(exclude)x"),
        ("größe/数.py".encode(), "größe/数.py"),
    ],
)
async def test_hostile_names_come_through_whole(origin: Origin, name: bytes, shown: str) -> None:
    base = origin.commit("refs/heads/main", {"x": b"1", name: b"a"})
    head = origin.commit("refs/heads/pull", {"x": b"1", name: b"b"}, base)
    assert await changed(origin, base, head) == {shown: FileChange(shown, "modified", None, b"a", b"b")}


async def test_contents_are_read_only_where_wanted_and_small(origin: Origin) -> None:
    base = origin.commit("refs/heads/main", {"a": b"1", "b": b"1", "big": b"1"})
    head = origin.commit("refs/heads/pull", {"a": b"2", "b": b"2", "big": b"2" * 100}, base)
    changes = await changed(origin, base, head, wanted=lambda path: path != "b", max_bytes=10)
    assert (changes["a"].base, changes["a"].head) == (b"1", b"2")
    assert (changes["b"].base, changes["b"].head) == (None, None)
    assert (changes["big"].base, changes["big"].head) == (b"1", None)


async def test_a_file_with_the_same_contents_elsewhere_unwanted_stays_unread(origin: Origin) -> None:
    base = origin.commit("refs/heads/main", {"a": b"1", "b": b"1"})
    head = origin.commit("refs/heads/pull", {"a": b"2", "b": b"2"}, base)
    changes = await changed(origin, base, head, wanted=lambda path: path == "a")
    assert changes["b"].head is None


async def test_the_base_is_the_merge_base(origin: Origin) -> None:
    fork = origin.commit("refs/heads/main", {"a": b"1", "b": b"1"})
    pull = origin.commit("refs/heads/pull", {"a": b"2", "b": b"1"}, fork)
    later = origin.commit("refs/heads/main", {"a": b"1", "b": b"9"}, fork)
    assert await Repository(origin.folder).merge_base(later, pull) == fork


async def test_unrelated_histories_have_no_merge_base(origin: Origin) -> None:
    one, other = origin.commit("refs/heads/main", {"a": b"1"}), origin.commit("refs/heads/x", {"a": b"2"})
    assert await Repository(origin.folder).merge_base(one, other) is None


async def test_reading_a_file(origin: Origin) -> None:
    sha = origin.commit("refs/heads/main", {"dir/a": b"1", "link": "dir/a", "*": b"star", "big": b"x" * 50})
    repository = Repository(origin.folder)
    assert await repository.read(sha, "dir/a") == b"1"
    assert await repository.read(sha, "*") == b"star"
    for absent in ("none", "dir", "dir/", "link", "../etc/passwd", "--help"):
        assert await repository.read(sha, absent) is None, absent
    with pytest.raises(Fault, match="`big` is too large to read"):
        await repository.read(sha, "big", max_bytes=10)


async def test_how_far_two_commits_are_apart(origin: Origin) -> None:
    fork = origin.commit("refs/heads/main", {"lib/a": b"1", "b": b"1"})
    pull = origin.commit("refs/heads/pull", {"lib/a": b"2", "b": b"1"}, fork)
    second = origin.commit("refs/heads/main", {"lib/a": b"1", "b": b"2"}, fork)
    third = origin.commit("refs/heads/main", {"lib/a": b"3", "b": b"2"}, second)
    repository = Repository(origin.folder)
    assert await repository.distance(pull, third) == Distance(1, 2)
    assert await repository.distance(pull, third, ["lib"]) == Distance(1, 1)
    assert await repository.distance(pull, "f" * 40) is None
    assert await repository.commit_date(third) == datetime(2026, 6, 18, 10, tzinfo=UTC)
    assert await repository.commit_date("f" * 40) is None


async def test_names_resolve_and_options_are_no_names(origin: Origin) -> None:
    sha = origin.commit("refs/heads/main", {"a": b"1"})
    repository = Repository(origin.folder)
    assert await repository.resolve("main") == sha
    assert await repository.resolve("nope") is None
    assert await repository.resolve("--all") is None
    with pytest.raises(Fault):
        await repository.read("--help", "a")
