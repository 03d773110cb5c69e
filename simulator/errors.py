"""Refusals: what GitHub says instead of an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


class Refusal(Exception):
    """An error response. `errors` is the 422 body's list: objects with resource, field, code, message."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: list[dict[str, Any]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.errors = errors
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"message": self.message, "documentation_url": DOCUMENTATION, "status": str(self.status)}
        if self.errors is not None:
            body["errors"] = self.errors
        return body


def not_found() -> Refusal:
    """Also what GitHub says where the caller may not even know that the thing exists."""
    return Refusal(404, "Not Found")


def not_accessible(permission: str, level: str) -> Refusal:
    return Refusal(
        403,
        "Resource not accessible by integration",
        headers={"X-Accepted-GitHub-Permissions": f"{permission}={level}"},
    )


def invalid(resource: str, field: str, code: str, message: str | None = None) -> Refusal:
    error = {"resource": resource, "field": field, "code": code}
    if message is not None:
        error["message"] = message
    return Refusal(422, "Validation Failed", errors=[error])
