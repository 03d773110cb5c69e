"""Lint, types and tests of the pinned head before anything is paid for: in the sandbox, or where else the repository
lets them run."""

from __future__ import annotations

import logging
from datetime import timedelta

from bot.checkout.refusals import Refusal
from bot.effects.context import Context, Rooms, config_of, current, place_of, repo_of, unless_revoked
from bot.effects.preflight_elsewhere import Verdict, Waits, by_checks, on_iris
from bot.effects.prepare import CACHE, WORK, remove_trees, tree_name
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Event, PreflightFailed, PreflightGoesOn, PreflightPassed, Refused
from bot.gating.model import PullRequest, Run
from bot.gating.tested import BaseChecks, FailedCommand
from bot.sandbox import preflight as sandboxed
from bot.sandbox.preflight import CageFault, Failed, Passed, TimedOut

_PATIENCE = timedelta(days=1)
_log = logging.getLogger(__name__)
_WHERE = {"sandbox": "in the sandbox", "iris": "on the cluster", "checks": "on GitHub"}
# What a repository can do about a machine that has no sandbox (DESIGN "Trust").
_ELSEWHERE = (
    '; with `preflight.runner = "iris"` the repository has it run as jobs on the cluster, with "checks" it goes by the '
    "head's own green CI checks"
)


async def preflight(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Run the configured commands, or look how they do; after a crash, from the first that had not finished."""
    found = await current(effect, context)
    if found is None:
        return Outcome()
    pr, run = found
    runner = config_of(run).preflight.runner
    verdict: Passed | Failed | TimedOut | CageFault | Refusal | Waits
    if runner != "sandbox":
        verdict = await _elsewhere(rooms, pr, run, effect, context)
    else:
        caged = await _in_the_sandbox(rooms, pr, run, context)
        if caged is None:
            await remove_trees(rooms, run.id)
            return Outcome()
        verdict = caged
    if isinstance(verdict, Failed):
        return Outcome(PreflightFailed(run.id, await _failed(rooms, pr, run, verdict)))
    return Outcome(_told(run.id, verdict, runner))


async def _elsewhere(rooms: Rooms, pr: PullRequest, run: Run, effect: Effect, context: Context) -> Verdict:
    """One look. A controller or a GitHub that is away for some hours is waited for."""
    preflight, now = config_of(run).preflight, context.clock.now()

    async def wanted() -> bool:
        return not context.revoked.is_set() and await current(effect, context) is not None

    try:
        if preflight.runner == "iris":
            return await on_iris(rooms, place_of(pr), run, now, wanted)
        return await by_checks(rooms, place_of(pr), run, now)
    except Fault as fault:
        if not fault.retryable or now - run.since > _PATIENCE:
            raise
        _log.warning("the preflight cannot be looked at", extra={"run": run.id, "error": str(fault)})
        return Waits(preflight.check_every.total_seconds())


async def _in_the_sandbox(
    rooms: Rooms, pr: PullRequest, run: Run, context: Context
) -> sandboxed.Verdict | Refusal | None:
    # Found where `prepare` made it; made again where a crash of the machine may have damaged it.
    tree = await rooms.trees.materialise(rooms.mirror(place_of(pr)), run.head_sha, tree_name(run.id, WORK))
    if isinstance(tree, Refusal):
        return tree
    cache = rooms.trees.path(tree_name(run.id, CACHE))
    cache.mkdir(exist_ok=True)
    # Remembered per run: a new run of the same commit tries a failed command again.
    results = rooms.preflight_results / run.id
    commands = config_of(run).preflight.commands
    running = sandboxed.run(rooms.cage, commands, tree=tree, sha=run.head_sha, results=results, cache=cache)
    return await unless_revoked(running, context)


def _told(run_id: str, verdict: Passed | TimedOut | CageFault | Refusal | Waits, runner: str) -> Event:
    """A cage that is not sound, or a command that never ends, says nothing about the code."""
    where = _WHERE[runner]
    if isinstance(verdict, Passed):
        return PreflightPassed(run_id)
    if isinstance(verdict, Waits):
        return PreflightGoesOn(run_id, verdict.seconds)
    if isinstance(verdict, Refusal):
        return Refused(run_id, verdict.reason)
    if isinstance(verdict, TimedOut):
        cut_short = FailedCommand(verdict.command, None, verdict.tail)
        return Refused(run_id, f"`{verdict.command}` did not end within {verdict.seconds:g} s {where}", cut_short)
    elsewhere = _ELSEWHERE if runner == "sandbox" else ""
    return Refused(run_id, f"the preflight could not be run {where}: {verdict.reason}{elsewhere}")


async def _failed(rooms: Rooms, pr: PullRequest, run: Run, verdict: Failed) -> FailedCommand:
    """With what is known of the merge base: were it red too, the pull request would not be to blame."""
    base = None
    try:
        checks = await rooms.github.commit_checks.of(repo_of(place_of(pr)), run.merge_base)
    except Fault as fault:
        # Shown, never decided upon: the halt stands without it.
        _log.warning("the merge base's checks could not be read", extra={"sha": run.merge_base, "error": str(fault)})
    else:
        red = tuple(check.name for check in checks if check.colour == "red")
        base = BaseChecks(run.merge_base, red, sum(check.colour != "open" for check in checks))
    return FailedCommand(verdict.command, verdict.exit_code, verdict.tail, base)
