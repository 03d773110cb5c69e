"""Every command in README and docs: what can run runs, on a bot with a judged run; of the rest each word exists."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import bot.cli.audit as audit_command
import bot.cli.runs as runs_command
from bot.cli import COMMANDS, doctor, main
from bot.config.reference import reference
from simulator import Simulator
from simulator.control import VERBS
from tests.cli.test_trace import judged
from tests.conversations.world import World
from tests.engine import postgres_server

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
# Programs of other houses: nothing of ours can check their words.
FOREIGN = {
    "fly",
    "pip",
    "pg_dump",
    "pg_restore",
    "make",
    "openssl",
    "jq",
    "curl",
    "export",
    "set",
    ".",
    "apt-get",
    "sysctl",
    "uv",
    "docker",
}
# What serves until it is stopped, or needs a second side: other tests play these.
PLAYED_ELSEWHERE = {"serve", "setup", "replay", "revive", "assess"}


def commands(page: Path) -> list[str]:
    """The lines of the page's shell blocks, without comments."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    blocks = [text for language, text in fenced if language in ("", "sh", "console")]
    lines = [re.sub(r"\s+#\s.*$", "", line).strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def ours(line: str) -> list[str] | None:
    """The words after perf-gate; None for another program's line."""
    words = shlex.split(line)
    return words[1:] if words[0].removeprefix(".venv/bin/") == "perf-gate" else None


LINES = [(page.name, line) for page in PAGES for line in commands(page)]
OURS = [(page, line, words) for page, line in LINES if (words := ours(line)) is not None]


def test_the_pages_show_commands() -> None:
    assert {page for page, _, _ in OURS} >= {"README.md", "operating.md", "building.md"}
    shown = {words[0] for _, _, words in OURS}
    assert shown >= {"setup", "serve", "doctor", "trace", "export", "reanalyse", "audit", "runs", "backup", "compare"}


@pytest.mark.parametrize(("page", "line"), LINES, ids=[f"{page}: {line[:40]}" for page, line in LINES])
def test_a_line_names_a_program_that_is_known(page: str, line: str) -> None:
    program = next(word for word in shlex.split(line) if not re.fullmatch(r"[A-Z_]+=.*", word))
    if program == "make":
        makefile = (ROOT / "Makefile").read_text("utf-8")
        target = shlex.split(line)[1]
        assert re.search(rf"^(\.PHONY:.*\b)?{re.escape(target)}\b", makefile, re.MULTILINE) or target in makefile
    elif program.endswith("python"):
        module = shlex.split(line)[shlex.split(line).index("-m") + 1]
        assert module == "pytest" or (ROOT / module.replace(".", "/")).exists()
    elif program == "sim":
        verb, arguments = shlex.split(line)[1:3]
        assert verb in VERBS
        if "$" not in arguments:
            # How long to wait is the control port's own argument; what is only read has none.
            named = set(json.loads(arguments)) - {"within"}
            assert not named or named <= set(inspect.signature(getattr(Simulator, verb)).parameters)
    else:
        assert program in FOREIGN | {"sim()"} or ours(line) is not None, f"{page}: {line}"


@pytest.mark.parametrize(("page", "line", "words"), OURS, ids=[f"{page}: {line[:50]}" for page, line, _ in OURS])
def test_each_option_shown_exists(page: str, line: str, words: list[str]) -> None:
    group: click.Command = main
    context = click.Context(group)
    while isinstance(group, click.Group):
        found = group.get_command(context, words[0])
        assert found is not None, f"{page}: there is no {words[0]}"
        group, words = found, words[1:]
    plain = [word.strip("[]") for word in words]
    group.make_parser(click.Context(group)).parse_args(plain)


def filled(words: list[str], names: dict[str, str]) -> list[str]:
    return [names.get(word.strip("[]"), word) for word in words]


async def test_what_can_run_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PERF_GATE_") and name != postgres_server.SERVER:
            monkeypatch.delenv(name)
    async with judged(tmp_path) as (w, _):
        settings = w.app.rooms.settings
        for name, value in deployed(w).items():
            monkeypatch.setenv(f"PERF_GATE_{name}", value)
        for module in (runs_command, audit_command, doctor):
            monkeypatch.setattr(module, "CLOCK", w.clock)
        archive, run = tmp_path / "run.tar.gz", await w.run()
        names = {"ID": run.id, "RUN": run.id, "PULL": "#1", "run.tar.gz": str(archive), "ARCHIVE": str(archive)}
        names |= {"FILE": str(tmp_path / "copy.db"), "/backups/perf-gate.db": str(tmp_path / "another.db")}
        kept = settings.state_dir / "runs" / run.id / "gate-1"
        names |= {"BASELINE.json": str(kept / "baseline.json"), "REPORTS/": str(kept)}
        names |= {"TREATMENT.json": str(kept / "attempt-1" / "report.json")}
        names |= {".github/perf-gate.toml": str(await asyncio.to_thread(_configuration, tmp_path))}
        monkeypatch.chdir(tmp_path)
        ran = set[str]()
        for page, line, words in sorted(OURS, key=lambda one: one[2][0] != "export"):
            if words[0] not in PLAYED_ELSEWHERE and words[:1] != ["doctor"]:
                result: Result = await asyncio.to_thread(CliRunner().invoke, main, filled(words, names))
                assert result.exit_code == 0, f"{page}: {line}\n{result.output}"
                ran.add(words[0])
        assert ran | PLAYED_ELSEWHERE | {"doctor"} >= set(COMMANDS)


def deployed(w: World) -> dict[str, str]:
    settings = w.app.rooms.settings
    return {"STATE_DIR": str(settings.state_dir)}


def _configuration(folder: Path) -> Path:
    file = folder / "perf-gate.toml"
    file.write_text("ladder = [1]\n")
    return file


def test_the_reference_of_keys_is_fresh() -> None:
    """UPDATE_README=1 writes it anew."""
    page = ROOT / "docs" / "configuring.md"
    if os.environ.get("UPDATE_README"):
        page.write_text(reference(), "utf-8")
    assert page.read_text("utf-8") == reference()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_linked_file_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
