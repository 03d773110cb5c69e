"""The round that the bot makes at start and every few minutes: webhooks are hints, this is where their gaps close."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Protocol

from msgspec.structs import replace

from bot.engine.port import Clock, StoreError
from bot.engine.views import Overview
from bot.faults import Fault
from bot.gating.events import Event
from bot.gating.happenings import Reinstalled
from bot.gating.model import Place, PullRequest
from bot.github.adapter import GitHub
from bot.github.model import HookDelivery
from bot.github.names import RepoRef
from bot.github.responses import AnswerFault
from bot.recovery.differences import Seen, differences, last_known_alive
from bot.recovery.missed import FIRST_WAIT, KEPT, LOOK_BACK, MOST_ATTEMPTS, LogBook, missed

_log = logging.getLogger(__name__)

CAUSE = "reconciled"
TURN = "round of recovery"
SOON = FIRST_WAIT + timedelta(seconds=15)
# A look takes two or three requests, and an installation has 5,000 an hour for everything: at most 1,500 go here.
MOST_LOOKED_AT = 40


class GateEngine(Protocol):
    """What a round asks of the engine."""

    async def unheard(self, guids: Collection[str]) -> frozenset[str]: ...
    async def overview(self) -> Overview: ...
    async def read(self, key: str) -> PullRequest | None: ...
    async def advance(self, key: str, event: Event, *, cause: str) -> None: ...
    async def take_turn(self, name: str, every: timedelta) -> bool: ...


def live_keys(overview: Overview) -> set[str]:
    """A live run always has something open in the engine."""
    views: Iterable[Iterable[str]] = (
        (view.key for view in overview.effects),
        (view.key for view in overview.timers),
        (view.key for view in overview.slots),
        (view.key for view in overview.stalled),
    )
    return {key for keys in views for key in keys}


class Rounds:
    """`mention` is the name the bot answers to."""

    def __init__(self, github: GitHub, engine: GateEngine, clock: Clock, mention: str) -> None:
        self._github = github
        self._engine = engine
        self._clock = clock
        self._mention = mention
        self._book = LogBook()
        self._given_up = 0
        self._looked_at: dict[str, datetime] = {}
        self._tried_at: dict[str, datetime] = {}
        self.ended_at: datetime | None = None
        """When the last round ended, whatever it had to leave out."""
        self.asked_at: datetime | None = None
        """When GitHub last told which deliveries it could not make: it may be down, or refuse this App."""

    async def keep(self, every: timedelta) -> None:
        """Make rounds until cancelled. A round that fails is told in the log, and the next one makes up for it."""
        never = asyncio.Event()
        await self._ours(timedelta(0))
        # What was said during the restart was too young for the first round, and is answered before anybody wonders.
        pause = min(every, SOON)
        while True:
            await self.make()
            await self._clock.wait(never, self._clock.now() + pause)
            while not await self._ours(pause):
                pause = every
                await self._clock.wait(never, self._clock.now() + pause)
            pause = every

    async def _ours(self, every: timedelta) -> bool:
        """Whether the next round is this process's: of several one makes it, so that their number costs no requests."""
        try:
            ours = await self._engine.take_turn(TURN, every)
        except StoreError as error:
            _log.warning("a round of recovery was left out", extra={"why": str(error)})
            return False
        if not ours:
            # Another process makes it, and says itself where it cannot.
            self.ended_at = self.asked_at = self._clock.now()
        return ours

    async def make(self) -> None:
        """One round: ask again for what was missed, then look at live pull requests.

        Where there are very many, each round looks at those that were not looked at the longest.
        """
        now = self._clock.now()
        asked = await self._shielded("the log of deliveries", self._ask_again(now))
        await self._shielded("the live pull requests", self._look_around(now))
        if asked:
            self.asked_at = now
        self.ended_at = self._clock.now()

    async def _look_around(self, now: datetime) -> None:
        live = live_keys(await self._engine.overview())
        self._looked_at = {key: when for key, when in self._looked_at.items() if key in live}
        self._tried_at = {key: when for key, when in self._tried_at.items() if key in live}
        never = now - KEPT
        # By when each was last tried: many that cannot be looked at must not keep the others waiting.
        waiting = sorted(live, key=lambda key: (self._tried_at.get(key, never), key))
        for key in waiting[:MOST_LOOKED_AT]:
            self._tried_at[key] = now
            if await self._shielded(f"pull request {key}", self._reconcile(key)):
                self._looked_at[key] = now

    async def _shielded(self, what: str, acting: Awaitable[None]) -> bool:
        """False where it failed. A mistake of the bot's own is of this part alone, as everywhere in the engine."""
        (ended,) = await asyncio.gather(acting, return_exceptions=True)
        if ended is None:
            return True
        if isinstance(ended, (Fault, StoreError)):
            _log.warning("a round of recovery left something out", extra={"what": what, "why": str(ended)})
        elif isinstance(ended, Exception):
            _log.error("a round of recovery met a mistake of its own", exc_info=ended, extra={"what": what})
        else:
            raise ended
        return False

    async def _ask_again(self, now: datetime) -> None:
        just_started = self._book.is_new
        fresh = await self._github.deliveries.since(self._book.unread_since(now))
        log = self._book.with_new(fresh, now)
        unheard = await self._engine.unheard({one.guid for one in log})
        self._book.keep(log, unheard, now)
        found = missed(log, unheard, now, just_started=just_started)
        if found.given_up > self._given_up:
            details = {"deliveries": found.given_up, "attempts": MOST_ATTEMPTS}
            _log.error("deliveries failed so often that they are not asked for again", extra=details)
        self._given_up = found.given_up
        for one in found.again:
            await self._repeat(one)

    async def _repeat(self, one: HookDelivery) -> None:
        try:
            kept = await self._github.deliveries.redeliver(one.id)
        except AnswerFault as fault:
            if fault.status < 500 or fault.retry_after is not None:
                raise
            # Its own trouble, perhaps: the others are asked for all the same, and this one in the next round.
            _log.warning("GitHub could not repeat a delivery", extra={"delivery": one.guid, "why": str(fault)})
            return
        said = "asked GitHub to repeat a delivery" if kept else "GitHub no longer has a delivery that was missed"
        _log.info(said, extra={"delivery": one.guid, "github_event": one.event, "delivered_at": one.delivered_at})

    async def _reconcile(self, key: str) -> None:
        pr = await self._engine.read(key)
        if pr is None or pr.place is None or pr.run is None:
            return
        seen = None if pr.run.state.ended else await self._look_at(pr)
        if seen is None:
            await self._find_again(key, pr.place)
            return
        # Read again: what was delivered during the look is no difference.
        pr = await self._engine.read(key)
        for event in differences(pr, seen, self._mention) if pr is not None else ():
            _log.info("found by looking", extra={"pull_request": key, "found": type(event).__name__})
            await self._engine.advance(key, event, cause=CAUSE)

    async def _find_again(self, key: str, place: Place) -> None:
        """What cannot be seen, or has ended with something still to say, may be reached through another installation.

        An owner who installs the App anew gives it a new one, of which no delivery for this pull request told yet.
        """
        found = await self._github.installation(place.full_name)
        if found is None or found == place.installation_id:
            return
        _log.info("found through another installation", extra={"pull_request": key, "installation": found})
        await self._engine.advance(key, Reinstalled(replace(place, installation_id=found)), cause=CAUSE)

    async def _look_at(self, pr: PullRequest) -> Seen | None:
        place = pr.place
        if place is None or pr.run is None:
            return None
        repo = RepoRef(place.installation_id, place.full_name)
        pull = await self._github.pulls.get(repo, place.number)
        if pull is None:
            return None
        since = self._looked_at.get(place.key) or min(self._clock.now() - KEPT, last_known_alive(pr.run))
        comments = await self._github.comments.list(repo, place.number, since=since - LOOK_BACK)
        canonical = next((comment for comment in comments if comment.id == pr.comment_id), None)
        if canonical is None and pr.comment_id:
            canonical = await self._github.comments.get(repo, pr.comment_id)
        return Seen(pull, comments, canonical)
