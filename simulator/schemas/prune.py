"""Cut GitHub's own descriptions down to the structure of what the simulator serves.

Run it in a folder of one's own, then commit what it wrote:

    npm i --ignore-scripts @octokit/openapi@23.0.2 @octokit/openapi-webhooks@12.1.0 \\
        @octokit/webhooks-schemas@7.6.1 @octokit/graphql-schema@15.26.1
    python simulator/schemas/prune.py node_modules

Kept: the operations of `simulator.operations`, the webhooks in `WEBHOOKS`, the GraphQL types in `GRAPHQL`, every
component they reach. Dropped: prose and examples. OpenAPI 3.0's `nullable` becomes plain JSON Schema, so that one
validator reads all three files of JSON Schema.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OPERATIONS = (
    "GET /app",
    "POST /app-manifests/{code}/conversions",
    "GET /app/hook/config",
    "GET /app/hook/deliveries",
    "POST /app/hook/deliveries/{delivery_id}/attempts",
    "POST /app/installations/{installation_id}/access_tokens",
    "GET /repos/{owner}/{repo}",
    "GET /repos/{owner}/{repo}/installation",
    "GET /repos/{owner}/{repo}/pulls/{pull_number}",
    "GET /repos/{owner}/{repo}/pulls/{pull_number}/files",
    "GET /repos/{owner}/{repo}/compare/{basehead}",
    "GET /repos/{owner}/{repo}/commits/{ref}",
    "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
    "POST /repos/{owner}/{repo}/check-runs",
    "GET /repos/{owner}/{repo}/check-runs/{check_run_id}",
    "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
    "GET /repos/{owner}/{repo}/contents/{path}",
    "GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
    "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
    "GET /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}",
    "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
    "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments",
    "GET /repos/{owner}/{repo}/pulls/comments/{comment_id}",
    "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies",
    "POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions",
    "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
    "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs",
    "GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts",
    "GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}",
)
# Event → its actions; None where it has none.
ACTIONS: dict[str, tuple[str | None, ...]] = {
    "issue_comment": ("created", "edited", "deleted"),
    "pull_request": ("opened", "synchronize", "closed", "reopened", "edited", "converted_to_draft", "ready_for_review"),
    "pull_request_review": ("submitted", "edited"),
    "pull_request_review_comment": ("created", "edited"),
    "check_run": ("created", "completed", "rerequested", "requested_action"),
    "check_suite": ("completed", "rerequested"),
    "installation": ("created", "deleted", "suspend", "unsuspend"),
    "installation_repositories": ("removed",),
    "ping": (None,),
}
WEBHOOKS = [(event, action) for event, actions in ACTIONS.items() for action in actions]
# The one mutation there is, what goes into it and what comes out.
GRAPHQL = (
    "MinimizeCommentInput",
    "MinimizeCommentPayload",
    "Minimizable",
    "ReportedContentClassifiers",
)
_PROSE = {
    "description",
    "example",
    "examples",
    "title",
    "summary",
    "externalDocs",
    "x-github",
    "default",
    "tsAdditionalProperties",
}
# Below these keys stand names chosen by GitHub, so a property called "description" is structure, not prose.
_NAMED = {"properties", "definitions", "patternProperties", "schemas"}


def prune(node: Any, *, names: bool = False) -> Any:
    """Drop prose; `names`: the keys of this object are names, none of which may be dropped."""
    if isinstance(node, list):
        return [prune(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: prune(value, names=not names and key in _NAMED)
        for key, value in node.items()
        if names or (key not in _PROSE and not key.startswith("x-") and key != "$schema")
    }


def plain(node: Any) -> Any:
    """OpenAPI 3.0 → JSON Schema: `nullable` becomes a type list or an `anyOf` with null."""
    if isinstance(node, list):
        return [plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: plain(value) for key, value in node.items()}
    if node.pop("nullable", False) is not True:
        return node
    if isinstance(node.get("type"), str):
        node["type"] = [node["type"], "null"]
        if "enum" in node and None not in node["enum"]:
            node["enum"] = [*node["enum"], None]
        return node
    return {"anyOf": [node, {"type": "null"}]}


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for item in node:
            yield from references(item)


def look_up(document: Any, pointer: str) -> Any:
    for word in pointer.removeprefix("#/").split("/"):
        document = document[word.replace("~1", "/").replace("~0", "~")]
    return document


def reached(document: Any, roots: Any, section: str) -> dict[str, Any]:
    """The components of `section` that the roots reach, by name."""
    found: dict[str, Any] = {}
    waiting = list(references(roots))
    while waiting:
        pointer = waiting.pop()
        name = pointer.rsplit("/", 1)[-1]
        if pointer.startswith(section) and name not in found:
            found[name] = plain(prune(look_up(document, pointer)))
            waiting += references(found[name])
    return dict(sorted(found.items()))


def inlined(document: Any, node: Any) -> Any:
    """A parameter or response itself, where it is only referred to."""
    return look_up(document, node["$ref"]) if "$ref" in node else node


def rest(document: Any) -> dict[str, Any]:
    operations = {}
    for name in OPERATIONS:
        method, path = name.split(" ")
        operation = document["paths"][path][method.lower()]
        parameters = [inlined(document, parameter) for parameter in operation.get("parameters", [])]
        body = operation.get("requestBody")
        responses = {status: inlined(document, response) for status, response in operation["responses"].items()}
        operations[name] = {
            "query": {p["name"]: plain(prune(p["schema"])) for p in parameters if p["in"] == "query"},
            "body": plain(prune(body["content"]["application/json"]["schema"])) if body else None,
            "body_required": bool(body and body.get("required")),
            "responses": {
                status: {
                    media: plain(prune(content["schema"])) for media, content in response.get("content", {}).items()
                }
                for status, response in responses.items()
            },
        }
    return {"operations": operations, "components": {"schemas": reached(document, operations, "#/components/schemas/")}}


def webhooks(document: Any) -> dict[str, Any]:
    named = {_key(*one): "-".join(("webhook", *filter(None, one))).replace("_", "-") for one in WEBHOOKS}
    roots = {key: {"$ref": f"#/components/schemas/{name}"} for key, name in named.items()}
    return {"webhooks": roots, "components": {"schemas": reached(document, roots, "#/components/schemas/")}}


def strict_webhooks(document: Any) -> dict[str, Any]:
    roots = {_key(event, action): {"$ref": f"#/definitions/{event}${action or 'event'}"} for event, action in WEBHOOKS}
    return {"webhooks": roots, "definitions": reached(document, roots, "#/definitions/")}


def graphql(document: Any) -> dict[str, Any]:
    """Of each type the names and types of its fields, as GraphQL writes them (`ID!`)."""
    types: dict[str, Any] = {}
    for one in document["__schema"]["types"]:
        if one["name"] in GRAPHQL:
            fields = [*(one.get("fields") or []), *(one.get("inputFields") or [])]
            values = [value["name"] for value in one.get("enumValues") or []]
            types[one["name"]] = values or {field["name"]: _written(field["type"]) for field in fields}
    return {"types": types}


def _written(kind: Any) -> str:
    if kind["kind"] == "NON_NULL":
        return f"{_written(kind['ofType'])}!"
    return f"[{_written(kind['ofType'])}]" if kind["kind"] == "LIST" else str(kind["name"])


def _key(event: str, action: str | None) -> str:
    return f"{event}.{action}" if action else event


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("node_modules", type=Path, help="the folder npm installed into")
    octokit = parser.parse_args().node_modules / "@octokit"
    for package, file, target, cut in (
        ("openapi", "generated/api.github.com.json", "rest.json", rest),
        ("openapi-webhooks", "generated/api.github.com.json", "webhooks.json", webhooks),
        ("webhooks-schemas", "schema.json", "webhooks-strict.json", strict_webhooks),
        ("graphql-schema", "schema.json", "graphql.json", graphql),
    ):
        version = json.loads((octokit / package / "package.json").read_text())["version"]
        document = json.loads((octokit / package / file).read_text())
        origin = {
            "source": f"@octokit/{package}",
            "version": version,
            "file": file,
            "licence": "MIT",
            "by": "Octokit contributors",
        }
        text = json.dumps({"origin": origin, **cut(document)}, separators=(",", ":"))
        (HERE / target).write_text(text + "\n")


if __name__ == "__main__":
    main()
