"""A repository's configuration: what it may say, and how it hears of a mistake."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli import main
from bot.config.load import BadConfig, builtin_config, load_repository_config
from bot.config.schema import RepositoryConfig, Thresholds


def errors(text: str) -> list[str]:
    with pytest.raises(BadConfig) as raised:
        load_repository_config(text, "perf-gate.toml")
    return [str(error) for error in raised.value.errors]


def test_without_a_file_the_zephyr_ladder_holds() -> None:
    config = builtin_config()
    assert config.ladder == (1, 2, 3)
    assert config.gates[2].ferry_module == "experiments.ferries.datakit_tier2_skewed_ferry"
    assert config.gates[3].flags.preemptible is False
    assert config.gates[3].schedule_period == timedelta(days=7)
    assert config.thresholds == Thresholds()
    assert config.thresholds.memory.fail_percent == Decimal(15)


def test_a_repository_changes_single_keys_and_keeps_the_rest() -> None:
    config = load_repository_config(
        'ladder = [1]\n[gates.1]\nfirst_check = "2m"\n[thresholds.stage]\nwarn_percent = 7.5'
    )
    assert config.ladder == (1,)
    assert config.gates[1].first_check == timedelta(minutes=2)
    assert config.gates[1].workflow == "marin-canary-datakit-tier1.yaml"
    assert config.thresholds.stage.warn_percent == Decimal("7.5")
    assert config.thresholds.total.warn_percent == Decimal(5)


@pytest.mark.parametrize(
    "keys",
    ['wall_time = "90m"', 'schedule_period = "14d"', 'schedule_period = "30.0000001d"', 'check_every = "601.25s"'],
)
def test_the_stored_form_loads_again(keys: str) -> None:
    config = load_repository_config(f"[gates.1]\n{keys}")
    assert RepositoryConfig.model_validate_json(config.model_dump_json()) == config


def test_long_durations_as_an_earlier_release_stored_them_load_again() -> None:
    stored = load_repository_config('[gates.1]\nschedule_period = "14d"').model_dump(mode="json")
    stored["gates"]["1"]["schedule_period"] = "1.2096e+06s"
    assert RepositoryConfig.model_validate(stored).gates[1].schedule_period == timedelta(days=14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ladder = [1", ["perf-gate.toml:1: not valid TOML: "]),
        ("\n[gates.1]\nwal_time = '1h'", ["perf-gate.toml:3: gates.1.wal_time: unknown key, did you mean"]),
        ("[gates.1]\nwall_time = 3", ["perf-gate.toml:2: gates.1.wall_time: a duration is a number and a unit"]),
        (
            "[gates.1]\nschedule_period = '99999999999999d'",
            ["perf-gate.toml:2: gates.1.schedule_period: a duration is a number and a unit"],
        ),
        ("ladder = [3, 1]", ["perf-gate.toml: ladder must rise without repeats"]),
        (
            "[thresholds]\n\nstage = { warn_percent = 9, fail_percent = 8 }",
            ["perf-gate.toml:3: thresholds.stage: warn_percent (9) must not be above fail_percent (8)."],
        ),
        ("[thresholds]\nmemory = { fail_percent = 2 }", ["perf-gate.toml:2: thresholds.memory: warn_percent (5) must"]),
        ("ladder = 1", ["perf-gate.toml:1: ladder: a list is expected, in brackets, not 1."]),
        ("ladder = []", ["perf-gate.toml:1: ladder: must not be empty."]),
        (
            "[[preflight.commands]]\nrun = ['a']\n[[preflight.commands]]\nrun = 'b'",
            ["perf-gate.toml:4: preflight.commands.1.run: a list is expected, in brackets, not 'b'."],
        ),
        (
            "[iris]\ncontroller = 'http://evil'",
            ["perf-gate.toml:1: iris: unknown key. Allowed keys here: ladder,"],
        ),
        (
            "[gates.1]\nferry_module = 'os; rm'",
            ["perf-gate.toml:2: gates.1.ferry_module: must be a Python module, such as"],
        ),
        (
            "[preflight]\ncommands = []\nrunner = 'none'",
            ["perf-gate.toml:3: preflight.runner: must be sandbox, iris or checks, not 'none'."],
        ),
    ],
)
def test_a_mistake_is_told_with_file_line_and_allowed_keys(text: str, expected: list[str]) -> None:
    found = errors(text)
    assert len(found) == len(expected)
    for line, start in zip(found, expected, strict=True):
        assert line.startswith(start), line


def test_a_gate_that_does_not_exist_is_named() -> None:
    said = "there is no gate 4; the gates are 1, 2 and 3."
    assert errors("[gates.4]\nname = 'x'") == [f"perf-gate.toml:1: gates.4: {said}"]
    assert errors("ladder = [1, 4]") == [f"perf-gate.toml:1: ladder.1: {said}"]
    assert errors("ladder = [4]") == [f"perf-gate.toml:1: ladder.0: {said}"], "the list itself is not to blame"
    both = errors("[gates.4]\nwal = 1\n[gates.1]\nwal = 1")
    assert both[1].startswith("perf-gate.toml:4: gates.1.wal: unknown key")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gates.1.flags]\ncpu = -1", "gates.1.flags.cpu: must be above 0, not -1."),
        (
            "[gates.1.flags]\nmemory = 'x'",
            """gates.1.flags.memory: must be a size, such as "512M" or "8GB", not 'x'.""",
        ),
        ("[permissions]\ngo = 'x'", "permissions.go: must be triage, write, maintain or admin, not 'x'."),
        ("[thresholds]\ncontention_min_stages = 0", "thresholds.contention_min_stages: must be at least 1, not 0."),
        ("[thresholds]\npreemptions_over_baseline = 1.5", "must be a whole number, not 1.5."),
        ("[gates.1]\nname = ''", "gates.1.name: must not be empty."),
        ("[thresholds]\nstage = 5", "thresholds.stage: must be a table, not 5."),
        ("gates = 3", "gates: must be a table, not 3."),
        ("[scope]\ninclude = [3]", "scope.include.0: must be a text, in quotes, not 3."),
        ("[gates.1.flags]\nenable_extra_resources = 'x'", "enable_extra_resources: must be true or false, not 'x'."),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(text: str, said: str) -> None:
    assert errors(text)[0].endswith(said)


def test_several_mistakes_are_told_at_once() -> None:
    told = errors("chekcs = true\n[gates.1]\nfoo = 1\nwall_time = 'x'\n[scope]\nbar = 2")
    assert [one.split(":")[1] for one in told] == ["1", "3", "4", "6"], "from top to bottom"


def test_config_check_says_fine_or_exits_2(tmp_path: Path) -> None:
    file = tmp_path / "perf-gate.toml"
    file.write_text("ladder = [1, 2]")
    assert (
        "fine. Ladder: 1 (smoke), 2 (long-tail stress)."
        in CliRunner().invoke(main, ["config", "check", str(file)]).output
    )
    file.write_text("colour = 'blue'")
    result = CliRunner().invoke(main, ["config", "check", str(file)])
    assert result.exit_code == 2
    assert "colour: unknown key" in result.output
    file.write_bytes(b"\xff\xfe")
    assert CliRunner().invoke(main, ["config", "check", str(file)]).exit_code == 2


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('first_check = "0s"', "first_check must be at least a 60th of wall_time, so 60s"),
        ('first_check = "30s"', "first_check must be at least a 60th of wall_time, so 60s"),
        ('check_every = "5s"', "check_every must be at least a 60th of wall_time, so 60s"),
        ('first_check = "11m"', "first_check must not be longer than check_every"),
        ('check_every = "31m"', "check_every must not be longer than stall_limit: a stall would be seen too late"),
        ('stall_limit = "61m"', "stall_limit must not be longer than wall_time"),
        ('wall_time = "0s"', "wall_time must not be 0"),
    ],
)
def test_a_ferry_is_not_watched_all_the_time_nor_too_seldom(keys: str, why: str) -> None:
    with pytest.raises(BadConfig, match=re.escape(why)):
        load_repository_config(f"ladder = [1]\n[gates.1]\n{keys}\n")
