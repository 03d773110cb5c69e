"""Writes go one at a time, a second apart, for each installation by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from bot.faults import Fault
from bot.github.names import Identity
from bot.github.pace import Pace
from tests.github.conftest import Now

Log = list[tuple[Identity, float]]
"""Who wrote, and when."""


def paced(now: Now) -> Pace:
    return Pace(now, monotonic=lambda: now().timestamp(), wait=now.wait)


async def write(pace: Pace, who: Identity, now: Now, log: Log, takes: float = 0) -> None:
    async with pace.writing(who):
        log.append((who, now().timestamp()))
        now.pass_(seconds=takes)


async def begun(doing: Coroutine[None, None, None]) -> asyncio.Task[None]:
    """A task that has come to where it must wait for others: nothing lies between its begin and that."""
    begins = asyncio.Event()

    async def both() -> None:
        begins.set()
        await doing

    task = asyncio.create_task(both())
    await begins.wait()
    return task


async def test_second_write_waits_a_second_from_the_end_of_the_first(now: Now) -> None:
    pace, start = paced(now), now().timestamp()
    log: Log = []
    await write(pace, 1, now, log, takes=0.5)
    await write(pace, 1, now, log)
    assert [at - start for _, at in log] == [0, pytest.approx(1.5)]
    assert now.waits == [pytest.approx(1.0)]


async def test_write_after_a_pause_does_not_wait(now: Now) -> None:
    pace = paced(now)
    log: Log = []
    await write(pace, 1, now, log)
    now.pass_(seconds=5)
    await write(pace, 1, now, log)
    assert now.waits == []


async def test_installations_do_not_wait_for_each_other(now: Now) -> None:
    pace = paced(now)
    log: Log = []
    await write(pace, 1, now, log)
    await write(pace, 2, now, log)
    assert now.waits == []


async def test_writes_at_once_take_turns(now: Now) -> None:
    pace = paced(now)
    inside: list[int] = []
    most = 0

    async def one() -> None:
        nonlocal most
        async with pace.writing(1):
            inside.append(1)
            most = max(most, len(inside))
            await asyncio.get_running_loop().run_in_executor(None, int)
            inside.pop()

    await asyncio.gather(*(one() for _ in range(4)))
    assert most == 1
    assert len(now.waits) == 3


async def test_write_that_failed_still_counts(now: Now) -> None:
    pace = paced(now)
    log: Log = []
    with pytest.raises(RuntimeError):
        async with pace.writing(1):
            raise RuntimeError
    await write(pace, 1, now, log)
    assert now.waits == [pytest.approx(1.0)]


async def test_default_is_githubs_advice() -> None:
    pace = Pace(Now())
    assert timedelta(seconds=pace._spacing) == timedelta(seconds=1)


class Kept:
    """A ledger as two processes see it."""

    def __init__(self, now: Now) -> None:
        self.moments: dict[str, datetime] = {}
        self._now = now

    async def remember(self, name: str, at: datetime, *, not_after: datetime | None = None) -> None:
        known = self.moments.get(name, at)
        self.moments[name] = at if not_after is not None and known > not_after else max(at, known)

    async def take_turn(self, name: str, every: timedelta) -> bool:
        now = self._now()
        if abs(self.moments.get(name, now - every) - now) < every:
            return False
        self.moments[name] = now
        return True

    async def remembered(self, name: str) -> datetime | None:
        return self.moments.get(name)


async def silenced(pace: Pace, who: Identity) -> bool:
    try:
        await pace.check(who, "look")
    except Fault as fault:
        return fault.retryable
    return False


async def test_a_wish_for_silence_holds_after_a_restart_and_ends_in_time(now: Now) -> None:
    kept = Kept(now)
    before = paced(now)
    before.keep_in(kept, shared=False)
    await before.silence(7, timedelta(seconds=30))
    after = paced(now)
    after.keep_in(kept, shared=False)
    assert await silenced(after, 7)
    assert not await silenced(after, 8)
    now.pass_(seconds=30)
    assert not await silenced(after, 7)


@pytest.mark.parametrize("shared", [False, True])
async def test_a_silence_that_a_wrong_clock_wrote_is_not_believed(now: Now, shared: bool) -> None:
    """GitHub's windows are an hour long; a silence of days would be no silence but an outage."""
    kept, pace = Kept(now), paced(now)
    await kept.remember("github 7 silent until", now() + timedelta(days=3))
    pace.keep_in(kept, shared=shared)
    assert not await silenced(pace, 7)
    await pace.silence(7, timedelta(seconds=30))
    assert await silenced(pace, 7), "what GitHub asks for now is heeded"
    assert kept.moments["github 7 silent until"] == now() + timedelta(seconds=30)
    now.pass_(seconds=30)
    assert not await silenced(pace, 7)


