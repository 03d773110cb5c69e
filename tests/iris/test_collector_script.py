"""The repository's own collector, with small scripts standing for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.iris.collector_script import SCRIPT, NoReport, collect
from bot.iris.settings import IrisSettings
from tests.iris.clusters import open_cage

JOB = "/gate/name"
# What the real one takes; it writes a minimal report, and where it was run from and by whom.
GOOD = """
import argparse, json, os, pathlib, sys
parser = argparse.ArgumentParser()
for option in ("--job-id", "--status", "--out", "--iris-config"):
    parser.add_argument(option)
given = parser.parse_args()
report = {"iris_job_id": given.job_id, "wall_seconds_total": 82.575, "stage_wall_seconds": {"normalize": 12.889},
    "marin_prefix": given.status, "warnings": [], "environment": sorted(os.environ), "cwd": os.getcwd(),
    "config": given.iris_config}
pathlib.Path(given.out).write_text(json.dumps(report))
"""


@pytest.fixture
def settings(tmp_path: Path) -> IrisSettings:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    return IrisSettings(tmp_path / "bin" / "iris", "/status", tmp_path / "home", config=Path("/etc/marin.yaml"))


def trusted(tmp_path: Path, script: str) -> Path:
    path = tmp_path / "main" / SCRIPT
    path.parent.mkdir(parents=True)
    path.write_text(script)
    return tmp_path / "main"


async def test_a_checkout_without_the_script(settings: IrisSettings, tmp_path: Path) -> None:
    assert await collect(settings, open_cage, tmp_path, JOB, "/status/x") is None


async def test_the_script_is_asked_for_the_job_and_its_report_taken(settings: IrisSettings, tmp_path: Path) -> None:
    caged: list[tuple[Path, Sequence[Path]]] = []

    def cage(
        argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
    ) -> list[str]:
        caged.append((tree, writable))
        return list(argv)

    report = await collect(settings, cage, trusted(tmp_path, GOOD), JOB, "gs://bucket/status.json")
    assert isinstance(report, dict)
    assert report["iris_job_id"] == JOB
    assert report["wall_seconds_total"] == 82.575
    assert report["marin_prefix"] == "gs://bucket/status.json"
    assert report["config"] == "/etc/marin.yaml"
    assert report["cwd"] == str(tmp_path / "main")
    assert set(report["environment"]) <= {"HOME", "PATH", "LANG", "PYTHONWARNINGS", "LC_CTYPE"}
    assert caged == [(tmp_path / "main", [tmp_path / "home"])]
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('no iris here')", "ended with exit code 1: no iris here"),
        ("print('nothing')", "wrote no report, or too large a one"),
        (GOOD.replace("json.dumps(report)", "'{'"), "wrote no JSON"),
        (GOOD.replace("json.dumps(report)", "'[]'"), "wrote no JSON object"),
        (GOOD.replace("82.575", "float('nan')"), "wrote no JSON"),
        (GOOD.replace("82.575", "'82'"), "wrote a wall_seconds_total that is no number of seconds"),
        (GOOD.replace("82.575", "-1"), "wrote a wall_seconds_total that is no number of seconds"),
        (GOOD.replace("12.889", "True"), "wrote stage_wall_seconds that are not numbers of seconds"),
        (GOOD.replace("given.job_id,", "'/gate/other',"), "reported on another job"),
    ],
)
async def test_a_script_without_a_usable_report(
    settings: IrisSettings, tmp_path: Path, script: str, reason: str
) -> None:
    assert await collect(settings, open_cage, trusted(tmp_path, script), JOB, "/s") == NoReport(reason)
