"""Deliveries that never arrived, asked for again. GitHub never repeats one by itself, and keeps them for three days.

Source: https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from bot.github.model import HookDelivery

KEPT = timedelta(days=3)
# GitHub's lists lag a little: whoever reads one again looks back over some rounds.
LOOK_BACK = timedelta(hours=1)
# What changes a run; of all else not even a lost delivery matters.
WANTED = frozenset({"issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment"})
# Of check runs only what people press: of each one in the repository it is told that it began and ended.
WANTED_ACTIONS = frozenset(
    {("check_run", "requested_action"), ("check_run", "rerequested"), ("check_suite", "rerequested")}
)
# More than two days of them: a full disk or a wrong secret may last a weekend. What still fails has its own reason.
MOST_ATTEMPTS = 60
# One round must not fill the write limit that comments live by.
MOST_A_ROUND = 50
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)


class Missed(msgspec.Struct, frozen=True):
    """`again` are the attempts to repeat, oldest first; `given_up` counts deliveries that failed too often."""

    again: tuple[HookDelivery, ...]
    given_up: int = 0


def missed(
    log: Sequence[HookDelivery], unheard: Collection[str], now: datetime, *, just_started: bool = False
) -> Missed:
    """Which deliveries of GitHub's log are to be asked for again: those whose GUID the inbox does not know.

    What GitHub counts as failed may have been stored all the same (the answer was lost), and what it counts as
    delivered may be unknown (the database is older, out of a backup): the inbox knows better. Each further attempt
    waits twice as long, up to an hour, so that a bot that cannot store anything does not hammer itself. `just_started`:
    whoever started it may have mended what they failed by, so none waits longer than the first.
    """
    attempts: dict[str, list[HookDelivery]] = {}
    for one in log:
        if _wanted(one) and one.guid in unheard:
            attempts.setdefault(one.guid, []).append(one)
    again, given_up = [], 0
    for tries in attempts.values():
        latest = max(tries, key=lambda one: (one.delivered_at, one.id))
        if len(tries) >= MOST_ATTEMPTS:
            given_up += 1
        elif latest.delivered_at + (FIRST_WAIT if just_started else _wait(len(tries))) <= now:
            again.append(latest)
    oldest_first = sorted(again, key=lambda one: (one.delivered_at, one.id))
    return Missed(tuple(oldest_first[:MOST_A_ROUND]), given_up)


def _wait(tries: int) -> timedelta:
    # Six doublings are an hour and more; sixty would be no span that can be told.
    return min(FIRST_WAIT * (1 << min(tries - 1, 6)), LONGEST_WAIT)


def _wanted(one: HookDelivery) -> bool:
    return one.event in WANTED or (one.event, one.action) in WANTED_ACTIONS


class LogBook:
    """GitHub's log as far as it is still of interest, so that each round need read only what is new.

    What a round leaves out is older than what the next one reads, and each attempt at a delivery counts, however long
    ago: both are remembered for as long as GitHub keeps them.
    """

    def __init__(self) -> None:
        self._read_at: datetime | None = None
        self._open: dict[int, HookDelivery] = {}

    @property
    def is_new(self) -> bool:
        """Whether no round of this life has read the log yet."""
        return self._read_at is None

    def unread_since(self, now: datetime) -> datetime:
        """From when on the log is to be read; all that GitHub keeps in this life's first round."""
        oldest = now - KEPT
        return oldest if self._read_at is None else max(oldest, self._read_at - LOOK_BACK)

    def with_new(self, fresh: Sequence[HookDelivery], now: datetime) -> list[HookDelivery]:
        """All attempts that matter: what was just read, and what was open before."""
        before = (one for one in self._open.values() if one.delivered_at >= now - KEPT)
        return list({one.id: one for one in (*before, *fresh)}.values())

    def keep(self, log: Sequence[HookDelivery], unheard: Collection[str], now: datetime) -> None:
        """Of this log, read until now, what the inbox does not know."""
        self._open = {one.id: one for one in log if _wanted(one) and one.guid in unheard}
        self._read_at = now
