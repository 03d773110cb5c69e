"""`make demo`: the main job on this machine, played by a reviewer, up to the verdict comment."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

from demo.cluster import ClusterFailed
from demo.repository import SLOW, RepositoryFailed
from demo.scene import LOOK_EVERY_SECONDS, Scene, SceneFailed, open_scratch, scene, tail

VERDICT_WITHIN_SECONDS = 600.0
_STAGE_STATES = {"waiting", "running", "done", "failed"}
_started = time.monotonic()
# Pull requests whose verdict was shown: from then on Ctrl-C is the ordinary end.
_over: list[int] = []


def say(text: str) -> None:
    print(f"[{time.monotonic() - _started:5.1f}s] {text}", flush=True)


async def play(stage: Scene, slow: str | None) -> int:
    """The reviewer's part: ask, answer, wait. The pull request's number."""
    number = await stage.open_pull(slow)
    say(f"pull request #{number} is open; its conversation: {stage.page(number)}")
    say(f"what runs, and each run step by step: http://127.0.0.1:{stage.bot.port}/")
    say("reviewer: @perf-gate")
    await stage.comment(number, "@perf-gate")
    question = await stage.wait_for(number, "Proposed max_gate", within=60)
    say("perf-gate asks:\n\n" + _indented(question))
    say("reviewer: @perf-gate go")
    await stage.comment(number, "@perf-gate go")
    await _follow(stage, number)
    return number


async def _follow(stage: Scene, number: int) -> None:
    """Show each change of the canonical comment's first lines until it holds a verdict or another end."""
    shown = ""
    async with asyncio.timeout(VERDICT_WITHIN_SECONDS):
        while not _is_final(body := await stage.canonical(number)):
            if (news := _progress(body)) != shown:
                say(shown := news)
            await asyncio.sleep(LOOK_EVERY_SECONDS)


def _is_final(body: str) -> bool:
    """A verdict, or one of the ends without one: those have no status any more."""
    return "**Verdict:**" in body or (bool(body) and "**Status:**" not in body)


def _progress(body: str) -> str:
    """The comment in a line: what the bot does, and each stage so far."""
    status = next((line for line in body.splitlines() if line.startswith("**Status:**")), "")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line.startswith("|")]
    stages = [
        f"{row[0]} {row[3]} {row[2]}".rstrip(" —")
        for row in rows
        if len(row) == 4 and row[3].partition(",")[0] in _STAGE_STATES
    ]
    words = status.removeprefix("**Status:** ").partition(", since")[0]
    return " · ".join([f"perf-gate: {words}", *stages])


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines()) + "\n"


async def demo(scratch: Path, slow: str | None, once: bool) -> int:
    """The whole play; Ctrl-C ends it at any moment, and everything that was started with it."""
    playing = asyncio.ensure_future(_perform(scratch, slow, once))
    for signum in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signum, playing.cancel)
    try:
        return await playing
    except asyncio.CancelledError:
        say("stopped")
        return 0 if _over else 130


async def _perform(scratch: Path, slow: str | None, once: bool) -> int:
    say("starting a local Iris cluster, a simulated GitHub and the bot")
    async with scene(scratch) as stage:
        say(f"Iris at {stage.cluster.url}; running the scheduled ferry on main, for the baseline")
        job = await stage.run_baseline()
        say(f"baseline {job} is done, its perf report is the artifact of a scheduled workflow run")
        number = await play(stage, slow)
        verdict = await stage.canonical(number)
        say("the canonical comment:\n\n" + verdict + "\n")
        say(next((line for line in verdict.splitlines() if line.startswith("**Verdict:**")), "no verdict"))
        violations = await stage.sim.call("violations")
        if violations:
            say("GitHub's schemas object to:\n" + "\n".join(violations))
            return 1
        if not once:
            _over.append(number)
            state = stage.bot.environment["PERF_GATE_STATE_DIR"]
            say(f"the whole way of it: PERF_GATE_STATE_DIR={state} .venv/bin/perf-gate trace '#{number}'")
            say(f"read it as GitHub shows it, and answer there: {stage.page(number)}  (Ctrl-C ends the demo)")
            await asyncio.Event().wait()
        return 0 if "**Verdict:**" in verdict else 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="exit after the verdict")
    parser.add_argument("--slow", choices=sorted(SLOW), help="open a pull request that slows this stage")
    arguments = parser.parse_args()
    with open_scratch() as scratch:
        try:
            return asyncio.run(demo(scratch, arguments.slow, arguments.once))
        except (SceneFailed, ClusterFailed, RepositoryFailed, TimeoutError) as error:
            print(f"the demo failed: {error or 'something took too long'}", file=sys.stderr)
            print(f"the bot's last words:\n{tail(scratch / 'bot.log', 40)}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
