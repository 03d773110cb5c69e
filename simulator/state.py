"""What this GitHub remembers: accounts, Apps, repositories, pull requests, comments, runs. Plain data, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from simulator.git import GitRepository

AccountType = Literal["User", "Bot", "Organization"]
Permission = Literal["admin", "write", "read", "none"]

# What perf-gate's own app.yml asks for; a test that needs less or more says so.
DEFAULT_PERMISSIONS = {
    "actions": "read",
    "checks": "write",
    "contents": "read",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}
REVIEW_EVENTS = ("pull_request_review", "pull_request_review_comment")
DEFAULT_EVENTS = ("check_run", "check_suite", "issue_comment", "pull_request", *REVIEW_EVENTS)


@dataclass(eq=False)
class Account:
    id: int
    login: str
    type: AccountType


@dataclass(eq=False)
class App:
    """`public_key` is PEM. Without a `webhook_url` nothing is delivered."""

    id: int
    slug: str
    owner: Account
    bot: Account
    public_key: str
    webhook_url: str | None
    webhook_secret: str
    hook_id: int
    created_at: datetime
    permissions: dict[str, str] = field(default_factory=lambda: dict(DEFAULT_PERMISSIONS))
    events: tuple[str, ...] = DEFAULT_EVENTS
    content_type: Literal["json", "form"] = "json"
    insecure_ssl: Literal["0", "1"] = "0"


@dataclass(frozen=True)
class Manifest:
    """An App that somebody asked to register; the code is good once."""

    code: str
    owner: str
    wanted: dict[str, Any]
    expires_at: datetime


@dataclass(eq=False)
class Installation:
    id: int
    app: App
    account: Account
    repositories: list[Repository]
    permissions: dict[str, str]
    created_at: datetime
    suspended_at: datetime | None = None


@dataclass(frozen=True)
class Token:
    """An installation token; it may be narrower than its installation."""

    value: str
    installation: Installation
    permissions: dict[str, str]
    repository_ids: frozenset[int]
    expires_at: datetime


@dataclass(frozen=True)
class Collaborator:
    permission: Permission
    role_name: str


@dataclass(eq=False)
class Repository:
    id: int
    owner: Account
    name: str
    git: GitRepository
    created_at: datetime
    private: bool = False
    default_branch: str = "main"
    parent: Repository | None = None
    collaborators: dict[str, Collaborator] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    workflows: dict[str, int] = field(default_factory=dict)
    runs: list[WorkflowRun] = field(default_factory=list)
    check_suites: list[CheckSuite] = field(default_factory=list)
    former_names: set[str] = field(default_factory=set)
    pushed_at: datetime | None = None

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    def pull(self, number: int) -> Pull:
        """Raises LookupError where there is no pull request of that number."""
        issue = self.issues.get(number)
        if not isinstance(issue, Pull):
            raise LookupError(f"{self.full_name} has no pull request {number}")
        return issue


@dataclass(eq=False)
class Issue:
    """An issue, or the issue half of a pull request."""

    id: int
    number: int
    repository: Repository
    author: Account
    title: str
    body: str | None
    created_at: datetime
    updated_at: datetime
    state: Literal["open", "closed"] = "open"
    closed_at: datetime | None = None
    comments: list[Comment] = field(default_factory=list)


@dataclass(eq=False)
class Pull(Issue):
    """`base_sha`: the base branch's tip when the head last moved. `head_repository`: None once its fork is deleted."""

    base_ref: str = "main"
    base_sha: str = ""
    head_ref: str = ""
    head_sha: str = ""
    head_owner: Account | None = None
    head_repository: Repository | None = None
    draft: bool = False
    merged_at: datetime | None = None
    merged_by: Account | None = None
    merge_commit_sha: str | None = None
    reviews: list[Review] = field(default_factory=list)


@dataclass(eq=False)
class Reaction:
    id: int
    author: Account
    content: str
    created_at: datetime


@dataclass(eq=False)
class Comment:
    id: int
    issue: Issue
    author: Account
    body: str
    created_at: datetime
    updated_at: datetime
    app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)
    minimized: str = ""
    """Why it is hidden (`outdated`); empty while it is not."""


@dataclass(eq=False)
class CheckSuite:
    """What one App says of one commit. It begins with its first run; `reset`: somebody asked for all of it again."""

    id: int
    repository: Repository
    app: App
    head_sha: str
    created_at: datetime
    updated_at: datetime
    runs: list[CheckRun] = field(default_factory=list)
    reset: bool = False

    @property
    def latest(self) -> list[CheckRun]:
        """One run a name: a later one hides those before it."""
        return list({run.name: run for run in self.runs}.values())

    @property
    def status(self) -> str:
        open_ones = [run.status for run in self.latest if run.status != "completed"]
        if self.reset or not self.runs:
            return "queued"
        return ("in_progress" if "in_progress" in open_ones else "queued") if open_ones else "completed"

    @property
    def conclusion(self) -> str | None:
        """The worst of its runs, once all have completed."""
        if self.status != "completed":
            return None
        found = [run.conclusion or "neutral" for run in self.latest]
        worst_first = ("action_required", "timed_out", "cancelled", "failure", "neutral", "skipped", "success")
        return min(found, key=worst_first.index)


@dataclass(eq=False)
class CheckRun:
    id: int
    suite: CheckSuite
    name: str
    started_at: datetime
    external_id: str = ""
    details_url: str = "https://github.com"
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    actions: list[dict[str, str]] = field(default_factory=list)


ReviewState = Literal["commented", "changes_requested", "approved", "dismissed"]


@dataclass(eq=False)
class Review:
    """`commit_id`: the head that was reviewed. A review around a single comment has no body."""

    id: int
    pull: Pull
    author: Account
    body: str | None
    state: ReviewState
    commit_id: str
    submitted_at: datetime


@dataclass(eq=False)
class ReviewComment:
    """A comment on a line of the diff. `in_reply_to`: the first of its thread, None for that one itself."""

    id: int
    review: Review
    author: Account
    body: str
    path: str
    created_at: datetime
    updated_at: datetime
    in_reply_to: ReviewComment | None = None
    app: App | None = None
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(eq=False)
class Artifact:
    id: int
    name: str
    content: bytes
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class StoredObject:
    """An object of a bucket; an overwritten one has a new generation and a new time."""

    content: bytes
    content_type: str
    content_encoding: str | None
    generation: int
    created_at: datetime


@dataclass(eq=False)
class WorkflowRun:
    id: int
    number: int
    repository: Repository
    workflow: str
    """The workflow's file name, such as `tier1.yml`."""
    workflow_id: int
    event: str
    branch: str
    head_sha: str
    message: str
    status: str
    conclusion: str | None
    actor: Account
    created_at: datetime
    updated_at: datetime
    artifacts: list[Artifact] = field(default_factory=list)
