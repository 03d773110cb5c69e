"""`perf-gate assess`, run as a program on real folders and real git repositories."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHUFFLE = "lib/zephyr/src/zephyr/shuffle.py"
CODE = "CHUNK_SIZE = 4\n\n\ndef scatter(rows):\n    return rows\n"
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}


def perf_gate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", "from bot.cli import main; main()", "assess", *map(str, arguments)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def git(repo: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *arguments], cwd=repo, env=GIT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    base, head = tmp_path / "base", tmp_path / "head"
    for folder in (base, head):
        write(folder, **{SHUFFLE: CODE, "README.md": "hello", "lib/iris/Makefile": "all:"})
    return base, head


def test_the_json_has_exactly_the_promised_shape(trees: tuple[Path, Path]) -> None:
    base, head = trees
    write(head, **{SHUFFLE: CODE.replace("4", "8"), "README.md": "bye", "lib/fray/src/fray/a.py": ""})
    write(head, **{"lib/iris/Makefile": "none:"})
    done = perf_gate("--base-dir", base, "--head-dir", head, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "in_scope": True,
        "max_gate": "3",
        "rationale": "shuffle.py: CHUNK_SIZE 4 → 8: sizes what is held in memory (memory); "
        "1 flagged file not judged, the reviewer decides",
        "per_file": {
            SHUFFLE: {
                "trivial": False,
                "shuffle": False,
                "memory": True,
                "cpu": False,
                "design": False,
                "summary": "CHUNK_SIZE 4 → 8: sizes what is held in memory",
                "evidence": ["shuffle.py:1 — CHUNK_SIZE 4 → 8 — sizes what is held in memory — once per import"],
            }
        },
        "out_of_scope": {
            "README.md": "documentation (scope rule **/*.md)",
            "lib/iris/Makefile": "not part of what the gate measures: no include rule of its scope matches",
        },
        "flagged": {
            "lib/fray/src/fray/a.py": "not gated by itself (scope rule lib/fray/**): the reviewer decides",
        },
    }


def test_without_json_it_reads_like_the_question(trees: tuple[Path, Path]) -> None:
    base, head = trees
    write(head, **{SHUFFLE: "# Scatter.\n" + CODE})
    done = perf_gate("--base-dir", base, "--head-dir", head)
    assert done.stdout.splitlines() == [
        "Proposed max_gate: skip",
        "Rationale: proven trivial in 1 file: only formatting and comments",
        "",
        SHUFFLE,
        "  trivial: only formatting and comments",
        "  - equal syntax trees without comments and formatting",
    ]


def test_a_hostile_name_cannot_write_to_the_terminal(trees: tuple[Path, Path]) -> None:
    base, head = trees
    write(head, **{"lib/zephyr/src/zephyr/\x1b[2J.py": CODE})
    done = perf_gate("--base-dir", base, "--head-dir", head)
    assert "\x1b" not in done.stdout
    assert "\\x1b[2J.py" in done.stdout


def test_links_are_compared_and_never_followed(trees: tuple[Path, Path], tmp_path: Path) -> None:
    base, head = trees
    (tmp_path / "secret").write_text("x = 1")
    (base / SHUFFLE).with_name("a.py").symlink_to(tmp_path / "secret")
    (head / SHUFFLE).with_name("a.py").symlink_to(tmp_path / "secret")
    (head / SHUFFLE).with_name("b.py").symlink_to(tmp_path / "secret")
    (head / "lib/zephyr/src/zephyr/loop").symlink_to(head)
    os.mkfifo(head / "lib/zephyr/src/zephyr/pipe")
    result = json.loads(perf_gate("--base-dir", base, "--head-dir", head, "--json").stdout)
    assert {path.rsplit("/")[-1] for path in result["per_file"]} == {"b.py", "loop", "pipe"}
    assert not any(answers["trivial"] for answers in result["per_file"].values())


def test_names_that_are_not_utf8_are_reported(trees: tuple[Path, Path]) -> None:
    base, head = trees
    Path(os.fsdecode(os.fsencode(head / SHUFFLE) + b"\xff.py")).write_text("x")
    result = json.loads(perf_gate("--base-dir", base, "--head-dir", head, "--json").stdout)
    assert list(result["per_file"]) == [SHUFFLE + "\\xff.py"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """main ── later (changes plan.py);  main ── change (a comment in shuffle.py)."""
    folder = tmp_path / "repo"
    write(folder, **{SHUFFLE: CODE, "lib/zephyr/src/zephyr/plan.py": "X = 1\n"})
    git(folder.parent, "init", "--quiet", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    git(folder, "checkout", "--quiet", "-b", "change")
    write(folder, **{SHUFFLE: CODE + "# end\n"})
    git(folder, "commit", "--quiet", "-am", "comment")
    git(folder, "checkout", "--quiet", "main")
    write(folder, **{"lib/zephyr/src/zephyr/plan.py": "X = 2\n"})
    git(folder, "commit", "--quiet", "-am", "later")
    return folder


def test_what_main_did_after_the_branch_point_is_no_part_of_the_diff(repo: Path) -> None:
    done = perf_gate("--repo", repo, "--base", "main", "--head", "change", "--json")
    result = json.loads(done.stdout)
    assert set(result["per_file"]) == {SHUFFLE}
    assert result["max_gate"] == "skip"


def test_a_linked_worktree_is_a_repository_too(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", str(tmp_path / "linked"), "change")
    done = perf_gate("--repo", tmp_path / "linked", "--base", "main", "--head", "HEAD", "--json")
    assert set(json.loads(done.stdout)["per_file"]) == {SHUFFLE}


def test_a_configuration_of_ones_own(trees: tuple[Path, Path], tmp_path: Path) -> None:
    base, head = trees
    write(head, **{"lib/iris/Makefile": "none:"})
    config = tmp_path / "perf-gate.toml"
    config.write_text('[scope]\ninclude = ["lib/iris/Makefile"]\n')
    result = json.loads(perf_gate("--base-dir", base, "--head-dir", head, "--json", "--config", config).stdout)
    assert set(result["per_file"]) == {"lib/iris/Makefile"}


def test_bad_input_is_one_clear_message_and_exit_2(trees: tuple[Path, Path], repo: Path, tmp_path: Path) -> None:
    base, head = trees
    bad = tmp_path / "bad.toml"
    bad.write_text("[scope]\nincluded = []\n")
    unrelated = git(repo, "commit-tree", git(repo, "write-tree"), "-m", "alone")
    cases: list[tuple[list[str | Path], str]] = [
        ([], "give either --base-dir and --head-dir, or --repo, --base and --head"),
        (["--base-dir", base], "give either"),
        (["--base-dir", base, "--head-dir", head, "--repo", repo], "give either"),
        (["--base-dir", base, "--head-dir", tmp_path / "none"], "does not exist"),
        (["--repo", repo, "--base", "main", "--head", "nope"], "no commit is called 'nope'"),
        (["--repo", repo, "--base", "--all", "--head", "main"], "no commit is called '--all'"),
        (["--repo", base, "--base", "main", "--head", "main"], "is it a git repository"),
        (["--repo", repo, "--base", "main", "--head", unrelated], "no common ancestor"),
        (["--base-dir", base, "--head-dir", head, "--config", bad], "unknown key"),
    ]
    for arguments, message in cases:
        done = perf_gate(*arguments)
        assert done.returncode == 2, arguments
        assert message in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
