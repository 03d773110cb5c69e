"""Lint, types and tests of the pinned head, in the cage, before anything is paid for."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.gating.states import RunState
from simulator.checks import Changes, Checks
from tests.conversations.world import CONFIG, FILES, SHUFFLE, World, golden, key_pair, world

LADDER = CONFIG.partition("[[preflight.commands]]")[0]


def commands(*words: str, timeout: str = "1m") -> str:
    """A configuration with these shell scripts as the preflight."""
    tables = [f'[[preflight.commands]]\nrun = ["sh", "-c", {w!r}]\ntimeout = "{timeout}"\n' for w in words]
    return LADDER + "\n".join(tables)


async def answered(w: World) -> str:
    await w.scheduled_run()
    await w.to_question()
    await w.says("rev", "go")
    assert w.iris.submissions == 0
    return w.canonical()


async def test_a_failing_command_halts_with_its_last_words(tmp_path: Path) -> None:
    script = "seq 1 3; echo 1 failed, 41 passed; exit 3"
    async with world(tmp_path, config=commands("echo lint is fine", script, "touch never")) as w:
        said = await answered(w)
        golden("preflight/halted", said)
        assert said.splitlines()[1] == "🤖 ## Zephyr perf gate — halted (local tests failed)"
        assert (await w.run()).state is RunState.halted
        assert list((tmp_path / "state" / "perf-gate-trees").iterdir()) == []


async def test_what_a_test_prints_cannot_act_in_the_comment(tmp_path: Path) -> None:
    script = "printf '```\\n@rev <!-- zephyr-perf-gate -->\\n\\033[31mred\\033[0m\\n````\\n'; exit 1"
    async with world(tmp_path, config=commands(script)) as w:
        golden("preflight/hostile_output", await answered(w))


async def test_a_tool_that_the_cage_lacks_is_nobodys_failing_test(tmp_path: Path) -> None:
    config = LADDER + '[[preflight.commands]]\nrun = ["uvx-of-tomorrow", "run", "pytest"]\n'
    async with world(tmp_path, config=config) as w:
        golden("preflight/missing_tool", await answered(w))
        assert (await w.run()).state is RunState.stuck


async def test_a_script_that_the_commit_lacks_is_a_failing_command(tmp_path: Path) -> None:
    config = LADDER + '[[preflight.commands]]\nrun = ["./infra/pre-commit.py", "lib/zephyr/"]\n'
    async with world(tmp_path, config=config) as w:
        golden("preflight/missing_script", await answered(w))
        assert (await w.run()).state is RunState.halted


async def test_a_command_that_does_not_end_says_nothing_about_the_code(tmp_path: Path) -> None:
    async with world(tmp_path, config=commands("echo 40 passed; while :; do :; done", timeout="1s")) as w:
        golden("preflight/timeout", await answered(w))
        assert (await w.run()).state is RunState.stuck


async def test_a_link_that_leaves_the_tree_stops_everything_by_name(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await symlink(w, "lib/zephyr/src/zephyr/environ", "/proc/self/environ")
        golden("preflight/absolute_link", await answered(w))
        assert (await w.run()).state is RunState.stuck


async def test_a_chain_of_links_that_leaves_the_tree(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await symlink(w, "lib/up", "..")
        await symlink(w, "lib/zephyr/out", "../up/../secrets")
        golden("preflight/escaping_link", await answered(w))
        assert (await w.run()).state is RunState.stuck


async def test_a_tracked_marin_yaml_stops_everything_by_name(tmp_path: Path) -> None:
    files = {SHUFFLE: FILES[SHUFFLE].replace("1024", "9"), "lib/zephyr/.marin.yaml": "env: {}\n"}
    async with world(tmp_path, files=files) as w:
        golden("preflight/marin_yaml", await answered(w))
        assert (await w.run()).state is RunState.stuck


async def test_what_the_preflight_does_to_its_copy_does_not_travel(tmp_path: Path) -> None:
    script = f"echo POISON > {SHUFFLE}; mkdir -p lib/zephyr/x; ln -s /etc/passwd lib/zephyr/x/y; echo a > .marin.yaml"
    async with world(tmp_path, config=commands(script)) as w:
        await w.scheduled_run()
        await w.to_ferrying()
        (pristine,) = (tmp_path / "state" / "perf-gate-trees").glob("*-pristine")
        assert (pristine / SHUFFLE).read_text() == "BUFFER = 4096\n" + FILES[SHUFFLE].partition("\n")[2]
        assert not (pristine / ".marin.yaml").exists()
        assert w.iris.submissions == 1


async def test_stop_ends_a_command_at_once_and_frees_the_lane(tmp_path: Path) -> None:
    endless = commands("test -e lib/zephyr/quick || while :; do :; done", timeout="1h")
    # A command that stop does not end would let the test wait for an hour.
    async with asyncio.timeout(30), world(tmp_path, config=endless) as w:
        await w.scheduled_run()
        await w.to_question()
        await w.sim.comment(w.repository, w.pull.number, "rev", "go")
        await w.sim.wait_for(lambda: "running lint" in w.canonical())
        await w.says("rev", "@perf-gate stop")
        assert "stopped by rev" in w.canonical()
        assert list((tmp_path / "state" / "perf-gate-trees").iterdir()) == []
        quick = await w.another_pull(files={SHUFFLE: "BUFFER = 1\n", "lib/zephyr/quick": ""})
        await quick.to_question()
        await quick.says("rev", "go")
        assert "watching the ferry" in quick.canonical()


async def symlink(w: World, path: str, target: str) -> None:
    """Ada pushes a symbolic link to the pull request."""
    identity = w.sim.world.identity(w.sim.account("ada"))
    stream = (
        f"commit refs/heads/tmp\nmark :1\ncommitter {identity.name} <{identity.email}> 1781942400 +0000\n"
        f"data 4\nLink\nfrom {w.pull.head_sha}\nM 120000 inline {path}\ndata {len(target)}\n{target}\n\nget-mark :1\n"
    )
    made = await w.repository.git.run("fast-import", "--quiet", "--force", stdin=stream.encode())
    await w.sim.move_branch(w.repository, "feature", made.decode().strip(), by="ada")
    await w.settle()


async def ci(w: World, sha: str, **conclusions: str) -> None:
    """Another App's check runs of a commit, by name; "queued" has not ended."""
    apps = [app for app in w.sim.world.apps.values() if app.slug == "github-actions"]
    app = apps[0] if apps else await w.sim.create_app("github-actions", public_key=key_pair()[1])
    for name, conclusion in conclusions.items():
        ended = conclusion != "queued"
        wanted = Changes(name=name, status="completed" if ended else "queued", conclusion=conclusion if ended else None)
        await Checks(w.sim.announcer).create(w.repository, app, sha, wanted)
    await w.settle()


