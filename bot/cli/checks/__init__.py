"""What `perf-gate doctor` looks at, in the order in which it tells: to add a check, write one and name it in ALL."""

from __future__ import annotations

from bot.cli.checks.iris import controller, machines
from bot.cli.checks.model import Check
from bot.cli.checks.parity import tier_parity
from bot.cli.checks.sandbox import sandbox

ALL: tuple[Check, ...] = (
    Check("Iris controller", controller),
    Check("Iris machines", machines),
    Check("tier parity", tier_parity),
    Check("sandbox", sandbox, seconds=120.0),
)
