"""The `perf-gate` command: one file per subcommand, imported only when called, so that each starts fast."""

from __future__ import annotations

from importlib import import_module

import click
from click.exceptions import NoSuchCommand

from bot.heap import uncollected

# Subcommand → module of this package; the module's `command` is the click command.
COMMANDS = {
    "assess": "assess",
    "audit": "audit",
    "backup": "backup",
    "compare": "compare",
    "config": "config_check",
    "doctor": "doctor",
    "export": "export",
    "reanalyse": "reanalyse",
    "replay": "replay",
    "revive": "revive",
    "runs": "runs",
    "serve": "serve",
    "setup": "setup",
    "trace": "trace",
}


class LazyCommands(click.Group):
    """Imports a subcommand's module when it is asked for, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with uncollected():
            command: click.Command = import_module(f"bot.cli.{COMMANDS[cmd_name]}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click has it, which would look for what was meant among commands that are imported already: none."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as unknown:
            raise NoSuchCommand(unknown.command_name, possibilities=COMMANDS, ctx=ctx) from None


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="perf-gate")
def main() -> None:
    """The performance gate for Zephyr pull requests."""