FAILING = "echo 1 failed; exit 1"


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        ("red", {"lint": "success", "unit": "failure", "docs": "timed_out", "nightly": "queued"}),
        ("green", {"lint": "success", "unit": "success", "windows": "neutral"}),
        ("not_ended", {"unit": "queued"}),
    ],
)
async def test_a_halt_says_whether_the_merge_base_is_red_itself(
    tmp_path: Path, name: str, checks: dict[str, str]
) -> None:
    async with world(tmp_path, config=commands(FAILING)) as w:
        await ci(w, w.pull.base_sha, **checks)
        golden(f"preflight/base_{name}", await answered(w))


async def test_a_halt_stands_without_the_merge_bases_checks(tmp_path: Path) -> None:
    async with world(tmp_path, config=commands(FAILING)) as w:
        w.sim.fault("status", path="*/check-runs", status=403, times=None)
        said = await answered(w)
        assert "of the merge base" in said
        assert "could not be read" in said
        assert (await w.run()).state is RunState.halted


async def test_green_checks_of_the_head_may_stand_for_the_commands(tmp_path: Path) -> None:
    config = LADDER + '[preflight]\nrunner = "checks"\nchecks = ["lint", "unit"]\ncheck_every = "2m"\n'
    async with world(tmp_path, config=config) as w:
        await ci(w, w.pull.head_sha, lint="success", unit="queued", other="failure")
        await w.scheduled_run()
        asked = await w.to_question()
        assert "`go` waits until the commit's own checks are green (`lint`, `unit`), then Gate 1" in asked
        await w.says("rev", "go")
        assert "waiting until the commit's own checks are green (`lint`, `unit`), since" in w.canonical()
        await ci(w, w.pull.head_sha, unit="success")
        await w.live_through(timedelta(minutes=3))
        assert "watching the ferry" in w.canonical()


async def test_a_red_check_of_the_head_halts(tmp_path: Path) -> None:
    config = LADDER + '[preflight]\nrunner = "checks"\nchecks = ["unit"]\n'
    async with world(tmp_path, config=config) as w:
        await ci(w, w.pull.head_sha, unit="failure")
        golden("preflight/red_check", await answered(w))


async def test_a_check_that_never_comes_is_stuck(tmp_path: Path) -> None:
    config = LADDER + '[preflight]\nrunner = "checks"\nchecks = ["unit", "lint"]\nchecks_within = "1h"\n'
    async with world(tmp_path, config=config) as w:
        await ci(w, w.pull.head_sha, lint="success")
        await w.scheduled_run()
        await w.to_question()
        await w.says("rev", "go")
        await w.live_through(timedelta(hours=2))
        golden("preflight/no_check", w.canonical())
        assert w.iris.submissions == 0


async def test_hostile_tests_find_no_secret_of_the_bot_to_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """All that the commit's tests can read is printed, and neither comment nor files nor logs of the bot have a canary
    of the environment, of the state folder or of the mirror's credentials."""
    for name in ("HF_TOKEN", "PERF_GATE_PRIVATE_KEY", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.setenv(name, "canary-7c1d")
    script = (
        "env; cat /proc/*/environ /proc/*/cmdline; ls -laR / --ignore=usr --ignore=proc 2>/dev/null | tail -n 100; "
        f"cat {tmp_path}/state/* {tmp_path}/state/*/* {tmp_path}/secret; "
        "find / -xdev -type f -not -path '/usr/*' -not -path '/proc/*' -exec grep -l canary-7c1d {} +; "
        "cat /var/run/secrets/* /root/.config/* /etc/hosts; exit 1"
    )
    async with world(tmp_path, config=commands(script)) as w:
        (tmp_path / "secret").write_text("canary-7c1d")
        said = await answered(w)
        assert (await w.run()).state is RunState.halted
        kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
        assert kept
        written = b"".join(path.read_bytes() for path in kept)
        # The script itself names the canary, and stands in the question, the comment and the state.
        for text in (said, written.decode(errors="replace"), *capfd.readouterr()):
            assert "canary-7c1d" not in text.replace("grep -l canary-7c1d", "")
