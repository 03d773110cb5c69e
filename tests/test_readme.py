"""The README says what the code says: its tables are made from the grammar and the settings, its files exist.

UPDATE_README=1 writes the tables anew.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

from bot.cli import COMMANDS
from bot.config.load import load_repository_config
from bot.config.settings import PREFIX, Settings
from bot.conversation.replies import help_table

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def command_table() -> str:
    return "\n".join(line for line in help_table().splitlines() if line.startswith("|"))


def settings_table() -> str:
    rows = []
    for name, field in Settings.model_fields.items():
        required = "**required**" if field.is_required() else _default(field.default)
        rows.append(f"| `{PREFIX}{name.upper()}` | {field.description} | {required} |")
    return "\n".join(["| Variable | What it is | Default |", "|---|---|---|", *rows])


def _default(value: object) -> str:
    if isinstance(value, tuple):
        value = ",".join(map(str, value))
    return f"`{value}`" if value not in (None, "") else ""


@pytest.mark.parametrize(("name", "table"), [("commands", command_table()), ("settings", settings_table())])
def test_a_table_is_the_one_the_code_makes(name: str, table: str) -> None:
    text = README.read_text("utf-8")
    pattern = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    wanted = pattern.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)
    if os.environ.get("UPDATE_README"):
        README.write_text(wanted, "utf-8")
        text = wanted
    assert text == wanted


def test_every_linked_file_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_every_subcommand_shown_exists() -> None:
    shown = set(re.findall(r"\bperf-gate (\w+)", README.read_text("utf-8")))
    commands = {word for word in shown if word in COMMANDS}
    assert set(COMMANDS) <= commands


def test_the_example_configuration_is_accepted() -> None:
    examples = re.findall(r"```toml\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        load_repository_config(example)


def test_fly_toml_names_settings_that_exist() -> None:
    fly = tomllib.loads((ROOT / "fly.toml").read_text("utf-8"))
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    assert set(fly["env"]) <= known
    assert fly["http_service"]["internal_port"] == int(fly["env"]["PERF_GATE_PORT"])
