"""`perf-gate serve`: the bot, until it is asked to stop."""

from __future__ import annotations

import sys

import click

from bot import certificates
from bot.config.environment import MissingSettings, load_settings, unknown_variables
from bot.engine.port import CannotStart
from bot.faults import Fault
from bot.heap import uncollected


@click.command("serve")
def command() -> None:
    """Listen for webhooks and gate pull requests. Settings come from PERF_GATE_* environment variables."""
    try:
        settings = load_settings()
    except MissingSettings as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    for told in unknown_variables():
        click.echo(f"perf-gate: {told}", err=True)
    # Imported only now: a missing setting should be told without waiting for the whole house to be built.
    with uncollected(), certificates.read_later():
        import uvloop

        from bot.serving import Ended, serve

    try:
        uvloop.run(serve(settings))
    except Ended as ended:
        click.echo(f"perf-gate ended: {ended}; start it again, and it goes on where it was", err=True)
        sys.exit(1)
    except (CannotStart, Fault) as error:
        click.echo(f"perf-gate cannot start: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        click.echo(f"perf-gate cannot start: {error.strerror or error}{where}", err=True)
        sys.exit(2)
