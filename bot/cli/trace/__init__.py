"""`perf-gate trace ID`: the whole way of a request, from any id of any part of it. Reads beside the running bot."""

from __future__ import annotations

import click
import msgspec

from bot.cli.plain import plain
from bot.cli.state import looking, refuse, runs_folder
from bot.cli.trace.finding import Alone, Found, find
from bot.cli.trace.hops import Hop, hops, of_delivery
from bot.engine.tables import history
from bot.engine.transaction import Tx
from bot.runs.finding import Unknown
from bot.runs.reading import pulls


class Trace(msgspec.Struct, frozen=True):
    """What `--json` prints. `folder`: where the files are that `log` names, empty where there are none here."""

    asked: str
    pull_request: str
    run: str
    hops: tuple[Hop, ...]
    folder: str = ""
    files: tuple[str, ...] = ()


@click.command("trace", short_help="The whole way of a request, by any id of it.")
@click.argument("asked", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: everything, uncut.")
@click.option("--full", is_flag=True, help="Show also the looks at a ferry at which nothing was new.")
def command(asked: str, as_json: bool, full: bool) -> None:
    """Print in order what happened to a request: its delivery, the command, each decision with its cause, each effect
    with attempts, times, child processes and their logs, the Iris jobs and the comment's revisions.

    ID is whatever is at hand: a delivery's GUID, a comment's id or address, a pull request (#N, owner/repo#N, its
    address), a run, an effect, a ferry's name, an Iris job, the beginning of a commit's SHA. What was meant is marked
    with >. Changes nothing, and may be used while the bot runs.
    """
    with looking() as tx:
        found = trace(tx, asked)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
        return
    from bot.cli.trace.screen import lines

    click.echo(" ".join(filter(None, (found.pull_request, f"run {found.run}" if found.run else ""))))
    for line in lines(found.hops, full=full):
        click.echo(plain(line))
    if found.folder:
        click.echo(f"files: {found.folder} ({len(found.files)} of them)")


def trace(tx: Tx, asked: str) -> Trace:
    """Ends the command with 2 where nothing of that name is known."""
    history.check_format(tx)
    known = pulls(tx)
    try:
        found = find(tx, asked, known)
    except Unknown as unknown:
        refuse(str(unknown))
    if isinstance(found, Alone):
        return Trace(asked, "", "", (of_delivery(found.received),))
    pull = known.get(found.past.key)
    title = f"{pull.place.full_name}#{pull.place.number}" if pull is not None and pull.place else found.past.key
    way = tuple(hops(found.past, found.moves, lambda guid: history.received(tx, guid), found.marked))
    folder, files = _files(found)
    return Trace(asked, title, found.run or "", way, folder, files)


def _files(found: Found) -> tuple[str, tuple[str, ...]]:
    kept = runs_folder()
    if kept is None or found.run is None or not (files := kept.files(found.run)):
        return "", ()
    return str(kept.folder(found.run)), tuple(files)
