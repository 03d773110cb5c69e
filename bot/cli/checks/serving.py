"""What the process is given and where people reach it: misspelt settings, and the address of its pages."""

from __future__ import annotations

from collections.abc import Sequence

import aiohttp

from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.config.environment import unknown_variables
from bot.config.settings import PREFIX

_SECONDS = 10.0
_OURS = b'{"status": "ok"}'
"""What `GET /healthz` of perf-gate serve says."""


async def settings(around: Surroundings) -> Sequence[Found]:
    """A misspelt variable does nothing, and a default holds in its place."""
    found = [
        wrong(said, "spell it so, or unset it") if "did you mean" in said else unknown(said, "unset it")
        for said in unknown_variables()
    ]
    return found or [ok("every variable is one that is read")]


async def pages(around: Surroundings) -> Sequence[Found]:
    """Comments and check runs lead people to this address; asked from here, as a browser asks."""
    base, here = around.settings.public_url, f"{around.settings.host}:{around.settings.port}"
    if base is None:
        return [
            unknown("comments and check runs lead to no page", f"set {PREFIX}PUBLIC_URL to where people reach {here}")
        ]
    address = f"{base}/healthz"
    fix = f"let {base} lead to {here} of perf-gate serve, and see whether it runs: curl http://{here}/healthz"
    try:
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(address) as answer:
            body = await answer.content.read(1000)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        return [unknown(f"{address} does not answer from here: {str(error) or type(error).__name__}", fix)]
    if answer.status in (502, 503, 504):
        return [unknown(f"{address} answers {answer.status}: nothing serves behind it", fix)]
    if answer.status != 200 or body != _OURS:
        return [wrong(f"{address} answers {answer.status}, and is not perf-gate", fix)]
    return [ok(f"{base} leads to perf-gate")]
