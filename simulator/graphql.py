"""`POST /graphql`: the one mutation that REST has no counterpart of. Held against GitHub's own GraphQL types.

Source: docs.github.com "Forming calls with GraphQL": errors come with status 200.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.auth import Caller
from simulator.call import Call, Reply
from simulator.state import Comment
from simulator.world import World

Json = dict[str, Any]

# GraphQL stands in no OpenAPI description: what the referee knows of its one address.
DESCRIBED: Json = {
    "query": {},
    "body": {
        "type": "object",
        "required": ["query"],
        "properties": {"query": {"type": "string"}, "variables": {"type": "object"}, "operationName": {}},
    },
    "body_required": True,
    "responses": {
        "200": {
            "application/json": {
                "type": "object",
                "required": ["data"],
                "properties": {
                    "data": {"type": ["object", "null"]},
                    "errors": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["message"]}},
                },
                "additionalProperties": False,
            }
        }
    },
}
TYPES: Mapping[str, Any] = json.loads((Path(__file__).parent / "schemas/graphql.json").read_text())["types"]
_MUTATION = re.compile(
    r"mutation\s*\w*\s*\(\s*\$input\s*:\s*MinimizeCommentInput!\s*\)\s*\{\s*"
    r"minimizeComment\s*\(\s*input\s*:\s*\$input\s*\)\s*(?P<fields>\{[\w\s{}]*\})\s*\}"
)


async def graphql(call: Call) -> Reply:
    body = call.body if isinstance(call.body, dict) else {}
    match = _MUTATION.fullmatch(str(body.get("query", "")).strip())
    if match is None:
        return _refused("Parse error: only mutation minimizeComment is simulated", None)
    wanted = _selection(match["fields"])
    given = (body.get("variables") or {}).get("input") or {}
    if problem := _unselectable(wanted, "MinimizeCommentPayload") or _wrong_input(given):
        return _refused(problem, None)
    comment = _comment(call.world, given["subjectId"])
    if comment is None or not call.caller.may_see(comment.issue.repository):
        return _refused(f"Could not resolve to a node with the global id of '{given['subjectId']}'", "NOT_FOUND")
    if not _may_minimize(call.caller, comment):
        return _refused("Resource not accessible by integration", "FORBIDDEN")
    comment.minimized = given["classifier"].lower().replace("_", "-")
    await call.world.changed()
    minimized = {"isMinimized": True, "minimizedReason": comment.minimized, "viewerCanMinimize": True}
    answer = {"clientMutationId": given.get("clientMutationId"), "minimizedComment": minimized}
    return Reply(200, {"data": {"minimizeComment": _chosen(answer, wanted)}})


def _refused(message: str, kind: str | None) -> Reply:
    error: Json = {"message": message}
    if kind is not None:
        error |= {"type": kind, "path": ["minimizeComment"]}
    return Reply(200, {"data": {"minimizeComment": None}, "errors": [error]})


def _selection(text: str) -> Json:
    """`{ a { b c } }` as nested dictionaries."""
    stack: list[Json] = [{}]
    last = ""
    for word in re.findall(r"\w+|[{}]", text):
        if word == "{":
            stack.append(stack[-1].setdefault(last, {}) if last else stack[-1])
            last = ""
        elif word == "}":
            stack.pop()
        else:
            stack[-1][word], last = {}, word
    return stack[0]


def _unselectable(wanted: Json, kind: str) -> str:
    if not wanted:
        return f"Objects must have selections (type {kind})"
    for name, below in wanted.items():
        if name not in TYPES[kind]:
            return f"Field '{name}' doesn't exist on type '{kind}'"
        inner = TYPES[kind][name].rstrip("!")
        if inner in TYPES and (problem := _unselectable(below, inner)):
            return problem
    return ""


def _wrong_input(given: Json) -> str:
    fields = TYPES["MinimizeCommentInput"]
    if unknown := given.keys() - fields.keys():
        return f"InputObject 'MinimizeCommentInput' doesn't accept argument '{min(unknown)}'"
    if missing := [name for name, kind in fields.items() if kind.endswith("!") and not given.get(name)]:
        return f"Argument '{missing[0]}' on InputObject 'MinimizeCommentInput' is required"
    if given["classifier"] not in TYPES["ReportedContentClassifiers"]:
        return f"'{given['classifier']}' is no ReportedContentClassifiers"
    return ""


def _chosen(answer: Any, wanted: Json) -> Any:
    return {name: _chosen(answer[name], below) for name, below in wanted.items()} if wanted else answer


def _comment(world: World, node: str) -> Comment | None:
    try:
        kind, _, number = base64.b64decode(node, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return world.comments.get(int(number)) if kind == "IssueComment" and number.isdigit() else None


def _may_minimize(caller: Caller, comment: Comment) -> bool:
    return caller.reaches(comment.issue.repository) and any(
        caller.allows(permission, "write") for permission in ("issues", "pull_requests")
    )
