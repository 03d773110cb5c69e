"""The control side over HTTP, for a demo in another process: `POST /{verb}`, the verb's arguments as one JSON object.

Every verb of `Simulator` below is offered under its own name with its own arguments. Answers are `{"result": …}`, or
`{"error": …}` with 400 (wrong arguments), 404 (no such verb or thing) or 408 (`within` seconds were not enough).
In JSON, files are text, null (removed) or `{"base64": …}`; artifacts are base64; folders are paths; times are ISO 8601;
spans are seconds.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from simulator.clock import parse_stamp, stamp
from simulator.deliveries import Delivery
from simulator.faults import Fault
from simulator.git import GitFailed
from simulator.state import (
    App,
    CheckRun,
    Comment,
    Installation,
    Issue,
    Pull,
    Repository,
    Review,
    ReviewComment,
    WorkflowRun,
)
from simulator.world import LoggedRequest

if TYPE_CHECKING:
    from simulator.simulator import Simulator

VERBS = (
    "account",
    "create_app",
    "set_webhook",
    "create_repository",
    "fork",
    "rename_repository",
    "rename_account",
    "install",
    "uninstall",
    "suspend",
    "unsuspend",
    "remove_repository",
    "grant",
    "transfer_repository",
    "check_runs",
    "press",
    "rerequest",
    "collaborator",
    "commit",
    "move_branch",
    "open_pull",
    "open_issue",
    "push",
    "edit_pull",
    "set_draft",
    "close",
    "reopen",
    "merge",
    "delete_fork",
    "comment",
    "edit_comment",
    "delete_comment",
    "comments",
    "review",
    "review_comment",
    "review_comments",
    "wait_for_comment",
    "workflow_run",
    "expire_artifacts",
    "create_bucket",
    "put_object",
    "delete_object",
    "fault",
    "clear_faults",
    "release_fault",
    "lose_deliveries",
    "duplicate_deliveries",
    "hold_deliveries",
    "release_deliveries",
    "delivery_log",
    "redeliver",
    "settled",
    "requests",
    "advance",
    "violations",
)
MOST_REQUEST_BYTES = 256 * 1024 * 1024


def _bytes_or_text(value: Any) -> str | bytes | None:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


_DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "files": lambda files: {path: _bytes_or_text(value) for path, value in files.items()},
    "artifacts": lambda artifacts: {name: base64.b64decode(value) for name, value in artifacts.items()},
    "content": _bytes_or_text,
    "folder": Path,
    "bare": Path,
    "created_at": parse_stamp,
}


def control_app(sim: Simulator) -> web.Application:
    async def control(request: web.Request) -> web.Response:
        # A page in a browser cannot send this type without asking first, so no web site can drive the simulator.
        if request.content_type != "application/json":
            return _answer(400, error="send application/json")
        verb = request.match_info["verb"]
        if verb not in VERBS:
            return _answer(404, error=f"no verb {verb}; there are {', '.join(VERBS)}")
        try:
            arguments = json.loads(await request.text() or "{}")
            within = arguments.pop("within", None)
            async with asyncio.timeout(within):
                return _answer(200, result=await _call(sim, verb, arguments))
        except LookupError as error:
            return _answer(404, error=str(error))
        except (TypeError, ValueError, AttributeError, GitFailed) as error:
            return _answer(400, error=f"{type(error).__name__}: {error}")
        except TimeoutError:
            return _answer(408, error=f"nothing of the kind within {within} s")

    app = web.Application(client_max_size=MOST_REQUEST_BYTES)
    app.router.add_post("/{verb}", control)
    return app


async def _call(sim: Simulator, verb: str, arguments: dict[str, Any]) -> Any:
    if verb == "violations":
        return sim.violations
    decoded = {name: _DECODERS[name](value) if name in _DECODERS else value for name, value in arguments.items()}
    if verb == "advance":
        decoded = {"by": timedelta(seconds=decoded["by"])}
    # The one verb with positional repositories.
    positional = decoded.pop("repositories", []) if verb == "install" else []
    if verb == "install":
        positional = [decoded.pop("app"), *positional]
    result = getattr(sim, verb)(*positional, **decoded)
    return describe(await result if inspect.isawaitable(result) else result)


def describe(result: Any) -> Any:
    """A state object in JSON: what a demo needs to go on, not the whole of it."""
    match result:
        case list() | tuple():
            return [describe(item) for item in result]
        case Pull():
            return {
                "number": result.number,
                "state": result.state,
                "merged": result.merged_at is not None,
                "base_sha": result.base_sha,
                "head_ref": result.head_ref,
                "head_sha": result.head_sha,
            }
        case Issue():
            return {"number": result.number, "state": result.state}
        case Comment():
            return {
                "id": result.id,
                "author": result.author.login,
                "body": result.body,
                "created_at": stamp(result.created_at),
                "updated_at": stamp(result.updated_at),
                "reactions": [reaction.content for reaction in result.reactions],
            }
        case ReviewComment():
            return {"id": result.id, "author": result.author.login, "body": result.body, "path": result.path}
        case Review():
            return {"id": result.id, "author": result.author.login, "body": result.body, "state": result.state}
        case CheckRun():
            known = ("id", "name", "external_id", "status", "conclusion", "title", "summary", "details_url")
            shown = {name: getattr(result, name) for name in known}
            return {**shown, "head_sha": result.suite.head_sha, "actions": result.actions}
        case WorkflowRun():
            artifacts = [{"id": artifact.id, "name": artifact.name} for artifact in result.artifacts]
            return {"id": result.id, "head_sha": result.head_sha, "artifacts": artifacts}
        case Repository():
            return {"id": result.id, "full_name": result.full_name, "git": str(result.git.path)}
        case App():
            return {"id": result.id, "slug": result.slug}
        case Installation() | Fault():
            return {"id": result.id}
        case Delivery():
            names = ("id", "guid", "event", "action", "redelivery", "status", "status_code")
            return {name: getattr(result, name) for name in names}
        case LoggedRequest():
            return asdict(result)
        case datetime():
            return stamp(result)
    return result if isinstance(result, str | int | float | bool) else None


def _answer(status: int, **body: Any) -> web.Response:
    return web.json_response(body, status=status)
