"""What `perf-gate doctor` looks at, in the order in which it tells: to add a check, write one and name it in ALL."""

from __future__ import annotations

from bot.cli.checks.github import app, clock, installation, webhook
from bot.cli.checks.hook import address as hook_address
from bot.cli.checks.host import database, disk, programs
from bot.cli.checks.iris import controller, machines
from bot.cli.checks.model import Check
from bot.cli.checks.parity import tier_parity
from bot.cli.checks.preflight import provisions
from bot.cli.checks.repositories import configuration
from bot.cli.checks.sandbox import sandbox
from bot.cli.checks.serving import pages, settings
from bot.cli.checks.storage import prefixes

DEPLOYMENT: tuple[Check, ...] = (
    Check("settings", settings),
    Check("GitHub App", app),
    Check("installation", installation),
    Check("webhook URL", hook_address),
    Check("webhook", webhook),
    Check("clock", clock),
    Check("configuration", configuration),
    Check("programs", programs),
    Check("disk", disk),
    Check("database", database),
    Check("storage", prefixes),
    Check("pages", pages),
    Check("preflight", provisions),
)
CLUSTER: tuple[Check, ...] = (
    Check("Iris controller", controller),
    Check("Iris machines", machines),
    Check("tier parity", tier_parity),
    Check("sandbox", sandbox, seconds=120.0),
)
ALL = (*DEPLOYMENT, *CLUSTER)
