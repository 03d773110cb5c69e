"""`perf-gate compare` as a person and as a script use it: the golden files are what they read."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bot.cli import main
from tests.verdict import oracle
from tests.verdict.pairs import dumps, generated
from tests.verdict.story import Report, baseline, buckets, exactly, stages, treatment

GOLDEN = Path(__file__).with_name("golden")
KEYS = ["verdict", "reasons", "total", "memory", "stages", "flags", "policy", "tree"]
NOTHING = {"baseline": None, "treatment": None, "delta": None, "verdict": "—"}

STORIES: dict[str, tuple[Report, Report]] = {
    "pass": (baseline(), treatment(wall_seconds_total=exactly("2040.5"))),
    "warn": (baseline(), treatment(wall_seconds_total=2160, stage_wall_seconds=stages(normalize=exactly("210.0002")))),
    "fail": (
        baseline(cached_steps=["download"], task_state_counts={"succeeded": 81, "killed": 27}),
        treatment(
            cached_steps=["download"],
            stage_wall_seconds=stages(normalize=380, minhash=318),
            peak_worker_memory_mb=16800,
            infra_failures=buckets(other=2, gremlins=1),
        ),
    ),
    "contention": (
        baseline(),
        treatment(
            stage_wall_seconds={name: value * 107 // 100 for name, value in stages().items()},
            wall_seconds_total=2140,
            sum_task_wall_seconds_total=40100,
        ),
    ),
    "churn": (
        baseline(),
        treatment(preemption_count=2, task_state_counts={"succeeded": 42, "preempted": 2}, wall_seconds_total=3000),
    ),
    "not_comparable": (
        baseline(),
        treatment(status="failed", stage_wall_seconds={"download": 100, "normalize": None}, infra_failures=None),
    ),
    "wrong_type": (baseline(ooms="3"), treatment(stage_wall_seconds=stages(minhash=True))),
}


def compare(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["compare", *arguments], input=stdin)


def files(folder: Path, ours: Any, theirs: Any) -> tuple[str, str]:
    paths = folder / "baseline.json", folder / "treatment.json"
    for path, report in zip(paths, (ours, theirs), strict=True):
        path.write_text(report if isinstance(report, str) else dumps(report), "utf-8")
    return str(paths[0]), str(paths[1])


def pair_line(ours: str, theirs: str) -> bytes:
    return f'{{"baseline": {ours}, "treatment": {theirs}}}\n'.encode()


def results(output: str) -> list[dict[str, Any]]:
    """Strictly JSON: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return [json.loads(line, parse_float=Decimal, parse_constant=refuse) for line in output.splitlines()]


