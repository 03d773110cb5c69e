"""The conversation as people read it, and the box they type into."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from simulator.markup import rendered
from simulator.simulator import Simulator
from tests.simulator.client import AppClient, Listener

MARIN = "marin-community/marin"

COMMENT = """<!-- zephyr-perf-gate -->
🤖 **pass** <script>alert(1)</script>

| Stage | Δ |
|---|--:|
| normalize | +2.1 % |

<details><summary>Raw & more</summary>

- `code <b>`

[x](javascript:alert(1)) <img src=x onerror=alert(1)>
"""


async def fetch(url: str) -> tuple[str, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.status == 200
        return await answer.text(), answer.headers["Content-Security-Policy"]


async def test_a_comment_looks_as_on_github_and_does_no_harm() -> None:
    html = rendered(COMMENT)
    assert "zephyr-perf-gate" not in html
    assert '<td align="right">+2.1 %</td>' in html
    assert "<details><summary>Raw &amp; more</summary>" in html
    assert html.endswith("</details>")
    assert "&lt;script&gt;alert(1)" in html
    assert "<img" not in html
    assert "href=" not in html
    assert "<code>code &lt;b&gt;</code>" in html


@pytest.mark.parametrize(
    "hostile", ["</main></body>", "<details onclick=x>", "<!-- open", "<summary><style>", "<a href=x>"]
)
async def test_raw_html_stays_inside_its_box(hostile: str) -> None:
    html = rendered(f"before {hostile} after")
    for tag in ("</main", "</body", "onclick", "<style", "<a "):
        assert tag not in html


async def test_the_page_shows_who_said_what_and_what_changes(simulator: Simulator, github: AppClient) -> None:
    pull = await simulator.open_pull(
        MARIN, author="alice", title="Sort <fast>", files={"lib/<b>.py": "1\n"}, body="Why: *speed*"
    )
    await simulator.comment(MARIN, pull.number, "reviewer", "@perf-gate")
    answer = (await github.post(f"/repos/{MARIN}/issues/{pull.number}/comments", {"body": COMMENT})).body
    await github.post(f"/repos/{MARIN}/issues/comments/{answer['id']}/reactions", {"content": "eyes"})
    text, policy = await fetch(f"{simulator.web_url}/{MARIN}/pull/{pull.number}")
    for expected in (
        "Sort &lt;fast&gt;",
        "<b>alice</b> wants to merge",
        "<code>lib/&lt;b&gt;.py</code> <span class=plus>+1</span>",
        "Why: <em>speed</em>",
        "<b>reviewer</b>",
        "<b>perf-gate[bot]</b> <span class=badge>bot</span>",
        "👀 1",
    ):
        assert expected in text, expected
    assert "default-src 'none'" in policy
    index, _ = await fetch(simulator.web_url)
    assert f'href="/{MARIN}/pull/{pull.number}"' in index


async def test_what_is_typed_there_is_delivered(simulator: Simulator, github: AppClient, listener: Listener) -> None:
    await simulator.collaborator(MARIN, "reviewer", "write")
    pull = await simulator.open_pull(MARIN, author="alice", files={"a.py": "1\n"})
    page = f"{simulator.web_url}/{MARIN}/pull/{pull.number}"
    assert "value='reviewer'" in (await fetch(page))[0]
    form = {"author": "reviewer", "body": "@perf-gate go\r\nplease"}
    async with aiohttp.ClientSession() as session:
        version = str(simulator.world.version)
        news = asyncio.create_task(fetch_text(session, f"{page}/news?after={version}"))
        async with session.post(f"{page}/comments", data=form, allow_redirects=False) as answer:
            assert answer.status == 303
        assert await news != version
        async with session.post(f"{page}/comments", data=form, headers={"Origin": "https://evil.example"}) as answer:
            assert answer.status == 403
        async with session.post(f"{page}/comments", data={"author": "reviewer", "body": " "}) as answer:
            assert answer.status == 400
        async with session.get(f"{simulator.web_url}/{MARIN}/pull/99") as answer:
            assert answer.status == 404
    await simulator.settled()
    (payload,) = [payload for _, payload in listener.events("issue_comment")]
    assert (payload["comment"]["body"], payload["sender"]["login"]) == ("@perf-gate go\nplease", "reviewer")


async def fetch_text(session: aiohttp.ClientSession, url: str) -> str:
    async with session.get(url) as answer:
        return await answer.text()
