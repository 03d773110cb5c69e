"""`perf-gate audit`: who commanded what, when, on which commit, with which permission, and what it led to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal

import click
import msgspec

from bot.cli.plain import plain
from bot.cli.state import looking, refuse
from bot.cli.trace.past import Past, event_of
from bot.cli.trace.wording import COMMANDS, asked_for
from bot.config.strict import parse_duration
from bot.engine.clock import SystemClock
from bot.engine.port import Clock
from bot.engine.tables import history
from bot.engine.transaction import Tx
from bot.engine.views import MoveView
from bot.redaction import redact
from bot.runs.reading import pulls

CLOCK: Clock = SystemClock()

_NOT_LOOKED_UP = frozenset({"help", "status", "misunderstood"})
"""What anybody may say: nothing is looked up for it."""


Permission = Literal["allowed", "denied", "not needed", "not known yet", "not known"]
"""Not known: the look-up was given up; nothing was done on such a command."""


class Entry(msgspec.Struct, frozen=True):
    """One command. `permission`: what the look-up came to, and `allowed` the same for programs, None for the last
    three; `role` is what GitHub said; `head_sha` the commit at that moment; `led_to` the decision, `run` the run it was
    for, `now` what became of that run, as long as no later command changed it."""

    at: datetime
    pull_request: str
    who: str
    command: str
    comment_id: int
    delivery: str
    allowed: bool | None
    role: str
    head_sha: str
    led_to: str
    run: str = ""
    now: str = ""
    permission: Permission = "not needed"


@click.command("audit", short_help="Who commanded what, with which permission, and what it led to.")
@click.option("--since", default="7d", metavar="7d|ISO", help="How far back: 12h, 7d, or a date or time in UTC.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def command(since: str, as_json: bool) -> None:
    """List every command that anybody gave, oldest first. Changes nothing, and may be used while the bot runs."""
    begin = _moment(since)
    with looking() as tx:
        history.check_format(tx)
        found = list(entries(tx, begin))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
        return
    for entry in found:
        click.echo(plain(_line(entry)))
    if not found:
        click.echo(f"nobody commanded anything since {begin:%Y-%m-%d %H:%M} UTC")


def entries(tx: Tx, begin: datetime) -> Iterator[Entry]:
    known, pasts = pulls(tx), dict[str, Past]()
    for move in history.moves_of(tx, COMMANDS, begin):
        if move.key not in pasts:
            pasts[move.key] = Past(move.key, history.of_key(tx, move.key))
        pull = known.get(move.key)
        place = pull.place if pull else None
        yield _entry(pasts[move.key], move, f"{place.full_name}#{place.number}" if place else move.key)


def _entry(past: Past, move: MoveView, pull_request: str) -> Entry:
    event = event_of(move)
    said = event.get("said", {})
    answer = next((one for one in past.following([move.seq]) if _answers(one)), None)
    permission = _permission(past, move, answer)
    told = event_of(answer) if answer else {}
    run = (past.run_at(answer.seq) if answer else None) or ""
    return Entry(
        at=move.at,
        pull_request=pull_request,
        who=str(event.get("actor", "")),
        command=asked_for(event),
        comment_id=int(event.get("comment_id", 0)),
        delivery=move.cause.partition(":")[2] if "delivery:" in move.cause else "",
        allowed={"allowed": True, "denied": False}.get(permission),
        role=str(told.get("role", "")),
        head_sha=str(told.get("head_sha", "")),
        led_to=_led_to(past, move, answer, said.get("type") in _NOT_LOOKED_UP),
        run=run if permission == "allowed" else "",
        now=_now(past, run, answer) if answer and permission == "allowed" else "",
        permission=permission,
    )


def _answers(move: MoveView) -> bool:
    """Whether it ends the look-up of a permission; a reaction that failed says nothing about that."""
    return move.kind in ("Authorised", "Denied") or (
        move.kind == "EffectFailed" and event_of(move).get("kind") == "authorise"
    )


def _permission(past: Past, move: MoveView, answer: MoveView | None) -> Permission:
    if answer is not None:
        ends: dict[str, Permission] = {"Authorised": "allowed", "Denied": "denied"}
        return ends.get(answer.kind, "not known")
    looks = [act for act in past.acts_of([move]) if act.kind == "authorise"]
    return "not known yet" if any(act.ended_at is None for act in looks) else "not needed"


def _led_to(past: Past, move: MoveView, answer: MoveView | None, anybody: bool) -> str:
    if answer is None:
        # A bare answer that nobody waited for, or a comment heard twice, asks for nothing.
        asked = past.acts_of([move])
        return "an answer" if anybody else "its permission is being looked up" if asked else move.reason or "nothing"
    if answer.kind == "Denied":
        return f"refused: needs {event_of(answer).get('needed')}"
    if answer.reason:
        return redact(answer.reason)
    kinds = {act.kind for act in past.acts_of([answer])}
    return "a reply" if "reply" in kinds else ", ".join(sorted(kinds - {"publish"})) or "no change"


def _now(past: Past, run: str, answer: MoveView) -> str:
    """The last decision about the run until another command changed it, as the log has it."""
    if not answer.reason:
        # It changed nothing at once: what it led to, if anything, came of its effects.
        decided = past.following([answer.seq])
    else:
        later = [move for move in past.of_run(run) if move.seq > answer.seq]
        until = next((move.seq for move in later if move.kind == "Authorised" and move.reason), None)
        decided = [answer, *(move for move in later if until is None or move.seq < until)]
    return next((redact(move.reason) for move in reversed(decided) if move.reason), "")


def _line(entry: Entry) -> str:
    verdict = {
        "allowed": f"allowed, role {entry.role}",
        "denied": f"denied, role {entry.role or 'unknown'}",
        "not needed": "anybody",
        "not known yet": "permission not known yet",
        "not known": "permission not known",
    }
    head = f" at {entry.head_sha[:10]}" if entry.head_sha else ""
    after = f"; run {entry.run}: {entry.now}" if entry.now not in ("", entry.led_to) else ""
    return (
        f"{entry.at:%Y-%m-%d %H:%M:%S}  {entry.pull_request}  {entry.who}: {entry.command}{head}"
        f"  [{verdict[entry.permission]}]  {entry.led_to}{after}"
    )


def _moment(text: str) -> datetime:
    """Ends the command with 2 where it is neither a span nor a moment."""
    try:
        return CLOCK.now() - parse_duration(text)
    except OverflowError:
        return datetime.min.replace(year=1970, tzinfo=UTC)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        refuse(f'--since {text}: neither a span such as "12h" or "7d" nor a date or time such as 2026-06-20T08:00')
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
