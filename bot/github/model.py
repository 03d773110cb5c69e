"""What GitHub knows, as frozen values: the only shapes of its answers that leave this room."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

Level = Literal["admin", "write", "read", "none"]


class AppGrants(msgspec.Struct, frozen=True):
    """What the App is registered with."""

    slug: str
    html_url: str
    permissions: dict[str, str]
    events: tuple[str, ...]


class HookConfig(msgspec.Struct, frozen=True):
    """Where GitHub sends the App's webhooks, and how. `url` is empty where it sends none."""

    url: str
    content_type: str
    verifies_certificate: bool


class InstallationInfo(msgspec.Struct, frozen=True):
    """`permissions` are those that the owner accepted; an App that asks for more later waits for them."""

    id: int
    permissions: dict[str, str]
    suspended: bool


class AppInfo(msgspec.Struct, frozen=True):
    """Who the App is; `login` is the author of its comments."""

    id: int
    slug: str
    name: str

    @property
    def login(self) -> str:
        return f"{self.slug}[bot]"


class Repository(msgspec.Struct, frozen=True):
    id: int
    full_name: str
    default_branch: str
    private: bool


class PullInfo(msgspec.Struct, frozen=True):
    """A pull request. `head_repo_full_name` is None once the fork it came from was deleted; that still `is_fork`.

    `author_id` is of the account, whose login may change; 0 for a deleted one. `pushed_at`: when anything was last
    pushed to the repository the head comes from; `updated_at`: when GitHub last changed what it shows here.
    """

    number: int
    title: str
    author: str
    head_sha: str
    base_ref: str
    head_repo_full_name: str | None
    is_fork: bool
    state: Literal["open", "closed"]
    merged: bool
    draft: bool
    pushed_at: datetime | None = None
    author_id: int = 0
    updated_at: datetime | None = None


class Comment(msgspec.Struct, frozen=True):
    """A comment on a pull request. `author_is_own_app`: written by this very App, so nobody else can have forged it;
    `author_is_person`: by no App and no bot."""

    id: int
    author_login: str
    author_is_own_app: bool
    body: str
    created_at: datetime
    updated_at: datetime
    url: str
    author_is_person: bool = False
    node_id: str = ""
    author_id: int = 0


class Permission(msgspec.Struct, frozen=True):
    """What a user may do on a repository. Unknown users and Apps have none.

    `permission` folds maintain into write and triage into read; `role_name` does not. `user_id` is of the account that
    has this login now, 0 where there is none.
    """

    permission: Level
    role_name: str
    user_id: int = 0


class WorkflowRun(msgspec.Struct, frozen=True):
    """A run of a workflow. `head_repository_id` differs from `repository_id` where a fork's commit ran."""

    id: int
    head_sha: str
    created_at: datetime
    url: str
    event: str
    head_branch: str | None
    conclusion: str | None
    repository_id: int
    repository_full_name: str
    head_repository_id: int | None


class Artifact(msgspec.Struct, frozen=True):
    """A zip that a run left behind; `size` in bytes."""

    id: int
    name: str
    expired: bool
    size: int


class Gone(msgspec.Struct, frozen=True):
    """The artifact was there once: it has expired or was deleted."""


class TooLarge(msgspec.Struct, frozen=True):
    """More bytes than the caller wanted to take; `limit` is what it would have taken."""

    limit: int


class HookDelivery(msgspec.Struct, frozen=True):
    """One attempt of GitHub to deliver a webhook, as its own log has it. `status_code` 0: no answer in time."""

    id: int
    guid: str
    delivered_at: datetime
    redelivery: bool
    event: str
    status_code: int
    action: str = ""

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status_code < 300
