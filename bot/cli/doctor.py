"""`perf-gate doctor`: is this deployment sound? One line for each thing looked at, with its fix; changes nothing.

`--smoke` submits a small job to the cluster besides, and names the link that is broken.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta

import click
from msgspec.structs import asdict, replace

from bot.cli import checks
from bot.cli.checks.model import Check, Found, Surroundings, unknown, wrong
from bot.cli.plain import plain
from bot.config.environment import MissingSettings, load_settings
from bot.config.settings import Settings
from bot.engine.clock import SystemClock
from bot.engine.port import Clock
from bot.faults import Fault
from bot.redaction import redact

# For ending the smoke job after all.
_TO_STOP = timedelta(minutes=5)
# A test's time replaces it.
CLOCK: Clock = SystemClock()

Line = tuple[str, Found]
Tell = Callable[[Line], None]


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option("--smoke", is_flag=True, help="Submit a small job besides, and follow it and its child to the end.")
@click.option("--within", default=600, show_default=True, help="Seconds for each link that --smoke follows.")
def command(as_json: bool, smoke: bool, within: int) -> None:
    """Look at the deployment that PERF_GATE_* describes. Exits 1 where something is wrong, 2 without settings."""
    try:
        settings = load_settings()
    except MissingSettings as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    asked = (*checks.ALL, smoke_check(timedelta(seconds=within))) if smoke else checks.ALL
    lines = asyncio.run(examine(settings, asked, (lambda line: None) if as_json else show))
    if as_json:
        click.echo(json.dumps([{"check": name, **asdict(found)} for name, found in lines], indent=2))
    if any(found.state == "wrong" for _, found in lines):
        sys.exit(1)


def smoke_check(within: timedelta) -> Check:
    """Smoke tells by itself which link took too long: the check's own bound, which knows no link, comes after that."""
    from bot.cli.smoke.links import Smoke, longest

    async def follow(around: Surroundings) -> Sequence[Found]:
        told: list[Found] = []
        await Smoke(around, CLOCK, within, told.append).run()
        return told

    return Check("smoke", follow, (longest(within) + _TO_STOP).total_seconds())


def show(line: Line) -> None:
    name, found = line
    fix = f" → {found.fix}" if found.fix else ""
    flat = " ".join(f"{name}: {found.said}{fix}".split())
    click.echo(plain(f"{found.state:<8} {flat}"))


async def examine(settings: Settings, asked: Sequence[Check], tell: Tell) -> list[Line]:
    """Every check in turn; each line is told as soon as it is known."""
    lines: list[Line] = []
    async for name, found in _answers(settings, asked):
        said = replace(found, said=redact(found.said, settings.secrets))
        lines.append((name, said))
        tell((name, said))
    return lines


async def _answers(settings: Settings, asked: Sequence[Check]) -> AsyncIterator[Line]:
    # Imported only now: a missing setting should be told at once.
    from bot.cli.checks.opening import surroundings

    try:
        async with surroundings(settings, CLOCK) as around:
            for check in asked:
                for found in await _ask(check, around):
                    yield check.name, found
    except Fault as fault:
        yield "settings", wrong(fault.public, "mend the setting that is named")


async def _ask(check: Check, around: Surroundings) -> Sequence[Found]:
    """What a check cannot find out is unknown, and the others are asked all the same."""
    try:
        async with asyncio.timeout(check.seconds):
            return await check.ask(around)
    except TimeoutError:
        return [unknown(f"no answer within {check.seconds:g} s")]
    except Fault as fault:
        return [unknown(str(fault))]
    except OSError as error:
        # The disk or the network of this machine, which another check names where it is the deployment's.
        return [unknown(f"it cannot be looked at from here: {error}")]
