"""Pull requests, as GitHub sees them now."""

from __future__ import annotations

from bot.github.client import Client
from bot.github.model import PullInfo
from bot.github.names import RepoRef
from bot.github.wire import PullBody


class Pulls:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, repo: RepoRef, number: int) -> PullInfo | None:
        """The pull request; None where there is none, also after waiting a moment for a lagging replica."""
        answer = await self._client.look_up(
            repo.installation_id,
            "/repos/{owner}/{repo}/pulls/{number}",
            f"read pull request #{number}",
            fresh=True,
            owner=repo.owner,
            repo=repo.name,
            number=number,
        )
        return None if answer is None else _pull_info(answer.read(PullBody))


def _pull_info(body: PullBody) -> PullInfo:
    head = body.head.repo
    return PullInfo(
        number=body.number,
        title=body.title,
        # A deleted account is shown by GitHub as the user "ghost".
        author=body.user.login if body.user else "ghost",
        head_sha=body.head.sha,
        base_ref=body.base.ref,
        head_repo_full_name=head.full_name if head else None,
        is_fork=head is None or head.id != body.base.repo.id,
        state=body.state,
        merged=body.merged,
        draft=body.draft,
        pushed_at=head.pushed_at if head else None,
        author_id=body.user.id if body.user else 0,
        updated_at=body.updated_at,
    )
