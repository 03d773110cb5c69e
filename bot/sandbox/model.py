"""What goes into a cage and what comes out of it."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """What one command may use at most, beside its memory and its time."""

    processes: int = 4096  # threads count too
    file_bytes: int = 8 * 2**30
    open_files: int = 8192
    disk_bytes: int = 8 * 2**30  # its tree and its cache together
    disk_files: int = 500_000
    disk_every: float = 5.0  # seconds between two looks at the disk; walking a large tree takes a second
    memory_every: float = 0.5
    # What hostile code has to be looked at is up to it. With the pause after a look half as long as the look was, and
    # one look that began too early, its memory is held to its limit within ten seconds.
    memory_within: float = 4.0


class CommandResult(msgspec.Struct, frozen=True):
    """How a command ended. `exit_code` is None when it was killed for its time or never started.

    `fault` says what was wrong with the cage itself; it is empty when the command had its chance. `tail` is plain text.
    """

    exit_code: int | None
    timed_out: bool
    tail: str
    fault: str = ""
