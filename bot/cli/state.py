"""The bot's state for commands that stand beside it: where it lies, and a look that changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NoReturn

import click

from bot.config.settings import MissingSettings, StateSettings, database_file, load_state_settings
from bot.engine.port import CannotStart, StoreError
from bot.engine.transaction import Tx
from bot.gating.machine import SCHEMA


def state_settings() -> StateSettings:
    """Ends the command with 2 where the environment does not say."""
    try:
        return load_state_settings()
    except MissingSettings as error:
        refuse(str(error))


@contextmanager
def looking() -> Iterator[Tx]:
    """One moment of the stored state. Ends the command with 2 where it cannot be read."""
    settings = state_settings()
    try:
        with _opened(settings) as tx:
            yield tx
    except (CannotStart, StoreError) as error:
        refuse(str(error))


def _opened(settings: StateSettings) -> AbstractContextManager[Tx]:
    if settings.database_url is not None:
        try:
            # An extra, and slow to import.
            from bot.engine.postgres.looking import looking as look_into_database
        except ImportError as error:
            refuse(f"PostgreSQL's libraries are missing ({error}); pip install 'perf-gate[postgres]'")
        return look_into_database(settings.database_url.get_secret_value(), SCHEMA)
    from bot.engine.sqlite.looking import looking as look_into_file

    assert settings.state_dir is not None, "one of the two is set"  # noqa: S101
    return look_into_file(database_file(settings.state_dir), SCHEMA)


def refuse(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(2)
