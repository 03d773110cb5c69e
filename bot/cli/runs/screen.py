"""Runs on a terminal. All that comes from outside is shown as plain text: nothing in it can act on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from rich.console import Console, Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from bot.comment.numbers import about
from bot.engine.views import EffectView
from bot.redaction import redact
from bot.runs.facts import Ferry, Line, Page, Seat, Table
from bot.verdict.report import printable

# What GitHub shows now; no step of the run.
_BOOKKEEPING = ("Published", "Checked")
_LAST = 8
"""Events of the log on the one screen, without those that the comment was updated; --json has all."""
_MOST_LIVE = 30
_COLUMNS = ("pull request", "state", "since", "by", "head", "gate", "waits for", "until")
_WAITS, _LEAST_WAITS = _COLUMNS.index("waits for"), 20
"""Where the table says what a run waits for, and how many characters of that it keeps in any case."""
_UNSERVED = "no perf-gate serve is seen at work on this state: what is open goes on when one starts"
_COLOURS = {"passed": "green", "waived": "green", "failed": "red", "stuck": "red", "warned": "yellow"}


def show_table(table: Table, now: datetime, width: int) -> None:
    console = Console(width=width, highlight=False)
    live = [one for one in table.runs if not one.ended]
    shown = [*live[:_MOST_LIVE], *(one for one in table.runs if one.ended)]
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name in _COLUMNS:
        grid.add_column(name, no_wrap=True)
    rows = [_cells(one, now) for one in shown]
    # The only column that gives way: asked to, the grid would narrow all of them.
    widths = [max(len(name), *(row[at].cell_len for row in rows)) + 2 for at, name in enumerate(_COLUMNS) if rows]
    for row in rows:
        row[_WAITS].truncate(max(_LEAST_WAITS, width - sum(widths) + widths[_WAITS]), overflow="ellipsis")
        grid.add_row(*row)
    if shown:
        console.print(grid)
    for note in _notes(table, len(live), now):
        console.print(_text(note))


def _notes(table: Table, live: int, now: datetime) -> Iterator[str]:
    if table.served is False:
        yield _UNSERVED
    if not table.runs:
        yield "no run is under way, and none ended lately"
    if live > _MOST_LIVE:
        yield f"and {live - _MOST_LIVE} more live runs; --json has them all"
    if table.left_out:
        yield f"and {table.left_out} that ended before; --all shows them"
    if waiting := [one for one in table.unhandled if not one.dead]:
        oldest = min(one.received_at for one in waiting)
        yield f"{len(waiting)} deliveries wait to be handled, the oldest for {_span(now - oldest)}"
    for dead in (one for one in table.unhandled if one.dead):
        yield f"delivery {dead.guid} ({dead.event}) was given up: {redact(dead.error or '')}"
    if table.dead:
        yield f"{table.dead} given up; perf-gate revive tries them again, once the cause is mended"


def _cells(one: Line, now: datetime) -> list[Text]:
    since = _span(now - one.since)
    gate = "" if one.gate is None else str(one.gate)
    state = Text(one.state.replace("_", " "), style=_COLOURS.get(one.state, ""))
    rest = (since, one.asked_by, one.head_sha[:10], gate, one.waits_for, _when(one.until, now))
    return [_text(one.pull_request), state, *map(_text, rest)]


def show_page(page: Page, now: datetime, width: int, asked: str = "") -> None:
    """`asked`: the name by which it was found, which may be an earlier run's."""
    console = Console(width=width, highlight=False)
    line = page.line
    title = f"{line.pull_request}  run {line.run}" if line.run else line.pull_request
    console.print(Text(printable(title, 200), style="bold"))
    if asked in {earlier.id for earlier in page.earlier}:
        console.print(_text(f"{asked} ended before this one: perf-gate trace {asked} tells of it"))
    if page.served is False:
        console.print(_text(_UNSERVED))
    facts = Grid.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column()
    for name, words in _facts(page, now):
        facts.add_row(name, _text(words))
    parts: list[RenderableType] = [facts]
    parts += _effects(page.effects, now)
    parts += _log(page, now)
    console.print(Group(*parts))


