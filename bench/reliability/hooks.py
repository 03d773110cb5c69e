"""Where the points lie: around each act on the outside world, each commit and each acknowledgement of a delivery.

Nothing in `bot` knows of this: the classes it is made of are wrapped from here, in the process that is to die.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from http import HTTPStatus
from typing import Any

from aiohttp.web_protocol import RequestHandler
from msgspec.structs import replace

import bot.app
import bot.effects.registry
import bot.iris.submit
import bot.sandbox.preflight
from bench.reliability.points import Points, always
from bot.checkout.trees import Trees
from bot.effects.context import Rooms
from bot.effects.registry import Policy
from bot.engine.port import Delivery, Effect, EffectContext, Outcome, Performer, Told
from bot.engine.shell import ShellEngine
from bot.engine.transaction import Rows, Tx
from bot.gating.events import Event
from bot.gating.model import PullRequest
from bot.github.transport import Request, Transport
from bot.iris.controller import Controller
from bot.sandbox.cage import Cage
from bot.server.express import Express

_POLICIES = bot.effects.registry.policies


def put_points(points: Points) -> None:
    """Wrap what the bot is made of. Once a process."""
    _around_effects(points)
    _around_commits(points)
    _around_acknowledgements(points)
    for owner, name, called in (
        (Transport, "send", _github),
        (Controller, "terminate", always("iris stop")),
        (Trees, "materialise", _tree),
        (Trees, "remove", lambda _self, name: f"removing the {_which(name)} tree"),
        (Cage, "run", always("a preflight command")),
        (bot.iris.submit, "submit", always("iris submit")),
        (bot.sandbox.preflight, "_run_one", always("noting a preflight command")),
    ):
        setattr(owner, name, points.around(getattr(owner, name), called))


def _github(_: Transport, request: Request, __: str) -> str:
    """Reads change nothing: a death around one is a death around the effect that reads."""
    return "" if request.method == "GET" else f"github {request.doing}"


def _tree(_: Trees, __: object, ___: str, name: str) -> str:
    return f"making the {_which(name)} tree"


def _which(tree: str) -> str:
    return tree.rpartition("-")[2]


def _around_effects(points: Points) -> None:
    def with_points(rooms: Rooms) -> list[Policy]:
        return [replace(policy, perform=_performing(points, policy)) for policy in _POLICIES(rooms)]

    # `open_app` looks it up in its own module.
    bot.app.policies = with_points  # type: ignore[attr-defined]


def _performing(points: Points, policy: Policy) -> Performer[PullRequest, Event]:
    acting = points.around(policy.perform, always(f"effect {policy.kind}"))

    async def perform(effect: Effect, context: EffectContext[PullRequest]) -> Outcome[Event]:
        return await acting(effect, context)

    return perform


def _around_commits(points: Points) -> None:
    """A transaction is called by the first thing it notes for the log; one that writes nothing commits nothing."""
    execute: Callable[..., Rows] = Tx.execute
    begun: dict[int, int] = {}

    def executing(tx: Tx, sql: str, parameters: Sequence[Any] = ()) -> Rows:
        if sql.startswith("BEGIN"):
            result = execute(tx, sql, parameters)
            begun[id(tx.connection)] = tx.connection.total_changes
            return result
        if sql != "COMMIT" or tx.connection.total_changes == begun.get(id(tx.connection)):
            return execute(tx, sql, parameters)
        called = next((line for line, _ in tx.notes if line.startswith("moved")), None)
        called = called or next((line for line, _ in tx.notes), "other")
        points.passing(f"before commit, {called}")
        result = execute(tx, sql, parameters)
        points.passing(f"after commit, {called}")
        return result

    Tx.execute = executing  # type: ignore[method-assign, assignment]


def _around_acknowledgements(points: Points) -> None:
    """A delivery: come, stored, and its 202 handed to the kernel."""
    take: Callable[..., None] = ShellEngine.take
    finish, answer = RequestHandler.finish_response, Express._answer

    @wraps(take)
    def taking(self: ShellEngine[Any, Any], delivery: Delivery, told: Told) -> None:
        def telling(known: bool | Exception) -> None:
            points.passing("after accept")
            told(known)

        points.passing("before accept")
        take(self, delivery, telling)

    ShellEngine.take = taking  # type: ignore[method-assign]

    @wraps(finish)
    async def finishing(self: RequestHandler, request: Any, resp: Any, *rest: Any, **named: Any) -> Any:
        result = await finish(self, request, resp, *rest, **named)
        if request.path == "/webhook":
            points.passing("after acknowledging")
        return result

    @wraps(answer)
    def answering(self: Express, status: HTTPStatus, body: bytes) -> None:
        answer(self, status, body)
        points.passing("after acknowledging")

    RequestHandler.finish_response = finishing  # type: ignore[method-assign]
    Express._answer = answering  # type: ignore[method-assign]
