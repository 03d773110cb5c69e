"""`perf-gate runs [RUN]`: where every run is, or all about one. Reads beside the running bot, or after its crash."""

from __future__ import annotations

import os
import shutil
import sys
from datetime import datetime

import click
import msgspec

from bot.cli.state import looking, refuse
from bot.engine.clock import SystemClock
from bot.engine.port import Clock
from bot.engine.tables import inspection
from bot.engine.transaction import Tx
from bot.runs.facts import Page, Table, page, table
from bot.runs.finding import Unknown, find
from bot.runs.reading import pulls

CLOCK: Clock = SystemClock()
_UNBOUND = 200
"""Columns where no terminal says how many it has: a pipe, a file."""


@click.command("runs", short_help="Where every run is, or all about one.")
@click.argument("run", required=False, metavar="[RUN|PULL]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: everything, uncut.")
@click.option("--all", "everything", is_flag=True, help="List every run that is known, also those that ended long ago.")
def command(run: str | None, as_json: bool, everything: bool) -> None:
    """Show what runs, waits and ended lately; or one run, on one screen.

    Name it by run id, owner/repo#number, number, the beginning of its commit's SHA, or its Iris job. Needs only
    PERF_GATE_STATE_DIR (or PERF_GATE_DATABASE_URL), changes nothing, and may be used while the bot runs.
    """
    now = CLOCK.now()
    with looking() as tx:
        found: Page | Table = _one(tx, run, now) if run is not None else _all(tx, now, everything or as_json)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
        return
    # rich is slow to import, and serve never needs it.
    from bot.cli.runs.screen import show_page, show_table

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else _UNBOUND
    if isinstance(found, Page):
        show_page(found, now, width)
    else:
        show_table(found, now, width)


def _all(tx: Tx, now: datetime, everything: bool) -> Table:
    return table(pulls(tx), inspection.overview(tx), now, everything=everything)


def _one(tx: Tx, asked: str, now: datetime) -> Page:
    known = pulls(tx)
    try:
        key = find(asked, known)
    except Unknown as unknown:
        refuse(str(unknown))
    return page(key, known[key], inspection.overview(tx), inspection.log(tx, key), now)
