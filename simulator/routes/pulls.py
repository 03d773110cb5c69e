"""Repositories, pull requests, comparisons and commits."""

from __future__ import annotations

from urllib.parse import quote

from simulator.call import Call, Reply
from simulator.errors import Refusal, not_found
from simulator.paging import page
from simulator.payloads import api_of, full_repository, page_of
from simulator.pull_payloads import pull_changes, pull_request
from simulator.revisions import changes, commit, commits, count, diff_entry
from simulator.state import Pull, Repository

# docs.github.com: "List pull requests files" and "Compare two commits".
MOST_PULL_FILES = 3_000
MOST_COMPARE_FILES = 300
MOST_COMPARE_COMMITS = 250


async def get_repository(call: Call) -> Reply:
    return Reply(200, full_repository(call.world, call.repository("metadata", "read")))


async def get_pull(call: Call) -> Reply:
    repository = call.repository("pull_requests", "read")
    return Reply(200, await pull_request(call.world, call.pull(repository)))


async def list_pull_files(call: Call) -> Reply:
    repository = call.repository("pull_requests", "read")
    pull = call.pull(repository)
    shown, headers = page(call, await pull_changes(pull), most=MOST_PULL_FILES)
    return Reply(200, [diff_entry(call.world, repository, pull.head_sha, change) for change in shown], headers)


async def compare(call: Call) -> Reply:
    """Three-dot comparison: files from the merge base to the head, on the first page only."""
    repository = call.repository("contents", "read")
    basehead = call.params["basehead"]
    if "..." not in basehead:
        raise not_found()
    base, head = [await _revision(call, repository, name) for name in basehead.split("...", 1)]
    git = repository.git
    fork_point = await git.merge_base(base, head)
    if fork_point is None:
        raise Refusal(404, f"No common ancestor between {basehead.replace('...', ' and ')}.")
    between = f"{base}..{head}"
    total, behind = await count(git, between), await count(git, f"{head}..{base}")
    headers: dict[str, str] = {}
    if call.query.keys() & {"page", "per_page"}:
        shown, headers = page(call, await commits(git, between))
    else:
        shown = await commits(git, between, most=MOST_COMPARE_COMMITS)
    url = f"{api_of(call.world, repository)}/compare/{quote(basehead, safe='.:/')}"
    site = f"{page_of(call.world, repository)}/compare"
    first, last = (await commits(git, base, most=1))[0], (await commits(git, fork_point, most=1))[0]
    body = {
        "url": url,
        "html_url": f"{site}/{quote(basehead, safe='.:/')}",
        "permalink_url": f"{site}/{base[:7]}...{head[:7]}",
        "diff_url": f"{site}/{base}...{head}.diff",
        "patch_url": f"{site}/{base}...{head}.patch",
        "base_commit": commit(call.world, repository, first),
        "merge_base_commit": commit(call.world, repository, last),
        "status": _standing(total, behind),
        "ahead_by": total,
        "behind_by": behind,
        "total_commits": total,
        "commits": [commit(call.world, repository, one) for one in shown],
    }
    if call.query.get("page", "1") == "1":
        files = (await changes(git, fork_point, head))[:MOST_COMPARE_FILES]
        body["files"] = [diff_entry(call.world, repository, head, change) for change in files]
    return Reply(200, body, headers)


def _standing(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else "behind" if behind else "identical"


async def _revision(call: Call, repository: Repository, name: str) -> str:
    """A branch, tag or SHA, or `owner:branch` of a fork in the same network. Raises Refusal 404."""
    owner, colon, branch = name.partition(":")
    if not colon:
        found = await repository.git.resolve(name)
    elif owner.lower() == repository.owner.login.lower():
        found = await repository.git.resolve(f"refs/heads/{branch}")
    else:
        found = next((pull.head_sha for pull in _pulls(repository) if _comes_from(pull, owner, branch)), None)
    if found is None:
        raise not_found()
    return found


def _pulls(repository: Repository) -> list[Pull]:
    """Newest first."""
    return [issue for issue in reversed(repository.issues.values()) if isinstance(issue, Pull)]


def _comes_from(pull: Pull, owner: str, branch: str) -> bool:
    return pull.head_owner is not None and (pull.head_owner.login.lower(), pull.head_ref) == (owner.lower(), branch)


async def get_commit(call: Call) -> Reply:
    repository = call.repository("contents", "read")
    ref = call.params["ref"]
    sha = await repository.git.resolve(ref)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    if call.wants("sha"):
        return Reply(200, sha.encode(), content_type="application/vnd.github.sha; charset=utf-8")
    which = (await commits(repository.git, sha, most=1))[0]
    empty_tree = (await repository.git.run("hash-object", "-w", "-t", "tree", "--stdin", stdin=b"")).decode().strip()
    files = await changes(repository.git, which.parents[0] if which.parents else empty_tree, sha)
    added, deleted = sum(file.additions for file in files), sum(file.deletions for file in files)
    body = commit(call.world, repository, which)
    body["stats"] = {"total": added + deleted, "additions": added, "deletions": deleted}
    shown, headers = page(call, files, most=MOST_PULL_FILES)
    body["files"] = [diff_entry(call.world, repository, sha, change) for change in shown]
    return Reply(200, body, headers)
