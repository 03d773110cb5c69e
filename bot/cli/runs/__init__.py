"""`perf-gate runs [RUN]`: where every run is, or all about one. Reads beside the running bot, or after its crash."""

from __future__ import annotations

import os
import shutil
import sys
from datetime import datetime

import click
import msgspec
from msgspec.structs import replace

from bot.cli.state import looking, refuse, state_settings
from bot.engine.clock import SystemClock
from bot.engine.port import Clock, StoreError
from bot.engine.tables import inspection
from bot.engine.transaction import Tx
from bot.engine.views import Overview
from bot.runs.facts import Page, Table, page, table, without_process
from bot.runs.finding import Unknown, find
from bot.runs.reading import is_served, pulls

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
    served = _served()
    with looking() as tx:
        overview = inspection.overview(tx)
        if served is False:
            overview = without_process(overview)
        found: Page | Table = (
            _one(tx, overview, run, now) if run is not None else _all(tx, overview, now, everything or as_json)
        )
    found = replace(found, served=served)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
        return
    # rich is slow to import, and serve never needs it.
    from bot.cli.runs.screen import show_page, show_table

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else _UNBOUND
    if isinstance(found, Page):
        show_page(found, now, width, run or "")
    else:
        show_table(found, now, width)


def _served() -> bool | None:
    """What cannot be asked is not known; the look at the state says why."""
    try:
        return is_served(state_settings())
    except (ImportError, StoreError):
        return None


def _all(tx: Tx, overview: Overview, now: datetime, everything: bool) -> Table:
    return table(pulls(tx), overview, now, everything=everything)


def _one(tx: Tx, overview: Overview, asked: str, now: datetime) -> Page:
    known = pulls(tx)
    try:
        key = find(asked, known)
    except Unknown as unknown:
        refuse(str(unknown))
    return page(key, known[key], overview, inspection.log(tx, key), now)
