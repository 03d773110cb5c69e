"""Who may: one permission look-up per command, by role, never by `author_association`."""

from __future__ import annotations

from datetime import datetime

import msgspec

from bot.config.schema import Permissions, Role
from bot.conversation.commands import Answer, Assess, Command, Exclude, Go, Include, Skip, Stop
from bot.effects.context import Context, Rooms, heard_in, place_of, repo_of
from bot.effects.permitting import permissions
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Authorised, Denied, Event
from bot.github.model import PullInfo
from bot.github.permissions import NONE

_ORDER: tuple[str, ...] = ("none", "read", "triage", "write", "maintain", "admin")


async def authorise(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Look up the actor's permission and the pull request's head as they are now."""
    pr = await context.read()
    place = place_of(pr)
    comment_id, actor = int(effect.payload["comment_id"]), str(effect.payload["actor"])
    actor_id = int(effect.payload.get("actor_id", 0))
    command: Command = msgspec.convert(effect.payload["said"], Command)
    roles = await permissions(rooms, pr, context.clock.now())
    needed = _needed(command, roles)
    permission = await rooms.github.permissions.of(repo_of(place), actor)
    if actor_id and permission.user_id not in (0, actor_id):
        # The account was renamed since it spoke, and its login is somebody else's now.
        permission = NONE
    if not allows(permission.permission, permission.role_name, needed):
        found = permission.role_name or permission.permission
        return Outcome(Denied(comment_id, actor, needed, found, heard_in(effect)))
    pull = await rooms.github.pulls.get(repo_of(place), place.number)
    if pull is None:
        raise Fault("GitHub does not show this pull request to me", f"{place.key} is 404", retryable=True)
    said_at = datetime.fromisoformat(effect.payload["said_at"]) if "said_at" in effect.payload else None
    return Outcome(
        Authorised(
            comment_id=comment_id,
            actor=actor,
            role=permission.role_name,
            command=command,
            head_sha=pull.head_sha,
            is_open=pull.state == "open",
            merged=pull.merged,
            as_of=pull.updated_at,
            base_ref=pull.base_ref,
            granted=tuple(
                family for family, role in roles if allows(permission.permission, permission.role_name, role)
            ),
            heard_in=heard_in(effect),
            said_at=said_at,
            actor_id=actor_id or permission.user_id,
            author=pull.author,
            author_id=pull.author_id,
            unmoved=effect.payload.get("about_sha") == pull.head_sha or _pushed_before(pull, said_at),
        )
    )


def _pushed_before(pull: PullInfo, said_at: datetime | None) -> bool:
    """GitHub's own time of the last push to the head's repository, of which a pull request's author can forge nothing.

    Both times are whole seconds: what happened in the same one may have happened after.
    """
    return pull.pushed_at is not None and said_at is not None and pull.pushed_at < said_at


def allows(permission: str, role_name: str, needed: Role) -> bool:
    """Whether a person's level reaches `needed`.

    `permission` folds maintain into write and triage into read; `role_name` tells them apart, but may be the name of a
    custom role, of which only the folded permission is known.
    """
    known = role_name if role_name in _ORDER else permission
    best = max(_rank(permission), _rank(known))
    return best >= _rank(needed)


def _rank(level: str) -> int:
    return _ORDER.index(level) if level in _ORDER else 0


def _needed(command: Command, roles: Permissions) -> Role:
    if isinstance(command, Skip) or (isinstance(command, Go) and command.max_gate == "skip"):
        return roles.skip
    if isinstance(command, Stop):
        return roles.stop
    if isinstance(command, Go) and command.max_gate is not None:
        return roles.override
    if isinstance(command, Answer | Exclude | Include):
        return roles.override
    return roles.ask if isinstance(command, Assess) else roles.go
