"""The configured commands, in order, in the cage; a finished one is remembered and not run again for its commit."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bot import journal
from bot.config.schema import PreflightCommand
from bot.sandbox.cage import Cage
from bot.sandbox.model import CommandResult


class Finished(msgspec.Struct, frozen=True):
    """One command that came to its own end. `command` is as a shell would take it, `tail` the end of its output."""

    command: str
    exit_code: int
    tail: str


class Passed(msgspec.Struct, frozen=True):
    results: tuple[Finished, ...]


class Failed(msgspec.Struct, frozen=True):
    """A command said no: the pull request's affair. `exit_code` is None where what said no has none."""

    command: str
    exit_code: int | None
    tail: str


class TimedOut(msgspec.Struct, frozen=True):
    """A command was ended for its time; whether it would have passed is not known."""

    command: str
    seconds: float
    tail: str


class CageFault(msgspec.Struct, frozen=True):
    """The sandbox is not sound or could not be set up: nobody's tests have failed."""

    reason: str


Verdict = Passed | Failed | TimedOut | CageFault


async def run(
    cage: Cage,
    commands: Sequence[PreflightCommand],
    *,
    tree: Path,
    sha: str,
    results: Path,
    cache: Path | None = None,
) -> Verdict:
    """Run what has not finished yet. `results` is the folder that remembers: a caller who wants a failed command to be
    tried again for the same commit names another one. `cache` is where its packages are kept, and nobody else's. The
    cage is tested first, and nothing runs if it is not sound."""
    folder = results / sha
    remembered = [_recall(_file(folder, command)) for command in commands]
    if not all(remembered) and (reason := await cage.self_test(tree.parent)):
        return CageFault(reason)
    finished = []
    for command, known in zip(commands, remembered, strict=True):
        outcome = known or await _run_one(cage, command, tree, _file(folder, command), cache)
        if not isinstance(outcome, Finished):
            return outcome
        if outcome.exit_code != 0:
            return Failed(outcome.command, outcome.exit_code, outcome.tail)
        finished.append(outcome)
    return Passed(tuple(finished))


async def _run_one(
    cage: Cage, command: PreflightCommand, tree: Path, file: Path, cache: Path | None
) -> Finished | TimedOut | CageFault:
    file.parent.mkdir(parents=True, exist_ok=True)
    words = shlex.join(command.run)
    log = file.with_suffix(".log")
    with journal.child(f"in the sandbox: {words}") as ran:
        result: CommandResult = await cage.run(
            command.run, tree=tree, within=command.timeout, memory_mb=command.memory_mb, log=log, cache=cache
        )
        ran.ended(result.exit_code, result.fault or (log.read_bytes() if log.exists() else b""))
    if result.fault:
        return CageFault(f"{words}: {result.fault}")
    if result.timed_out or result.exit_code is None:
        return TimedOut(words, command.timeout.total_seconds(), result.tail)
    finished = Finished(words, result.exit_code, result.tail)
    partial = file.with_suffix(".new")
    partial.write_bytes(msgspec.json.encode(finished))
    partial.rename(file)
    return finished


def _file(folder: Path, command: PreflightCommand) -> Path:
    """One file for a command and its limits: with more memory the same words are another try."""
    return folder / (hashlib.sha256(command.model_dump_json().encode()).hexdigest()[:16] + ".json")


def _recall(file: Path) -> Finished | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Finished)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
