"""What Apps write, in the conversation and in the diff: who writes, what may be said, and reactions."""

from __future__ import annotations

from simulator.call import Call, Reply
from simulator.conversation_payloads import REACTIONS, reaction
from simulator.errors import Refusal, invalid
from simulator.state import App, Comment, Reaction, ReviewComment

# Measured on api.github.com: 65,536 characters, and behind that the column's 262,144 bytes.
MOST_CHARACTERS = 65_536
MOST_BYTES = 262_144


def acting_app(call: Call) -> App:
    """The App that writes. Raises Refusal 401 for a caller who is none."""
    if call.caller.token is None:
        raise Refusal(401, "Requires authentication")
    return call.caller.token.installation.app


def checked_body(call: Call) -> str:
    body = call.body.get("body") if isinstance(call.body, dict) else None
    if not isinstance(body, str):
        raise Refusal(422, 'Invalid request.\n\n"body" wasn\'t supplied.')
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(body) > MOST_CHARACTERS or len(body.encode()) > MOST_BYTES:
        raise invalid("IssueComment", "body", "custom", f"body is too long (maximum is {MOST_CHARACTERS} characters)")
    return body


async def put_reaction(call: Call, comment: Comment | ReviewComment) -> Reply:
    """201 the first time, 200 where the caller had already reacted so."""
    content = (call.body or {}).get("content")
    if content not in REACTIONS:
        raise invalid("Reaction", "content", "custom", "content is not a member of the list")
    bot = acting_app(call).bot
    for known in comment.reactions:
        if known.author is bot and known.content == content:
            return Reply(200, reaction(call.world, known))
    added = Reaction(call.world.next_id(), bot, content, call.world.clock.now())
    comment.reactions.append(added)
    await call.world.changed()
    return Reply(201, reaction(call.world, added))
