"""The pages people read: a pull request's conversation as GitHub would show it, with a box to say something in."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from simulator.clock import stamp
from simulator.markup import rendered
from simulator.pull_payloads import pull_changes
from simulator.routes.collaborators import standing
from simulator.state import Comment, Issue, Pull, Repository

if TYPE_CHECKING:
    from simulator.simulator import Simulator

_STYLE = (Path(__file__).parent / "page.css").read_text()
_SCRIPT = (Path(__file__).parent / "page.js").read_text()
_EMOJI = {
    "+1": "👍",
    "-1": "👎",
    "laugh": "😄",
    "hooray": "🎉",
    "confused": "😕",
    "heart": "❤️",
    "rocket": "🚀",
    "eyes": "👀",
}
# How long a page waits for news before it asks again.
_PATIENCE_SECONDS = 25.0


def add_pages(app: web.Application, sim: Simulator) -> None:
    async def index(request: web.Request) -> web.Response:
        pulls = [(repository, issue) for repository in sim.world.repositories.values() for issue in _newest(repository)]
        rows = [
            f'<li><a href="/{_address(r, i)}">{escape(r.full_name)}#{i.number} {escape(i.title)}</a></li>'
            for r, i in pulls
        ]
        return _page("Pull requests", f"<h1>Pull requests</h1><ul>{''.join(rows) or '<li>None yet.</li>'}</ul>")

    async def conversation(request: web.Request) -> web.Response:
        issue = _issue(sim, request)
        body = await _conversation(sim, issue)
        return _page(f"{issue.title} · #{issue.number}", body, version=sim.world.version)

    async def say(request: web.Request) -> web.Response:
        issue = _issue(sim, request)
        if request.headers.get("Origin", sim.web_url) not in {sim.web_url, f"http://{request.host}"}:
            raise web.HTTPForbidden(text="comments are typed on this page only")
        form = await request.post()
        author, body = str(form.get("author", "")).strip(), str(form.get("body", "")).replace("\r\n", "\n")
        if not author or not body.strip():
            raise web.HTTPBadRequest(text="a comment needs an author and words")
        comment = await sim.comment(issue.repository, issue.number, author, body)
        raise web.HTTPSeeOther(f"/{_address(issue.repository, issue)}#issuecomment-{comment.id}")

    async def news(request: web.Request) -> web.Response:
        """The world's version, as soon as it is another than `after`."""
        _issue(sim, request)
        after = request.query.get("after", "")
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await sim.wait_for(lambda: str(sim.world.version) != after)
        except TimeoutError:
            return web.Response(text=after)
        return web.Response(text=str(sim.world.version))

    app.router.add_get("/", index)
    for kind in ("pull", "issues"):
        app.router.add_get(f"/{{owner}}/{{repo}}/{kind}/{{number:\\d+}}", conversation)
        app.router.add_post(f"/{{owner}}/{{repo}}/{kind}/{{number:\\d+}}/comments", say)
        app.router.add_get(f"/{{owner}}/{{repo}}/{kind}/{{number:\\d+}}/news", news)


def _newest(repository: Repository) -> list[Issue]:
    return list(reversed(repository.issues.values()))


def _issue(sim: Simulator, request: web.Request) -> Issue:
    where = request.match_info
    try:
        return sim.world.issue(f"{where['owner']}/{where['repo']}", int(where["number"]))
    except LookupError:
        raise web.HTTPNotFound(text="Not Found") from None


def _address(repository: Repository, issue: Issue) -> str:
    return escape(f"{repository.full_name}/{'pull' if isinstance(issue, Pull) else 'issues'}/{issue.number}")


async def _conversation(sim: Simulator, issue: Issue) -> str:
    comments = "".join(_comment(comment) for comment in issue.comments)
    opening = _box(issue.author.login, stamp(issue.created_at), issue.body or "")
    return (
        f"<h1>{escape(issue.title)} <span class=dim>#{issue.number}</span></h1>"
        f"<main id=conversation>{await _head(issue)}{opening}"
        f"{comments}</main>{_form(sim, issue)}"
    )


