"""What Prometheus gets of a conversation, and that every alert of the example speaks of something that exists."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.effects.registry import ROWS
from bot.engine.port import Delivery, StoreError
from bot.gating.states import RunState
from bot.metrics.observing import counting
from bot.metrics.tally import BUCKETS, Reaction, Tally
from tests.conversations.world import World, world
from tests.server.pages.test_access import get

ALERTS = Path(__file__).parent.parent.parent / "docs" / "alerts.yml"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def scraped(scene: World) -> Samples:
    status, text = await get(scene, "/metrics")
    assert status == 200
    return parsed(text)


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[f"perf_gate_{name}", frozenset(labels.items())]


async def test_a_conversation_in_numbers(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        before = await scraped(scene)
        assert value(before, "verdicts_total", gate="1", verdict="pass") == 0
        await scene.scheduled_run()
        await scene.to_ferrying()
        scene.new_comments()
        seen = await scraped(scene)
        assert value(seen, "ferries", state="pending") + value(seen, "ferries", state="running") == 1
        assert value(seen, "runs", state="ferrying") == 1
        assert value(seen, "effects_total", kind="submit", outcome="done") == 1
        assert value(seen, "first_reaction_seconds_count") == 2
        assert value(seen, "deliveries_total", outcome="accepted") >= 2
        assert value(seen, "oldest_unhandled_delivery_seconds") == 0
        installation = str((await scene.app.engine.read(scene.key)).place.installation_id)  # type: ignore[union-attr]
        assert 0 < value(seen, "github_requests_left", installation=installation) < 15_000
        await scene.ferry_ends()
        scene.canonical()
        after = await scraped(scene)
        assert value(after, "verdicts_total", gate="1", verdict="pass") == 1
        assert value(after, "runs", state="ferrying") == 0
        # Asked twice, a reaction counts once.
        assert value(after, "first_reaction_seconds_count") == 2


async def test_two_who_scrape_at_once_both_get_an_answer_and_count_a_reaction_once(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.says("rev", "@perf-gate help")
        scene.new_comments()
        answers = await asyncio.gather(*(get(scene, "/metrics") for _ in range(3)))
        assert [status for status, _ in answers] == [200, 200, 200]
        assert value(await scraped(scene), "first_reaction_seconds_count") == 1


async def test_reactions_that_could_not_be_looked_up_are_asked_for_again_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path) as scene:
        await scene.says("rev", "@perf-gate help")
        scene.new_comments()
        database = scene.app.rooms.settings.database_file
        aside = database.rename(database.with_suffix(".aside"))
        status, text = await get(scene, "/metrics")
        assert (status, text) == (503, "# the state cannot be read; the log says why\n")
        assert any(record.message == "the state cannot be read for /metrics" for record in caplog.records)
        aside.rename(database)
        assert value(await scraped(scene), "first_reaction_seconds_count") == 1


async def test_runs_that_are_stuck_are_counted_while_their_pull_request_is_open(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        # No scheduled run, so no baseline.
        await scene.to_question()
        await scene.says("rev", "@perf-gate go")
        scene.new_comments()
        assert (await scene.run()).state is RunState.stuck
        assert value(await scraped(scene), "stuck_runs") == 1
        scene.clock.advance(timedelta(minutes=1))
        await scene.sim.close(scene.repository, scene.pull.number, by="ada")
        await scene.settle()
        scene.new_comments()
        assert value(await scraped(scene), "stuck_runs") == 0


async def test_a_github_that_refuses_the_rounds_is_seen_and_not_told_as_a_look(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.app.rounds.make()
        assert value(await scraped(scene), "last_recovery_round_age_seconds") == 0
        scene.sim.fault("status", method="GET", path="/app/hook/deliveries", status=401, times=None)
        for _ in range(7):
            scene.clock.advance(timedelta(minutes=5))
            await scene.app.rounds.make()
        assert value(await scraped(scene), "last_recovery_round_age_seconds") == 35 * 60
        told = json.loads((await get(scene, "/readyz"))[1])
        assert told["missed_webhooks_asked_for_seconds_ago"] == 35 * 60
        assert told["last_recovery_round_seconds_ago"] == 0


async def test_a_reaction_is_timed_from_the_arrival_of_its_webhook(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        scene.sim.fault("status", method="POST", path="*/reactions", status=502, times=1)
        await scene.says("rev", "@perf-gate help")
        scene.new_comments()
        await scene.live_through(timedelta(seconds=30))
        seen = await scraped(scene)
        assert value(seen, "first_reaction_seconds_count") == 1
        assert value(seen, "effects_total", kind="react", outcome="retried") == 1
        assert 0 < value(seen, "first_reaction_seconds_sum") <= 30
        assert value(seen, "first_reaction_seconds_bucket", le="0.5") == 0
        assert value(seen, "first_reaction_seconds_bucket", le="+Inf") == 1


async def test_labels_are_few_whatever_happens(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        before = await scraped(scene)
        await scene.scheduled_run()
        await scene.to_ferrying()
        scene.iris.last.state = "JOB_STATE_SOMETHING_NEW"
        await scene.live_through(timedelta(minutes=4))
        scene.new_comments()
        after = await scraped(scene)
        fresh = {name for name, _ in after.keys() - before.keys()}
        assert fresh <= {"perf_gate_github_requests_left"}
        assert len(after) < 40 + 7 * len(ROWS) + 60
        assert "marin" not in (await get(scene, "/metrics"))[1]


def test_what_the_door_cannot_store_is_counted() -> None:
    tally = Tally()
    tally.observe([0.2, 1.5, 9_999])
    assert tally.waits[BUCKETS[0]] == 1
    assert tally.waits[float("inf")] == 1
    for number in range(5_000):
        tally.reactions.append(Reaction(str(number), *[None, None]))  # type: ignore[arg-type]
    assert len(tally.reactions) == 1_000


def test_deliveries_are_counted_by_what_became_of_them() -> None:
    tally = Tally()
    answers: list[bool | Exception] = [True, False, StoreError("full", transient=True)]
    heard: list[bool | Exception] = []
    door = counting(lambda _, told: told(answers[len(heard)]), tally)
    for _ in answers:
        door(Delivery("guid", "ping", None), heard.append)
    assert heard == answers, "whoever delivers hears of it, too"
    assert tally.deliveries == {"accepted": 1, "seen before": 1, "not stored": 1}


def expressions() -> dict[str, str]:
    """Alert → expression, each on one line of the file."""
    text = ALERTS.read_text("utf-8")
    return dict(re.findall(r"- alert: (\w+)\n\s+expr: (.+)", text))


def selectors(node: Any) -> list[Any]:
    """Every selector of a series in a parsed expression."""
    if isinstance(node, promql_parser.VectorSelector):
        return [node]
    found = []
    for name in ("lhs", "rhs", "expr", "param", "vector_selector", "args"):
        inner = getattr(node, name, None)
        for part in inner if isinstance(inner, list) else [inner]:
            found += selectors(part) if part is not None else []
    return found


async def test_every_alert_parses_and_speaks_of_what_is_exported(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        exported = await scraped(scene)
    alerts = expressions()
    assert len(alerts) == ALERTS.read_text("utf-8").count("- alert:")
    known: dict[str, set[tuple[str, str]]] = {}
    for name, labels in exported:
        known.setdefault(name, set()).update(labels)
    spoken = set()
    for alert, expression in alerts.items():
        for selector in selectors(promql_parser.parse(expression)):
            if selector.name == "up":
                continue
            assert selector.name in known, f"{alert}: {selector.name}"
            spoken.add(selector.name)
            for matcher in selector.matchers.matchers:
                values = {val for label, val in known[selector.name] if label == matcher.name}
                assert set(matcher.value.split("|")) <= values, f"{alert}: {matcher.name}={matcher.value}"
    assert len(spoken) >= 9
