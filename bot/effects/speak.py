"""What the bot says on the pull request, except its canonical comment: reactions, short replies, the question."""

from __future__ import annotations

from bot.comment.question import question
from bot.effects.context import Context, Rooms, current, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.gating.events import Asked, Event
from bot.github.names import Marker


async def react(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    place = place_of(await context.read())
    await rooms.github.comments.react(repo_of(place), effect.payload["comment_id"], effect.payload["content"])
    return Outcome()


async def reply(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Answer one comment, once: the hidden marker names the comment that is answered."""
    place = place_of(await context.read())
    marker = f"<!-- perf-gate:reply {effect.payload['comment_id']} -->"
    body = f"{rooms.public(effect.payload['text'])}\n\n{marker}"
    await rooms.github.comments.upsert(repo_of(place), place.number, Marker(marker, opens=False), body, None)
    return Outcome()


async def ask(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current(effect, context)
    if found is None:
        return Outcome()
    pr, run = found
    place = place_of(pr)
    asked = question(pr)
    marker = Marker(asked.marker, opens=False)
    known = run.question_id or None
    comment = await rooms.github.comments.upsert(repo_of(place), place.number, marker, rooms.public(asked.body), known)
    rooms.rundirs.put(run.id, "question.md", asked.body)
    return Outcome(Asked(run.id, comment.id))
