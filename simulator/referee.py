"""The referees: every request, response and delivery is held against GitHub's own schemas, and against stricter rules.

A breach is recorded, never raised: the story goes on as on GitHub, and the test fails at its end. The schemas alone are
lax, so besides them: no unknown key in a request body, no unknown query name, `per_page` 1 to 100, the headers that
GitHub asks every client for, and the right kind of credential for each operation.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema_rs

from simulator.call import JSON_TYPE, Call, Reply
from simulator.graphql import DESCRIBED as GRAPHQL
from simulator.operations import Operation
from simulator.paging import MOST_PER_PAGE
from simulator.reviewed import DATE_SYNTAX_QUERIES, for_current, for_rest, for_strict
from simulator.world import World

Json = dict[str, Any]

API_VERSION = "2022-11-28"
# Media types a client may ask for; whatever else it asks for is not simulated.
MEDIA_TYPES = {
    JSON_TYPE,
    "application/vnd.github+json",
    "application/vnd.github.v3+json",
    "application/vnd.github.raw",
    "application/vnd.github.raw+json",
    "application/vnd.github.v3.raw",
    "application/vnd.github.sha",
}
# Bytes that the descriptions leave out: the raw media type of a file.
_UNDESCRIBED_MEDIA = {"application/vnd.github.raw+json"}
# 429 and most 4xx are undeclared for most operations, so one schema judges every error body.
ERROR_SCHEMA: Json = {
    "type": "object",
    "required": ["message", "documentation_url"],
    "properties": {
        "message": {"type": "string", "minLength": 1},
        "documentation_url": {"type": "string", "pattern": "^https://docs\\.github\\.com/"},
        "status": {"type": "string", "pattern": "^[3-5][0-9][0-9]$"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["resource", "field", "code"],
                "properties": {name: {"type": "string"} for name in ("resource", "field", "code", "message")},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
_FILES = ("rest", "webhooks", "webhooks-strict")
_MOST_MESSAGE = 300


class Schemas:
    """The three pruned files behind one registry; validators are built once each."""

    def __init__(self) -> None:
        self.documents: dict[str, Json] = {}
        for name in _FILES:
            text = (Path(__file__).parent / "schemas" / f"{name}.json").read_text()
            self.documents[name] = json.loads(text.replace('"$ref":"#/', f'"$ref":"urn:github:{name}#/'))
        resources = [(f"urn:github:{name}", document) for name, document in self.documents.items()]
        self._registry = jsonschema_rs.Registry(resources)
        self._validators: dict[str, jsonschema_rs.Validator] = {}

    def operation(self, name: str) -> Json:
        if name == "POST /graphql":
            return GRAPHQL
        found: Json = self.documents["rest"]["operations"][name]
        return found

    def webhook(self, name: str, event: str) -> Json | None:
        found: Json | None = self.documents[name]["webhooks"].get(event)
        return found

    def problems(self, key: str, schema: Json, instance: Any) -> list[str]:
        """What is wrong with the instance, a sentence each; `key` names the schema once and for all."""
        validator = self._validators.get(key)
        if validator is None:
            validator = jsonschema_rs.Draft202012Validator(schema, registry=self._registry, validate_formats=True)
            self._validators[key] = validator
        return [
            f"{'/'.join(map(str, error.instance_path)) or 'body'}: {error.message[:_MOST_MESSAGE]}"
            for error in validator.iter_errors(instance)
        ]


@functools.cache
def schemas() -> Schemas:
    """Loaded once a process: 230 KB that never change."""
    return Schemas()


class Referee:
    def __init__(self, world: World) -> None:
        self._world = world
        self.schemas = schemas()

    def _record(self, where: str, problems: list[str]) -> None:
        self._world.violations += [f"{where}: {problem}" for problem in problems]

    def unknown(self, method: str, path: str) -> None:
        self._record(f"{method} {path}", ["no such operation is simulated"])

    def request(self, operation: Operation, call: Call) -> None:
        described = self.schemas.operation(operation.name)
        problems = [*_header_problems(call), *_credential_problems(operation, call)]
        problems += self._query_problems(operation.name, described["query"], call)
        if described["body"] is None:
            problems += ["it takes no body"] if call.body is not None else []
        elif call.body is None:
            problems += ["it needs a body"] if described["body_required"] else []
        else:
            problems += self.schemas.problems(f"{operation.name} body", _closed(described["body"]), call.body)
        self._record(f"{operation.name}: request", problems)

    def _query_problems(self, name: str, known: dict[str, Json], call: Call) -> list[str]:
        problems = [f"unknown query name {key}" for key in call.query if key not in known]
        for key in call.query.keys() & known.keys():
            schema = {"type": "string"} if key in DATE_SYNTAX_QUERIES else known[key]
            value = _typed(call.query[key], schema)
            problems += [f"query {key}: {p}" for p in self.schemas.problems(f"{name} query {key}", schema, value)]
            if key == "per_page" and not (isinstance(value, int) and 1 <= value <= MOST_PER_PAGE):
                problems.append(f"query per_page: {call.query[key]} is not within 1 and {MOST_PER_PAGE}")
        return problems

    def response(self, operation: Operation | None, reply: Reply) -> None:
        name = operation.name if operation else "unknown operation"
        where = f"{name}: response {reply.status}"
        if reply.status >= 300 and reply.body is not None:
            self._record(where, self.schemas.problems("error", ERROR_SCHEMA, reply.body))
            return
        if operation is None:
            return
        declared = self.schemas.operation(operation.name)["responses"].get(str(reply.status))
        if declared is None:
            self._record(where, ["this status is not declared"])
            return
        media = reply.content_type.partition(";")[0]
        if reply.body is None:
            self._record(where, ["a body is declared, none was sent"] if declared else [])
        elif media in declared:
            body = reply.body.decode() if isinstance(reply.body, bytes) else reply.body
            body = for_rest(operation.name, reply.status, body)
            self._record(where, self.schemas.problems(f"{where} {media}", declared[media], body))
        elif media not in _UNDESCRIBED_MEDIA:
            self._record(where, [f"media type {media} is not declared"])

    def delivery(self, event: str, payload: Json) -> None:
        action = payload.get("action")
        key = f"{event}.{action}" if action else event
        for name, instance in (
            ("webhooks", for_current(event, payload)),
            ("webhooks-strict", for_strict(event, payload)),
        ):
            schema = self.schemas.webhook(name, key)
            if schema is None:
                self._record(f"delivery {key}", [f"{name}.json does not know this event"])
            else:
                self._record(f"delivery {key} ({name})", self.schemas.problems(f"{name} {key}", schema, instance))


def _header_problems(call: Call) -> list[str]:
    problems = []
    asked = {part.partition(";")[0].strip() for part in call.accept.split(",")}
    if not asked & MEDIA_TYPES:
        problems.append(f"header Accept: {call.accept or 'missing'} asks for no media type of GitHub's")
    if call.headers.get("X-GitHub-Api-Version") != API_VERSION:
        problems.append(f"header X-GitHub-Api-Version is not {API_VERSION}")
    if call.body is not None and not call.headers.get("Content-Type", "").startswith(JSON_TYPE):
        problems.append(f"header Content-Type is not {JSON_TYPE}")
    return problems


def _credential_problems(operation: Operation, call: Call) -> list[str]:
    if call.caller.kind == operation.auth:
        return []
    wanted = {"app": "the App's JWT", "installation": "an installation token", "anonymous": "no credential"}[
        operation.auth
    ]
    return [f"it needs {wanted}, the caller is {call.caller.kind}"]


def _closed(schema: Json) -> Json:
    """Request bodies may hold only what is described."""
    return {**schema, "additionalProperties": False} if schema.get("type") == "object" else schema


def _typed(text: str, schema: Json) -> Any:
    """A query value in the type that its schema speaks of."""
    kind = schema.get("type")
    if kind == "integer" and text.lstrip("-").isdigit():
        return int(text)
    if kind == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text
