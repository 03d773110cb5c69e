"""Is the cluster there, and has it anything to run a ferry on?"""

from __future__ import annotations

from collections.abc import Sequence

from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.config.settings import PREFIX, Settings
from bot.iris.adapter import Iris
from bot.iris.controller import Unknown

# No job of ours is ever called so: the answer must be that there is none.
NOBODY = "perf-gate-doctor-looks-for-nothing"


async def controller(around: Surroundings) -> Sequence[Found]:
    known = await around.iris.look_up(NOBODY)
    if isinstance(known, Unknown):
        usual = wrong(f"{_where(around.settings)} does not answer: {known.reason}", _fix(around.settings))
    else:
        usual = ok(f"{_where(around.settings)} answers")
    return [usual, *[await _other(name, iris) for name, iris in sorted(around.other_clusters.items())]]


async def _other(name: str, iris: Iris) -> Found:
    """One that only `retry cluster=NAME` goes to."""
    known = await iris.look_up(NOBODY)
    if isinstance(known, Unknown):
        fix = f"mend what {PREFIX}IRIS_CLUSTERS says of {name}"
        return wrong(f"the controller of {name} does not answer: {known.reason}", fix)
    return ok(f"the controller of {name} answers")


async def machines(around: Surroundings) -> Sequence[Found]:
    registered = await around.iris.workers()
    if not registered:
        return [unknown("no machine is registered now; a ferry waits until the cluster has scaled up")]
    return [ok(f"{len(registered)} registered")]


def _where(settings: Settings) -> str:
    return f"the controller at {settings.iris_controller_url or f'the end of {settings.iris_config}'}"


def _fix(settings: Settings) -> str:
    if settings.iris_controller_url:
        return f"set {PREFIX}IRIS_CONTROLLER_URL to an address that this machine reaches"
    return f"try `{settings.iris_command} --config {settings.iris_config} job list`"
