"""`perf-gate backup FILE`: a copy of the bot's state, beside the running bot."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.config.settings import MissingSettings, load_settings
from bot.engine.port import StoreError
from bot.engine.sqlite.backup import back_up


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def command(file: Path) -> None:
    """Copy the bot's state to FILE, while `serve` goes on. To restore: stop it, put the copy in the file's place."""
    try:
        settings = load_settings()
    except MissingSettings as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    if settings.database_url is not None:
        dump = 'pg_dump --format=custom --file=FILE "$PERF_GATE_DATABASE_URL"'
        click.echo(f"the state is in PostgreSQL, back it up with: {dump}", err=True)
        sys.exit(2)
    try:
        size = back_up(settings.database_file, file)
    except StoreError as error:
        click.echo(f"no backup: {error}", err=True)
        sys.exit(1)
    click.echo(f"{file}: {size:,} bytes, checked")
