"""Who may read what: everybody the runs of public repositories, operators all; in doubt a repository is private."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, CookieJar
from pydantic import SecretStr

from bot.faults import Fault
from bot.server.pages.access import COOKIE, SESSION, Operators
from bot.server.pages.routes import HEADERS
from bot.server.pages.visibility import ASKED_AGAIN, BELIEVED_FOR, OUTLIVES_GITHUB, Visibility
from tests.conversations.world import START, World, world

TOKEN = "the operators' own token"
WITH_TOKEN = {"operator_token": SecretStr(TOKEN)}


async def get(scene: World, path: str, **how: Any) -> tuple[int, str]:
    async with ClientSession() as session, session.get(scene.door.make_url(path), **how) as answer:
        return answer.status, await answer.text()


async def test_runs_of_a_public_repository_are_open(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        status, page = await get(scene, f"/runs/{run.id}")
        assert status == 200
        assert "awaiting reviewer" in page
        status, page = await get(scene, "/")
        assert f"/runs/{run.id}" in page


async def test_runs_of_a_private_repository_are_the_operators(tmp_path: Path) -> None:
    async with world(tmp_path, settings=WITH_TOKEN) as scene:
        await scene.to_question()
        run = await scene.run()
        scene.repository.private = True
        for path in (f"/runs/{run.id}", "/runs/no-such-run"):
            status, page = await get(scene, path)
            assert status == 404
            assert "There is no such run, or it is of a private repository" in page
            assert "marin-community" not in page
        status, page = await get(scene, "/")
        assert "1 run of private repositories is shown to operators only" in page
        assert run.id not in page
        assert "marin-community" not in page
        _, page = await get(scene, "/tiers/1")
        assert "marin-community" not in page
        status, page = await get(scene, f"/runs/{run.id}", headers={"Authorization": f"Bearer {TOKEN}"})
        assert status == 200
        assert "awaiting reviewer" in page
        status, _ = await get(scene, f"/runs/{run.id}", headers={"Authorization": "Bearer another token"})
        assert status == 404


async def test_where_github_does_not_say_a_repository_is_private(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        scene.sim.fault("status", method="GET", path="/repos/*/*", status=502, times=None)
        assert (await get(scene, f"/runs/{run.id}"))[0] == 404


async def test_pages_of_a_public_repository_stay_open_while_github_is_down(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        assert (await get(scene, f"/runs/{run.id}"))[0] == 200
        scene.sim.fault("status", method="GET", path="/repos/*/*", status=502, times=None)
        scene.clock.advance(BELIEVED_FOR + timedelta(seconds=1))
        assert (await get(scene, f"/runs/{run.id}"))[0] == 200
        assert "private repositories" not in (await get(scene, "/"))[1]


Answer = bool | Exception


async def test_what_github_called_public_stays_so_for_hours_that_it_cannot_be_reached() -> None:
    now, answers = START, list[Answer]()

    async def ask(_name: str, _through: int) -> bool:
        if not answers:
            await asyncio.Event().wait()
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    visibility = Visibility(ask, lambda: now, patience_seconds=0.01)

    async def later(span: timedelta, *said: Answer) -> bool:
        nonlocal now
        now += span
        answers[:] = said
        return await visibility.public([("o/r", 1)]) == {"o/r"}

    down = Fault("GitHub does not answer", retryable=True)
    # Never asked before: private.
    assert not await later(timedelta(0), down)
    assert await later(BELIEVED_FOR, True)
    assert await later(BELIEVED_FOR, down)
    # It hangs: no page waits for it.
    assert await later(BELIEVED_FOR)
    # A refusal is an answer of a kind: the App was suspended, or may not read any more.
    assert not await later(BELIEVED_FOR, Fault("GitHub refused"))
    assert not await later(BELIEVED_FOR, down)
    assert await later(BELIEVED_FOR, True)
    assert not await later(OUTLIVES_GITHUB, down)
    assert await later(BELIEVED_FOR, True)
    assert not await later(BELIEVED_FOR, False)
    assert not await later(BELIEVED_FOR, down)


async def test_a_gap_of_github_while_the_bot_starts_closes_no_page_for_minutes() -> None:
    now, asked = START, 0
    answers: list[Answer] = [*(Fault("GitHub does not answer", retryable=True) for _ in range(2)), True]

    async def ask(_name: str, _through: int) -> bool:
        nonlocal asked
        asked += 1
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    visibility = Visibility(ask, lambda: now)
    shown = []
    for span in (timedelta(0), ASKED_AGAIN / 2, ASKED_AGAIN / 2, ASKED_AGAIN):
        now += span
        shown.append(bool(await visibility.public([("o/r", 1)])))
    # Not at every page either: those who reload would all wait for it.
    assert (shown, asked) == ([False, False, False, True], 3)


async def test_what_is_added_to_a_link_changes_no_page(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        for path in (f"/runs/{run.id}?utm_source=chat", "/?fbclid=1", "/tiers/1?x", "/?all=1&x=2"):
            assert (await get(scene, path))[0] == 200, path


async def test_where_no_page_can_be_drawn_the_log_says_why(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with world(tmp_path) as scene:
        database = scene.app.rooms.settings.database_file
        aside = database.rename(database.with_suffix(".aside"))
        status, said = await get(scene, "/")
        aside.rename(database)
    assert (status, said) == (503, "The state cannot be read at this moment; the log says why.")
    assert any(record.message == "a page cannot be drawn" for record in caplog.records)


async def test_github_is_asked_once_in_a_while_and_what_is_made_private_is_closed(tmp_path: Path) -> None:
    async with world(tmp_path) as scene:
        await scene.to_question()
        run = await scene.run()
        for path in (f"/runs/{run.id}", "/"):
            assert (await get(scene, path))[0] == 200
        before = scene.asked_github()
        for _ in range(5):
            await get(scene, "/")
        assert scene.asked_github() == before
        scene.repository.private = True
        scene.clock.advance(BELIEVED_FOR + timedelta(seconds=1))
        assert (await get(scene, f"/runs/{run.id}"))[0] == 404


async def test_an_operator_signs_in_and_out(tmp_path: Path) -> None:
    async with world(tmp_path, settings=WITH_TOKEN) as scene:
        await scene.to_question()
        run = await scene.run()
        scene.repository.private = True
        page, door = scene.door.make_url(f"/runs/{run.id}"), scene.door.make_url("/sign-in")
        # The tests' address is a number, for which a jar keeps cookies only when told to.
        async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
            async with session.post(door, data={"token": "guessed", "next": f"/runs/{run.id}"}) as refused:
                assert refused.status == 403
                assert "That is not the token" in await refused.text()
            async with session.post(door, data={"token": TOKEN, "next": f"/runs/{run.id}"}) as entered:
                assert entered.url == page
                assert entered.status == 200
                cookie = entered.history[0].headers["Set-Cookie"]
                assert TOKEN not in cookie
                assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
            await session.post(scene.door.make_url("/sign-out"))
            async with session.get(page) as answer:
                assert answer.status == 404


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
async def test_the_door_leads_nowhere_else(tmp_path: Path, to: str) -> None:
    async with world(tmp_path, settings=WITH_TOKEN) as scene, ClientSession() as session:
        form = {"token": TOKEN, "next": to}
        async with session.post(scene.door.make_url("/sign-in"), data=form, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/")
        assert "evil" not in (await get(scene, f"/sign-in?next={to}"))[1]


class Shown:
    """A request with this cookie."""

    def __init__(self, cookie: str) -> None:
        self.cookies = {COOKIE: cookie}
        self.headers: dict[str, str] = {}


def test_a_session_ends_and_cannot_be_made_up() -> None:
    now = START
    operators = Operators(TOKEN, lambda: now)
    session = operators.session()
    until, _, signature = session.partition(".")
    assert operators.admits(Shown(session))  # type: ignore[arg-type]
    assert not operators.admits(Shown(f"{int(until) + 1}.{signature}"))  # type: ignore[arg-type]
    assert not operators.admits(Shown(f"{until}.{'0' * 64}"))  # type: ignore[arg-type]
    assert not Operators("another token of theirs", lambda: now).admits(Shown(session))  # type: ignore[arg-type]
    assert not Operators(None, lambda: now).admits(Shown(session))  # type: ignore[arg-type]
    now += SESSION
    assert not operators.admits(Shown(session))  # type: ignore[arg-type]


async def test_every_answer_forbids_what_a_page_does_not_need(tmp_path: Path) -> None:
    async with world(tmp_path) as scene, ClientSession() as session:
        for path in ("/", "/runs/none", "/tiers/1", "/tiers/9", "/sign-in", "/static/style.css", "/static/live.js"):
            async with session.get(scene.door.make_url(path)) as answer:
                page = await answer.text()
                assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"], path
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                # Nothing inline, nothing from elsewhere.
                assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon[a-z]+=", page), path
                assert not re.findall(r'(?:src|href)="(?!/|#|http://127\.0\.0\.1)[^"]*"', page), path
        assert (await get(scene, "/static/..%2faccess.py"))[0] == 404


async def test_private_words_of_an_error_are_for_operators(tmp_path: Path) -> None:
    async with world(tmp_path, settings=WITH_TOKEN) as scene:
        await scene.to_question()
        scene.sim.fault("status", method="PATCH", path="*/issues/comments/*", status=502, times=None)
        await scene.says("rev", "@perf-gate stop")
        scene.new_comments()
        run = await scene.run()
        _, page = await get(scene, f"/runs/{run.id}")
        assert "its error is shown to operators" in page
        assert "HTTP 502" not in page
        _, page = await get(scene, f"/runs/{run.id}", headers={"Authorization": f"Bearer {TOKEN}"})
        assert "HTTP 502" in page
