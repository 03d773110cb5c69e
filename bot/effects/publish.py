"""The canonical comment, level-triggered: render what is true now, and write it where it differs."""

from __future__ import annotations

from bot.comment.canonical import SENTINEL, digest, render
from bot.effects.context import Context, Rooms, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.gating.events import Event, Published
from bot.github.names import Marker


async def publish(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    pr = await context.read()
    if pr.run is None:
        return Outcome()
    place = place_of(pr)
    body = rooms.public(render(pr, context.clock.now()))
    said = digest(body)
    if said == pr.comment_digest:
        return Outcome()
    marker = Marker(SENTINEL)
    comment = await rooms.github.comments.upsert(repo_of(place), place.number, marker, body, pr.comment_id or None)
    return Outcome(Published(comment.id, said))
