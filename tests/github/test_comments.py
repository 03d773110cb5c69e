"""One comment, whatever happens on the way: stories told to a board that can lose answers and lag behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import Comment
from bot.github.names import Marker
from tests.github.conftest import APP_ID, REPO
from tests.github.service import HangUp, Seen, Service, reply

SENTINEL = Marker("<!-- zephyr-perf-gate -->")
QUESTION = Marker("<!-- perf-gate:question -->", opens=False)
COMMENTS = "/repos/acme/widgets/issues/7/comments"
BODY = f"{SENTINEL.text}\n🤖 running"

BOT = {"login": "perf-gate[bot]", "type": "Bot"}
ANN = {"login": "ann", "type": "User"}
OTHER_BOT = {"login": "dependabot[bot]", "type": "Bot"}


@dataclass
class Board:
    """The comments of one pull request. `unlisted` are posted but not yet in listings; `lose` answers nothing, once."""

    service: Service
    stored: dict[int, dict[str, Any]] = field(default_factory=dict)
    unlisted: set[int] = field(default_factory=set)
    lose: set[str] = field(default_factory=set)
    after_post: Callable[[], None] = lambda: None
    per_page: int = 100

    def __post_init__(self) -> None:
        self.service.on("GET", COMMENTS, self._list)
        self.service.on("POST", COMMENTS, self._post)

    def add(self, body: str, user: dict[str, str] | None = BOT, app_id: int | None = None) -> int:
        comment_id = 100 + len(self.stored)
        at = "2026-08-03T09:00:00Z"
        self.stored[comment_id] = {
            "id": comment_id,
            "body": body,
            "user": user,
            "created_at": at,
            "updated_at": at,
            "html_url": f"https://github.test/acme/widgets/pull/7#issuecomment-{comment_id}",
            "performed_via_github_app": None if app_id is None else {"id": app_id, "slug": "x"},
        }
        for method, answer in (("GET", self._get), ("PATCH", self._patch), ("DELETE", self._delete)):
            self.service.on(method, f"/repos/acme/widgets/issues/comments/{comment_id}", answer)
        return comment_id

    def bodies(self) -> dict[int, str]:
        return {comment_id: comment["body"] for comment_id, comment in self.stored.items() if comment is not None}

    def _list(self, seen: Seen) -> web.StreamResponse:
        assert seen.query["per_page"] == "100"
        page = int(seen.query.get("page", "1"))
        listed = [self.stored[key] for key in sorted(self.stored) if key not in self.unlisted]
        self.unlisted.clear()
        chunk = listed[(page - 1) * self.per_page : page * self.per_page]
        headers = {}
        if page * self.per_page < len(listed):
            address = f"{self.service.url}/repositories/99/issues/7/comments?per_page=100&page={page + 1}"
            headers["link"] = f'<{address}>; rel="next", <{address}>; rel="last"'
            self.service.on("GET", "/repositories/99/issues/7/comments", self._list)
        return web.json_response(chunk, headers=headers)

    def _post(self, seen: Seen) -> web.StreamResponse:
        comment_id = self.add(seen.json["body"])
        self.after_post()
        return self._answer("POST", web.json_response(self.stored[comment_id], status=201))

    def _get(self, seen: Seen) -> web.StreamResponse:
        comment = self.stored.get(_id(seen))
        return web.json_response(comment or {"message": "Not Found"}, status=200 if comment else 404)

    def _patch(self, seen: Seen) -> web.StreamResponse:
        if _id(seen) not in self.stored:
            return web.json_response({"message": "Not Found"}, status=404)
        self.stored[_id(seen)]["body"] = seen.json["body"]
        return self._answer("PATCH", web.json_response(self.stored[_id(seen)]))

    def _delete(self, seen: Seen) -> web.StreamResponse:
        gone = self.stored.pop(_id(seen), None) is None
        return web.Response(status=404 if gone else 204)

    def _answer(self, method: str, response: web.Response) -> web.StreamResponse:
        if method in self.lose:
            self.lose.remove(method)
            raise HangUp
        return response


def _id(seen: Seen) -> int:
    found = re.search(r"/comments/(\d+)$", seen.path)
    assert found
    return int(found[1])


@pytest.fixture
def board(service: Service) -> Board:
    return Board(service)


def writes(service: Service) -> list[str]:
    return [seen.method for seen in service.requests if seen.method != "GET" and "access_tokens" not in seen.path]


async def say(gh: GitHub, body: str = BODY, known_id: int | None = None, marker: Marker = SENTINEL) -> Comment:
    return await gh.comments.upsert(REPO, 7, marker, body, known_id)


async def test_first_word_is_posted_and_later_ones_edit_it(gh: GitHub, board: Board, service: Service) -> None:
    board.add("@perf-gate", ANN)
    first = await say(gh)
    second = await say(gh, f"{SENTINEL.text}\n🤖 done", first.id)
    assert first.id == second.id
    assert second.body.endswith("done")
    assert second.author_is_own_app
    assert second.created_at == datetime(2026, 8, 3, 9, tzinfo=UTC)
    assert board.bodies() == {100: "@perf-gate", 101: f"{SENTINEL.text}\n🤖 done"}
    assert writes(service) == ["POST", "PATCH"]


async def test_what_is_already_said_is_not_written_again(gh: GitHub, board: Board, service: Service) -> None:
    known = board.add(BODY.replace("\n", "\r\n") + "\n")
    assert (await say(gh, known_id=known)).id == known
    assert (await say(gh)).id == known
    assert writes(service) == []


async def test_memory_lost_the_comment_is_found_by_marker_and_author(gh: GitHub, board: Board) -> None:
    board.add(BODY, ANN)
    board.add(f"quoting {SENTINEL.text}")
    ours = board.add(f"{SENTINEL.text}\nold")
    assert (await say(gh)).id == ours


@pytest.mark.parametrize(
    ("user", "app_id"), [(ANN, None), (OTHER_BOT, None), (OTHER_BOT, 8), (None, APP_ID), (ANN, APP_ID)]
)
async def test_forged_sentinel_is_left_alone(
    gh: GitHub, board: Board, user: dict[str, str] | None, app_id: int | None
) -> None:
    forged = board.add(BODY, user, app_id)
    ours = await say(gh, f"{SENTINEL.text}\n🤖 true")
    assert ours.id != forged
    assert board.bodies()[forged] == BODY


async def test_stored_id_that_is_not_ours_is_not_edited(gh: GitHub, board: Board) -> None:
    theirs = board.add("hello", ANN)
    assert (await say(gh, known_id=theirs)).id != theirs
    assert board.bodies()[theirs] == "hello"


async def test_renamed_app_knows_its_comments_by_its_id(gh: GitHub, board: Board) -> None:
    old = board.add(f"{SENTINEL.text}\nold", {"login": "former-name[bot]", "type": "Bot"}, APP_ID)
    assert (await say(gh)).id == old


async def test_deleted_comment_is_posted_anew(gh: GitHub, board: Board) -> None:
    first = await say(gh)
    board.stored.pop(first.id)
    board.stored[1] = {}  # keeps ids rising
    board.stored.pop(1)
    board.add("talk", ANN)
    again = await say(gh, known_id=first.id)
    assert board.bodies()[again.id] == BODY


async def test_lost_answer_to_a_post_leads_to_one_comment(gh: GitHub, board: Board, service: Service) -> None:
    board.lose = {"POST"}
    with pytest.raises(Fault) as caught:
        await say(gh)
    assert caught.value.retryable
    assert (await say(gh)).id == 100
    assert board.bodies() == {100: BODY}
    assert writes(service) == ["POST"]


async def test_lost_answer_to_an_edit_is_not_repeated(gh: GitHub, board: Board, service: Service) -> None:
    known = board.add(f"{SENTINEL.text}\nold")
    board.lose = {"PATCH"}
    with pytest.raises(Fault):
        await say(gh, known_id=known)
    assert (await say(gh, known_id=known)).body == BODY
    assert writes(service) == ["PATCH"]


async def test_lagging_listing_ends_in_one_comment_all_the_same(gh: GitHub, board: Board) -> None:
    """The first post was done but not answered, and the listing does not show it yet when the bot looks."""
    board.lose = {"POST"}
    with pytest.raises(Fault):
        await say(gh)
    board.unlisted = {100}
    newer = f"{SENTINEL.text}\n🤖 newer"
    kept = await say(gh, newer)
    assert kept.id == 100
    assert board.bodies() == {100: newer}


async def test_fresh_comment_missing_from_the_listing_is_not_posted_twice(
    gh: GitHub, board: Board, service: Service
) -> None:
    board.after_post = lambda: board.unlisted.update(board.stored)
    assert (await say(gh)).id == 100
    assert writes(service) == ["POST"]


async def test_of_several_the_oldest_stays(gh: GitHub, board: Board) -> None:
    board.add("talk", ANN)
    for _ in range(3):
        board.add(f"{SENTINEL.text}\nold")
    assert (await say(gh)).id == 101
    assert board.bodies() == {100: "talk", 101: BODY}


async def test_comment_deleted_between_look_and_edit_is_posted_anew(gh: GitHub, board: Board, service: Service) -> None:
    known = board.add(f"{SENTINEL.text}\nold")
    service.on("PATCH", f"/repos/acme/widgets/issues/comments/{known}", reply({"message": "Not Found"}, 404))
    service.on("GET", COMMENTS, reply([]))
    assert (await say(gh, known_id=known)).id != known


async def test_marker_inside_counts_only_alone_on_its_line(gh: GitHub, board: Board) -> None:
    """A canonical comment that quotes somebody's words must not be taken for the question."""
    quoting = board.add(f"{SENTINEL.text}\nreason: because {QUESTION.text}")
    asked = await say(gh, f"🤖 Zephyr perf gate assessment\n{QUESTION.text}\n", marker=QUESTION)
    again = await say(gh, f"🤖 Zephyr perf gate assessment, again\n{QUESTION.text}\n", marker=QUESTION)
    assert quoting != asked.id == again.id
    assert len(board.bodies()) == 2


