"""What is noted of child processes: how each ended, what it said, and nothing at all where nobody listens."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from bot.journal import Journal, Note, child, listening

NOW = datetime(2026, 6, 20, tzinfo=UTC)


def journal(notes: list[Note], kept: dict[str, bytes]) -> Journal:
    def keep(command: str, output: bytes) -> str:
        kept[command] = output
        return f"logs/{len(kept)}.log"

    return Journal(lambda: NOW, notes.append, keep)


def test_a_child_is_noted_with_its_end_and_its_log() -> None:
    notes, kept = list[Note](), dict[str, bytes]()
    with listening(journal(notes, kept)):
        with child("git fetch") as ran:
            ran.ended(128, "fatal: no such ref")
        with child("git gc") as ran:
            ran.ended(0, b"\n")
    fetched, tidied = notes
    assert (fetched["child"], fetched["exit_code"], fetched["log"]) == ("git fetch", 128, "logs/1.log")
    assert fetched["began_at"] == NOW.isoformat()
    assert (tidied["exit_code"], tidied["log"]) == (0, "")
    assert kept == {"git fetch": b"fatal: no such ref"}


def test_one_that_was_cut_off_says_by_what() -> None:
    notes = list[Note]()
    with listening(journal(notes, {})), pytest.raises(TimeoutError), child("iris job run"):
        raise TimeoutError
    (only,) = notes
    assert (only["exit_code"], only["cut_off_by"]) == (None, "TimeoutError")


async def test_tasks_and_threads_within_are_heard_and_those_outside_are_not() -> None:
    notes = list[Note]()

    def in_a_thread() -> None:
        with child("in a thread") as ran:
            ran.ended(0)

    async def in_a_task(name: str) -> None:
        with child(name) as ran:
            ran.ended(0)

    outside = asyncio.create_task(in_a_task("outside"))
    with listening(journal(notes, {})):
        await asyncio.gather(in_a_task("in a task"), asyncio.to_thread(in_a_thread))
    await outside
    await in_a_task("afterwards")
    assert sorted(note["child"] for note in notes) == ["in a task", "in a thread"]
