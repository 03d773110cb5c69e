"""The command line that submits a ferry, and what its answers mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from bot.config.load import builtin_config
from bot.config.schema import GateNumber
from bot.faults import Fault
from bot.iris.process import Finished
from bot.iris.settings import IrisSettings
from bot.iris.submit import Refused, Submitted, arguments, read_answer, submit
from tests.iris.clusters import demo_gate, ends, open_cage

SETTINGS = IrisSettings(
    command=Path("/opt/iris/bin/iris"),
    status_prefix="gs://bucket/status",
    home=Path("/scratch/home"),
    config=Path("/etc/iris/marin.yaml"),
    user="gate",
)


@pytest.mark.parametrize(
    ("gate", "shape", "module"),
    [
        (
            1,
            "--memory=2G --disk=4G --cpu=1 --extra=cpu --priority production",
            "experiments.ferries.datakit_ferry",
        ),
        (2, "--memory=2G --extra=cpu", "experiments.ferries.datakit_tier2_skewed_ferry"),
        (
            3,
            "--memory=4G --disk=5G --cpu=1 --region=europe-west4 --extra=cpu --priority production "
            "--enable-extra-resources --no-preemptible -e FERRY_TEST_MAX_FILES 1000",
            "experiments.ferries.datakit_nemotron_ferry",
        ),
    ],
)
def test_each_tiers_command_line_is_its_workflows(gate: GateNumber, shape: str, module: str) -> None:
    made = arguments(SETTINGS, builtin_config().gates[gate], "perf-gate-7")
    assert " ".join(made) == (
        "/opt/iris/bin/iris --config /etc/iris/marin.yaml job run --no-wait --job-name perf-gate-7 --user gate "
        f"{shape} -e SMOKE_RUN_ID perf-gate-7 "
        "-e FERRY_STATUS_PATH gs://bucket/status/perf-gate-7/ferry_run_status.json "
        f"-- python -m {module}"
    )


def test_a_repository_cannot_repin_what_identifies_the_attempt() -> None:
    environment = {"SMOKE_RUN_ID": "stolen", "FERRY_STATUS_PATH": "gs://elsewhere/x", "OTHER": "kept"}
    made = arguments(SETTINGS, demo_gate().model_copy(update={"environment": environment}), "name")
    pairs = {made[i + 1]: made[i + 2] for i, word in enumerate(made) if word == "-e"}
    assert pairs == {
        "SMOKE_RUN_ID": "name",
        "FERRY_STATUS_PATH": "gs://bucket/status/name/ferry_run_status.json",
        "OTHER": "kept",
    }


def answer(exit_code: int | None, stdout: str = "", stderr: str = "") -> Submitted | Refused:
    return read_answer(Finished(exit_code, stdout, stderr), "/gate/name")


@pytest.mark.parametrize("stdout", ["/gate/name\n", "gate/name", "a warning on the wrong stream\n\n/gate/name\n\n"])
def test_the_last_line_names_the_job(stdout: str) -> None:
    assert answer(0, stdout) == Submitted("/gate/name")


@pytest.mark.parametrize("stdout", ["", "\n", "Job submitted\n", "/gate/name; rm -rf /", "/gate/other"])
def test_an_answer_without_our_job_is_doubt(stdout: str) -> None:
    with pytest.raises(Fault) as caught:
        answer(0, stdout)
    assert caught.value.retryable


# As a real cluster of June 2026 gives them.
TRACEBACK = 'Traceback (most recent call last):\n  File "job.py", line 689\n    job = client.submit(\n'
UNSCHEDULABLE = (
    "connectrpc.errors.ConnectError: Job /bot/a2 is unschedulable: no groups in region mars-1 (constraints: "
    "[Constraint(key='region', op=<ConstraintOp.EQ: 0>, values=(AttributeValue(value='mars-1'),), mode=0)])\n"
)
TOO_OLD = (
    "connectrpc.errors.ConnectError: marin-iris client is too old (build 2026-06-18; minimum 2026-11-07). "
    "Run `uv sync` or upgrade marin-iris and retry.\n"
)
USAGE = "Usage: iris job run [OPTIONS] CMD...\nTry 'iris job run --help' for help.\n\nError: No such option: --sky\n"


@pytest.mark.parametrize(
    ("exit_code", "stderr", "reason"),
    [
        (1, TRACEBACK + UNSCHEDULABLE, "Job /bot/a2 is unschedulable: no groups in region mars-1"),
        (1, TRACEBACK + TOO_OLD, TOO_OLD.partition(": ")[2].strip()),
        (1, TRACEBACK + "ValueError: Job name cannot contain '/'\n", "Job name cannot contain '/'"),
        (2, USAGE, "No such option: --sky"),
    ],
)
def test_what_stays_refused_is_a_value_in_iris_words(exit_code: int, stderr: str, reason: str) -> None:
    assert answer(exit_code, stderr=stderr) == Refused(reason)


@pytest.mark.parametrize(
    "stderr",
    [
        TRACEBACK + "iris.client.client.JobAlreadyExists: Job /bot/a1 already exists and is still running\n",
        TRACEBACK + "connectrpc.errors.ConnectError: Request failed: tcp connect error: Connection refused\n",
        TRACEBACK + "google.auth.exceptions.RefreshError: token expired\n",
        "",
    ],
)
def test_what_may_get_better_is_a_fault(stderr: str) -> None:
    with pytest.raises(Fault) as caught:
        answer(1, stderr=stderr)
    assert caught.value.retryable
    assert caught.value.public in {"Iris could not take the job", "a job of this name is already there"}


def test_no_answer_in_time_is_doubt() -> None:
    with pytest.raises(Fault, match="did not take the job in time") as caught:
        answer(None, stderr="W rigging.timing Operation launch_job(/gate/name) failed (attempt 8/240), retrying\n")
    assert caught.value.retryable


def program(folder: Path, text: str) -> Path:
    """A stand-in for the iris program."""
    path = folder / "iris"
    path.write_text(text if text.startswith("#!") else f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


def settings(tmp_path: Path, text: str, **changes: object) -> IrisSettings:
    values = {
        "command": program(tmp_path, text),
        "status_prefix": str(tmp_path / "status"),
        "home": tmp_path / "home",
        "controller_url": "http://127.0.0.1:9",
        "user": "gate",
    }
    return IrisSettings(**(values | changes))  # type: ignore[arg-type]


async def test_the_program_gets_little_environment_the_tree_and_a_cage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "canary-hf")
    monkeypatch.setenv("PERF_GATE_PRIVATE_KEY", "canary-key")
    seen: list[tuple[Path, Mapping[str, str], Sequence[Path]]] = []

    def cage(
        argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
    ) -> list[str]:
        seen.append((tree, environment, writable))
        return ["/usr/bin/env", "CAGED=1", *argv]

    telling = (
        "import os, sys, json, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'told')!r}).write_text(json.dumps([dict(os.environ), os.getcwd(), sys.argv]))\n"
        "print('/gate/name')\n"
    )
    with_token = settings(tmp_path, telling, pass_env=("HF_TOKEN", "NOT_SET"))
    tree = tmp_path / "tree"
    tree.mkdir()
    assert await submit(with_token, cage, demo_gate(), "name", tree) == Submitted("/gate/name")
    told = (tmp_path / "told").read_text()
    assert '"CAGED": "1"' in told
    assert "canary-key" not in told
    # The token travels in the environment, never on the command line, which Iris keeps for anyone to read.
    assert told.count("canary-hf") == 1
    assert str(tree) in told
    ((caged_tree, environment, writable),) = seen
    assert (caged_tree, writable) == (tree, [tmp_path / "home"])
    assert set(environment) == {"HF_TOKEN", "PATH", "HOME", "LANG", "PYTHONWARNINGS"}


async def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    hanging = "#!/bin/sh\nsleep 600 &\necho $! > pid\nwait\n"
    slow = settings(tmp_path, hanging, submit_timeout=timedelta(seconds=1))
    with pytest.raises(Fault, match="in time"):
        await submit(slow, open_cage, demo_gate(), "name", tmp_path)
    assert ends(int((tmp_path / "pid").read_text()))


async def test_a_program_that_is_not_there_is_a_fault_that_stays(tmp_path: Path) -> None:
    nowhere = settings(tmp_path, "", command=tmp_path / "nothing")
    with pytest.raises(Fault, match="cannot be started") as caught:
        await submit(nowhere, open_cage, demo_gate(), "name", tmp_path)
    assert not caught.value.retryable
    assert os.sep in caught.value.private
    assert os.sep not in caught.value.public


def test_settings_name_one_way_to_the_cluster() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        IrisSettings(Path("iris"), "/status", Path("/home"))
    with pytest.raises(ValueError, match="exactly one"):
        IrisSettings(Path("iris"), "/status", Path("/home"), controller_url="http://x", config=Path("y"))