def _facts(page: Page, now: datetime) -> Iterator[tuple[str, str]]:
    line = page.line
    since = f", for {_span(now - line.since)} ({_moment(line.since)})" if line.run else ""
    yield "state", f"{line.state.replace('_', ' ')}{since}"
    yield "", page.story
    if page.reason:
        yield "reason", page.reason
    base = f" onto {page.base_ref}" if page.base_ref else ""
    moved = f"; the head moved to {page.head_moved_to[:10]}" if page.head_moved_to else ""
    if line.head_sha:
        yield "head", f"{line.head_sha}{base}{moved}"
    if line.gate is not None or page.max_gate:
        yield "gate", f"{line.gate or 'none yet'}, max_gate={page.max_gate or 'not decided'}"
    if line.waits_for:
        until = f" ({_when(line.until, now)})" if line.until else ""
        yield "waits for", line.waits_for + until
    if page.ferry is not None:
        yield "ferry", _ferry(page.ferry)
    for seat in page.seats:
        yield "slot", _seat(seat)
    for timer in page.timers:
        yield "timer", f"{timer.name}, {_when(timer.due, now)} ({_moment(timer.due)})"
    for event in page.stalled:
        yield "stalled", f"{event.cause}, {event.attempts} attempts: {redact(event.error)}"
    for earlier in page.earlier[-2:]:
        yield "earlier", f"{earlier.id} {earlier.state} for {earlier.head_sha[:10]}, {_moment(earlier.ended_at)}"


def _ferry(ferry: Ferry) -> str:
    job = ferry.job_id or f"not submitted yet, will be {ferry.job_name}"
    words = [f"gate {ferry.gate}, attempt {ferry.attempt}: {job}"]
    words += [part for part in (ferry.state, ferry.pending_reason, ferry.error) if part]
    return "; ".join(words)


def _seat(seat: Seat) -> str:
    if seat.place == 0:
        return f"{seat.slot}: held"
    return f"{seat.slot}: place {seat.place} in the queue behind {seat.holder}"


def _effects(effects: tuple[EffectView, ...], now: datetime) -> list[RenderableType]:
    if not effects:
        return []
    grid = Grid(box=None, pad_edge=False, header_style="bold", expand=False)
    for name in ("effect", "status", "tries", "due"):
        grid.add_column(name, no_wrap=True)
    # The only column that gives way to a narrow terminal.
    grid.add_column("last error", overflow="fold")
    for one in effects:
        status = f"{'being done' if one.status == 'claimed' else one.status}{', revoked' if one.revoked else ''}"
        cells = (one.id, status, str(one.attempts), "" if one.status == "claimed" else _when(one.due, now))
        grid.add_row(*map(_text, cells), _text(redact(one.last_error or "")))
    return [Text(), grid]


def _log(page: Page, now: datetime) -> list[RenderableType]:
    if not page.log:
        return []
    told = [entry for entry in page.log if entry.kind not in _BOOKKEEPING]
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column(f"last {len(told[-_LAST:])} of {len(page.log)}", no_wrap=True)
    grid.add_column("event", no_wrap=True)
    grid.add_column("what it did", overflow="fold")
    grid.add_column("cause", no_wrap=True)
    for entry in told[-_LAST:]:
        cells = (_moment(entry.at, seconds=True), entry.kind, redact(entry.reason), entry.cause)
        grid.add_row(*map(_text, cells))
    return [Text(), grid]


def _text(words: str) -> Text:
    return Text(printable(words, 600))


def _span(span: timedelta) -> str:
    seconds = span.total_seconds()
    return f"{max(0, int(seconds))} s" if seconds < 60 else about(span)


def _when(due: datetime | None, now: datetime) -> str:
    if due is None:
        return ""
    return f"in {_span(due - now)}" if due > now else "now"


def _moment(when: datetime, *, seconds: bool = False) -> str:
    return when.strftime("%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M UTC")
