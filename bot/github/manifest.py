"""The App as it is registered: `app.yml` read, sent to GitHub as a manifest, and what GitHub makes of it.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from bot.faults import Fault

FILE = Path(__file__).parent / "app.yml"
_CODE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_SECONDS = 30.0


class Registered(msgspec.Struct, frozen=True):
    """A new App. `pem` and `webhook_secret` are shown this once."""

    id: int
    slug: str
    html_url: str
    pem: str
    webhook_secret: str

    def __repr__(self) -> str:
        return f"Registered(id={self.id}, slug={self.slug!r})"


def manifest() -> dict[str, Any]:
    """`app.yml`, as GitHub wants it."""
    # Slow to import, and serve needs none of it.
    import yaml

    found: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
    return found


def permissions() -> dict[str, str]:
    return dict(manifest()["default_permissions"])


def events() -> frozenset[str]:
    return frozenset(manifest()["default_events"])


def manifest_for(webhook_url: str, redirect_url: str, name: str | None = None) -> dict[str, Any]:
    """The manifest of a deployment whose door is `webhook_url`; GitHub leads the browser back to `redirect_url`."""
    made = manifest()
    hook = made["hook_attributes"] | {"url": webhook_url}
    return made | {"hook_attributes": hook, "redirect_url": redirect_url} | ({"name": name} if name else {})


async def convert(api_url: str, code: str) -> Registered:
    """Trade the code for the App. Raises Fault: it is good once, for an hour."""
    if not _CODE.fullmatch(code):
        raise Fault("GitHub's code is malformed; begin again")
    headers = {
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "perf-gate-setup",
    }
    address = f"{api_url.rstrip('/')}/app-manifests/{code}/conversions"
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.post(address) as answer,
        ):
            body = await answer.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise Fault("GitHub did not answer; begin again", f"{address}: {error}") from error
    if answer.status == 404:
        raise Fault("GitHub does not know this code: it is good once, for an hour; begin again")
    if answer.status != 201:
        raise Fault(f"GitHub did not register the App (status {answer.status})", body[:500].decode(errors="replace"))
    try:
        return msgspec.json.decode(body, type=Registered)
    except msgspec.MsgspecError as error:
        raise Fault("GitHub's answer cannot be read", str(error)) from None
