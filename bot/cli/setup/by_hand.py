"""Registering by hand: what to type where, and whether what came out of it is right."""

from __future__ import annotations

from pathlib import Path

from bot.config.settings import DEFAULT_API_URL
from bot.engine.clock import SystemClock
from bot.faults import Fault
from bot.github import manifest
from bot.github.adapter import GitHub
from bot.github.model import AppGrants


def walk(webhook_url: str, github_url: str, organization: str | None) -> str:
    """The steps, with every value that GitHub's form asks for."""
    where = f"/organizations/{organization}" if organization else ""
    levels = "\n".join(f"       {name.replace('_', ' ')}: {level}" for name, level in manifest.permissions().items())
    events = "\n".join(f"       {name.replace('_', ' ')}" for name in sorted(manifest.events()))
    return f"""Register the App by hand:

1. Open {github_url}{where}/settings/apps/new and fill in
     GitHub App name: perf-gate (or another that is free)
     Homepage URL: {manifest.manifest()["url"]}
     Webhook: active, URL {webhook_url}
     Webhook secret: the output of `openssl rand -hex 20`, kept in a file
     Repository permissions:
{levels}
     Subscribe to events:
{events}
2. On the page that follows note the App ID, and generate a private key: a .pem file is downloaded.
3. Have both checked and kept:
     perf-gate setup --by-hand --app-id ID --private-key FILE.pem --webhook-secret-file FILE"""


async def look_up(api_url: str, app_id: int, pem: str) -> AppGrants:
    """Who the key is for, as GitHub knows it. Raises Fault: no key, not this App's, no answer."""
    async with GitHub.open(api_url or DEFAULT_API_URL, str(app_id), pem, SystemClock().now) as github:
        return await github.grants()


def read(file: Path, what: str) -> str:
    """Raises Fault."""
    try:
        text = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(f"{what} {file} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}") from None
    if not text:
        raise Fault(f"{what} {file} is empty")
    return text
