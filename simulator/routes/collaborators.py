"""What a user may do in a repository."""

from __future__ import annotations

from simulator.call import Call, Reply
from simulator.errors import Refusal
from simulator.payloads import user
from simulator.state import Collaborator, Repository

_RANKS = {"none": 0, "read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


async def get_permission(call: Call) -> Reply:
    """Bots and unknown users: 404. Anyone may read a public repository; `maintain` shows as write, `triage` as read."""
    repository = call.repository("metadata", "read")
    login = call.params["username"]
    account = call.world.known_account(login)
    if account is None or account.type == "Bot":
        raise Refusal(404, f"{login} is not a user")
    held = standing(repository, account.login)
    rank = _RANKS.get(held.role_name) or _RANKS[held.permission]
    permissions = {
        name: rank >= _RANKS[least]
        for name, least in {
            "admin": "admin",
            "maintain": "maintain",
            "push": "write",
            "triage": "triage",
            "pull": "read",
        }.items()
    }
    return Reply(
        200,
        {
            "permission": held.permission,
            "user": {**user(call.world, account), "permissions": permissions, "role_name": held.role_name},
            "role_name": held.role_name,
        },
    )


def standing(repository: Repository, login: str) -> Collaborator:
    if login.lower() == repository.owner.login.lower():
        return Collaborator("admin", "admin")
    known = repository.collaborators.get(login.lower())
    if known is not None:
        return known
    return Collaborator("none", "none") if repository.private else Collaborator("read", "read")
