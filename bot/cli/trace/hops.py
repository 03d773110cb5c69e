"""The way of a request, hop by hop: delivery, command, decisions, effects with attempts and processes, comments."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec

from bot.cli.trace.past import Event, Past
from bot.cli.trace.wording import COMMANDS, commanded, happened
from bot.engine.views import ActView, AttemptView, MoveView, ReceivedView
from bot.redaction import redact

Received = Callable[[str], ReceivedView | None]
What = Literal["delivery", "command", "decision", "effect", "iris", "comment"]


class Process(msgspec.Struct, frozen=True):
    """A child process. `exit_code` None: it was cut off, by `cut_off_by`. `log`: a file of the run's folder, if any."""

    command: str
    began_at: str
    seconds: float
    exit_code: int | None
    log: str = ""
    cut_off_by: str = ""


class Attempt(msgspec.Struct, frozen=True):
    """One attempt that ended: `ended_as` done, broke or died."""

    number: int
    began_at: datetime
    seconds: float
    ended_as: str
    error: str
    processes: tuple[Process, ...]


class Hop(msgspec.Struct, frozen=True):
    """`id` is what this hop is known by, `caused_by` the id of what led here. `asked` marks what was asked for."""

    at: datetime
    what: What
    id: str
    text: str
    caused_by: str = ""
    kind: str = ""
    attempts: tuple[Attempt, ...] = ()
    asked: bool = False


def hops(past: Past, moves: Collection[MoveView], received: Received, marked: Collection[str] = ()) -> list[Hop]:
    """In order of time; at one moment causes stand before what they cause. `marked`: ids that were asked for."""
    acts: dict[int, list[ActView]] = {}
    for act in past.acts_of(moves):
        acts.setdefault(act.asked_by or 0, []).append(act)
    told: set[str] = set()
    found: list[Hop] = []
    for move in moves:
        found += _of_move(past, move, received, told)
        found += [_of_act(past, act) for act in acts.get(move.seq, ())]
    found.sort(key=lambda hop: hop.at)
    return [msgspec.structs.replace(hop, asked=True) if hop.id in marked else hop for hop in found]


def of_delivery(received: ReceivedView) -> Hop:
    tries = f" after {received.attempts} failed tries" if received.attempts else ""
    trouble = f": {redact(received.error)}" if received.error else ""
    return Hop(
        at=received.received_at,
        what="delivery",
        id=received.guid,
        text=f"{received.event}, {received.status}{tries}{trouble}",
        kind=received.event,
    )


def _of_move(past: Past, move: MoveView, received: Received, told: set[str]) -> Iterator[Hop]:
    event = past.events[move.seq]
    where, _, guid = move.cause.partition(":")
    if where.endswith("delivery") and guid not in told:
        told.add(guid)
        known = received(guid)
        # Handled deliveries are forgotten after a week; the log is not.
        yield of_delivery(known) if known else Hop(move.at, "delivery", guid, "handled; its row is swept by now")
    if move.kind in COMMANDS:
        known_by = _id(event, "comment_id") or _id(event, "check_id")
        yield Hop(move.at, "command", known_by, commanded(event), move.cause, move.kind)
    yield Hop(move.at, "decision", f"log:{move.seq}", _decided(move, event), move.cause, move.kind)
    if move.kind in ("Submitted", "Watched", "FerryStopped") and (job := _job(past, move, event)):
        yield Hop(move.at, "iris", job, happened(move.kind, event), f"log:{move.seq}", move.kind)
    if move.kind in ("Published", "Asked"):
        yield Hop(
            move.at, "comment", _id(event, "comment_id"), _comment(past, move, event), f"log:{move.seq}", move.kind
        )


def _decided(move: MoveView, event: Event) -> str:
    said = happened(move.kind, event)
    text = f"{move.kind}: {said}" if said else move.kind
    return redact(f"{text} → {move.reason}" if move.reason else text)


def _job(past: Past, move: MoveView, event: Event) -> str:
    if move.kind == "Watched":
        # A look is worth a line of the cluster's when it is the last one; the others are decisions without effect.
        return str(event.get("seen", {}).get("job_id", "")) if event.get("ended") else ""
    if move.kind == "FerryStopped":
        return next((job for seq, job in reversed(list(_submitted(past))) if seq < move.seq), "")
    return str(event.get("job_id", ""))


def _submitted(past: Past) -> Iterator[tuple[int, str]]:
    for move in past.history.moves:
        if move.kind == "Submitted":
            yield move.seq, str(past.events[move.seq].get("job_id", ""))


def _comment(past: Past, move: MoveView, event: Event) -> str:
    if move.kind == "Asked":
        return "the question stands"
    revision = sum(one.kind == "Published" and one.seq <= move.seq for one in past.history.moves)
    return f"revision {revision} of the canonical comment, digest {str(event.get('digest', ''))[:12]}"


def _id(event: Event, name: str) -> str:
    return str(event.get(name, ""))


def _of_act(past: Past, act: ActView) -> Hop:
    tried = past.attempts.get(act.id, [])
    attempts = tuple(
        Attempt(
            number=one.attempt,
            began_at=one.began_at,
            seconds=round((one.ended_at - one.began_at).total_seconds(), 3),
            ended_as=one.ended_as,
            error=redact(one.error or ""),
            processes=tuple(_processes(one.notes)),
        )
        for one in tried
    )
    began = attempts[0].began_at if attempts else act.claimed_at or act.created_at
    return Hop(
        at=max(began, act.created_at),
        what="effect",
        id=act.id,
        text=_ended(act, attempts) + _wrote(tried),
        caused_by=f"log:{act.asked_by}",
        kind=act.kind,
        attempts=attempts,
    )


def _ended(act: ActView, attempts: Collection[Attempt]) -> str:
    if act.status == "pending":
        again = f" again after: {redact(act.last_error)}" if act.last_error else ""
        return f"waits until {act.due:%Y-%m-%d %H:%M:%S}{again}"
    if act.status == "claimed":
        return f"being done, attempt {act.attempts}"
    waited = _span(act.created_at, act.claimed_at)
    spent = f"{sum(one.seconds for one in attempts):.3f} s" if attempts else "no attempt on record"
    tries = f"{act.attempts} attempt{'' if act.attempts == 1 else 's'}" if act.attempts else "never begun"
    return f"{act.status}, {tries}, {spent}{waited}"


def _wrote(tried: Iterable[AttemptView]) -> str:
    noted = (note for one in tried for note in one.notes if isinstance(note, dict) and "comment" in note)
    return "".join(f", wrote comment {comment}" for comment in dict.fromkeys(str(note["comment"]) for note in noted))


def _span(asked: datetime, claimed: datetime | None) -> str:
    seconds = (claimed - asked).total_seconds() if claimed else 0.0
    return f", begun {seconds:.1f} s after it was asked for" if seconds >= 1 else ""


def _processes(notes: Iterable[Any]) -> Iterator[Process]:
    for note in notes:
        if isinstance(note, dict) and "child" in note:
            yield Process(
                command=redact(str(note["child"])),
                began_at=str(note.get("began_at", "")),
                seconds=float(note.get("seconds", 0.0)),
                exit_code=note.get("exit_code"),
                log=str(note.get("log", "")),
                cut_off_by=str(note.get("cut_off_by", "")),
            )
