"""One request to the API as a handler sees it, and the reply it gives: plain data, so that both can be refereed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlencode

from simulator.auth import Caller
from simulator.errors import Refusal, not_accessible, not_found
from simulator.state import Issue, Pull, Repository
from simulator.world import World

Json = dict[str, Any]
JSON_TYPE = "application/json"


@dataclass(frozen=True)
class Reply:
    """`body` None: no content. bytes: sent as they are under `content_type`. Anything else: JSON."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON_TYPE


@dataclass
class Call:
    world: World
    method: str
    path: str
    """Still percent-encoded."""
    params: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    caller: Caller
    hide_after_id: int | None = None
    """A stale listing: what is newer than this id is not in it yet."""

    @property
    def accept(self) -> str:
        return self.headers.get("Accept", "")

    def wants(self, flavour: str) -> bool:
        """Whether a media type such as `application/vnd.github.raw+json` (or its older `v3.raw`) is asked for."""
        names = {f"application/vnd.github.{flavour}", f"application/vnd.github.v3.{flavour}"}
        return any(part.partition(";")[0].strip().removesuffix("+json") in names for part in self.accept.split(","))

    def repository(self, permission: str, level: Literal["read", "write"]) -> Repository:
        """The repository of the path, for a caller who may do this there. Raises Refusal 301, 307, 403 or 404."""
        name = f"{self.params['owner']}/{self.params['repo']}"
        try:
            repository = self.world.repository(name)
        except LookupError:
            raise self._moved(name) from None
        if not self.caller.may_see(repository):
            raise not_found()
        reaches = self.caller.reaches(repository)
        # Anyone reads a public repository; writing, and reading as an installation of it, takes the permission.
        if (reaches or level == "write") and not (reaches and self.caller.allows(permission, level)):
            raise not_accessible(permission, level)
        return repository

    def _moved(self, name: str) -> Refusal:
        repository = self.world.renamed(name)
        if repository is None or not self.caller.may_see(repository):
            return not_found()
        return self.moved(repository)

    def moved(self, repository: Repository) -> Refusal:
        """Where the same is found by the repository's id, which never changes."""
        rest = self.path.split("/", 4)[4:]
        location = "/".join([f"{self.world.links.api}/repositories/{repository.id}", *rest])
        if self.query:
            location += "?" + urlencode(self.query)
        return Refusal(301 if self.method == "GET" else 307, "Moved Permanently", headers={"Location": location})

    def number(self, name: str) -> int:
        """A numeric path parameter. Raises Refusal 404, as GitHub does for what cannot be an id."""
        text = self.params[name]
        if not text.isascii() or not text.isdigit():
            raise not_found()
        return int(text)

    def issue(self, repository: Repository, name: str = "issue_number") -> Issue:
        try:
            return repository.issues[self.number(name)]
        except KeyError:
            raise not_found() from None

    def pull(self, repository: Repository) -> Pull:
        try:
            return repository.pull(self.number("pull_number"))
        except LookupError:
            raise not_found() from None


Handler = Callable[[Call], Awaitable[Reply]]
