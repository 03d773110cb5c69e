"""The API's operations: which there are, who may call them, what answers. Referee and router read this one table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from simulator.call import Handler
from simulator.checks import Checks
from simulator.deliveries import Deliveries
from simulator.events import Announcer
from simulator.graphql import graphql
from simulator.reviewing import Reviewing
from simulator.routes import actions, apps, collaborators, contents, pulls
from simulator.routes.checks import CheckRoutes
from simulator.routes.comments import CommentRoutes
from simulator.routes.manifests import ManifestRoutes
from simulator.routes.reviews import ReviewRoutes

AuthKind = Literal["app", "installation", "anonymous"]

# Parameters that may hold slashes, encoded or not: a path, `owner:feature/x...main`, `heads/feature/x`.
_WIDE = {"path", "basehead", "ref"}


@dataclass(frozen=True)
class Operation:
    """`template` is the path as GitHub's own description spells it."""

    method: str
    template: str
    auth: AuthKind
    handler: Handler

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"

    def pattern(self) -> re.Pattern[str]:
        words = [
            re.escape(word)
            if not word.startswith("{")
            else f"(?P<{word[1:-1]}>{'.*' if word[1:-1] == 'path' else '.+' if word[1:-1] in _WIDE else '[^/]+'})"
            for word in self.template.split("/")
        ]
        return re.compile("/".join(words))


def operations(announcer: Announcer, deliveries: Deliveries) -> list[Operation]:
    """Every operation of this GitHub; nothing else answers."""
    comments, log = CommentRoutes(announcer), apps.DeliveryRoutes(deliveries)
    check, review = CheckRoutes(Checks(announcer)), ReviewRoutes(Reviewing(announcer))
    repo = "/repos/{owner}/{repo}"
    app: list[tuple[str, str, Handler]] = [
        ("GET", "/app", apps.get_app),
        ("GET", "/app/hook/config", apps.get_hook_config),
        ("GET", "/app/hook/deliveries", log.list),
        ("POST", "/app/hook/deliveries/{delivery_id}/attempts", log.redeliver),
        ("GET", f"{repo}/installation", apps.get_repository_installation),
        ("POST", "/app/installations/{installation_id}/access_tokens", apps.create_token),
    ]
    installation: list[tuple[str, str, Handler]] = [
        ("GET", repo, pulls.get_repository),
        ("GET", f"{repo}/pulls/{{pull_number}}", pulls.get_pull),
        ("GET", f"{repo}/pulls/{{pull_number}}/files", pulls.list_pull_files),
        ("GET", f"{repo}/compare/{{basehead}}", pulls.compare),
        # Before the commit itself, whose name may hold slashes.
        ("GET", f"{repo}/commits/{{ref}}/check-runs", check.list),
        ("POST", f"{repo}/check-runs", check.create),
        ("GET", f"{repo}/check-runs/{{check_run_id}}", check.get),
        ("PATCH", f"{repo}/check-runs/{{check_run_id}}", check.update),
        ("POST", "/graphql", graphql),
        ("GET", f"{repo}/commits/{{ref}}", pulls.get_commit),
        ("GET", f"{repo}/contents/{{path}}", contents.get_content),
        ("GET", f"{repo}/issues/{{issue_number}}/comments", comments.list),
        ("POST", f"{repo}/issues/{{issue_number}}/comments", comments.create),
        ("GET", f"{repo}/issues/comments/{{comment_id}}", comments.get),
        ("PATCH", f"{repo}/issues/comments/{{comment_id}}", comments.update),
        ("DELETE", f"{repo}/issues/comments/{{comment_id}}", comments.delete),
        ("POST", f"{repo}/issues/comments/{{comment_id}}/reactions", comments.react),
        ("GET", f"{repo}/pulls/{{pull_number}}/comments", review.list),
        ("GET", f"{repo}/pulls/comments/{{comment_id}}", review.get),
        ("POST", f"{repo}/pulls/{{pull_number}}/comments/{{comment_id}}/replies", review.reply),
        ("POST", f"{repo}/pulls/comments/{{comment_id}}/reactions", review.react),
        ("GET", f"{repo}/collaborators/{{username}}/permission", collaborators.get_permission),
        ("GET", f"{repo}/actions/workflows/{{workflow_id}}/runs", actions.list_runs),
        ("GET", f"{repo}/actions/runs/{{run_id}}/artifacts", actions.list_artifacts),
        ("GET", f"{repo}/actions/artifacts/{{artifact_id}}/{{archive_format}}", actions.download_artifact),
    ]
    registering = Operation(
        "POST", "/app-manifests/{code}/conversions", "anonymous", ManifestRoutes(deliveries).convert
    )
    return (
        [registering]
        + [Operation(method, path, "app", handler) for method, path, handler in app]
        + [Operation(method, path, "installation", handler) for method, path, handler in installation]
    )


class Router:
    def __init__(self, table: Sequence[Operation]) -> None:
        self._table = [(operation, operation.pattern()) for operation in table]

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation of a still percent-encoded path and its decoded parameters."""
        for operation, pattern in self._table:
            if operation.method == method and (match := pattern.fullmatch(path)):
                return operation, {name: unquote(value) for name, value in match.groupdict().items()}
        return None
