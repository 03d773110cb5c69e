"""Looks into the stored state that change nothing, for commands beside the bot and for the pages it serves."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager

import msgspec
from msgspec.structs import replace

from bot.config.extras import without_postgres
from bot.config.settings import Settings, StateSettings, database_file
from bot.engine.port import CannotStart
from bot.engine.tables import inspection
from bot.engine.transaction import Tx
from bot.gating.machine import SCHEMA, GateMachine
from bot.gating.model import GateRun, PullRequest, Run
from bot.verdict.model import Judgement

_log = logging.getLogger(__name__)

MACHINE = GateMachine("", ())
"""Reads stored states and events; it hears no delivery."""


def looking(settings: Settings | StateSettings) -> AbstractContextManager[Tx]:
    """One moment of the stored state, wherever the settings keep it. Raises CannotStart, and StoreError on entering."""
    if settings.database_url is not None:
        try:
            # An extra, and slow to import.
            from bot.engine.postgres.looking import looking as look_into_database
        except ImportError as error:
            raise CannotStart(without_postgres(error)) from error
        return look_into_database(settings.database_url.get_secret_value(), SCHEMA)
    from bot.engine.sqlite.looking import looking as look_into_file

    if settings.state_dir is None:
        raise CannotStart("it is not known where the state is")
    return look_into_file(database_file(settings.state_dir), SCHEMA)


def is_served(settings: StateSettings) -> bool | None:
    """Whether a `perf-gate serve` works on this state now; None where that cannot be seen. Raises StoreError."""
    if settings.database_url is not None:
        from bot.engine.postgres.looking import are_present

        return are_present(settings.database_url.get_secret_value())
    from bot.engine.sqlite.lock import is_held

    return None if settings.state_dir is None else is_held(database_file(settings.state_dir))


def pulls(tx: Tx) -> dict[str, PullRequest]:
    """Every pull request as it is stored, by key, the one that moved last first; without those that cannot be read."""
    read = ((key, _readable(key, schema, data)) for key, schema, data in inspection.states(tx))
    return {key: pull for key, pull in read if pull is not None}


def _readable(key: str, schema: int, data: bytes) -> PullRequest | None:
    """None where this release cannot read it, as after going back to an older one: the others are shown even so."""
    try:
        return MACHINE.load_state(schema, data)
    except msgspec.MsgspecError as error:
        _log.error("the state of pull request %s cannot be read by this release: %s", key, error)
        return None


def pull(tx: Tx, key: str) -> PullRequest | None:
    row = inspection.state(tx, key)
    return None if row is None else MACHINE.load_state(*row)


class Outlines:
    """Every pull request without what is large (reports, history, evidence), kept between two looks.

    A thousand parked runs hold tens of megabytes of reports; in outline they are two. Only what moved since the last
    look is read again. Not for two threads at once.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, PullRequest | None]] = {}

    def of(self, tx: Tx) -> dict[str, PullRequest]:
        """By key, the one that moved last first; without those that cannot be read."""
        moved = inspection.moved(tx)
        self._known = {
            key: known if (known := self._known.get(key)) is not None and known[0] == at else self._read(tx, key, at)
            for key, at in moved
        }
        return {key: outline for key, (_, outline) in self._known.items() if outline is not None}

    def _read(self, tx: Tx, key: str, at: int) -> tuple[int, PullRequest | None]:
        row = inspection.state(tx, key)
        stored = PullRequest() if row is None else _readable(key, *row)
        return at, None if stored is None else outline(stored)


def outline(pr: PullRequest) -> PullRequest:
    """The same pull request without what is large."""
    return replace(pr, heard=(), handovers=(), run=None if pr.run is None else _outline(pr.run))


def _outline(run: Run) -> Run:
    read = replace(run, config="", assessment=None, failed_command=None, gates=tuple(map(_gate, run.gates)))
    return replace(read, corrections=(), handover=None, held=(), resumes=None)


def _gate(gate: GateRun) -> GateRun:
    baseline = None if gate.baseline is None else replace(gate.baseline, report="")
    attempts = tuple(
        replace(
            attempt,
            report="",
            progress=(),
            machines=(),
            vitals=replace(attempt.vitals, furthest={}, tail=(), troubles=()),
            judgement=None if attempt.judgement is None else Judgement(attempt.judgement.verdict, ()),
        )
        for attempt in gate.attempts
    )
    return replace(gate, baseline=baseline, attempts=attempts, history=(), former=())
