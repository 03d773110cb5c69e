"""Where GitHub sends the App's webhooks: to this deployment's door, as JSON. The commonest mistake of a set-up."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import aiohttp

from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.config.settings import PREFIX, Settings
from bot.github.model import HookConfig

_DOOR = "/webhook"
_SECONDS = 10.0


async def address(around: Surroundings) -> Sequence[Found]:
    """As the App's settings page has it, and who answers there: no delivery is needed to find it wrong."""
    hook = await around.github.deliveries.hook()
    page = f"{around.settings.github_url}/settings/apps/{(await around.github.app()).slug}"
    if hook is None:
        return [unknown("GitHub does not say where the App's webhooks go", f"see whether one is active: {page}")]
    if not hook.url:
        return [wrong("the App has no webhook, so it hears nothing", f"activate it with a URL that leads here: {page}")]
    found = list(_formed(hook, page)) or [await _answers(hook.url, page, around.settings)]
    if not hook.verifies_certificate:
        said = f"GitHub does not verify the certificate of {_shown(hook.url)}"
        found.append(unknown(said, f"enable SSL verification: {page}"))
    return found


def _formed(hook: HookConfig, page: str) -> Sequence[Found]:
    found = []
    if hook.content_type != "json":
        said = f"the App sends its webhooks as {hook.content_type}, and each is refused (415)"
        found.append(wrong(said, f"choose application/json as the webhook's content type: {page}"))
    if not urlsplit(hook.url).path.endswith(_DOOR):
        said = f"the App's webhook URL, {_shown(hook.url)}, does not end in {_DOOR}"
        found.append(wrong(said, f"let it end so: {page}"))
    return found


async def _answers(url: str, page: str, settings: Settings) -> Found:
    """Our door takes nothing but POST, and says so: asking costs it no delivery."""
    here, shown = f"{settings.host}:{settings.port}", _shown(url)
    fix = f"let the App's webhook URL lead to {here}{_DOOR} of perf-gate serve: {page}"
    try:
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            status, allows = answer.status, answer.headers.get("Allow", "")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        said = f"{shown}, where GitHub sends webhooks, does not answer from here: {str(error) or type(error).__name__}"
        return unknown(said, fix)
    if status in (502, 503, 504):
        return unknown(f"{shown}, where GitHub sends webhooks, answers {status}: nothing serves behind it", fix)
    if status != 405 or allows != "POST":
        return wrong(f"{shown}, where GitHub sends webhooks, answers {status}, and is not perf-gate's door", fix)
    if settings.public_url is not None and _shown(url) != f"{settings.public_url}{_DOOR}":
        said = f"webhooks go to {shown}, which is no part of {PREFIX}PUBLIC_URL, {settings.public_url}"
        return unknown(said, f"see that both lead to {here}; else set the one that is wrong: {page}")
    return ok(f"webhooks go to {shown} as JSON, and a perf-gate answers there")


def _shown(url: str) -> str:
    """Without what may be a password in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
