"""The pages' addresses, and what every answer carries so that nothing in a page can act."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from bot.config.addresses import run_page as address_of_run
from bot.config.load import builtin_config
from bot.config.settings import Settings
from bot.engine.port import CannotStart, Clock, StoreError
from bot.engine.transaction import Tx
from bot.server.pages.access import COOKIE, SESSION, Operators
from bot.server.pages.drawing import STATIC, Drawing
from bot.server.pages.form import read_form
from bot.server.pages.home import home
from bot.server.pages.live import Live, seen
from bot.server.pages.reader import Moment, Reader
from bot.server.pages.run import key_of, run_page
from bot.server.pages.schedules import AskSchedules, Schedules, Tiers
from bot.server.pages.tier import tier_page
from bot.server.pages.visibility import IsPublic, Visibility

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RUN = re.compile(r"/runs/([A-Za-z0-9-]{1,80})")
_TIER = re.compile(r"/tiers/([1-9])")
_HOME = re.compile(r"/(\?all=1)?")
_NOT_THERE = "There is no such run, or it is of a private repository, whose runs are shown to operators only."
_LONGEST_TOKEN = 1000
_log = logging.getLogger(__name__)


class Drawn(msgspec.Struct, frozen=True):
    status: int
    html: str


class Pages:
    def __init__(
        self,
        settings: Settings,
        looking: Callable[[], AbstractContextManager[Tx]],
        clock: Clock,
        is_public: IsPublic,
        public: Callable[[str], str],
        schedules: AskSchedules,
    ) -> None:
        """`public` takes credentials out of what is shown."""
        token = settings.operator_token
        self._settings = settings
        self._clock = clock
        self._public = public
        base = urlsplit(settings.public_url).path if settings.public_url else ""
        self._base = base
        self._drawing = Drawing(base, settings.github_url)
        self._operators = Operators(None if token is None else token.get_secret_value(), clock.now)
        self._visibility = Visibility(is_public, clock.now)
        self._schedules = Schedules(schedules, clock.now)
        self.reader = Reader(looking, clock.now)
        self._live = Live(self.reader.pulse, clock)

    def add_to(self, application: web.Application) -> None:
        router = application.router
        router.add_get("/", self._show)
        router.add_get("/runs/{run}", self._show)
        router.add_get("/tiers/{number}", self._show)
        router.add_get("/live", self._follow)
        router.add_get("/static/{name}", self._file)
        router.add_get("/sign-in", self._door)
        router.add_post("/sign-in", self._enter)
        router.add_post("/sign-out", self._leave)
        application.on_shutdown.append(self._live.close)
        application.on_cleanup.append(self._close)

    async def _close(self, _application: web.Application) -> None:
        await self._schedules.close()
        self.reader.close()

    # ---- what is shown

    async def _show(self, request: web.Request) -> web.Response:
        try:
            drawn = await self._draw(_page(request), self._operators.admits(request), whole=True)
        except (StoreError, CannotStart) as error:
            _log.error("a page cannot be drawn", extra={"why": str(error)})
            return _answer("The state cannot be read at this moment; the log says why.", 503, "text/plain")
        return _answer(drawn.html, drawn.status)

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        """The news of one page."""
        path = request.query.get("page", "")
        if self._live.full:
            return _answer("Too many pages are open.", 503, "text/plain")

        async def draw() -> str | None:
            drawn = await self._draw(path, self._operators.admits(request), whole=False)
            return drawn.html if drawn.status == 200 else None

        return await self._live.tell(request, draw, request.query.get("seen", ""))

    async def _draw(self, path: str, operator: bool, *, whole: bool) -> Drawn:
        """The page at this address, or only what stands in its <main>."""
        if not any(pattern.fullmatch(path) for pattern in (_HOME, _RUN, _TIER)):
            return await self.reader.apart(lambda: self._missing(path, operator))
        places = await self._visible(operator)
        visible = frozenset(name for name, _ in places)
        schedules = await self._schedules.of(places) if _HOME.fullmatch(path) else {}

        def draw(moment: Moment) -> Drawn:
            made = self._made(moment, path, visible, operator, schedules)
            if made is None:
                return self._missing(path, operator)
            template, values = made
            common = self._common(operator)
            main = self._drawing.main(template, **values, **common)
            if not whole:
                return Drawn(200, main)
            return Drawn(200, self._drawing.page(template, **values, **common, live=path, seen=seen(main)))

        return await self.reader.read(draw)

    async def _visible(self, operator: bool) -> frozenset[tuple[str, int]]:
        """The repositories (and their installations) whose runs this reader may see."""
        places = await self.reader.read(
            lambda moment: {
                (pr.place.full_name, pr.place.installation_id) for pr in moment.outlines.values() if pr.place
            }
        )
        public = frozenset[str]() if operator else await self._visibility.public(places)
        return frozenset(place for place in places if operator or place[0] in public)

    def _made(
        self, moment: Moment, path: str, visible: frozenset[str], operator: bool, schedules: Mapping[str, Tiers]
    ) -> tuple[str, dict[str, Any]] | None:
        """(template, its values); None for what is not there, or not for this reader."""
        if match := _RUN.fullmatch(path):
            key = key_of(moment, match[1])
            place = moment.outlines[key].place if key is not None else None
            if key is None or place is None or place.full_name not in visible:
                return None
            page = address_of_run(self._settings.public_url, match[1])
            made = run_page(moment, key, match[1], operator=operator, public=self._public, page=page)
            return None if made is None else ("run.html", {"view": made, "here": ""})
        if match := _TIER.fullmatch(path):
            tier = tier_page(moment, int(match[1]), visible)
            return None if tier is None else ("tier.html", {"view": tier, "here": f"tier {match[1]}"})
        everything = path.endswith("all=1")
        view = home(moment, visible, operator=operator, everything=everything, schedules=schedules)
        return "home.html", {"view": view, "here": "home", "everything": everything}

    def _common(self, operator: bool) -> dict[str, Any]:
        return {
            "operator": operator,
            "can_sign_in": self._operators.possible,
            "tiers": sorted(int(number) for number in builtin_config().gates),
            "mention": self._settings.mention,
        }

    def _missing(self, path: str, operator: bool) -> Drawn:
        said = "There is no such run." if operator else _NOT_THERE
        values = {"title": "Nothing to see here", "said": said, "here": "", "live": "", "seen": "", "next": path}
        return Drawn(404, self._drawing.page("gone.html", **values, **self._common(operator)))

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in STATIC:
            raise web.HTTPNotFound
        answer = web.Response(body=self._drawing.files[name], content_type=STATIC[name], charset="utf-8")
        # Its address has its version in it.
        answer.headers.update({**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"})
        return answer

    # ---- operators

    async def _door(self, request: web.Request) -> web.Response:
        return await self._sign_in(_within(request.query.get("next", "/")), refused=False)

    async def _sign_in(self, to: str, *, refused: bool) -> web.Response:
        values = {"refused": refused, "next": to, "here": "", "live": "", "seen": ""} | self._common(operator=False)
        html = await self.reader.apart(lambda: self._drawing.page("sign_in.html", **values))
        return _answer(html, 403 if refused else 200)

    async def _enter(self, request: web.Request) -> web.Response:
        form = await read_form(request)
        if form is None:
            return _answer("The form did not come as a browser sends it.", 400, "text/plain")
        token, to = form.get("token", "")[:_LONGEST_TOKEN], _within(form.get("next", "/"))
        if not self._operators.knows(token):
            return await self._sign_in(to, refused=True)
        answer = _see_other(f"{self._base}{to}")
        answer.set_cookie(
            COOKIE,
            self._operators.session(),
            max_age=int(SESSION.total_seconds()),
            path=f"{self._base}/",
            httponly=True,
            # Links from GitHub's pages must lead to a page that knows its reader.
            samesite="Lax",
            secure=bool(self._settings.public_url and self._settings.public_url.startswith("https://")),
        )
        return answer

    async def _leave(self, _request: web.Request) -> web.Response:
        answer = _see_other(f"{self._base}/")
        answer.del_cookie(COOKIE, path=f"{self._base}/")
        return answer


def _page(request: web.Request) -> str:
    """Its address as ours are: what trackers and chats add to a link changes no page."""
    everything = request.path == "/" and request.query.get("all") == "1"
    return "/?all=1" if everything else request.path


def _within(path: str) -> str:
    """A page of ours to go on to; nothing else, whatever a link to the door says."""
    return path if any(pattern.fullmatch(path) for pattern in (_HOME, _RUN, _TIER)) else "/"


def _see_other(path: str) -> web.Response:
    return web.Response(status=303, headers={**HEADERS, "Location": path})


def _answer(text: str, status: int, content_type: str = "text/html") -> web.Response:
    return web.Response(text=text, status=status, content_type=content_type, headers=dict(HEADERS))
