"""Calling people, and folding away what calls nobody any more: notices of earlier runs, questions that are settled."""

from __future__ import annotations

import logging

from bot import journal
from bot.comment.question import marker_of
from bot.effects.context import Context, Rooms, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event
from bot.gating.written import Noticed
from bot.github.minimizing import Why
from bot.github.names import Marker

_log = logging.getLogger(__name__)

SETTLED = "> **Settled.** "


async def notify(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Call people once: a hidden marker names what for. Nobody is called for a run that another has replaced."""
    pr, payload = await context.read(), effect.payload
    place, run_id = place_of(pr), str(payload["run_id"])
    marker = f"<!-- perf-gate:notice {run_id} {payload['what']} -->"
    found, first = Marker(marker, opens=False), effect.first
    if pr.run is None or pr.run.id != run_id:
        # An attempt of before may have posted it, and never have learned so: then it is to be folded away.
        posted = None if first else await rooms.github.comments.find(repo_of(place), place.number, found)
        return Outcome() if posted is None else Outcome(Noticed(run_id, posted.node_id))
    page = f"{rooms.settings.github_url}/{place.full_name}/pull/{place.number}#issuecomment-{pr.comment_id}"
    details = f" [Details]({page})" if pr.comment_id else ""
    body = f"{rooms.public(str(payload['text']))}{details}\n\n{marker}"
    comment = await rooms.github.comments.upsert(repo_of(place), place.number, found, body, None, first=first)
    journal.wrote(comment.id)
    return Outcome(Noticed(pr.run.id, comment.node_id))


async def hide(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Fold away the notices of a run that another has replaced."""
    place = place_of(await context.read())
    for node_id in effect.payload["node_ids"]:
        await _fold(rooms, place.installation_id, str(node_id), "OUTDATED")
    return Outcome()


async def settle(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Write over the question what came of it, and fold it away. What it said stays beneath."""
    place, payload = place_of(await context.read()), effect.payload
    repo, comments = repo_of(place), rooms.github.comments
    if question_id := int(payload["question_id"]):
        asked = await comments.get(repo, question_id)
    else:
        asked = await comments.find(repo, place.number, Marker(marker_of(str(payload["run_id"])), opens=False))
    if asked is None or not asked.author_is_own_app:
        return Outcome()
    if not asked.body.startswith(SETTLED):
        await comments.rewrite(repo, asked.id, f"{SETTLED}{rooms.public(str(payload['text']))}\n\n{asked.body}")
    await _fold(rooms, place.installation_id, asked.node_id, "RESOLVED")
    return Outcome()


async def _fold(rooms: Rooms, installation_id: int, node_id: str, why: Why) -> None:
    try:
        await rooms.github.minimizing.minimize(installation_id, node_id, why)
    except Fault as fault:
        if fault.retryable:
            raise
        # Only tidiness is lost.
        _log.warning("a comment could not be hidden", extra={"node_id": node_id, "why": str(fault)})
