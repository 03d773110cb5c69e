"""What the preflight found, and what is known of the base that it would have found there."""

from __future__ import annotations

import msgspec


class BaseChecks(msgspec.Struct, frozen=True):
    """Continuous integration of the merge base: names of the red checks, and how many have ended."""

    sha: str
    red: tuple[str, ...] = ()
    ended: int = 0


class FailedCommand(msgspec.Struct, frozen=True):
    """The preflight command that stopped a run: its words, exit code and the last lines it printed.

    `exit_code` is None where it did not come to its own end. `base` is what others' checks say of the merge base.
    """

    command: str
    exit_code: int | None
    tail: str
    base: BaseChecks | None = None


class CommandsLeft(msgspec.Struct, frozen=True):
    """Of an ended run whose preflight was on the cluster: what its jobs are named by, and how many there may be."""

    head_sha: str
    ordinal: int
    commands: int
