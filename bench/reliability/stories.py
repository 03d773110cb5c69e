"""What is played: the main job to its verdict, and a ferry that is stopped. Each step waits for what it sees."""

from __future__ import annotations

from bench.reliability.trial import Play, Story
from tests.conversations.reports import STAGES

PASSED, STOPPED = "**Verdict:** ✅ pass", "stopped by rev"


async def to_the_ferry(play: Play) -> None:
    await play.says("@perf-gate")
    await play.until(lambda: play.sees("Proposed max_gate"), "the question")
    await play.says("@perf-gate status")
    await play.until(lambda: play.sees("<!-- perf-gate:reply"), "the status")
    if play.plan.half_way:
        await half_way(play, 86_400.0)
    await play.says("@perf-gate go")
    await play.until(lambda: play.sees("watching the ferry", canonical=True), "the ferry")
    if play.plan.half_way:
        await half_way(play, 90.0)


async def to_the_verdict(play: Play) -> None:
    """Asked, answered, ferried, judged; and one command more when all is over."""
    await to_the_ferry(play)
    play.stage.iris.start(download=STAGES["download"])
    await play.until(lambda: play.sees("| 5m 00s | done |", canonical=True), "the first look at the ferry")
    play.stage.iris.finish(STAGES)
    await play.until(lambda: play.sees(PASSED, canonical=True), "the verdict")
    await play.says("@perf-gate stop")
    await play.until(lambda: play.sees("no run to stop"), "the answer to a late stop")
    await at_rest(play)


async def to_a_stop(play: Play) -> None:
    """A reviewer stops the ferry, asked once whether it is meant."""
    await to_the_ferry(play)
    await play.says("@perf-gate stop")
    await play.until(lambda: play.sees("once more to stop it"), "the question about the stop")
    await play.says("@perf-gate stop")
    await play.until(lambda: play.sees(STOPPED, canonical=True), "the stop")
    await at_rest(play)


async def at_rest(play: Play) -> None:
    """Nothing is open any more: the trees are gone too, and the test of the sandbox that each start begins is over."""

    async def nothing_left() -> bool:
        testing = any((play.pull.state / "perf-gate-trees").glob("self-test-*"))
        return not testing and play.stage.shell.inside(play.pull.folder).left == 0

    await play.until(nothing_left, "the end of all that is open")


async def half_way(play: Play, seconds: float) -> None:
    """Killed while it waits for a deadline: the next life waits for the same moment."""
    before = await play.rest()
    await play.move(seconds)
    await play.rest()
    play.kill()
    after = await play.rest()
    if before is None or after != before:
        play.late.append(f"the deadline {before} became {after}")


STORIES: dict[str, Story] = {"verdict": to_the_verdict, "stop": to_a_stop}