def assert_golden(name: str, text: str) -> None:
    """Run with UPDATE_GOLDEN=1 to accept what is shown."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name} differs"


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize(("form", "suffix"), [((), "txt"), (("--json",), "json"), (("--markdown",), "md")])
def test_what_a_reader_sees(story: str, form: tuple[str, ...], suffix: str, tmp_path: Path) -> None:
    shown = compare(*files(tmp_path, *STORIES[story]), *form)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert_golden(f"{story}.{suffix}", shown.stdout)


def test_json_and_jsonl_give_one_shape_and_one_answer(tmp_path: Path) -> None:
    for ours, theirs in STORIES.values():
        (line,) = results(compare("--jsonl", stdin=pair_line(dumps(ours), dumps(theirs))).stdout)
        whole = json.loads(compare(*files(tmp_path, ours, theirs), "--json").stdout, parse_float=Decimal)
        assert line == whole
        assert list(line) == KEYS
        for row in (line["total"], line["memory"], *line["stages"].values()):
            assert list(row) == list(NOTHING)


def test_three_thousand_pairs_in_one_stream_equal_the_oracle() -> None:
    pairs = list(generated(seed=2, how_many=3000))
    shown = compare("--jsonl", stdin=b"".join(pair_line(*pair) for pair in pairs))
    assert shown.exit_code == 0
    answers = results(shown.stdout)
    assert len(answers) == len(pairs)
    for answer, pair in zip(answers, pairs, strict=True):
        assert answer["verdict"] == oracle.judge(*pair)["verdict"], pair


def test_a_stream_survives_every_malformed_line() -> None:
    good = pair_line(dumps(baseline()), dumps(treatment()))
    lines = {
        good: "Every compared signal is within its limit",
        b"\n": "line 2 is empty",
        b'{"baseline": {}\n': "line 3 is not JSON: Expecting ',' delimiter at line 2, column 1.",
        b"[1, 2]\n": "line 4 is not a JSON object with baseline and treatment.",
        b'{"treatment": {}}\n': "line 5 has no baseline.",
        b"{}\n": "line 6 has no baseline and no treatment.",
        b"\xff\xfe\n": "line 7 is not UTF-8 text: byte 1 cannot be read.",
        b"[" * 100_000 + b"\n": "line 8 is not JSON that can be read: it is nested too deeply.",
        b'{"baseline": null, "treatment": 3}\n': "baseline: report is null; expected a JSON object.",
        b'{"baseline": {"ooms": NaN}, "treatment": {}}\n': "baseline: ooms is the number NaN",
        b'{"baseline": {"stage_wall_seconds": {"\\ud800": "\\udfff"}}, "treatment": {}}\n': "baseline: stage_wall",
        b'{"baseline": {"ooms": 1e99999999999999999999}, "treatment": {}}\n': "baseline: ooms is the number",
        good.rstrip(b"\n"): "Every compared signal is within its limit",
    }
    shown = compare("--jsonl", stdin=b"".join(lines))
    assert shown.exit_code == 0
    answers = results(shown.stdout)
    assert len(answers) == len(lines)
    for answer, said in zip(answers, lines.values(), strict=True):
        assert answer["reasons"][0].startswith(said)
        assert answer["verdict"] == ("pass" if said.startswith("Every") else "not_comparable")
        assert list(answer) == KEYS


@pytest.mark.parametrize("form", [(), ("--json",), ("--markdown",)])
def test_an_output_that_cannot_spell_delta_still_gets_utf_8(form: tuple[str, ...], tmp_path: Path) -> None:
    paths = files(tmp_path, baseline(), treatment(cached_steps=["minhash"]))
    shown = CliRunner(charset="latin-1").invoke(main, ["compare", *paths, *form])
    assert shown.exit_code == 0
    assert "—" in shown.stdout_bytes.decode("utf-8")


def test_an_empty_stream_has_no_results() -> None:
    shown = compare("--jsonl", stdin=b"")
    assert (shown.exit_code, shown.stdout) == (0, "")


def test_extreme_numbers_stay_json() -> None:
    shown = compare(
        "--jsonl",
        stdin=pair_line('{"wall_seconds_total": 1e-999}', '{"wall_seconds_total": 1e999}')
        + pair_line('{"wall_seconds_total": 1e999}', '{"wall_seconds_total": 1e-999}'),
    )
    assert [answer["verdict"] for answer in results(shown.stdout)] == ["fail", "pass"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory. Give the path of a readable perf report, a JSON file."),
        ("", "is not JSON: Expecting value at line 1, column 1. Expected a perf report"),
        ('{"ooms": 1', "is not JSON: Expecting ',' delimiter at line 1, column 11. Expected a perf report"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_file_that_cannot_be_read_ends_with_two(side: int, content: str | None, said: str, tmp_path: Path) -> None:
    paths = files(tmp_path, baseline(), treatment())
    if content is None:
        Path(paths[side]).unlink()
    else:
        Path(paths[side]).write_text(content, "utf-8")
    shown = compare(*paths)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert f"{paths[side]} {said}" in shown.stderr


def test_a_folder_and_bytes_that_are_no_text_end_with_two(tmp_path: Path) -> None:
    ours, theirs = files(tmp_path, baseline(), treatment())
    folder = compare(ours, str(tmp_path))
    assert (folder.exit_code, f"{tmp_path} cannot be read: Is a directory." in folder.stderr) == (2, True)
    Path(ours).write_bytes(b"\x80\x81")
    binary = compare(ours, theirs)
    assert (binary.exit_code, "is not UTF-8 text: byte 1 cannot be read." in binary.stderr) == (2, True)


def test_one_report_may_come_from_standard_input(tmp_path: Path) -> None:
    ours, theirs = files(tmp_path, baseline(), treatment(wall_seconds_total=3000))
    piped = compare(ours, "-", "--json", stdin=Path(theirs).read_bytes())
    assert piped.stdout == compare(ours, theirs, "--json").stdout
    broken = compare("-", theirs, stdin=b"{")
    assert (broken.exit_code, "standard input is not JSON" in broken.stderr) == (2, True)
    both = compare("-", "-", stdin=b"{}")
    assert (both.exit_code, "Only one of the two" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name two report files"),
        (("one.json",), "or one archive of perf-gate export (.tar.gz)"),
        (("--jsonl", "one.json", "two.json"), "leave the file names out"),
        (("--jsonl", "--markdown"), "give pairs with --jsonl, alone"),
    ],
)
def test_wrong_use_ends_with_two_and_says_what_to_do(arguments: tuple[str, ...], said: str) -> None:
    shown = compare(*arguments, stdin=b"")
    assert (shown.exit_code, said in shown.stderr) == (2, True)


def test_stages_are_excluded_by_name(tmp_path: Path) -> None:
    slow = treatment(stage_wall_seconds=stages(download=900, minhash=900), wall_seconds_total=3400)
    paths = files(tmp_path, baseline(), slow)
    assert json.loads(compare(*paths, "--json").stdout)["verdict"] == "fail"
    assert json.loads(compare(*paths, "--json", "--exclude", "download").stdout)["verdict"] == "fail"
    both = json.loads(compare(*paths, "--json", "--exclude", "download", "--exclude", "minhash").stdout)
    assert (both["verdict"], both["total"]["verdict"], both["stages"]["minhash"]["delta"]) == ("pass", "—", None)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"), [("v5e", "v6e", "inconclusive"), ("v5e", "v5e", "pass"), ("", "v6e", "pass")]
)
def test_worker_generations(ours: str, theirs: str, verdict: str) -> None:
    line = pair_line(dumps(baseline()), dumps(treatment()))
    (answer,) = results(compare("--jsonl", "--worker-generations", ours, theirs, stdin=line).stdout)
    assert answer["verdict"] == verdict


def test_a_repository_s_own_thresholds_decide(tmp_path: Path) -> None:
    config = tmp_path / "perf-gate.toml"
    config.write_text("[thresholds]\nstage = { warn_percent = 40, fail_percent = 80 }\n", "utf-8")
    paths = files(tmp_path, baseline(), treatment(stage_wall_seconds=stages(normalize=281)))
    assert json.loads(compare(*paths, "--json").stdout)["verdict"] == "fail"
    shown = compare(*paths, "--json", "--config", str(config))
    assert json.loads(shown.stdout)["reasons"] == [
        "stage_wall_seconds.normalize went from 200 s to 281 s: +40.5%, above the warn limit of +40%."
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory. Give the path of a readable perf-gate.toml."),
        (b"\xff", "cannot be read: not UTF-8 text."),
        (b"[thresholds]\nstage = { warn = 4 }\n", "warn"),
        (b"[thresholds", "perf-gate.toml"),
    ],
)
def test_a_config_that_cannot_be_used_ends_with_two(content: bytes | None, said: str, tmp_path: Path) -> None:
    config = tmp_path / "perf-gate.toml"
    if content is not None:
        config.write_bytes(content)
    shown = compare(*files(tmp_path, baseline(), treatment()), "--config", str(config))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert said in shown.stderr


def test_a_hostile_name_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07" + "n" * 100
    paths = files(
        tmp_path,
        baseline(stage_wall_seconds={evil: 100}),
        treatment(stage_wall_seconds={evil: 200}, infra_failures={evil: 1}, status="succeeded"),
    )
    for form in ((), ("--json",), ("--markdown",)):
        shown = compare(*paths, *form)
        assert shown.exit_code == 0
        assert "\x1b" not in shown.stdout
        assert "\x07" not in shown.stdout
