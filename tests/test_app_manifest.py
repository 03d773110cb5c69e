"""app.yml asks for what the code calls for and nothing else: every endpoint's permission, every event that is heard."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import msgspec

from bot.gating.keeping import kept
from bot.recovery.missed import WANTED, WANTED_ACTIONS
from simulator.operations import operations
from simulator.simulator import Simulator

ROOT = Path(__file__).parent.parent
REPO = "/repos/{owner}/{repo}"
# What each endpoint needs, as its page on docs.github.com/rest says under "Fine-grained access tokens"; the App's own
# endpoints need nothing. `METHOD template` as in bot/github, without the query.
NEEDS: dict[str, tuple[str, str] | None] = {
    "GET /app": None,
    "GET /app/hook/config": None,
    "GET /app/hook/deliveries": None,
    "POST /app/hook/deliveries/{delivery_id}/attempts": None,
    "POST /app/installations/{installation_id}/access_tokens": None,
    f"GET {REPO}/installation": None,
    f"GET {REPO}": ("metadata", "read"),
    f"GET {REPO}/collaborators/{{username}}/permission": ("metadata", "read"),
    f"GET {REPO}/contents/{{path}}": ("contents", "read"),
    f"GET {REPO}/commits/{{ref}}/check-runs": ("checks", "read"),
    f"POST {REPO}/check-runs": ("checks", "write"),
    f"PATCH {REPO}/check-runs/{{check_run_id}}": ("checks", "write"),
    f"GET {REPO}/pulls/{{number}}": ("pull_requests", "read"),
    f"GET {REPO}/issues/{{number}}/comments": ("issues", "read"),
    f"POST {REPO}/issues/{{number}}/comments": ("issues", "write"),
    f"GET {REPO}/issues/comments/{{comment_id}}": ("issues", "read"),
    f"PATCH {REPO}/issues/comments/{{comment_id}}": ("issues", "write"),
    f"DELETE {REPO}/issues/comments/{{comment_id}}": ("issues", "write"),
    f"POST {REPO}/issues/comments/{{comment_id}}/reactions": ("issues", "write"),
    f"GET {REPO}/pulls/comments/{{comment_id}}": ("pull_requests", "read"),
    f"GET {REPO}/pulls/{{number}}/comments": ("pull_requests", "read"),
    f"POST {REPO}/pulls/{{number}}/comments/{{comment_id}}/replies": ("pull_requests", "write"),
    f"POST {REPO}/pulls/comments/{{comment_id}}/reactions": ("pull_requests", "write"),
    f"GET {REPO}/actions/workflows/{{workflow}}/runs": ("actions", "read"),
    f"GET {REPO}/actions/runs/{{run_id}}/artifacts": ("actions", "read"),
    f"GET {REPO}/actions/artifacts/{{artifact_id}}/zip": ("actions", "read"),
    # minimizeComment; GraphQL's reference names no permission, and GitHub takes the one that writes comments.
    "POST /graphql": ("issues", "write"),
}
# git over HTTP, with a token narrowed to it.
CLONES = ("contents", "read")
ALWAYS_DELIVERED = {"installation", "installation_repositories", "ping"}


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.yaml.decode((ROOT / "app.yml").read_text("utf-8"))
    return found


def called() -> set[str]:
    """Every URI template in bot/github, with the method of the call that it stands in."""
    found = set()
    for path in sorted((ROOT / "bot/github").glob("*.py")):
        for call in [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]:
            texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            for template in [text for text in texts if re.match(r"/\w", text)]:
                methods = [text for text in texts if re.fullmatch(r"[A-Z]+", text)]
                found.add(f"{methods[0] if methods else 'GET'} {template.partition('{?')[0]}")
    return found


def test_every_endpoint_that_is_called_is_in_the_table_and_no_other() -> None:
    assert called() == set(NEEDS)


def test_the_permissions_are_the_least_that_they_need() -> None:
    wanted: dict[str, str] = {}
    for need in [*NEEDS.values(), CLONES]:
        if need is not None and wanted.get(need[0]) != "write":
            wanted[need[0]] = need[1]
    assert manifest()["default_permissions"] == wanted


def test_the_events_are_those_that_are_heard() -> None:
    heard = WANTED | {event for event, _ in WANTED_ACTIONS}
    assert set(manifest()["default_events"]) == heard
    for event in heard:
        said = {"action": "deleted", "comment": {"body": "@perf-gate"}}
        reviewed = {"action": "closed", "review": {"body": "@perf-gate"}}
        shown = (said, reviewed, {"action": "requested_action"}, {"action": "rerequested"})
        assert any(kept(event, json.dumps(body).encode(), "perf-gate") for body in shown), event
    assert not heard & ALWAYS_DELIVERED


async def test_the_simulated_github_gives_an_app_just_that(tmp_path: Path) -> None:
    async with Simulator(folder=tmp_path) as sim:
        app = await sim.create_app(public_key="")
        assert dict(app.permissions) == manifest()["default_permissions"]
        assert set(manifest()["default_events"]) <= set(app.events)
        served = {_shape(f"{one.method} {one.template}") for one in operations(sim.announcer, sim.deliveries)}
        assert {_shape(name) for name in NEEDS} <= served


def _shape(name: str) -> str:
    """Without the names of its parameters."""
    return re.sub(r"\{[^}]*\}", "{}", name).replace("artifacts/{}/zip", "artifacts/{}/{}")
