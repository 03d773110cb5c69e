"""Which run is meant: people name one by whatever they have at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from bot.gating.model import PullRequest

Pulls = Mapping[str, PullRequest]
"""By their aggregate's key."""

_ADDRESS = re.compile(r"https?://[^/]+/([^/]+/[^/]+)/pull/(\d+)(?:[/#?].*)?")
_SHA = re.compile(r"[0-9a-f]{4,40}")


class Unknown(Exception):
    """No run, or more than one; the message says which were near."""


def find(asked: str, pulls: Pulls) -> str:
    """The key of the pull request whose current or earlier run is meant. Raises Unknown."""
    wanted = _normal(asked)
    found = [key for key, pr in pulls.items() if wanted in _names(key, pr)]
    if not found and _SHA.fullmatch(wanted):
        found = [key for key, pr in pulls.items() if any(sha.startswith(wanted) for sha in _shas(pr))]
    if len(found) == 1:
        return found[0]
    if found:
        raise Unknown(f"{asked} may be any of {', '.join(_title(key, pulls[key]) for key in found[:10])}; name one")
    raise Unknown(f"there is no run {asked}{_hint(wanted, pulls)}")


def _normal(asked: str) -> str:
    address = _ADDRESS.fullmatch(asked.strip())
    return (f"{address[1]}#{address[2]}" if address else asked.strip().removeprefix("#")).lower()


def _names(key: str, pr: PullRequest) -> Iterator[str]:
    yield key
    if pr.place is not None:
        yield f"{pr.place.full_name}#{pr.place.number}".lower()
        yield str(pr.place.number)
    for earlier in pr.earlier:
        yield earlier.id
    if pr.run is not None:
        yield pr.run.id
        for attempt in (attempt for gate in pr.run.gates for attempt in gate.attempts):
            yield from (name.lower() for name in (attempt.job_id, attempt.job_name) if name)


def _shas(pr: PullRequest) -> Iterator[str]:
    if pr.run is not None:
        yield pr.run.head_sha
    yield pr.head_sha
    yield from (earlier.head_sha for earlier in pr.earlier)


def _title(key: str, pr: PullRequest) -> str:
    return f"{pr.place.full_name}#{pr.place.number}" if pr.place is not None else key


def _hint(wanted: str, pulls: Pulls) -> str:
    if not pulls:
        return "; nobody has asked for one yet"
    known = {name: (key, _shown(name, key, pr)) for key, pr in pulls.items() for name in _names(key, pr) if name}
    close: dict[str, str] = {}
    for name in get_close_matches(wanted, known, n=9, cutoff=0.6):
        # The nearest name of each; three are enough to choose from.
        close.setdefault(*known[name])
    suggested = list(close.values())[:3]
    return f"; did you mean {' or '.join(suggested)}?" if suggested else "; perf-gate runs --all lists them"


def _shown(name: str, key: str, pr: PullRequest) -> str:
    """A suggestion that can be typed and says which it is."""
    return _title(key, pr) if name in (str(pr.place.number) if pr.place else "", _title(key, pr).lower()) else name
