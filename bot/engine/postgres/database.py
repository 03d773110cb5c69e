"""The sessions with one PostgreSQL database: one takes deliveries in, one moves aggregates, one reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

import psycopg

from bot.engine.port import CannotStart, Told
from bot.engine.postgres.schema import prepare
from bot.engine.postgres.session import Session, describe, with_defaults
from bot.engine.postgres.sharing import ManyProcesses
from bot.engine.tables import inbox
from bot.engine.transaction import Tx
from bot.engine.writer import MOST_TOGETHER, Committed, Reader, Trouble, Writer

T = TypeVar("T")


def _nobody_listens(revoked: Sequence[str], rouses: bool) -> None:
    """Until a runner is there to hear of commits."""


class Database:
    """Deliveries share commits and never wait behind a transition, which may wait for another process."""

    def __init__(self, url: str, sharing: ManyProcesses) -> None:
        """`url` as `with_defaults` gave it, checked by `prepared`. Needs a running event loop."""
        self.committed: Committed = _nobody_listens
        self._sessions = [Session(url) for _ in range(3)]
        taking_in, moving, reading = (session.ready for session in self._sessions)
        trouble = Trouble(describe(url), sharing)
        self._taking_in = Writer(taking_in, sharing, trouble, self._after_commit, MOST_TOGETHER)
        self._moving = Writer(moving, sharing, trouble, self._after_commit, 1)
        self._reader = Reader(reading, sharing, trouble)

    @property
    def commits(self) -> int:
        """Transactions of this process that wrote something."""
        return self._taking_in.commits + self._moving.commits

    async def write(self, work: Callable[[Tx], T], *, rouses: bool = True) -> T:
        return await self._moving.write(work, rouses=rouses)

    def take_in(self, arrived: inbox.Arrived, told: Told, *, rouses: bool) -> None:
        self._taking_in.take_in(inbox.store, arrived, told, rouses=rouses)

    async def read(self, work: Callable[[Tx], T]) -> T:
        return await self._reader.read(work)

    async def close(self) -> None:
        """Finish what was asked for, then hang up."""
        for part in (self._taking_in, self._moving, self._reader):
            await part.close()
        for session in self._sessions:
            session.close()

    def _after_commit(self, revoked: Sequence[str], rouses: bool) -> None:
        self.committed(revoked, rouses)


async def prepared(address: str, state_schema: int) -> str:
    """The address of a database whose tables are ready. Raises CannotStart."""
    try:
        url = with_defaults(address)
    except psycopg.Error:
        # The driver's own words would repeat the address, and with it the password.
        raise CannotStart("the database's address is not of the form postgresql://user:password@host/name") from None
    session = Session(url)
    try:
        await asyncio.to_thread(prepare, session, state_schema)
    except psycopg.OperationalError as error:
        raise CannotStart(
            f"{describe(url)} cannot be reached: {error}; is the server running, and does its pg_hba.conf let "
            "this host and user in?"
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise CannotStart(
            f"{describe(url)} cannot be used: {error}; make the bot's role the owner of the database"
        ) from error
    except psycopg.Error as error:
        raise CannotStart(f"{describe(url)} cannot be used: {error}") from error
    finally:
        session.close()
    return url
