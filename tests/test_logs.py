"""Log lines: one an event, with the ids of what they belong to, and never with a secret, whichever way it came in."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import logs

CANARY = "canary-of-the-webhook"


Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root() -> Iterator[None]:
    """Afterwards the root logger is as it was."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


def lines(said: Said) -> list[dict[str, object]]:
    return [json.loads(line) for line in said.readouterr().err.splitlines()]


def test_a_line_is_one_object_with_its_ids(capsys: Said) -> None:
    logs.set_up("json")
    with logs.ids(effect="7/1#3:react", run="7-1-1", attempt=2, delivery=""):
        logging.getLogger("bot.somewhere").info("it is %s", "done", extra={"sha": "abc"})
    logging.getLogger("bot.somewhere").info("after")
    first, second = lines(capsys)
    assert {name: value for name, value in first.items() if name != "at"} == {
        "level": "info",
        "logger": "bot.somewhere",
        "event": "it is done",
        "sha": "abc",
        "effect": "7/1#3:react",
        "run": "7-1-1",
        "attempt": 2,
    }
    assert str(first["at"]).endswith("+00:00")
    assert "run" not in second


def test_what_a_line_says_itself_goes_before_what_it_stands_in(capsys: Said) -> None:
    logs.set_up("json")
    with logs.ids(run="outer"):
        logging.getLogger("bot").warning("x", extra={"run": "own"})
    assert lines(capsys)[0]["run"] == "own"


@pytest.mark.parametrize("kind", ["json", "text"])
def test_a_field_never_takes_the_place_of_the_sentence(capsys: Said, kind: str) -> None:
    logs.set_up(kind, [CANARY])
    logging.getLogger("bot").info("asked %s to repeat", CANARY, extra={"event": "issue_comment"})
    said = capsys.readouterr().err
    assert "to repeat" in said
    assert CANARY not in said


@pytest.mark.parametrize("kind", ["json", "text"])
def test_a_secret_in_an_id_a_field_or_an_error_is_taken_out(capsys: Said, kind: str) -> None:
    logs.set_up(kind, [CANARY])
    try:
        with logs.ids(key=f"key {CANARY}"):
            raise ValueError(f"with {CANARY}")
    except ValueError:
        logging.getLogger("bot").exception("failed: %s", CANARY, extra={"said": [f"a {CANARY}"]})
    with logs.ids(key=f"key {CANARY}"):
        logging.getLogger("bot").info("in the context")
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "in the context" in said
    assert CANARY not in said


def test_a_person_reads_one_line_an_event(capsys: Said) -> None:
    logs.set_up("text")
    logging.getLogger("bot.server").info("delivery accepted", extra={"delivery": "d-1", "new": True})
    (line,) = capsys.readouterr().err.splitlines()
    for words in ("info", "delivery accepted", "bot.server", "delivery=d-1", "new=True"):
        assert words in line
    assert "\x1b" not in line


def test_a_value_that_json_cannot_say_fails_no_line(capsys: Said) -> None:
    logs.set_up("json")
    logging.getLogger("bot").info("100% sure", extra={"path": Path("/x"), "among": {1}})
    (line,) = lines(capsys)
    assert line["path"] == "/x"
    assert line["event"] == "100% sure"


async def test_ids_of_two_tasks_do_not_meet(capsys: Said) -> None:
    logs.set_up("json")
    both = asyncio.Barrier(2)

    async def act(run: str) -> None:
        with logs.ids(run=run):
            await both.wait()
            logging.getLogger("bot").info(f"line of {run}")

    await asyncio.gather(act("a"), act("b"))
    assert {(line["event"], line["run"]) for line in lines(capsys)} == {("line of a", "a"), ("line of b", "b")}


@pytest.mark.parametrize(
    ("terminal", "asked", "json_there"), [(True, None, False), (False, None, True), (True, "json", True)]
)
def test_a_terminal_gets_words_and_a_log_collector_json(
    capsys: Said, monkeypatch: pytest.MonkeyPatch, terminal: bool, asked: str | None, json_there: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    logs.set_up(asked)
    logging.getLogger("bot.somewhere").info("it is done")
    assert capsys.readouterr().err.startswith("{") == json_there
