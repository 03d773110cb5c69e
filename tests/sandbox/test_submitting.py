"""The cage of the submitting client: the tree at a neutral place, the network, its own tools, and nothing else."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bot.sandbox.submitting import SubmitCage
from bot.sandbox.tools import interpreter


def caged(
    cage: SubmitCage, argv: Sequence[str], tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
) -> str:
    words = cage(argv, tree=tree, environment=environment, writable=writable)
    assert not any(value in word for word in words for value in environment.values() if value == "canary-token")
    done = subprocess.run(words, env=dict(environment), capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def environment(tree: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(tree.parent / "home"), "HF_TOKEN": "canary-token"}


def test_the_tree_is_at_a_neutral_place_and_cannot_be_changed(tree: Path, environment: dict[str, str]) -> None:
    (tree / "file").write_text("hello")
    said = caged(SubmitCage([]), ["sh", "-c", "pwd; cat file; touch new; ls -a /bundle/.."], tree, environment)
    assert said.startswith("/bundle\nhello")
    assert "Read-only file system" in said
    assert str(tree) not in said
    assert not (tree / "new").exists()


def test_no_git_above_the_tree_is_found(tree: Path, environment: dict[str, str]) -> None:
    subprocess.run(["git", "init", "--quiet", str(tree.parent)], check=True)
    said = caged(SubmitCage([]), ["git", "ls-files", "--others"], tree, environment)
    assert "not a git repository" in said


def test_it_gets_its_environment_and_no_other(
    tree: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERF_GATE_PRIVATE_KEY", "canary-key")
    said = caged(SubmitCage([]), ["sh", "-c", "env; cat /proc/1/environ"], tree, environment)
    assert "HF_TOKEN=canary-token" in said
    assert "canary-key" not in said


def test_it_reaches_the_network(tree: Path, environment: dict[str, str]) -> None:
    python, needs = interpreter()
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        program = f"import socket; socket.create_connection(('127.0.0.1', {door.getsockname()[1]})); print('through')"
        assert caged(SubmitCage(needs), [str(python), "-c", program], tree, environment) == "through\n"


def test_it_sees_its_own_tools_its_files_and_its_home(tree: Path, environment: dict[str, str]) -> None:
    home, config = tree.parent / "home", tree.parent / "cluster.yaml"
    home.mkdir()
    config.write_text("controller: manual")
    (tree.parent / "secret").write_text("canary")
    script = f"cat {config}; echo kept > $HOME/state; cat {tree.parent}/secret; touch {config}"
    said = caged(SubmitCage([], [config]), ["sh", "-c", script], tree, environment, [home])
    assert said.startswith("controller: manual")
    assert "canary" not in said
    assert "Read-only file system" in said
    assert (home / "state").read_text() == "kept\n"


def test_the_credential_that_the_environment_names_is_readable(tree: Path, environment: dict[str, str]) -> None:
    credential = tree.parent / "key.json"
    credential.write_text("{}")
    environment["GOOGLE_APPLICATION_CREDENTIALS"] = str(credential)
    assert caged(SubmitCage([]), ["sh", "-c", "cat $GOOGLE_APPLICATION_CREDENTIALS"], tree, environment) == "{}"


def test_a_program_of_a_virtual_environment_runs(tree: Path, environment: dict[str, str]) -> None:
    program = Path(sys.prefix) / "bin" / "python"
    said = caged(SubmitCage.around(program), [str(program), "-c", "import msgspec; print('there')"], tree, environment)
    assert said == "there\n"
