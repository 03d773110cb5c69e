"""Deliveries that never arrived, asked for again. GitHub never repeats one by itself, and keeps them for three days.

Source: https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.github.model import HookDelivery

KEPT = timedelta(days=3)
# What changes a run; of all else not even a lost delivery matters.
WANTED = frozenset({"issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment"})
# Of check runs only what people press: of each one in the repository it is told that it began and ended.
WANTED_ACTIONS = frozenset(
    {("check_run", "requested_action"), ("check_run", "rerequested"), ("check_suite", "rerequested")}
)
# A delivery that fails so often fails for a reason of its own: the bot answers 503, or the address is wrong.
MOST_ATTEMPTS = 8
# One round must not fill the write limit that comments live by.
MOST_A_ROUND = 50
FIRST_WAIT = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Missed:
    """`again` are the attempts to repeat, oldest first; `given_up` counts deliveries that failed too often."""

    again: tuple[HookDelivery, ...]
    given_up: int = 0


def missed(log: Sequence[HookDelivery], unheard: Collection[str], now: datetime) -> Missed:
    """Which deliveries of GitHub's log are to be asked for again: those whose GUID the inbox does not know.

    What GitHub counts as failed may have been stored all the same (the answer was lost), and what it counts as
    delivered may be unknown (the database is older, out of a backup): the inbox knows better. Each further attempt
    waits twice as long, so that a bot that cannot store anything does not hammer itself.
    """
    attempts: dict[str, list[HookDelivery]] = {}
    for one in log:
        wanted = one.event in WANTED or (one.event, one.action) in WANTED_ACTIONS
        if wanted and one.guid in unheard:
            attempts.setdefault(one.guid, []).append(one)
    again, given_up = [], 0
    for tries in attempts.values():
        latest = max(tries, key=lambda one: (one.delivered_at, one.id))
        if len(tries) >= MOST_ATTEMPTS:
            given_up += 1
        elif latest.delivered_at + FIRST_WAIT * 2 ** (len(tries) - 1) <= now:
            again.append(latest)
    oldest_first = sorted(again, key=lambda one: (one.delivered_at, one.id))
    return Missed(tuple(oldest_first[:MOST_A_ROUND]), given_up)
