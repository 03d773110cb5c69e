"""What every performer works with: the rooms it acts through, and the run it acts for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import msgspec

from bot.checkout.mirror import Mirror, Token
from bot.checkout.trees import Trees
from bot.config.schema import Gate, Permissions, RepositoryConfig
from bot.config.settings import Settings
from bot.conversation.naming import addressed_as
from bot.engine.port import Effect, EffectContext
from bot.faults import Fault
from bot.gating.events import Event
from bot.gating.model import GateRun, Place, PullRequest, Run
from bot.gating.words import HeardIn
from bot.github.adapter import GitHub
from bot.github.names import RepoRef
from bot.iris.adapter import Iris
from bot.redaction import redact
from bot.rundir import RunDirs
from bot.sandbox.cage import Cage

Context = EffectContext[PullRequest]
T = TypeVar("T")


class ClusterUnset(Fault):
    """The operator took away the cluster that a run's ferries are on: there is nobody to be asked about them."""

    def __init__(self, cluster: str) -> None:
        super().__init__(f"the cluster `{cluster}` is not set up any more")


class Telling(msgspec.Struct):
    """How an effect tells another pull request something; `advance` is the engine's, known once it is open."""

    advance: Callable[..., Awaitable[None]] | None = None

    async def __call__(self, key: str, event: Event, cause: str) -> None:
        if self.advance is None:
            raise AssertionError("an effect was performed before the engine was open")
        await self.advance(key, event, cause=cause)


class Rooms(msgspec.Struct, frozen=True):
    """The adapters of one deployment."""

    settings: Settings
    github: GitHub
    trees: Trees
    cage: Cage
    iris: Iris
    tell: Telling = msgspec.field(default_factory=Telling)
    other_clusters: Mapping[str, Iris] = msgspec.field(default_factory=dict)
    removing: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    permissions: dict[int, tuple[Permissions, datetime]] = msgspec.field(default_factory=dict)
    configurations: dict[tuple[int, str], RepositoryConfig] = msgspec.field(default_factory=dict)
    _mirrors: dict[int, Mirror] = msgspec.field(default_factory=dict)

    def iris_of(self, run: Run) -> Iris:
        """The cluster that this run's ferries are on. Raises ClusterUnset where the settings no longer name it."""
        if not run.cluster:
            return self.iris
        if run.cluster not in self.other_clusters:
            raise ClusterUnset(run.cluster)
        return self.other_clusters[run.cluster]

    @property
    def preflight_results(self) -> Path:
        """Where finished preflight commands are remembered."""
        return self.settings.state_dir / "preflight"

    @property
    def rundirs(self) -> RunDirs:
        """Where the files of each run are kept for people."""
        return RunDirs(self.settings.runs_dir, self.public)

    def mirror(self, place: Place) -> Mirror:
        """The repository's one mirror. It and its folder go by id: fetches of one folder take turns, and it survives a
        rename."""
        url = f"{self.settings.github_url}/{place.full_name}.git"
        found = self._mirrors.get(place.repository_id)
        if found is None:
            root = self.settings.state_dir / "mirrors" / str(place.repository_id)
            found = self._mirrors[place.repository_id] = Mirror(root, url, self.settings.mirror_mb * 2**20)
        found.moved_to(url)
        return found

    def public(self, text: str) -> str:
        """What may be said where everybody reads: without credentials, those without a shape of their own included."""
        passed = [os.environ[name] for name in self.settings.pass_env if os.environ.get(name)]
        return redact(addressed_as(self.settings.mention, text), [*self.settings.secrets, *passed])

    def git_token(self, place: Place) -> Token:
        return lambda: self.github.token(place.installation_id)


def repo_of(place: Place) -> RepoRef:
    return RepoRef(place.installation_id, place.full_name)


def place_of(pr: PullRequest) -> Place:
    if pr.place is None:
        raise AssertionError("an effect was asked for by a pull request without a place")
    return pr.place


def config_of(run: Run) -> RepositoryConfig:
    """The repository's configuration as it was pinned when the run was assessed."""
    return RepositoryConfig.model_validate_json(run.config)


def gate_config(config: RepositoryConfig, number: int) -> Gate:
    return next(gate for n, gate in config.gates.items() if n == number)


def heard_in(effect: Effect) -> HeardIn:
    """Where the comment was made that this effect is about."""
    found: HeardIn = effect.payload.get("heard_in", "comment")
    return found


async def unless_revoked(acting: Awaitable[T], context: Context) -> T | None:
    """What `acting` gives; None where the effect was revoked meanwhile, and then nothing of it runs any more."""
    act, revoked = asyncio.ensure_future(acting), asyncio.ensure_future(context.revoked.wait())
    try:
        await asyncio.wait((act, revoked), return_when=asyncio.FIRST_COMPLETED)
        return act.result() if act.done() else None
    finally:
        revoked.cancel()
        if not act.done():
            act.cancel()
            await asyncio.wait((act,))


async def within(acting: Awaitable[T], time: timedelta, context: Context) -> T:
    """What `acting` gives. Raises TimeoutError where it takes longer by the engine's clock, and then nothing of it
    runs any more: for a performer that has something to tell of it before its own deadline ends it in silence."""
    act, ended = asyncio.ensure_future(acting), asyncio.Event()
    act.add_done_callback(lambda _: ended.set())
    try:
        await context.clock.wait(ended, context.clock.now() + time)
        if not act.done():
            raise TimeoutError(f"longer than {time}")
        return act.result()
    finally:
        if not act.done():
            act.cancel()
            await asyncio.wait((act,))


async def current(effect: Effect, context: Context) -> tuple[PullRequest, Run] | None:
    """The pull request and the run this effect belongs to; None where that run has ended or was replaced meanwhile."""
    pr = await context.read()
    run = pr.run
    if run is None or run.id != effect.payload["run_id"] or run.state.ended:
        return None
    return pr, run


async def current_gate(effect: Effect, context: Context) -> tuple[PullRequest, Run, GateRun] | None:
    """The same, down to the gate (and the attempt, where the effect names one) that runs now."""
    found = await current(effect, context)
    if found is None:
        return None
    pr, run = found
    gate = run.gate
    if gate is None or gate.number != effect.payload["gate"]:
        return None
    wanted = effect.payload.get("attempt")
    if wanted is not None and (gate.attempt is None or gate.attempt.number != wanted):
        return None
    return pr, run, gate
