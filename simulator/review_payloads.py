"""Reviews and comments on lines of the diff as GitHub's JSON."""

from __future__ import annotations

from typing import Any

from simulator.clock import stamp
from simulator.conversation_payloads import association, rollup
from simulator.payloads import api_of, node_id, page_of, user
from simulator.state import Review, ReviewComment
from simulator.world import World

Json = dict[str, Any]


def review(world: World, which: Review) -> Json:
    pull = which.pull
    api = f"{api_of(world, pull.repository)}/pulls/{pull.number}"
    html = f"{page_of(world, pull.repository)}/pull/{pull.number}#pullrequestreview-{which.id}"
    return {
        "id": which.id,
        "node_id": node_id("PullRequestReview", which.id),
        "user": user(world, which.author),
        "body": which.body,
        "commit_id": which.commit_id,
        "submitted_at": stamp(which.submitted_at),
        "state": which.state,
        "html_url": html,
        "pull_request_url": api,
        "author_association": association(pull.repository, which.author),
        "_links": {"html": {"href": html}, "pull_request": {"href": api}},
    }


def review_comment(world: World, which: ReviewComment) -> Json:
    """`line` and `position` stand for one changed line; the simulator keeps no more of the diff."""
    pull = which.review.pull
    api = api_of(world, pull.repository)
    url, pull_url = f"{api}/pulls/comments/{which.id}", f"{api}/pulls/{pull.number}"
    html = f"{page_of(world, pull.repository)}/pull/{pull.number}#discussion_r{which.id}"
    payload: Json = {
        "url": url,
        "pull_request_review_id": which.review.id,
        "id": which.id,
        "node_id": node_id("PullRequestReviewComment", which.id),
        "diff_hunk": "@@ -1 +1 @@",
        "path": which.path,
        "position": 1,
        "original_position": 1,
        "commit_id": which.review.commit_id,
        "original_commit_id": which.review.commit_id,
        "user": user(world, which.author),
        "body": which.body,
        "created_at": stamp(which.created_at),
        "updated_at": stamp(which.updated_at),
        "html_url": html,
        "pull_request_url": pull_url,
        "author_association": association(pull.repository, which.author),
        "_links": {"self": {"href": url}, "html": {"href": html}, "pull_request": {"href": pull_url}},
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": 1,
        "original_line": 1,
        "side": "RIGHT",
        "subject_type": "line",
        "reactions": rollup(url, which.reactions),
    }
    if which.in_reply_to is not None:
        payload["in_reply_to_id"] = which.in_reply_to.id
    return payload
