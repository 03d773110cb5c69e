"""Check runs and their life: made and changed by Apps, watched and pressed by people, told of by webhooks.

Source: docs.github.com "Using the REST API to interact with checks" and the events check_run and check_suite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.check_payloads import check_run_of_event, check_suite
from simulator.events import Announcer
from simulator.state import Account, App, CheckRun, CheckSuite, Repository

Json = dict[str, Any]


@dataclass(frozen=True)
class Changes:
    """What a request asks of a check run. None: as it was, and for a new one as GitHub has it."""

    name: str | None = None
    external_id: str | None = None
    details_url: str | None = None
    status: str | None = None
    conclusion: str | None = None
    output: Json | None = None
    actions: list[Json] | None = None


class Checks:
    def __init__(self, announcer: Announcer) -> None:
        self._world = announcer.world
        self._announcer = announcer

    async def create(self, repository: Repository, app: App, head_sha: str, wanted: Changes) -> CheckRun:
        suite = self._suite(repository, app, head_sha)
        run = CheckRun(self._world.next_id(), suite, wanted.name or "", self._world.clock.now())
        suite.runs.append(run)
        self._world.check_runs[run.id] = run
        self._apply(run, wanted)
        await self._tell("created", run, app.bot)
        if run.status == "completed":
            await self._completed(run)
        return run

    async def update(self, run: CheckRun, wanted: Changes) -> None:
        before = run.status
        self._apply(run, wanted)
        await self._world.changed()
        if run.status == "completed" and before != "completed":
            await self._completed(run)

    async def press(self, run: CheckRun, identifier: str, by: Account) -> None:
        """A person presses one of the buttons, which are there once it has completed. Raises LookupError."""
        if run.status != "completed" or identifier not in [action["identifier"] for action in run.actions]:
            raise LookupError(f"check run {run.id} shows no button {identifier}")
        extra = {"requested_action": {"identifier": identifier}}
        await self._tell("requested_action", run, by, extra, only=run.suite.app)

    async def rerequest(self, run: CheckRun, by: Account) -> None:
        """Re-run, for one check: its suite is queued again, the run itself stays as it is until its App acts.

        Offered once all of the suite is done. Raises LookupError before.
        """
        if run.suite.status != "completed":
            raise LookupError(f"check run {run.id} cannot be asked for again while its suite is {run.suite.status}")
        await self._tell("rerequested", run, by, only=run.suite.app)
        run.suite.reset = True

    async def rerequest_suite(self, suite: CheckSuite, by: Account) -> None:
        """Re-run all checks."""
        await self._tell_suite("rerequested", suite, by, only=suite.app)
        suite.reset = True

    def _suite(self, repository: Repository, app: App, head_sha: str) -> CheckSuite:
        for suite in repository.check_suites:
            if suite.app is app and suite.head_sha == head_sha:
                return suite
        now = self._world.clock.now()
        suite = CheckSuite(self._world.next_id(), repository, app, head_sha, now, now)
        repository.check_suites.append(suite)
        return suite

    def _apply(self, run: CheckRun, wanted: Changes) -> None:
        for name in ("name", "external_id", "details_url"):
            if (value := getattr(wanted, name)) is not None:
                setattr(run, name, value)
        if wanted.output is not None:
            for name in ("title", "summary", "text"):
                setattr(run, name, wanted.output.get(name, getattr(run, name)))
        if wanted.actions is not None:
            run.actions = list(wanted.actions)
        now = self._world.clock.now()
        if wanted.conclusion is not None:
            run.status, run.conclusion, run.completed_at = "completed", wanted.conclusion, now
        elif wanted.status is not None and run.status != "completed":
            # Of a completed run GitHub ignores a step back without a word; only a new run shows one.
            run.status = wanted.status
        run.suite.reset, run.suite.updated_at = False, now

    async def _completed(self, run: CheckRun) -> None:
        await self._tell("completed", run, run.suite.app.bot)
        if run.suite.status == "completed":
            await self._tell_suite("completed", run.suite, run.suite.app.bot)

    async def _tell(
        self, action: str, run: CheckRun, sender: Account, extra: Json | None = None, *, only: App | None = None
    ) -> None:
        payload = {"action": action, "check_run": check_run_of_event(self._world, run), **(extra or {})}
        await self._announcer.announce("check_run", payload, run.suite.repository, sender, only=only)

    async def _tell_suite(self, action: str, suite: CheckSuite, sender: Account, *, only: App | None = None) -> None:
        payload = {"action": action, "check_suite": await check_suite(self._world, suite)}
        await self._announcer.announce("check_suite", payload, suite.repository, sender, only=only)
