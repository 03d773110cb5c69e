"""The simulator: four origins (API, web with git, artifacts, storage) on local ports, and every verb to drive them."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from simulator.api import Api
from simulator.artifacts import artifacts_app
from simulator.clock import Clock, MovableClock
from simulator.control import control_app
from simulator.deliveries import TIME_OUT_SECONDS, Deliveries
from simulator.events import Announcer
from simulator.faults import Faults
from simulator.git_http import add_git_routes
from simulator.limits import RateLimits
from simulator.operations import Router, operations
from simulator.origins import trouble
from simulator.pace import PaceReferee
from simulator.page import add_pages
from simulator.referee import Referee
from simulator.routes.manifests import add_registration
from simulator.storage import storage_app
from simulator.verbs.actions import ActionVerbs
from simulator.verbs.checks import CheckVerbs
from simulator.verbs.conversation import ConversationVerbs
from simulator.verbs.installations import InstallationVerbs
from simulator.verbs.pulls import PullVerbs
from simulator.verbs.reviews import ReviewVerbs
from simulator.verbs.storage import StorageVerbs
from simulator.verbs.trouble import TroubleVerbs
from simulator.world import World


class Simulator(
    PullVerbs, ConversationVerbs, ReviewVerbs, CheckVerbs, InstallationVerbs, ActionVerbs, StorageVerbs, TroubleVerbs
):
    """`async with Simulator() as sim`. Ports of 0 are chosen by the system; `folder` keeps the bare repositories.

    Without a `control_port` there is no control side over HTTP. `watch_limits`: a request while a limit asks for
    silence is a violation, and so is a write sooner than `write_spacing` after the one before it.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        folder: Path | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        web_port: int = 0,
        artifacts_port: int = 0,
        storage_port: int = 0,
        control_port: int | None = None,
        delivery_time_out: float = TIME_OUT_SECONDS,
        write_spacing: timedelta | None = None,
        watch_limits: bool = False,
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="simulator-") if folder is None else None
        world = World(clock or MovableClock(), folder or Path(self._scratch.name if self._scratch else "."))
        self.referee = Referee(world)
        deliveries = Deliveries(world, self.referee.delivery, delivery_time_out)
        super().__init__(world, deliveries, Announcer(world, deliveries), Faults(), RateLimits(world.clock))
        self._pace = PaceReferee(world, write_spacing, watch=watch_limits)
        self._host = host
        self._ports = {"api": port, "web": web_port, "artifacts": artifacts_port, "storage": storage_port}
        self._control_port = control_port
        self._control_url = ""
        self._runners: list[web.AppRunner] = []

    @property
    def api_url(self) -> str:
        return self.world.links.api

    @property
    def git_url(self) -> str:
        """Repositories are cloned from `{git_url}/{owner}/{name}.git`."""
        return self.world.links.web

    @property
    def storage_url(self) -> str:
        """What google-cloud-storage is given as STORAGE_EMULATOR_HOST."""
        return self.world.links.storage

    @property
    def web_url(self) -> str:
        """A conversation is read at `{web_url}/{owner}/{name}/pull/{number}`."""
        return self.world.links.web

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        router = Router(operations(self.announcer, self.deliveries))
        api = Api(self.world, router, self.faults, self.limits, self.referee, self._pace).application()
        site = web.Application(middlewares=[trouble(self.world, self.faults, "web")])
        add_git_routes(site, self.world)
        add_pages(site, self)
        add_registration(site, self)
        site.on_response_prepare.append(self._dated)
        artifacts = artifacts_app(self.world, [trouble(self.world, self.faults, "artifacts")])
        storage = storage_app(self.world, [trouble(self.world, self.faults, "storage")])
        for name, app in (("api", api), ("web", site), ("artifacts", artifacts), ("storage", storage)):
            setattr(self.world.links, name, await self._serve(app, self._ports[name]))
        if self._control_port is not None:
            self._control_url = await self._serve(control_app(self), self._control_port)

    async def _dated(self, _request: web.Request, response: web.StreamResponse) -> None:
        """Its answers are of this world's time, not of the machine's."""
        response.headers["Date"] = format_datetime(self.world.clock.now(), usegmt=True)

    def addresses(self) -> dict[str, str]:
        """The origins by name, as `python -m simulator` prints them."""
        return {
            "api_url": self.api_url,
            "git_url": self.git_url,
            "web_url": self.web_url,
            "artifacts_url": self.world.links.artifacts,
            "storage_url": self.storage_url,
            "control_url": self._control_url,
        }

    async def _serve(self, app: web.Application, port: int) -> str:
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        self._runners.append(runner)
        await web.TCPSite(runner, self._host, port).start()
        return f"http://{self._host}:{runner.addresses[0][1]}"

    async def stop(self) -> None:
        self.clear_faults()
        await self.deliveries.stop()
        for runner in self._runners:
            await runner.cleanup()
        self._runners.clear()
        if self._scratch is not None:
            self._scratch.cleanup()
