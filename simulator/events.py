"""What happens on this GitHub and the webhooks it fires: every change of a conversation or pull request passes here."""

from __future__ import annotations

import uuid
from typing import Any

from simulator.conversation_payloads import issue, issue_comment
from simulator.deliveries import Deliveries
from simulator.payloads import installation, node_id, repository, user
from simulator.pull_payloads import pull_request
from simulator.state import Account, App, Comment, Installation, Issue, Pull, Repository
from simulator.world import World

Json = dict[str, Any]


class Announcer:
    def __init__(self, world: World, deliveries: Deliveries) -> None:
        self.world = world
        self._deliveries = deliveries

    async def add_comment(self, on: Issue, author: Account, body: str, *, app: App | None = None) -> Comment:
        now = self.world.clock.now()
        comment = Comment(self.world.next_id(), on, author, body, now, now, app)
        self.world.comments[comment.id] = comment
        on.comments.append(comment)
        on.updated_at = now
        await self._comment_event("created", comment, author, {})
        return comment

    async def edit_comment(self, comment: Comment, editor: Account, body: str) -> None:
        before, comment.body = comment.body, body
        comment.updated_at = self.world.clock.now()
        await self._comment_event("edited", comment, editor, {"changes": {"body": {"from": before}}})

    async def delete_comment(self, comment: Comment, by: Account) -> None:
        del self.world.comments[comment.id]
        comment.issue.comments.remove(comment)
        await self._comment_event("deleted", comment, by, {})

    async def _comment_event(self, action: str, comment: Comment, sender: Account, extra: Json) -> None:
        payload = {
            "action": action,
            **extra,
            "issue": issue(self.world, comment.issue),
            "comment": issue_comment(self.world, comment),
        }
        await self.announce("issue_comment", payload, comment.issue.repository, sender)

    async def pull_event(self, action: str, pull: Pull, sender: Account, extra: Json | None = None) -> None:
        payload = {
            "action": action,
            "number": pull.number,
            "pull_request": await pull_request(self.world, pull),
            **(extra or {}),
        }
        await self.announce("pull_request", payload, pull.repository, sender)

    async def installation_event(self, action: str, which: Installation, sender: Account) -> None:
        """`installation` events reach every App, subscribed or not."""
        payload = {
            "action": action,
            "installation": installation(self.world, which),
            "repositories": [_named(repository) for repository in which.repositories],
            "requester": None,
            "sender": user(self.world, sender),
        }
        await self._deliveries.announce(which, str(uuid.uuid4()), "installation", payload, None)
        await self.world.changed()

    async def repositories_removed(self, which: Installation, gone: list[Repository], sender: Account) -> None:
        """Reaches every App too."""
        payload = {
            "action": "removed",
            "installation": installation(self.world, which),
            "repository_selection": "selected",
            "repositories_added": [],
            "repositories_removed": [_named(repository) for repository in gone],
            "requester": None,
            "sender": user(self.world, sender),
        }
        await self._deliveries.announce(which, str(uuid.uuid4()), "installation_repositories", payload, None)
        await self.world.changed()

    async def announce(
        self, event: str, payload: Json, where: Repository, sender: Account, *, only: App | None = None
    ) -> None:
        """One GUID an event: every App installed on the repository gets the same one. `only`: nobody else hears."""
        payload["repository"] = repository(self.world, where)
        if where.owner.type == "Organization":
            payload["organization"] = _organization(self.world, where.owner)
        payload["sender"] = user(self.world, sender)
        guid = str(uuid.uuid4())
        for which in self.world.installations_of(where):
            if event in which.app.events and only in {None, which.app}:
                await self._deliveries.announce(which, guid, event, payload, where)
        await self.world.changed()


def _named(which: Repository) -> Json:
    return {
        "id": which.id,
        "node_id": node_id("Repository", which.id),
        "name": which.name,
        "full_name": which.full_name,
        "private": which.private,
    }


def _organization(world: World, owner: Account) -> Json:
    api = f"{world.links.api}/orgs/{owner.login}"
    return {
        "login": owner.login,
        "id": owner.id,
        "node_id": node_id("Organization", owner.id),
        "url": api,
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events",
        "hooks_url": f"{api}/hooks",
        "issues_url": f"{api}/issues",
        "members_url": f"{api}/members{{/member}}",
        "public_members_url": f"{api}/public_members{{/member}}",
        "avatar_url": f"{world.links.web}/avatars/u/{owner.id}?v=4",
        "description": "",
    }
