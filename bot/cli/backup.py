"""`perf-gate backup FILE`: a copy of the bot's state, beside the running bot."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.cli.state import refuse, state_settings
from bot.config.settings import database_file
from bot.engine.port import StoreError
from bot.engine.sqlite.backup import back_up


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def command(file: Path) -> None:
    """Copy the bot's state to FILE, while `serve` goes on. To restore: stop it, put the copy in the file's place."""
    settings = state_settings()
    if settings.database_url is not None:
        dump = 'pg_dump --format=custom --file=FILE "$PERF_GATE_DATABASE_URL"'
        refuse(f"the state is in PostgreSQL, back it up with: {dump}")
    assert settings.state_dir is not None, "one of the two is set"  # noqa: S101
    try:
        size = back_up(database_file(settings.state_dir), file)
    except StoreError as error:
        click.echo(f"no backup: {error}", err=True)
        sys.exit(1)
    click.echo(f"{file}: {size:,} bytes, checked")
