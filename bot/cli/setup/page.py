"""The local page of `perf-gate setup`: a form that leads to GitHub, and the address that GitHub leads back to."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from urllib.parse import quote, urlencode

import msgspec
from aiohttp import web

from bot.cli.setup.keeping import keep, next_steps
from bot.config.addresses import is_plain_address
from bot.faults import Fault
from bot.github.manifest import Registered, convert, manifest_for

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}"
    "button{font:inherit;padding:.4rem 1rem}pre{overflow:auto;padding:1rem;border:1px solid #8888}"
)


class Wish(msgspec.Struct, frozen=True):
    """What is to be registered, and where. `webhook_url` ends in /webhook; `organization` None: one's own account."""

    webhook_url: str
    folder: Path
    github_url: str
    api_url: str
    organization: str | None = None
    name: str | None = None


class Page(msgspec.Struct):
    """`done` holds the next steps once the App is kept, `registered` what GitHub gave, which it gives this once.

    `state` proves that an answer belongs to this page.
    """

    wish: Wish
    address: str = ""
    registered: Registered | None = None
    state: str = msgspec.field(default_factory=lambda: secrets.token_urlsafe(24))
    turn: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    done: asyncio.Future[str] = msgspec.field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/", self._form)
        application.router.add_get("/registered", self._registered)
        return application

    async def _form(self, request: web.Request) -> web.Response:
        wish = self.wish
        manifest = json.dumps(manifest_for(wish.webhook_url, f"{self.address}/registered", wish.name))
        where = f"/organizations/{quote(wish.organization)}" if wish.organization else ""
        action = f"{wish.github_url}{where}/settings/apps/new?{urlencode({'state': self.state})}"
        owner = f"the organization {escape(wish.organization)}" if wish.organization else "your own account"
        return _html(
            f"<h1>Register perf-gate</h1><p>GitHub will register an App for {owner}, with the permissions of app.yml, "
            f"whose webhooks go to <code>{escape(wish.webhook_url)}</code>. Its key comes back to this machine.</p>"
            f'<form action="{escape(action)}" method="post"><input type="hidden" name="manifest" '
            f'value="{escape(manifest)}"><button>Go to GitHub</button></form>'
        )

    async def _registered(self, request: web.Request) -> web.Response:
        if not hmac.compare_digest(request.query.get("state", "").encode(), self.state.encode()):
            return _html("<h1>Not from here</h1><p>The state is not this page's; begin again.</p>", status=403)
        async with self.turn:
            if self.done.done():
                return _html(
                    "<h1>Done already</h1><p>The App is registered; the terminal says what comes next.</p>", 409
                )
            return await self._converted(request.query.get("code", ""))

    async def _converted(self, code: str) -> web.Response:
        try:
            if self.registered is None:
                self.registered = await convert(self.wish.api_url, code)
        except Fault as fault:
            return _html(f"<h1>Not registered</h1><p>{escape(fault.public)}</p>", status=502)
        app = self.registered
        try:
            file = keep(self.wish.folder, app.id, app.pem, app.webhook_secret, public_url(self.wish.webhook_url))
        except Fault as fault:
            # GitHub shows the key this once: until it is kept, only this process has it.
            return _html(
                f"<h1>Registered, but not kept yet</h1><p>The App {escape(app.slug)} is there, but "
                f"{escape(fault.public)}. Mend that, and load this page again; do not end perf-gate setup before.</p>",
                status=507,
            )
        steps = next_steps(file, app.slug, install_url(app))
        self.done.set_result(steps)
        return _html(f"<h1>Registered</h1><pre>{escape(steps)}</pre>")


def public_url(webhook_url: str) -> str:
    """Where the pages of a server with this door are; empty where that address could stand in no link."""
    folder = webhook_url.removesuffix("/webhook")
    return folder if is_plain_address(folder) else ""


def install_url(registered: Registered) -> str:
    return f"{registered.html_url}/installations/new"


@asynccontextmanager
async def served(wish: Wish, port: int) -> AsyncIterator[Page]:
    """The page on this machine alone; port 0 takes a free one. Raises OSError."""
    page = Page(wish)
    runner = web.AppRunner(page.application(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        page.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield page
    finally:
        await runner.cleanup()


def _html(body: str, status: int = 200) -> web.Response:
    text = f"<!doctype html><meta charset=utf-8><title>perf-gate setup</title><style>{_STYLE}</style>{body}"
    headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)
