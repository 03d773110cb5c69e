"""One child process, bounded in time and output; its whole group ends with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import msgspec

from bot import children, journal

LARGEST_OUTPUT = 32 * 1024 * 1024


class Cage(Protocol):
    """Wraps a command so that it sees `tree` read-only, `writable`, its tools and the network, and nothing else."""

    def __call__(
        self, argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
    ) -> list[str]: ...


class Finished(msgspec.Struct, frozen=True):
    """`exit_code` is None when the time was over and the process group was killed. Of what it said, the beginning."""

    exit_code: int | None
    stdout: str
    stderr: str

    @property
    def timed_out(self) -> bool:
        return self.exit_code is None

    def last_words(self, lines: int = 3, characters: int = 500) -> str:
        """The end of what it complained of, on one line."""
        said = [line.strip() for line in (self.stderr or self.stdout).splitlines() if line.strip()]
        return " ".join(said[-lines:])[-characters:]


async def run(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], within: timedelta, called: str
) -> Finished:
    """Run to the end or for as long as `within`; `called` names it in the journal. Raises OSError when the program
    cannot be started."""
    with journal.child(called) as ran:
        ended = await children.run(
            argv,
            environment=environment,
            cwd=cwd,
            seconds=within.total_seconds(),
            most_output=LARGEST_OUTPUT,
            most_errors=LARGEST_OUTPUT,
        )
        stdout, stderr = (said.text.decode(errors="replace") for said in (ended.output, ended.errors))
        ran.ended(ended.code, "\n".join(part for part in (stdout, stderr) if part))
    return Finished(ended.code, stdout, stderr)