async def test_a_silence_ends_though_the_own_clock_is_set_back(now: Now) -> None:
    pace = paced(now)
    await pace.silence(7, timedelta(minutes=30))
    now.pass_(seconds=-86_400)
    assert not await silenced(pace, 7)


async def test_a_process_hears_what_another_was_told(now: Now) -> None:
    kept, one, other = Kept(now), paced(now), paced(now)
    for pace in (one, other):
        pace.keep_in(kept, shared=True)
        assert not await silenced(pace, 7)
    await one.silence(7, timedelta(seconds=30))
    assert await silenced(other, 7)


async def test_two_processes_keep_the_pause_between_their_writes(now: Now) -> None:
    kept, one, other = Kept(now), paced(now), paced(now)
    for pace in (one, other):
        pace.keep_in(kept, shared=True)
    log: Log = []
    await write(one, 1, now, log)
    now.pass_(seconds=0.25)
    await write(other, 1, now, log)
    assert now.waits == [pytest.approx(0.75)]


async def test_processes_that_begin_at_once_still_write_a_second_apart(now: Now) -> None:
    """All find that nobody wrote; only one of them may be the first."""

    class AllAskFirst(Kept):
        asked, everybody = 0, asyncio.Barrier(4)

        async def remembered(self, name: str) -> datetime | None:
            found = await super().remembered(name)
            self.asked += 1
            if self.asked <= 4:
                await self.everybody.wait()
            return found

    kept = AllAskFirst(now)
    log: Log = []
    processes = [paced(now) for _ in range(4)]
    for pace in processes:
        pace.keep_in(kept, shared=True)
    await asyncio.gather(*(write(pace, 1, now, log) for pace in processes))
    times = [at for _, at in log]
    assert [later - earlier for earlier, later in pairwise(times)] == [pytest.approx(1.0)] * 3


async def test_another_machines_clock_that_is_ahead_holds_nobody_up(now: Now) -> None:
    kept, pace = Kept(now), paced(now)
    pace.keep_in(kept, shared=True)
    await kept.remember("github 1 wrote", now() + timedelta(hours=1))
    await write(pace, 1, now, [])
    assert now.waits == [pytest.approx(1.0)]


async def test_what_is_urgent_goes_before_all_that_waits(now: Now) -> None:
    """Also before one that has waited out the spacing: whoever writes to the bot should see at once that it heard."""
    gate, order = asyncio.Event(), []

    async def wait(seconds: float) -> None:
        await gate.wait()
        now.pass_(seconds=seconds)

    pace = Pace(now, monotonic=lambda: now().timestamp(), wait=wait)

    async def one(name: str, *, urgent: bool = False) -> None:
        async with pace.writing(1, urgent=urgent):
            order.append((name, now().timestamp()))

    await one("first")
    waiting = [await begun(one(name)) for name in ("second", "third")]
    waiting.append(await begun(one("eyes", urgent=True)))
    gate.set()
    await asyncio.gather(*waiting)
    start = order[0][1]
    assert [(name, round(at - start)) for name, at in order] == [("first", 0), ("eyes", 1), ("second", 2), ("third", 3)]


async def test_one_that_is_cancelled_while_it_waits_leaves_the_turn_to_the_next(now: Now) -> None:
    pace = paced(now)
    log: Log = []
    async with pace.writing(1):
        gone = await begun(write(pace, 1, now, log))
        stays = await begun(write(pace, 1, now, log))
        gone.cancel()
    await asyncio.gather(gone, stays, return_exceptions=True)
    await write(pace, 1, now, log)
    assert gone.cancelled()
    assert len(log) == 2
