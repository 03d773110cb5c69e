"""`perf-gate revive`: try again what the bot gave up, once the cause is mended."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

import click

from bot.cli.state import looking, refuse, state_settings
from bot.config.settings import StateSettings, database_file
from bot.engine.port import CannotStart, StoreError
from bot.engine.sqlite.reviving import revive_or_ask
from bot.engine.tables import inspection

_PATIENCE_SECONDS = 5.0
_LOOK_EVERY_SECONDS = 0.05


@click.command("revive", short_help="Try again what was given up.")
def command() -> None:
    """Try again the deliveries, effects and events that were given up; `perf-gate runs` names them.

    A running bot is asked to do it; where none runs, the next one to start will find them waiting.
    """
    before = _dead()
    if not before:
        click.echo("nothing was given up")
        return
    try:
        asked = _revive(state_settings())
    except (CannotStart, StoreError) as error:
        refuse(f"nothing is revived: {error}")
    if asked is None:
        click.echo(f"{before} will be tried again")
        return
    # What fails once more is dead again only after several tries, which take longer than this.
    end = time.monotonic() + _PATIENCE_SECONDS
    while (left := _dead()) >= before and time.monotonic() < end:
        time.sleep(_LOOK_EVERY_SECONDS)
    if left >= before:
        click.echo(f"process {asked} was asked, but nothing is tried again yet; its log says why", err=True)
        sys.exit(1)
    click.echo(f"{before - left} are tried again by process {asked}")


def _revive(settings: StateSettings) -> int | None:
    """The id of the process that was asked to; None where it is done."""
    now = datetime.now(UTC)
    if settings.database_url is not None:
        from bot.engine.postgres.reviving import revive_in

        revive_in(settings.database_url.get_secret_value(), now)
        return None
    assert settings.state_dir is not None, "one of the two is set"  # noqa: S101
    return revive_or_ask(database_file(settings.state_dir), now)


def _dead() -> int:
    with looking() as tx:
        return inspection.counts(tx).dead
