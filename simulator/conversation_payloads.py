"""Issues, comments and reactions as GitHub's JSON."""

from __future__ import annotations

from typing import Any

from simulator.clock import stamp, stamp_or_none
from simulator.payloads import api_of, app, node_id, page_of, user
from simulator.state import Account, Comment, Issue, Pull, Reaction, Repository
from simulator.world import World

Json = dict[str, Any]

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def association(repository: Repository, account: Account) -> str:
    """GitHub's `author_association`, which shows private members as CONTRIBUTOR: nothing may be decided by it."""
    if account is repository.owner:
        return "OWNER"
    if account.type == "Bot":
        return "NONE"
    return "CONTRIBUTOR" if account.login.lower() in repository.collaborators else "NONE"


def rollup(url: str, reactions: list[Reaction]) -> Json:
    counts = {content: sum(reaction.content == content for reaction in reactions) for content in REACTIONS}
    return {"url": f"{url}/reactions", "total_count": len(reactions), **counts}


def reaction(world: World, which: Reaction) -> Json:
    return {
        "id": which.id,
        "node_id": node_id("Reaction", which.id),
        "user": user(world, which.author),
        "content": which.content,
        "created_at": stamp(which.created_at),
    }


def issue_comment(world: World, comment: Comment) -> Json:
    repository, number = comment.issue.repository, comment.issue.number
    url = f"{api_of(world, repository)}/issues/comments/{comment.id}"
    kind = "pull" if isinstance(comment.issue, Pull) else "issues"
    return {
        "url": url,
        "html_url": f"{page_of(world, repository)}/{kind}/{number}#issuecomment-{comment.id}",
        "issue_url": f"{api_of(world, repository)}/issues/{number}",
        "id": comment.id,
        "node_id": node_id("IssueComment", comment.id),
        "user": user(world, comment.author),
        "created_at": stamp(comment.created_at),
        "updated_at": stamp(comment.updated_at),
        "author_association": association(repository, comment.author),
        "body": comment.body,
        "reactions": rollup(url, comment.reactions),
        "performed_via_github_app": app(world, comment.app) if comment.app else None,
    }


def issue(world: World, which: Issue) -> Json:
    """The issue of a webhook payload; on a pull request it has a `pull_request` key, on a plain issue it has not."""
    api, page = api_of(world, which.repository), page_of(world, which.repository)
    url = f"{api}/issues/{which.number}"
    is_pull = isinstance(which, Pull)
    payload: Json = {
        "url": url,
        "repository_url": api,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "html_url": f"{page}/{'pull' if is_pull else 'issues'}/{which.number}",
        "id": which.id,
        "node_id": node_id("PullRequest" if is_pull else "Issue", which.id),
        "number": which.number,
        "title": which.title,
        "user": user(world, which.author),
        "labels": [],
        "state": which.state,
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(which.comments),
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.updated_at),
        "closed_at": stamp_or_none(which.closed_at),
        "author_association": association(which.repository, which.author),
        "active_lock_reason": None,
        "body": which.body,
        "reactions": rollup(url, []),
        "timeline_url": f"{url}/timeline",
        "performed_via_github_app": None,
        "state_reason": None,
    }
    if isinstance(which, Pull):
        address = f"{page}/pull/{which.number}"
        payload["draft"] = which.draft
        payload["pull_request"] = {
            "url": f"{api}/pulls/{which.number}",
            "html_url": address,
            "diff_url": f"{address}.diff",
            "patch_url": f"{address}.patch",
            "merged_at": stamp_or_none(which.merged_at),
        }
    return payload
