"""What the bot says on the pull request, except its canonical comment: reactions, short replies, the question."""

from __future__ import annotations

from bot import journal
from bot.comment.question import question
from bot.conversation import replies
from bot.effects.context import Context, Rooms, current, heard_in, place_of, repo_of
from bot.effects.costing import tier_costs
from bot.effects.permitting import permissions
from bot.engine.port import Effect, Outcome
from bot.gating.events import Event
from bot.gating.model import Place
from bot.gating.written import Asked
from bot.github.names import Marker


async def react(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    place = place_of(await context.read())
    spoken_to = rooms.github.threads if heard_in(effect) == "thread" else rooms.github.comments
    await spoken_to.react(repo_of(place), effect.payload["comment_id"], effect.payload["content"])
    return Outcome()


async def reply(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Answer one comment, once."""
    await _say(rooms, place_of(await context.read()), effect, str(effect.payload["text"]))
    return Outcome()


async def say_help(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """What can be said, and who may: the configuration that counts says it."""
    pr = await context.read()
    roles = await permissions(rooms, pr, context.clock.now())
    await _say(rooms, place_of(pr), effect, replies.help_table({**dict(roles), "ask": roles.ask}))
    return Outcome()


async def _say(rooms: Rooms, place: Place, effect: Effect, text: str) -> None:
    """The hidden marker names what is answered: the comment's number, and where it is none, what else it is."""
    payload = effect.payload
    words = [payload.get("heard_in", ""), str(payload["comment_id"]), payload.get("about", "")]
    marker = f"<!-- perf-gate:reply {' '.join(word for word in words if word)} -->"
    body, repo = f"{rooms.public(text)}\n\n{marker}", repo_of(place)
    if heard_in(effect) == "thread":
        found = Marker(marker, opens=False)
        answer = await rooms.github.threads.answer(repo, place.number, int(payload["comment_id"]), found, body)
        if answer is not None:
            journal.wrote(answer)
            return
    comment = await rooms.github.comments.upsert(
        repo, place.number, Marker(marker, opens=False), body, None, first=effect.first
    )
    journal.wrote(comment.id)


async def ask(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current(effect, context)
    if found is None:
        return Outcome()
    pr, run = found
    place = place_of(pr)
    asked = question(pr, await tier_costs(rooms, context, pr, run), context.clock.now())
    marker = Marker(asked.marker, opens=False)
    known, first = run.question_id or None, effect.first
    body = rooms.public(asked.body)
    comment = await rooms.github.comments.upsert(repo_of(place), place.number, marker, body, known, first=first)
    rooms.rundirs.put(run.id, "question.md", asked.body)
    # Found standing without being known, it may have asked about another commit, before the state came out of a backup.
    at = comment.created_at if known else max(comment.created_at, comment.updated_at)
    return Outcome(Asked(run.id, comment.id, at))
