"""`perf-gate compare` with a tier's history: what each delta is worth, and the reading that decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.comment.scenes import nights, report, slower, treatment, work
from tests.verdict.test_compare import assert_golden, compare, files, results


def stored(folder: Path, **extra: str) -> Path:
    """A folder as the bucket has it: one folder a run, each with its report."""
    for past in nights():
        place = folder / f"report_{past.at:%Y%m%d}_tier1"
        place.mkdir(parents=True)
        content = report(
            collected_at_utc=past.at.isoformat(),
            wall_seconds_total=past.total,
            stage_wall_seconds=past.stages,
            stage_sum_task_wall_seconds=past.work,
            peak_worker_memory_mb=past.memory,
        )
        (place / "perf_report.json").write_text(json.dumps(content), "utf-8")
    for name, text in extra.items():
        (folder / f"{name}.json").write_text(text, "utf-8")
    return folder


def slow_day() -> tuple[dict[str, Any], dict[str, Any]]:
    before, after = report(stage_sum_task_wall_seconds=work()), treatment(stages=slower(0.13))
    return before, after | {"stage_sum_task_wall_seconds": work(0.004, "minhash")}


@pytest.mark.parametrize(("form", "suffix"), [((), "txt"), (("--json",), "json"), (("--markdown",), "md")])
def test_what_a_reader_sees_of_the_noise(form: tuple[str, ...], suffix: str, tmp_path: Path) -> None:
    shown = compare(*files(tmp_path, *slow_day()), "--history", str(stored(tmp_path / "h")), *form)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert_golden(f"slow_day.{suffix}", shown.stdout)


def test_the_policy_says_which_reading_decides(tmp_path: Path) -> None:
    pair, history = files(tmp_path, *slow_day()), str(stored(tmp_path / "h"))
    by_table = json.loads(compare(*pair, "--history", history, "--json").stdout)
    by_noise = json.loads(compare(*pair, "--history", history, "--policy", "calibrated", "--json").stdout)
    assert (by_table["verdict"], by_table["other_verdict"], by_table["policy"]) == ("fail", "pass", "table")
    assert (by_noise["verdict"], by_noise["other_verdict"], by_noise["policy"]) == ("pass", "fail", "calibrated")
    assert by_noise["stages"]["normalize"]["verdict"] == "pass"


def test_the_repositorys_config_can_ask_for_it(tmp_path: Path) -> None:
    config = tmp_path / "perf-gate.toml"
    config.write_text('[verdict]\npolicy = "calibrated"\n', "utf-8")
    options = ("--history", str(stored(tmp_path / "h")), "--config", str(config), "--json")
    assert json.loads(compare(*files(tmp_path, *slow_day()), *options).stdout)["verdict"] == "pass"


def test_a_line_of_a_stream_can_bring_its_own_history(tmp_path: Path) -> None:
    history = [json.loads(file.read_text()) for file in sorted(stored(tmp_path / "h").rglob("*.json"))]
    before, after = slow_day()
    pair = {"baseline": before, "treatment": after}
    lines = [pair, pair | {"history": history}, pair | {"history": "all of it"}, pair | {"history": [3, None]}]
    shown = compare("--jsonl", "--policy", "calibrated", stdin="\n".join(map(json.dumps, lines)).encode())
    without, with_it, wrong, unreadable = results(shown.stdout)
    assert (without["verdict"], without["policy"]) == ("fail", "table")
    assert (with_it["verdict"], with_it["policy"]) == ("pass", "calibrated")
    assert wrong["reasons"] == ["line 3 has a history that is not a list of reports."]
    assert (unreadable["verdict"], unreadable["policy"]) == ("fail", "table")


def test_what_cannot_be_used_of_a_history_is_named_and_costs_nothing_else(tmp_path: Path) -> None:
    history = stored(tmp_path / "h", broken="{", listed="[]", failed=json.dumps(report(status="failed")))
    shown = compare(*files(tmp_path, *slow_day()), "--history", str(history), "--json")
    assert shown.exit_code == 0
    first, second, third = shown.stderr.splitlines()
    assert first.startswith(f"{history / 'broken.json'} is left out of the history: it is not JSON")
    assert second.startswith(f"{history / 'failed.json'} is left out of the history: its run did not succeed")
    why = "its report is a list; expected a JSON object."
    assert third == f"{history / 'listed.json'} is left out of the history: {why}"
    assert json.loads(shown.stdout)["noise"]["n"] == len(nights()) + 1


def test_a_folder_without_reports_is_said(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    shown = compare(*files(tmp_path, *slow_day()), "--history", str(tmp_path / "h"))
    assert (shown.exit_code, "holds no *.json file that can be read: no history" in shown.stderr) == (0, True)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    shown = compare(*files(tmp_path, *slow_day()), "--history", str(tmp_path / "nowhere"))
    assert shown.exit_code == 2
    assert "does not exist" in shown.stderr


def test_the_noise_that_was_to_decide_and_is_not_known_is_said_in_every_form(tmp_path: Path) -> None:
    pair = files(tmp_path, *slow_day())
    why = "The tier's own noise was to decide, but none of its scheduled runs could be read where 5 are needed."
    assert f"\nDecided by the fixed table: {why}\n" in compare(*pair, "--policy", "calibrated").stdout
    assert compare(*pair, "--policy", "calibrated", "--markdown").stdout.startswith("**Decided by the fixed table:** ")
    told = json.loads(compare(*pair, "--policy", "calibrated", "--json").stdout)
    assert (told["policy"], told["fallback"]) == ("table", why)
    assert "fallback" not in json.loads(compare(*pair, "--json").stdout)
