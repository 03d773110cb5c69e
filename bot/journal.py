"""What is remembered of an attempt at an effect, its child processes and its comments: for whoever traces it.

An adapter says `with child("git fetch") as ran` around each; where nobody listens, that does nothing. Who listens is
known by context, so that no adapter has to be handed anything: tasks and threads started within inherit it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any

import msgspec

Note = dict[str, Any]

LONGEST_COMMAND = 300
"""Characters of a command line: enough to know which it was."""


class Ran(msgspec.Struct):
    """How a child ended; its adapter fills this in. `exit_code` None: it was killed, or never started."""

    exit_code: int | None = None
    output: bytes = b""

    def ended(self, exit_code: int | None, output: bytes | str = b"") -> None:
        """`output`: what it said, or the end of that; kept as a log file where there is any."""
        self.exit_code = exit_code
        self.output = output.encode() if isinstance(output, str) else output


class Journal(msgspec.Struct, frozen=True):
    """`note` takes one line (JSON) a child; `keep` stores what it said under a name and gives the file's path in the
    run's folder, empty where it was not kept."""

    now: Callable[[], datetime]
    note: Callable[[Note], None]
    keep: Callable[[str, bytes], str]


_listening: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def listening(journal: Journal) -> Iterator[None]:
    """Whatever children are started within are noted in this journal."""
    token = _listening.set(journal)
    try:
        yield
    finally:
        _listening.reset(token)


def wrote(comment_id: int) -> None:
    """A comment stands on GitHub: it can then be traced by its id."""
    if (journal := _listening.get()) is not None:
        journal.note({"comment": comment_id})


@contextmanager
def child(command: str) -> Iterator[Ran]:
    """A child process lives from here to the end of the block. `command` is for people: no secret may stand in it."""
    journal, ran = _listening.get(), Ran()
    if journal is None:
        yield ran
        return
    began_at, began, cut_off = journal.now(), time.monotonic(), ""
    try:
        yield ran
    except BaseException as error:
        cut_off = type(error).__name__
        raise
    finally:
        seconds = round(time.monotonic() - began, 3)
        note: Note = {
            "child": command[:LONGEST_COMMAND],
            "began_at": began_at.isoformat(),
            "seconds": seconds,
            "exit_code": ran.exit_code,
            "log": journal.keep(command, ran.output) if ran.output.strip() else "",
        }
        journal.note(note | ({"cut_off_by": cut_off} if cut_off else {}))
