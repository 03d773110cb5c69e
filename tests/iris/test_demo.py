"""The demo's repository and cluster: what they promise the demo and the tests."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config.load import load_repository_config
from bot.iris.submit import flags
from demo.cluster import IRIS, ROOT, installed_zephyr
from demo.repository import FILES, SHUFFLE, DemoRepository, RepositoryFailed, create, zephyr_digest
from tests.iris.clusters import demo_gate, ends, tree_of


def git(repository: DemoRepository, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=repository.bare, capture_output=True, check=True, text=True)
    return done.stdout.strip()


def test_the_same_zephyr_gives_the_same_commits(demo_repository: DemoRepository, tmp_path: Path) -> None:
    one = create(tmp_path / "one", installed_zephyr())
    two = create(tmp_path / "two", installed_zephyr())
    assert one.main_sha == two.main_sha == git(one, "rev-parse", "main")
    assert one.branch("a") == two.branch("a")
    assert one.branch("b", slow="normalize") == two.branch("b", slow="normalize")
    assert zephyr_digest(one.zephyr_sources(one.main_sha)) == zephyr_digest(
        {p.relative_to(installed_zephyr()).as_posix(): p.read_bytes() for p in installed_zephyr().rglob("*.py")}
    )


@pytest.mark.parametrize(("slow", "broken"), [(None, None), ("normalize", None), (None, "normalize")])
def test_a_pull_request_changes_zephyr_and_nothing_else(tmp_path: Path, slow: str | None, broken: str | None) -> None:
    repository = create(tmp_path / "repository", installed_zephyr())
    before = repository.main_sha
    head = repository.branch("change", slow=slow, broken=broken)
    after = repository.advance_main()
    assert git(repository, "diff", "--name-only", f"{before}...{head}") == SHUFFLE
    assert git(repository, "merge-base", after, head) == before
    assert git(repository, "rev-parse", "change", "main").split() == [head, after]
    compile(repository.zephyr_sources(head)["shuffle.py"], "shuffle.py", "exec")


def test_a_change_nobody_wrote_is_refused(demo_repository: DemoRepository, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is one for: normalize"):
        demo_repository.branch("x", slow="download")
    with pytest.raises(ValueError, match="there is one for: normalize"):
        demo_repository.branch("x", broken="download")
    zephyr = tmp_path / "zephyr"
    zephyr.mkdir()
    (zephyr / "shuffle.py").write_text("nothing of what an edit needs\n")
    other = create(tmp_path / "repository", zephyr)
    with pytest.raises(RepositoryFailed, match="does not have the expected line"):
        other.branch("x")


def test_the_gate_and_the_workflow_launch_the_same_job() -> None:
    config = load_repository_config((FILES / ".github" / "perf-gate.toml").read_text())
    gate = config.gates[1]
    workflow = (FILES / ".github" / "workflows" / gate.workflow).read_text()
    command = re.sub(r"\\\n\s*", "", workflow[workflow.index("job run") : workflow.index(gate.ferry_module)])
    given = set(flags(gate.flags)) | {f"-e {key} {value}" for key, value in gate.environment.items()}
    assert {flag for flag in given if flag not in command} == set()
    assert f"name: {gate.artifact}" in workflow


def test_the_preflight_of_an_honest_change_passes(demo_repository: DemoRepository, tmp_path: Path) -> None:
    tree = tree_of(demo_repository, demo_repository.branch("honest"), tmp_path / "tree")
    environment = {"PATH": f"{IRIS}/bin:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    config = load_repository_config((FILES / ".github" / "perf-gate.toml").read_text())
    for command in config.preflight.commands:
        done = subprocess.run(command.run, cwd=tree, env=environment, capture_output=True, check=False, text=True)
        assert done.returncode == 0, done.stderr


async def test_the_cluster_ends_when_its_owner_is_killed(tmp_path: Path) -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, str(tmp_path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert owner.stdout is not None
    cluster = int(await asyncio.wait_for(owner.stdout.readline(), 120))
    owner.kill()
    await owner.wait()
    assert ends(cluster)


OWNER = """
import asyncio, sys
from pathlib import Path
from demo.cluster import LocalCluster
async def own():
    async with LocalCluster(Path(sys.argv[1])) as cluster:
        print(cluster.process.pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(own())
"""


def test_the_demo_gate_expects_the_ferrys_steps() -> None:
    ferry = (FILES / "experiments" / "ferries" / "datakit_ferry.py").read_text()
    (steps,) = re.findall(r"^STEPS: .* = \{(.*)\}$", ferry, re.MULTILINE)
    assert tuple(re.findall(r'"(\w+)":', steps)) == demo_gate().expected_steps
