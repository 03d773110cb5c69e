"""The assessment as a child process: one JSON request on standard input, one `Assessment` on standard output.

Parsing a large diff takes seconds of CPU; in the server's own process it would delay acknowledging deliveries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from pydantic import ValidationError

from bot.assessment.assess import assess
from bot.assessment.model import Assessment, FileChange
from bot.assessment.package import PackageView
from bot.config.modules import Modules
from bot.config.schema import Scope


class BadRequest(ValueError):
    """The request's JSON is not what `encode_request` writes; the message names the place."""


class Request(msgspec.Struct, frozen=True):
    """Files' bytes travel as base64, which is how msgspec writes bytes."""

    changes: tuple[FileChange, ...]
    scope: dict[str, Any]
    modules: dict[str, Any]
    package: PackageView | None = None


def encode_request(
    changes: Sequence[FileChange], scope: Scope, modules: Modules, package: PackageView | None = None
) -> bytes:
    """What `python -m bot.assessment` reads."""
    request = Request(tuple(changes), scope.model_dump(mode="json"), modules.model_dump(mode="json"), package)
    return msgspec.json.encode(request)


def answer(request: bytes) -> bytes:
    """What `python -m bot.assessment` prints. Raises BadRequest."""
    try:
        asked = msgspec.json.decode(request, type=Request)
        scope, modules = Scope.model_validate(asked.scope), Modules.model_validate(asked.modules)
    except (msgspec.DecodeError, ValidationError) as error:
        raise BadRequest(str(error)) from None
    return msgspec.json.encode(assess(asked.changes, scope, modules, asked.package))


def decode_answer(data: bytes) -> Assessment:
    """Read what the child printed. Raises BadRequest when it printed anything else."""
    try:
        return msgspec.json.decode(data, type=Assessment)
    except msgspec.DecodeError as error:
        raise BadRequest(str(error)) from None
