"""Pages of a listing and their `Link` header (docs.github.com/rest "Using pagination in the REST API")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar
from urllib.parse import urlencode

from simulator.call import Call

T = TypeVar("T")

DEFAULT_PER_PAGE = 30
MOST_PER_PAGE = 100


def whole_number(query: Mapping[str, str], name: str, default: int) -> int:
    """A number of the query; GitHub takes its default for what is not one."""
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else default


def per_page(query: Mapping[str, str]) -> int:
    return min(whole_number(query, "per_page", DEFAULT_PER_PAGE), MOST_PER_PAGE)


def page(call: Call, items: Sequence[T], *, most: int | None = None) -> tuple[Sequence[T], dict[str, str]]:
    """The items of the page asked for, and the response headers. `most`: nothing beyond so many is ever listed."""
    items = items[:most]
    size, number = per_page(call.query), whole_number(call.query, "page", 1)
    last = max(1, -(-len(items) // size))
    links = []
    if number > 1:
        links += [(min(number - 1, last), "prev")]
    if number < last:
        links += [(number + 1, "next"), (last, "last")]
    if number > 1:
        links += [(1, "first")]
    header = ", ".join(f'<{link(call, page=str(target))}>; rel="{relation}"' for target, relation in links)
    return items[(number - 1) * size : number * size], {"Link": header} if header else {}


def link(call: Call, **changes: str) -> str:
    """This request's own address with other query values."""
    return f"{call.world.links.api}{call.path}?{urlencode({**call.query, **changes})}"