async def test_body_without_its_marker_is_never_sent(gh: GitHub, board: Board, service: Service) -> None:
    with pytest.raises(ValueError, match="does not carry its marker"):
        await say(gh, "🤖 lost for ever")
    assert service.requests == []


async def test_listing_follows_the_link_header_to_the_end(gh: GitHub, board: Board, service: Service) -> None:
    board.per_page = 2
    for number in range(5):
        board.add(f"comment {number}", ANN)
    listed = await gh.comments.list(REPO, 7)
    assert [comment.body for comment in listed] == [f"comment {number}" for number in range(5)]
    assert len(service.asked()) == 1 + 3  # the App's identity, then three pages


async def test_listing_from_a_moment_on(gh: GitHub, board: Board, service: Service) -> None:
    await gh.comments.list(REPO, 7, since=datetime(2026, 8, 3, 9, tzinfo=UTC))
    assert service.requests[-1].query["since"] == "2026-08-03T09:00:00Z"


async def test_next_page_on_another_server_is_not_fetched(gh: GitHub, service: Service) -> None:
    thief = Service()
    await thief.start()
    service.on("GET", COMMENTS, reply([], headers={"link": f'<{thief.url}/steal>; rel="next"'}))
    with pytest.raises(Fault, match="another server"):
        await gh.comments.list(REPO, 7)
    assert thief.requests == []
    await thief.stop()


async def test_comment_of_a_deleted_account_has_a_ghost_for_author(gh: GitHub, board: Board) -> None:
    board.add("bye", None)
    (only,) = await gh.comments.list(REPO, 7)
    assert (only.author_login, only.author_is_own_app) == ("ghost", False)


async def test_reaction_to_a_deleted_comment_is_no_fault(gh: GitHub, service: Service) -> None:
    service.on("POST", "/repos/acme/widgets/issues/comments/5/reactions", reply({"message": "Not Found"}, 404))
    assert not await gh.comments.react(REPO, 5, "eyes")