async def _head(issue: Issue) -> str:
    if not isinstance(issue, Pull):
        return f"<p><span class={issue.state}>{issue.state}</span> {escape(issue.author.login)} opened this issue</p>"
    state = "merged" if issue.merged_at else issue.state
    files = await pull_changes(issue)
    rows = "".join(
        f"<li><code>{escape(file.path)}</code> <span class=plus>+{file.additions}</span>"
        f" <span class=minus>−{file.deletions}</span></li>"
        for file in files
    )
    owner = issue.head_owner.login if issue.head_owner else issue.author.login
    return (
        f"<p><span class={state}>{state}</span> <b>{escape(issue.author.login)}</b> wants to merge"
        f" <code>{escape(owner)}:{escape(issue.head_ref)}</code> at <code>{issue.head_sha[:12]}</code>"
        f" into <code>{escape(issue.base_ref)}</code></p>"
        f"<details><summary>Files changed: {len(files)}</summary><ul>{rows}</ul></details>"
    )


def _comment(comment: Comment) -> str:
    when = stamp(comment.created_at)
    if comment.updated_at != comment.created_at:
        when += f" · edited {stamp(comment.updated_at)}"
    counts = {content: [r for r in comment.reactions if r.content == content] for content in _EMOJI}
    reactions = "".join(f"<span class=reaction>{_EMOJI[c]} {len(found)}</span>" for c, found in counts.items() if found)
    return _box(comment.author.login, when, comment.body, reactions, f"issuecomment-{comment.id}")


def _box(author: str, when: str, body: str, reactions: str = "", anchor: str = "") -> str:
    badge = " <span class=badge>bot</span>" if author.endswith("[bot]") else ""
    name = f"<a href='#{anchor}'>{when}</a>" if anchor else when
    start = f"<article id={anchor}>" if anchor else "<article>"
    return (
        f"{start}<header><b>{escape(author)}</b>{badge} <span class=dim>{name}</span></header>"
        f"<div class=body>{rendered(body) or '<em class=dim>No description.</em>'}</div>"
        f"{f'<footer>{reactions}</footer>' if reactions else ''}</article>"
    )


def _form(sim: Simulator, issue: Issue) -> str:
    """The first suggestion is someone who may give commands."""
    people = [account for account in sim.world.accounts.values() if account.type == "User"]
    people.sort(key=lambda account: standing(issue.repository, account.login).permission not in {"write", "admin"})
    names = "".join(
        f"<option value='{escape(account.login)}'>{standing(issue.repository, account.login).role_name}</option>"
        for account in people
    )
    first = escape(people[0].login) if people else ""
    return (
        f"<form method=post action='/{_address(issue.repository, issue)}/comments'>"
        f"<label>Comment as <input name=author list=people required value='{first}' autocomplete=off></label>"
        f"<datalist id=people>{names}</datalist>"
        f"<textarea name=body rows=4 required placeholder='@perf-gate help' aria-label=Comment></textarea>"
        f"<button>Comment</button></form>"
    )


def _hash(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


# Nothing but this page's own style and script may load or run, whatever a comment holds.
_POLICY = (
    f"default-src 'none'; style-src {_hash(_STYLE)}; script-src {_hash(_SCRIPT)}; connect-src 'self';"
    " img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def _page(title: str, body: str, version: int | None = None) -> web.Response:
    """`version`: of the world it shows; with one, the page follows the news, by script or by loading again."""
    script = f"<script>{_SCRIPT}</script>" if version is not None else ""
    refresh = "<noscript><meta http-equiv=refresh content=10></noscript>" if version is not None else ""
    text = (
        f"<!doctype html><html lang=en data-version='{version or ''}'><head><meta charset=utf-8>"
        f"<meta name=viewport content='width=device-width'><link rel=icon href='data:,'><title>{escape(title)}</title>"
        f"{refresh}<style>{_STYLE}</style></head><body>{body}{script}</body></html>"
    )
    return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": _POLICY})
