"""The canonical comment, level-triggered: render what is true now, and write it where it differs."""

from __future__ import annotations

import logging
from datetime import timedelta

from bot.comment.canonical import SENTINEL, digest, render
from bot.config.addresses import run_page
from bot.effects.context import Context, Rooms, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event
from bot.gating.written import Published
from bot.github.names import Marker

_log = logging.getLogger(__name__)

PATIENCE = timedelta(days=1)
"""How long a refusal of GitHub's is not believed; trouble that may pass is outlived however long it lasts."""


async def publish(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    pr = await context.read()
    if pr.run is None:
        return Outcome()
    place = place_of(pr)
    page = run_page(rooms.settings.public_url, pr.run.id)
    body = rooms.public(render(pr, context.clock.now(), page))
    said = digest(body)
    if said == pr.comment_digest:
        return Outcome()
    marker = Marker(SENTINEL)
    try:
        comment, comments = None, rooms.github.comments
        if pr.comment_id and effect.first:
            comment = await comments.rewrite(repo_of(place), pr.comment_id, body)
        if comment is None:
            known, first = pr.comment_id or None, effect.first
            comment = await comments.upsert(repo_of(place), place.number, marker, body, known, first=first)
    except Fault as fault:
        if fault.retryable or context.clock.now() - effect.created_at < PATIENCE:
            raise
        # The App was uninstalled, or the conversation locked. Whatever happens next publishes again.
        _log.error("the comment is given up", extra={"effect": effect.id, "why": str(fault)})
        return Outcome()
    rooms.rundirs.put(pr.run.id, f"comments/{pr.revision + 1:04d}.md", body)
    return Outcome(Published(comment.id, said))
