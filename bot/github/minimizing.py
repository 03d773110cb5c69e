"""Folding comments away, which only GitHub's GraphQL can.

Source: https://docs.github.com/en/graphql/reference/mutations#minimizecomment; errors come with status 200.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from bot.faults import Fault
from bot.github.client import Client

Why = Literal["OUTDATED", "RESOLVED"]

_MUTATION = (
    "mutation($input: MinimizeCommentInput!) { minimizeComment(input: $input) { minimizedComment { isMinimized } } }"
)
_GONE = "NOT_FOUND"


class _Error(msgspec.Struct):
    message: str = ""
    type: str = ""


class _Answer(msgspec.Struct):
    errors: list[_Error] = []


class Minimizing:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def minimize(self, installation_id: int, node_id: str, why: Why) -> None:
        """Fold the comment away; a second time changes nothing, and of a deleted one there is nothing to fold."""
        if not node_id:
            return
        answer = await self._client.write(
            installation_id,
            "POST",
            "/graphql",
            "hide a comment",
            body={"query": _MUTATION, "variables": {"input": {"subjectId": node_id, "classifier": why}}},
        )
        for error in answer.read(_Answer).errors:
            if error.type != _GONE:
                raise Fault("GitHub refused when perf-gate tried to hide a comment.", f"{error.type}: {error.message}")
