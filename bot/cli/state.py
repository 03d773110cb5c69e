"""The bot's state for commands that stand beside it: where it lies, and a look that changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from bot.config.environment import MissingSettings, load_state_settings
from bot.config.settings import StateSettings, runs_dir
from bot.engine.port import CannotStart, StoreError
from bot.engine.transaction import Tx
from bot.redaction import redact
from bot.rundir import RunDirs
from bot.runs.reading import looking as open_look


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
        with open_look(settings) as tx:
            yield tx
    except (CannotStart, StoreError) as error:
        refuse(str(error))


def runs_folder() -> RunDirs | None:
    """The files of runs, where the environment says that they are on this machine."""
    state_dir = state_settings().state_dir
    return None if state_dir is None else RunDirs(runs_dir(state_dir), redact)


def refuse(sentence: str) -> NoReturn:
    click.echo(sentence, err=True)
    sys.exit(2)
