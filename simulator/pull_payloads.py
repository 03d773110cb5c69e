"""Pull requests as GitHub's JSON; their numbers come from the real diff of merge base to head."""

from __future__ import annotations

from typing import Any

from simulator.clock import stamp, stamp_or_none
from simulator.conversation_payloads import association
from simulator.payloads import api_of, node_id, page_of, repository, user
from simulator.revisions import Change, changes, count
from simulator.state import Account, Pull, Repository
from simulator.world import World

Json = dict[str, Any]


async def pull_changes(pull: Pull) -> list[Change]:
    """What the pull request changes: merge base of its base and head, to its head."""
    git = pull.repository.git
    base = await git.merge_base(pull.base_sha, pull.head_sha)
    return await changes(git, base or pull.base_sha, pull.head_sha)


async def pull_request(world: World, pull: Pull) -> Json:
    """The full pull request, as `GET .../pulls/{n}` and the webhooks carry it."""
    files = await pull_changes(pull)
    mergeable = await _mergeable(pull)
    numbers = {
        "merged": pull.merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": mergeable,
        "mergeable_state": {True: "clean", False: "dirty", None: "unknown"}[mergeable],
        "merged_by": user(world, pull.merged_by) if pull.merged_by else None,
        "comments": len(pull.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": await count(pull.repository.git, f"{pull.base_sha}..{pull.head_sha}"),
        "additions": sum(file.additions for file in files),
        "deletions": sum(file.deletions for file in files),
        "changed_files": len(files),
    }
    return {**outline(world, pull), **numbers}


async def _mergeable(pull: Pull) -> bool | None:
    """None once it is closed, as GitHub then no longer works it out."""
    if pull.state == "closed":
        return None
    git = pull.repository.git
    base = await git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
    return await git.merged_tree(base, pull.head_sha) is not None


def outline(world: World, pull: Pull) -> Json:
    """The pull request as reviews carry it: without its numbers."""
    api, page = api_of(world, pull.repository), page_of(world, pull.repository)
    url, address, issue = f"{api}/pulls/{pull.number}", f"{page}/pull/{pull.number}", f"{api}/issues/{pull.number}"
    addresses = {
        "html": address,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{api}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{api}/statuses/{pull.head_sha}",
    }
    return {
        "url": url,
        "id": pull.id + 1,
        "node_id": node_id("PullRequest", pull.id),
        "diff_url": f"{address}.diff",
        "patch_url": f"{address}.patch",
        **{f"{name}_url": target for name, target in addresses.items()},
        "number": pull.number,
        "state": pull.state,
        "locked": False,
        "title": pull.title,
        "user": user(world, pull.author),
        "body": pull.body,
        "labels": [],
        "milestone": None,
        "active_lock_reason": None,
        "created_at": stamp(pull.created_at),
        "updated_at": stamp(pull.updated_at),
        "closed_at": stamp_or_none(pull.closed_at),
        "merged_at": stamp_or_none(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _end(world, pull.head_owner or pull.author, pull.head_ref, pull.head_sha, pull.head_repository),
        "base": _end(world, pull.repository.owner, pull.base_ref, pull.base_sha, pull.repository),
        "_links": {"self": {"href": url}, **{name: {"href": target} for name, target in addresses.items()}},
        "author_association": association(pull.repository, pull.author),
        "auto_merge": None,
        "draft": pull.draft,
    }


def _end(world: World, owner: Account, ref: str, sha: str, where: Repository | None) -> Json:
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(world, owner),
        "repo": repository(world, where) if where else None,
    }
