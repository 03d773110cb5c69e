"""Accounts, Apps and repositories as GitHub's JSON; the REST API and the webhooks share these shapes."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from simulator.auth import client_id
from simulator.clock import stamp, stamp_or_none
from simulator.state import Account, App, Installation, Issue, Repository
from simulator.world import World

Json = dict[str, Any]


def node_id(kind: str, number: int) -> str:
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


def user(world: World, account: Account) -> Json:
    api = f"{world.links.api}/users/{account.login.replace('[', '%5B').replace(']', '%5D')}"
    page = f"apps/{account.login.removesuffix('[bot]')}" if account.type == "Bot" else account.login
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id(account.type, account.id),
        "avatar_url": f"{world.links.web}/avatars/u/{account.id}?v=4",
        "gravatar_id": "",
        "url": api,
        "html_url": f"{world.links.web}/{page}",
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def app(world: World, app: App) -> Json:
    return {
        "id": app.id,
        "slug": app.slug,
        "client_id": client_id(app),
        "node_id": node_id("App", app.id),
        "owner": user(world, app.owner),
        "name": app.slug,
        "description": None,
        "external_url": f"{world.links.web}/apps/{app.slug}",
        "html_url": f"{world.links.web}/apps/{app.slug}",
        "created_at": stamp(app.created_at),
        "updated_at": stamp(app.created_at),
        "permissions": dict(app.permissions),
        "events": list(app.events),
    }


def installation(world: World, installation: Installation) -> Json:
    api = f"{world.links.api}/app/installations/{installation.id}"
    return {
        "id": installation.id,
        "client_id": client_id(installation.app),
        "account": user(world, installation.account),
        "repository_selection": "selected",
        "access_tokens_url": f"{api}/access_tokens",
        "repositories_url": f"{world.links.api}/installation/repositories",
        "html_url": f"{world.links.web}/settings/installations/{installation.id}",
        "app_id": installation.app.id,
        "app_slug": installation.app.slug,
        "target_id": installation.account.id,
        "target_type": installation.account.type,
        "permissions": dict(installation.permissions),
        "events": list(installation.app.events),
        "created_at": stamp(installation.created_at),
        "updated_at": stamp(installation.created_at),
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": user(world, world.account("octocat")) if installation.suspended_at else None,
        "suspended_at": stamp_or_none(installation.suspended_at),
    }


# (key, what follows the repository's API address): the forty addresses of a repository.
_PLAIN = (
    "forks hooks teams events tags languages stargazers contributors subscribers subscription"
    " merges downloads deployments"
)
_TEMPLATES = {
    "keys_url": "/keys{/key_id}",
    "collaborators_url": "/collaborators{/collaborator}",
    "issue_events_url": "/issues/events{/number}",
    "assignees_url": "/assignees{/user}",
    "branches_url": "/branches{/branch}",
    "blobs_url": "/git/blobs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "trees_url": "/git/trees{/sha}",
    "statuses_url": "/statuses/{sha}",
    "commits_url": "/commits{/sha}",
    "git_commits_url": "/git/commits{/sha}",
    "comments_url": "/comments{/number}",
    "issue_comment_url": "/issues/comments{/number}",
    "contents_url": "/contents/{+path}",
    "compare_url": "/compare/{base}...{head}",
    "archive_url": "/{archive_format}{/ref}",
    "issues_url": "/issues{/number}",
    "pulls_url": "/pulls{/number}",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "labels_url": "/labels{/name}",
    "releases_url": "/releases{/id}",
}


def api_of(world: World, repository: Repository) -> str:
    return f"{world.links.api}/repos/{repository.full_name}"


def page_of(world: World, repository: Repository) -> str:
    return f"{world.links.web}/{repository.full_name}"


def minimal_repository(world: World, repository: Repository) -> Json:
    api = api_of(world, repository)
    return {
        "id": repository.id,
        "node_id": node_id("Repository", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": user(world, repository.owner),
        "html_url": page_of(world, repository),
        "description": None,
        "fork": repository.parent is not None,
        "url": api,
        **{f"{name}_url": f"{api}/{name}" for name in _PLAIN.split()},
        **{key: api + rest for key, rest in _TEMPLATES.items()},
    }


def open_issues(repository: Repository) -> list[Issue]:
    return [issue for issue in repository.issues.values() if issue.state == "open"]


def repository(world: World, repository: Repository) -> Json:
    page = page_of(world, repository)
    address = page.split("://", 1)[1]
    count = len(open_issues(repository))
    created = stamp(repository.created_at)
    return {
        **minimal_repository(world, repository),
        "created_at": created,
        "updated_at": created,
        "pushed_at": stamp(repository.pushed_at or repository.created_at),
        "git_url": f"git://{address}.git",
        "ssh_url": f"git@{address.replace('/', ':', 1)}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "size": 1,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": "Python",
        "has_issues": True,
        "has_projects": False,
        "has_downloads": True,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": 0,
        "mirror_url": None,
        "archived": False,
        "disabled": False,
        "open_issues_count": count,
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "custom_properties": {},
        "visibility": "private" if repository.private else "public",
        "forks": 0,
        "open_issues": count,
        "watchers": 0,
        "default_branch": repository.default_branch,
    }


def full_repository(world: World, which: Repository) -> Json:
    """What `GET /repos/{owner}/{repo}` answers: the repository with its fork's parent and its network."""
    extra: Json = {"subscribers_count": 0, "network_count": 0, "temp_clone_token": None}
    if which.owner.type == "Organization":
        extra["organization"] = user(world, which.owner)
    if which.parent is not None:
        parent = repository(world, which.parent)
        extra |= {"parent": parent, "source": parent}
    return {**repository(world, which), **extra}


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
