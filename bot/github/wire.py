"""GitHub's JSON as far as the bot reads it. Unknown keys are ignored: GitHub adds some every month.

Names and nullability follow GitHub's OpenAPI description, version 2022-11-28.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec

# A SHA travels into git commands and job names: nothing else may come in its place.
Sha = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")]


class User(msgspec.Struct, frozen=True):
    login: str
    type: str = "User"
    id: int = 0


class AppReference(msgspec.Struct, frozen=True):
    id: int


class AppBody(msgspec.Struct, frozen=True):
    id: int
    name: str
    slug: str


class GrantsBody(msgspec.Struct, frozen=True):
    """The same answer, for whoever asks what the App may."""

    slug: str
    html_url: str
    permissions: dict[str, str]
    events: list[str]


class InstallationBody(msgspec.Struct, frozen=True):
    id: int
    permissions: dict[str, str] = {}
    suspended_at: datetime | None = None


class VisibilityBody(msgspec.Struct, frozen=True):
    """Of a repository. `internal` ones are private, too; an older server tells no visibility."""

    private: bool
    visibility: str = "public"

    @property
    def is_public(self) -> bool:
        return not self.private and self.visibility == "public"


class TokenBody(msgspec.Struct, frozen=True):
    token: Annotated[str, msgspec.Meta(min_length=1)]
    expires_at: datetime


class RepositoryBody(msgspec.Struct, frozen=True):
    id: int
    full_name: str
    default_branch: str
    private: bool


class RepositoryReference(msgspec.Struct, frozen=True):
    id: int
    full_name: str
    pushed_at: datetime | None = None


class PullHead(msgspec.Struct, frozen=True):
    sha: Sha
    repo: RepositoryReference | None


class PullBase(msgspec.Struct, frozen=True):
    ref: str
    repo: RepositoryReference


class PullBody(msgspec.Struct, frozen=True):
    number: int
    title: str
    user: User | None
    head: PullHead
    base: PullBase
    state: Literal["open", "closed"]
    merged: bool
    draft: bool = False
    updated_at: datetime | None = None


class CommentBody(msgspec.Struct, frozen=True):
    id: int
    user: User | None
    created_at: datetime
    updated_at: datetime
    html_url: str
    body: str = ""
    performed_via_github_app: AppReference | None = None
    node_id: str = ""


class ThreadBody(msgspec.Struct, frozen=True):
    """A comment on a line of the diff. No person's login ends in `[bot]`."""

    id: int
    user: User | None
    body: str = ""
    in_reply_to_id: int | None = None

    def is_by(self, bot: str) -> bool:
        return self.user is not None and self.user.type == "Bot" and self.user.login == bot


class PermissionBody(msgspec.Struct, frozen=True):
    permission: str
    role_name: str = ""
    user: User | None = None


class RunBody(msgspec.Struct, frozen=True):
    id: int
    head_sha: Sha
    created_at: datetime
    html_url: str
    event: str
    head_branch: str | None
    conclusion: str | None
    repository: RepositoryReference
    head_repository: RepositoryReference | None = None


class RunList(msgspec.Struct, frozen=True):
    workflow_runs: list[RunBody]


class ArtifactBody(msgspec.Struct, frozen=True):
    id: int
    name: str
    expired: bool
    size_in_bytes: int


class ArtifactList(msgspec.Struct, frozen=True):
    artifacts: list[ArtifactBody]


class CheckRunBody(msgspec.Struct, frozen=True):
    id: int
    external_id: str | None = None
    app: AppReference | None = None
    status: str = ""


class CheckRunList(msgspec.Struct, frozen=True):
    check_runs: list[CheckRunBody]


class HookConfigBody(msgspec.Struct, frozen=True):
    url: str = ""
    content_type: str = "form"
    insecure_ssl: str | int | float = "0"


class DeliveryBody(msgspec.Struct, frozen=True):
    id: int
    guid: str
    delivered_at: datetime
    redelivery: bool
    event: str
    status_code: int
    action: str | None = None
