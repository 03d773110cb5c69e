"""Which request is meant: any id that GitHub, the bot or Iris ever gave a part of it."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from bot.cli.trace import addresses
from bot.cli.trace.past import Past, event_of
from bot.engine.tables import history
from bot.engine.transaction import Tx
from bot.engine.views import MoveView, ReceivedView
from bot.runs import finding

_GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_EFFECT = re.compile(r"(\d+/\d+)#\d+:\w+")
_RUN = re.compile(r"(\d+)-(\d+)-\d+(?:/g\d+/a\d+)?")
_RUN_PAGE = re.compile(r"https?://\S+/runs/(\d+-\d+-\d+)(?:[/?#]\S*)?")
_SHA = re.compile(r"[0-9a-f]{4,40}")


class Found(msgspec.Struct, frozen=True):
    """`moves` are the whole way of what was asked for; `marked` the ids in it that were meant. `run`: None where it
    belongs to none, or to several."""

    past: Past
    moves: list[MoveView]
    run: str | None = None
    marked: frozenset[str] = frozenset()


class Alone(msgspec.Struct, frozen=True):
    """A delivery that set nothing in motion."""

    received: ReceivedView


Way = Callable[[Tx, str, finding.Pulls], Found | Alone | None]


def find(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | Alone:
    """Raises finding.Unknown with what was near."""
    asked = asked.strip()
    for way in _WAYS:
        if (found := way(tx, asked, pulls)) is not None:
            return found
    # What `runs` knows: pull requests by name, number and address, SHAs; and its hints where there is nothing.
    key = finding.find(asked, pulls)
    past = _past(tx, key)
    return Found(past, list(past.history.moves))


def _delivery(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | Alone | None:
    if not _GUID.fullmatch(asked):
        return None
    asked = asked.lower()
    moved = [*history.moved_by(tx, f"delivery:{asked}"), *history.moved_by(tx, f"dead delivery:{asked}")]
    if moved:
        return _around(_past(tx, moved[0].key), [move.seq for move in moved], asked)
    if (received := history.received(tx, asked)) is not None:
        return Alone(received)
    raise finding.Unknown(
        f"no delivery {asked} is known: it never came here, or it came more than a week ago and was nothing to the bot"
    )


def _effect(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | None:
    match = _EFFECT.fullmatch(asked)
    past = _past(tx, match[1]) if match else None
    act = past.acts.get(asked) if past else None
    if past is None or act is None:
        return None
    if act.asked_by is None:
        return Found(past, list(past.history.moves), marked=frozenset({asked}))
    return _around(past, [act.asked_by], asked)


def _run(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | None:
    """By its id, its ferry's, or the address of its page."""
    page = _RUN_PAGE.fullmatch(asked)
    asked = page[1] if page else asked
    match = _RUN.fullmatch(asked)
    past = _past(tx, f"{match[1]}/{match[2]}") if match else None
    run = asked.partition("/")[0]
    if past is None or run not in past.begins:
        return None
    return Found(past, past.of_run(run), run)


def _on_github(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | None:
    """A comment, a review or a check run, by its address or its bare number; pull requests have the smaller numbers."""
    thing = addresses.thing(asked)
    if thing is None:
        return None
    if thing.kind is None and any(pr.place is not None and str(pr.place.number) == asked for pr in pulls.values()):
        return None
    if (moves := addresses.moves_about(tx, thing)) is not None:
        marked = [thing.id, *(f"log:{move.seq}" for move in moves if thing.kind == "check run")]
        return _around(_past(tx, moves[0].key), [move.seq for move in moves], *marked)
    if (wrote := addresses.written_by(tx, thing)) is not None:
        return _effect(tx, wrote, pulls)
    if thing.kind is not None:
        raise finding.Unknown(f"{thing.kind} {thing.id} is not known: it said nothing to the bot, nor is it the bot's")
    return None


def _job(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | None:
    """A ferry's name, its Iris job, or a job that it started."""
    for move in history.moves_of(tx, {"Submitted"}):
        job = str(event_of(move).get("job_id", ""))
        if job and (asked == job or asked.startswith(f"{job}/") or job.endswith(f"/{asked}")):
            return _around(_past(tx, move.key), [move.seq], job)
    return None


def _sha(tx: Tx, asked: str, pulls: finding.Pulls) -> Found | None:
    """A head that some run was for, also an earlier one."""
    wanted = asked.lower()
    if not _SHA.fullmatch(wanted):
        return None
    found = []
    for move in history.moves_of(tx, {"Assessed"}):
        event = event_of(move)
        if str(event.get("head_sha", "")).startswith(wanted):
            found.append((move.key, str(event.get("run_id", ""))))
    if not found:
        return None
    if len(keys := {key for key, _ in found}) > 1:
        raise finding.Unknown(f"{asked} may be of any of {', '.join(sorted(keys))}; name more of it")
    key, run = found[-1]
    past = _past(tx, key)
    return Found(past, past.of_run(run), run)


def _past(tx: Tx, key: str) -> Past:
    return Past(key, history.of_key(tx, key))


def _around(past: Past, seqs: list[int], *marked: str) -> Found:
    """The whole run that these moves belong to; where there is none, what followed from them."""
    runs = {run for seq in seqs if (run := past.run_at(seq)) is not None}
    if len(runs) == 1:
        (run,) = runs
        return Found(past, past.of_run(run), run, frozenset(marked))
    if runs:
        return Found(past, list(past.history.moves), None, frozenset(marked))
    return Found(past, past.following(seqs), None, frozenset(marked))


_WAYS: tuple[Way, ...] = (_delivery, _effect, _run, _on_github, _job, _sha)
