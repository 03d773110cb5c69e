"""`perf-gate config check FILE`: does a repository's configuration parse, and if not, where and why."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.config.load import BadConfig, load_repository_config


@click.group("config", help="Check a repository's configuration, or list its keys.")
def command() -> None:
    pass


@command.command("check", short_help="Does a .github/perf-gate.toml hold, and if not, where.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Check FILE, a .github/perf-gate.toml, over the built-in Zephyr ladder."""
    try:
        config = load_repository_config(file.read_text("utf-8"), str(file))
    except UnicodeDecodeError:
        click.echo(f"{file}: not UTF-8 text; save it as UTF-8", err=True)
        sys.exit(2)
    except BadConfig as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    gates = ", ".join(f"{n} ({config.gates[n].name})" for n in config.ladder)
    click.echo(f"{file}: fine. Ladder: {gates}.")


@command.command("reference", short_help="List every key, as Markdown.")
def reference() -> None:
    """Print every key that a .github/perf-gate.toml may have, as Markdown."""
    from bot.config.reference import reference as told

    # As bytes: a terminal's or pipe's own encoding may lack a dash.
    click.echo(told().encode(), nl=False)
