"""What the assessment reads and what it says. The JSON of an `Assessment` is `perf-gate assess --json`, exactly."""

from __future__ import annotations

from typing import Literal

import msgspec

MaxGate = Literal["skip", "1", "3"]
Status = Literal["added", "deleted", "modified", "renamed", "special"]

QUESTIONS = ("shuffle", "memory", "cpu", "design")


class FileChange(msgspec.Struct, frozen=True):
    """One file of the diff from merge base to head. Paths are repository paths; bytes are whole files.

    `base` or `head` is None where that side does not exist or was not read (out of scope, too large). `special`: one
    side is a symbolic link, a submodule or anything else whose bytes are not the file's text. `old_path` is set for
    `renamed` alone.
    """

    path: str
    status: Status
    old_path: str | None = None
    base: bytes | None = None
    head: bytes | None = None


class FileAnswers(msgspec.Struct, frozen=True):
    """The five yes/no answers of the gate for one file, each the stronger for its evidence."""

    trivial: bool
    shuffle: bool
    memory: bool
    cpu: bool
    design: bool
    summary: str
    evidence: tuple[str, ...]

    @property
    def climbs(self) -> tuple[str, ...]:
        """The questions answered yes that send a change to the highest gate."""
        return tuple(question for question in QUESTIONS if getattr(self, question))


class Assessment(msgspec.Struct, frozen=True):
    """The proposal shown to the reviewer.

    `in_scope` is False when no changed file is gated; `max_gate` is then "1": nothing was proven trivial, so skipping
    is not proposed, and a reviewer who overrides starts at the first gate. `per_file`, `out_of_scope` (path → why) and
    `flagged` (path → why a human is asked) name every changed file once.
    """

    in_scope: bool
    max_gate: MaxGate
    rationale: str
    per_file: dict[str, FileAnswers]
    out_of_scope: dict[str, str]
    flagged: dict[str, str]
