"""The App: its credentials and grants, where it is installed, whether its webhooks arrive, and both sides' clocks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from email.utils import parsedate_to_datetime

import aiohttp

from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.config.settings import PREFIX, Settings
from bot.faults import Fault
from bot.github import manifest
from bot.github.model import AppGrants, HookDelivery

LOOKED_BACK = timedelta(days=3)
"""GitHub's log of deliveries goes no further."""

MOST_SKEW = timedelta(seconds=30)
"""The App's JWT is backdated by a minute: half of that leaves room for the clock to drift on."""


async def app(around: Surroundings) -> Sequence[Found]:
    """Whether the key is this App's, and whether the App may do what app.yml asks for."""
    try:
        grants = await around.github.grants()
    except Fault as fault:
        if getattr(fault, "status", None) not in (401, 404):
            fix = f"let this machine reach it, or mend {PREFIX}GITHUB_API_URL; is GitHub itself up?"
            return [wrong(f"{around.settings.github_api_url}: {fault}", fix)]
        fix = f"set {PREFIX}APP_ID and {PREFIX}PRIVATE_KEY as on the App's settings page, and set this machine's clock"
        return [wrong(f"GitHub refuses the credentials: {fault}", fix)]
    fix = f"{_settings_page(around.settings, grants)}/permissions: set it as in app.yml, then accept it as owner"
    lacking = [wrong(sentence, fix) for sentence in differences(grants)]
    return lacking or [ok(f"{grants.slug} has the permissions and events of app.yml")]


def differences(grants: AppGrants) -> list[str]:
    """What the registered App lacks, a sentence each; empty where it has all of app.yml."""
    found = _lacking(grants.permissions)
    missing = sorted(manifest.events() - set(grants.events))
    return found + [f"event {name} is not subscribed to" for name in missing]


def _lacking(granted: dict[str, str]) -> list[str]:
    order = (None, "read", "write", "admin")

    def covers(level: str | None, wanted: str) -> bool:
        return level in order and order.index(level) >= order.index(wanted)

    return [
        f"permission {name}: {level} is wanted, the App has {granted.get(name, 'none')}"
        for name, level in sorted(manifest.permissions().items())
        if not covers(granted.get(name), level)
    ]


async def installation(around: Surroundings) -> Sequence[Found]:
    """Each served repository: installed, not suspended, and with what the App asks for accepted by its owner."""
    found: list[Found] = []
    for name in sorted(around.settings.repositories):
        installed = await around.github.installed(name)
        page = f"{around.settings.github_url}/{name}/settings/installations"
        if installed is None:
            install = f"{(await around.github.grants()).html_url}/installations/new"
            found.append(wrong(f"{name}: the App is not installed there", f"install it: {install}"))
        elif installed.suspended:
            found.append(wrong(f"{name}: the installation is suspended", f"let it go on: {page}"))
        elif lacking := _lacking(installed.permissions):
            found.append(wrong(f"{name}: {lacking[0]}", f"accept the App's new permissions as owner: {page}"))
        else:
            found.append(ok(f"{name}: installed, its owner accepted all"))
    return found


async def webhook(around: Surroundings) -> Sequence[Found]:
    """GitHub's own log tells whether it reaches the door, from where it matters."""
    attempts = await around.github.deliveries.since(around.now() - LOOKED_BACK)
    if not attempts:
        return [unknown("GitHub delivered nothing for three days", "comment on a pull request, and look again")]
    last = attempts[0]
    if last.succeeded:
        failed = _failed(attempts)
        more = (
            f"; {failed} before it failed; perf-gate serve asks again for those that matter to a run" if failed else ""
        )
        return [ok(f"the last delivery, {last.delivered_at:%Y-%m-%d %H:%M} UTC, was accepted{more}")]
    said = f"status {last.status_code}" if last.status_code else "no answer"
    return [wrong(f"the last delivery ({last.event}, {last.guid}) got {said}", _mend(last, around.settings))]


def _failed(attempts: Sequence[HookDelivery]) -> int:
    succeeded = {one.guid for one in attempts if one.succeeded}
    return len({one.guid for one in attempts} - succeeded)


def _mend(last: HookDelivery, settings: Settings) -> str:
    if last.status_code == 401:
        return f"set {PREFIX}WEBHOOK_SECRET to the secret of the App's settings page"
    if last.status_code == 415:
        return "choose application/json in the App's webhook settings"
    if last.status_code == 503:
        refused = (
            "perf-gate serve had no room for it, or could not store it: its log says why (the disk? the database?)"
        )
        return f"{refused}; mend that, and it asks for the delivery again by itself"
    door = f"the App's webhook URL must lead to {settings.host}:{settings.port}/webhook of perf-gate serve"
    return f"{door}; see whether it runs: curl http://{settings.host}:{settings.port}/healthz"


async def clock(around: Surroundings) -> Sequence[Found]:
    """The App's JWT holds times: GitHub refuses those of a wrong clock."""
    address = around.settings.github_url
    # Asked without credentials: those of a wrong clock are refused.
    try:
        async with aiohttp.ClientSession() as session, session.head(address) as answer:
            theirs = parsedate_to_datetime(answer.headers.get("Date", ""))
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return [unknown(f"{address} does not say what time it is: {error}")]
    skew = around.now() - theirs
    seconds = abs(skew.total_seconds())
    if abs(skew) > MOST_SKEW:
        ahead = "ahead of" if skew > timedelta(0) else "behind"
        return [wrong(f"this machine is {seconds:.0f} s {ahead} GitHub", "set the clock: timedatectl set-ntp true")]
    return [ok(f"within {MOST_SKEW.total_seconds():.0f} s of GitHub's")]


def _settings_page(settings: Settings, grants: AppGrants) -> str:
    return f"{settings.github_url}/settings/apps/{grants.slug}"
