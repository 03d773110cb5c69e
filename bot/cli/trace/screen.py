"""A trace for a terminal: one line a hop, attempts and processes below their effect, quiet looks at a ferry as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.cli.trace.hops import Attempt, Hop, Process

_QUIET = frozenset({"CheckDue", "Watched", "QueueSeen", "watch", "queue"})


def lines(found: Sequence[Hop], *, full: bool) -> Iterator[str]:
    day = ""
    for hop in found if full else _folded(found):
        if (today := f"{hop.at:%Y-%m-%d}") != day:
            day = today
            yield day
        mark = ">" if hop.asked else " "
        known_by = hop.id if hop.what in ("delivery", "effect", "iris", "comment") else ""
        yield f"{mark} {hop.at:%H:%M:%S.%f}"[:-3] + f"  {hop.what:<8}  {' '.join(filter(None, (known_by, hop.text)))}"
        for attempt in hop.attempts:
            yield from _attempt(attempt, alone=len(hop.attempts) == 1, full=full)


def _attempt(attempt: Attempt, *, alone: bool, full: bool) -> Iterator[str]:
    if not (alone and attempt.ended_as == "done"):
        after = f" after {attempt.seconds:.3f} s" if attempt.ended_as != "done" else f" in {attempt.seconds:.3f} s"
        error = f": {attempt.error}" if attempt.error else ""
        yield f"{'':>26}attempt {attempt.number} {attempt.ended_as}{after}{error}"
    plumbing = [] if full else [one for one in attempt.processes if _is_plumbing(one)]
    for process in attempt.processes:
        if process not in plumbing:
            yield f"{'':>26}$ {process.command}  {_end(process)}"
    if plumbing:
        spent = sum(one.seconds for one in plumbing)
        yield f"{'':>26}$ git, to read what was fetched: {len(plumbing)} times  [exit 0, {spent:.3f} s]"


def _is_plumbing(process: Process) -> bool:
    return process.command.startswith("git ") and not process.command.startswith("git fetch") and process.exit_code == 0


def _end(process: Process) -> str:
    ended = f"exit {process.exit_code}" if process.exit_code is not None else process.cut_off_by or "killed"
    return f"[{ended}, {process.seconds:.3f} s{f', {process.log}' if process.log else ''}]"


def _folded(found: Sequence[Hop]) -> Iterator[Hop]:
    """Looks at which nothing came to light, as one line at the first of them."""
    quiet: list[Hop] = []
    for hop in found:
        if _is_quiet(hop):
            quiet.append(hop)
            continue
        yield from _told(quiet)
        quiet = []
        yield hop
    yield from _told(quiet)


def _told(quiet: list[Hop]) -> Iterator[Hop]:
    looks = [hop for hop in quiet if hop.what == "effect"]
    if len(looks) < 2:
        yield from quiet
        return
    first, last = looks[0], looks[-1]
    text = f"{len(looks)} looks without news until {last.at:%Y-%m-%d %H:%M:%S}; --full shows them"
    yield Hop(first.at, "effect", first.id, text, kind=first.kind)


def _is_quiet(hop: Hop) -> bool:
    if hop.asked or hop.kind not in _QUIET or hop.what == "iris":
        return False
    went_well = all(attempt.ended_as == "done" for attempt in hop.attempts)
    return went_well and " → " not in hop.text and not hop.text.startswith(("waits", "being done"))
