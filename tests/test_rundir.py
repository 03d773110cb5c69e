"""A run's folder: files for people, bounded and swept, without secrets."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot import rundir
from bot.redaction import redact
from bot.rundir import RunDirs

NOW = datetime(2026, 6, 20, tzinfo=UTC)


def dirs(tmp_path: Path) -> RunDirs:
    return RunDirs(tmp_path / "runs", redact)


def test_a_file_is_kept_by_its_name_and_without_secrets(tmp_path: Path) -> None:
    kept = dirs(tmp_path)
    assert kept.put("7-1-1", "gate-1/baseline.json", '{"token": "ghs_abcdefgh"}') == "gate-1/baseline.json"
    assert kept.files("7-1-1")["gate-1/baseline.json"].read_text() == '{"token": "ghs_[redacted]"}'


def test_a_log_keeps_its_end_and_a_patch_its_beginning(tmp_path: Path) -> None:
    kept = dirs(tmp_path)
    kept.put_log("7-1-1", "logs/one.log", b"a" * rundir.LARGEST_LOG + b"the end")
    kept.put("7-1-1", "diff.patch", b"begin" + b"a" * 100, most=50)
    files = kept.files("7-1-1")
    assert files["logs/one.log"].read_bytes().endswith(b"the end")
    assert files["logs/one.log"].stat().st_size == rundir.LARGEST_LOG
    assert files["diff.patch"].read_text() == "begin" + "a" * 45 + "\n[the rest was cut off here]\n"


def test_a_run_that_says_too_much_loses_its_oldest_comments_and_no_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rundir, "MOST_FILES", 3)
    kept = dirs(tmp_path)
    kept.put("7-1-1", "gate-1/baseline.json", "{}")
    for count in range(1, 5):
        kept.put("7-1-1", f"comments/{count:04d}.md", "text")
        os.utime(kept.files("7-1-1")[f"comments/{count:04d}.md"], (count, count))
    assert list(kept.files("7-1-1")) == ["comments/0003.md", "comments/0004.md", "gate-1/baseline.json"]


def test_a_full_folder_refuses_and_the_bot_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rundir, "MOST_BYTES", 4)
    assert dirs(tmp_path).put("7-1-1", "diff.patch", "too long") == ""


@pytest.mark.parametrize("name", ["../escaped", "a/../../b", "/etc/passwd", ".hidden", "a//b"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a run's file"):
        dirs(tmp_path).put("7-1-1", name, "text")


def test_sweeping_removes_what_is_old_or_too_many_and_no_live_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rundir, "MOST_RUNS", 2)
    kept = dirs(tmp_path)
    for count, days in enumerate((200, 100, 4, 3, 2), start=1):
        kept.put(f"7-{count}-1", "question.md", "text")
        then = (NOW - timedelta(days=days)).timestamp()
        os.utime(kept.folder(f"7-{count}-1"), (then, then))
    assert kept.sweep(NOW, {"7-1-1"}.__contains__) == ["7-2-1", "7-3-1"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["7-1-1", "7-4-1", "7-5-1"]


def test_all_runs_together_take_no_more_than_their_share_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rundir, "MOST_IN_ALL", 250)
    kept = dirs(tmp_path)
    for count in range(1, 5):
        kept.put(f"7-{count}-1", "gate-1/baseline.json", "x" * 100)
        then = (NOW - timedelta(days=9 - count)).timestamp()
        os.utime(kept.folder(f"7-{count}-1"), (then, then))
    assert kept.sweep(NOW, {"7-1-1"}.__contains__) == ["7-2-1"]
    assert kept.sweep(NOW) == ["7-1-1"]
    assert kept.sweep(NOW) == []
