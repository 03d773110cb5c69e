"""The one mutable thing: everything this GitHub holds, how it is found again, and the signal that something changed."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from simulator.clock import Clock
from simulator.git import Identity
from simulator.state import (
    Account,
    AccountType,
    App,
    CheckRun,
    Comment,
    Installation,
    Issue,
    Manifest,
    Repository,
    ReviewComment,
    StoredObject,
    Token,
    WorkflowRun,
)

# GitHub's own ids left 32 bits behind: an id kept in an int32 must break here as it would there.
FIRST_ID = 2_500_000_001


@dataclass
class Links:
    """The addresses of the origins, without a trailing slash; known once the servers listen."""

    api: str = ""
    web: str = ""
    artifacts: str = ""
    storage: str = ""


@dataclass(frozen=True)
class LoggedRequest:
    """One request as the simulator saw it. `caller`: app, installation, user, anonymous or rejected."""

    origin: str
    method: str
    path: str
    operation: str | None
    caller: str
    status: int
    """0 where the connection was dropped without an answer."""


@dataclass
class World:
    clock: Clock
    folder: Path
    """Where bare repositories lie."""
    links: Links = field(default_factory=Links)
    accounts: dict[str, Account] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    manifests: dict[str, Manifest] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    repositories: dict[int, Repository] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    review_comments: dict[int, ReviewComment] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    requests: list[LoggedRequest] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    buckets: dict[str, dict[str, StoredObject]] = field(default_factory=dict)
    most_listed: int = 1000
    """Objects on one page of a bucket's listing, whatever is asked for."""
    version: int = 0

    def __post_init__(self) -> None:
        self._ids = itertools.count(FIRST_ID)
        self._app_ids = itertools.count(1001)
        self._change = asyncio.Condition()

    def next_id(self) -> int:
        return next(self._ids)

    def next_app_id(self) -> int:
        return next(self._app_ids)

    async def changed(self) -> None:
        """Wake everyone who waits for something to be true."""
        async with self._change:
            self.version += 1
            self._change.notify_all()

    async def wait_for(self, predicate: Callable[[], bool]) -> None:
        """Return once `predicate` holds; it is asked again after every change, never on a timer."""
        async with self._change:
            await self._change.wait_for(predicate)

    def account(self, login: str, type: AccountType = "User") -> Account:
        """The account of that login (letter case does not matter), made where there is none."""
        key = login.lower()
        if key not in self.accounts:
            self.accounts[key] = Account(self.next_id(), login, type)
        return self.accounts[key]

    def known_account(self, login: str) -> Account | None:
        return self.accounts.get(login.lower())

    def repository(self, full_name: str) -> Repository:
        """By its present name. Raises LookupError."""
        for repository in self.repositories.values():
            if repository.full_name.lower() == full_name.lower():
                return repository
        raise LookupError(f"there is no repository {full_name}")

    def renamed(self, full_name: str) -> Repository | None:
        """The repository that once had this name, unless another one has it now."""
        for repository in self.repositories.values():
            if full_name.lower() in repository.former_names:
                return repository
        return None

    def issue(self, repository: str, number: int) -> Issue:
        """Raises LookupError."""
        try:
            return self.repository(repository).issues[number]
        except KeyError:
            raise LookupError(f"{repository} has no issue or pull request {number}") from None

    def installations_of(self, repository: Repository) -> list[Installation]:
        return [i for i in self.installations.values() if repository in i.repositories]

    def run(self, repository: Repository, run_id: int) -> WorkflowRun | None:
        return next((run for run in repository.runs if run.id == run_id), None)

    def identity(self, account: Account) -> Identity:
        """The git author that GitHub writes for an account."""
        email = f"{account.id}+{account.login}@users.noreply.github.com"
        return Identity(account.login, email, self.clock.now())
