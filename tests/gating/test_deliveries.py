"""Which deliveries mean something, to which pull request, and what of them is worth keeping."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from bot.conversation.commands import Assess, Go, Status
from bot.engine.port import Delivery
from bot.gating.events import Event
from bot.gating.happenings import Closed, HeadMoved, Mentioned, Reopened
from bot.gating.keeping import kept
from bot.gating.machine import GateMachine
from bot.gating.model import Place

MACHINE = GateMachine("perf-gate", {"marin-community/marin"})
PLACE = Place(installation_id=7, repository_id=42, full_name="marin-community/marin", number=17, author="ada")


def comment(body: str, **changes: Any) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "action": "created",
        "repository": {"id": 42, "full_name": "marin-community/marin"},
        "installation": {"id": 7},
        "issue": {"number": 17, "user": {"login": "ada"}, "pull_request": {"url": "…"}},
        "comment": {"id": 900, "body": body, "user": {"login": "rev", "type": "User"}},
    }
    return payload | changes


def pull(action: str, **pull_request: Any) -> dict[str, Any]:
    return {
        "action": action,
        "repository": {"id": 42, "full_name": "marin-community/marin"},
        "installation": {"id": 7},
        "pull_request": {"number": 17, "user": {"login": "ada"}, "head": {"sha": "b" * 40}, **pull_request},
    }


def heard(event: str, payload: dict[str, Any]) -> list[tuple[str, Event]]:
    return list(MACHINE.route(Delivery("guid", event, json.dumps(payload).encode())))


def test_a_mention_on_a_pull_request_is_heard() -> None:
    assert heard("issue_comment", comment("@perf-gate")) == [("42/17", Mentioned(PLACE, 900, "rev", Assess()))]


def test_a_bare_answer_is_marked_as_such() -> None:
    assert heard("issue_comment", comment("go")) == [("42/17", Mentioned(PLACE, 900, "rev", Go(), bare=True))]


@pytest.mark.parametrize(
    "payload",
    [
        comment("looks good to me"),
        comment("@perf-gate go", action="edited"),
        comment("@perf-gate go", action="deleted"),
        comment("@perf-gate go", issue={"number": 17, "user": {"login": "ada"}}),
        comment("@perf-gate go", comment={"id": 1, "body": "@perf-gate", "user": {"login": "x[bot]", "type": "Bot"}}),
        comment("@perf-gate go", comment={"id": 1, "body": "@perf-gate go", "user": None}),
        comment("@perf-gate go", comment={"id": 1, "body": None, "user": {"login": "rev", "type": "User"}}),
        comment("@perf-gate go", repository={"id": 1, "full_name": "somebody/else"}),
        comment("@perf-gate go", installation=None),
    ],
    ids=["no mention", "edited", "deleted", "an issue", "a bot", "a ghost", "no body", "not served", "no installation"],
)
def test_what_commands_nothing(payload: dict[str, Any]) -> None:
    assert heard("issue_comment", payload) == []


def test_pushes_closing_and_reopening_are_heard() -> None:
    assert heard("pull_request", pull("synchronize")) == [("42/17", HeadMoved(PLACE, "b" * 40))]
    assert heard("pull_request", pull("closed", merged=True)) == [("42/17", Closed(PLACE, merged=True))]
    assert heard("pull_request", pull("reopened")) == [("42/17", Reopened(PLACE, "b" * 40))]
    assert heard("pull_request", pull("labeled")) == []


def keeps(event: str, payload: dict[str, Any]) -> bool:
    return kept(event, json.dumps(payload).encode(), "perf-gate") is not None


@pytest.mark.parametrize("marker", ["<!-- zephyr-perf-gate -->", "<!-- perf-gate:question 42-17-1 -->"])
def test_a_person_who_quotes_the_bots_comment_with_its_hidden_marker_is_heard(marker: str) -> None:
    body = f"> {marker}\n> 🤖 ✅ pass\n\n@perf-gate status"
    assert keeps("issue_comment", comment(body))
    assert heard("issue_comment", comment(body)) == [("42/17", Mentioned(PLACE, 900, "rev", Status()))]
    own = {"id": 1, "body": f"{marker}\n🤖 @perf-gate go", "user": {"login": "perf-gate[bot]", "type": "Bot"}}
    assert not keeps("issue_comment", comment("", comment=own)), "the bot's own come back to it, and say nothing new"
    assert keeps("issue_comment", comment("", comment=own, action="deleted")), "somebody took the bot's comment away"


def test_only_what_may_matter_is_kept() -> None:
    assert keeps("issue_comment", comment("hello @PERF-GATE"))
    assert keeps("issue_comment", comment("  max_gate=2"))
    assert keeps("pull_request", pull("synchronize"))
    assert not keeps("issue_comment", comment("hello"))
    assert not keeps("pull_request", pull("labeled"))
    assert not keeps("star", {"action": "created"})
    assert not keeps("issue_comment", {"action": "created"})
    assert not keeps("issue_comment", {"comment": []})
    assert keeps("issue_comment", {"comment": ["@Perf-Gate"]}), "of an unknown shape, and in doubt kept"
    assert not keeps("pull_request", {"action": 1})


def test_a_wrong_shape_raises_so_that_the_delivery_is_kept_as_failed() -> None:
    with pytest.raises(msgspec.MsgspecError):
        heard("issue_comment", comment("@perf-gate", issue={"number": "seventeen"}))


WORDS = comment("@perf-gate help", sender={"login": "rev", "type": "User", "url": "https://github.invalid"})
EDITED = comment("@perf-gate go", action="edited", changes={"body": {"from": "hello"}})
BASE = pull("edited", base={"ref": "main"}) | {"changes": {"base": {"ref": {"from": "dev"}, "sha": {"from": "b" * 40}}}}
SUITE = {**pull("rerequested"), "check_suite": {"head_sha": "b" * 40}, "sender": {"login": "rev"}}


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("issue_comment", WORDS),
        ("issue_comment", EDITED),
        ("pull_request", pull("synchronize")),
        ("pull_request", pull("closed", merged=True)),
        ("pull_request", BASE),
        ("check_suite", SUITE),
    ],
    ids=["said", "edited", "pushed", "merged", "base", "suite"],
)
def test_what_is_kept_of_a_delivery_means_the_same_without_what_nobody_reads(
    event: str, payload: dict[str, Any]
) -> None:
    described = {**payload, "enterprise": {"note": "LONG " * 1000}}
    for place in ("issue", "pull_request"):
        if place in described:
            described[place] = {**described[place], "body": "LONG " * 1000}
    body = json.dumps(described).encode()
    left = kept(event, body, "perf-gate")
    assert left is not None
    assert b"LONG" not in left
    assert len(left) < 600
    whole, short = (MACHINE.route(Delivery("guid", event, text)) for text in (body, left))
    assert list(whole) == list(short)
    assert len(whole) == 1


def test_a_delivery_of_a_wrong_shape_is_kept_as_it_came() -> None:
    body = json.dumps(comment("@perf-gate", issue={"number": "seventeen"})).encode()
    assert kept("issue_comment", body, "perf-gate") == body
