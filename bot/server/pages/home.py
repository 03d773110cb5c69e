"""`/`: what runs, what waits, what ended; each tier's slot, queue and last baseline; how the bot itself is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from bot.comment.sentences import stale_warning
from bot.config.load import builtin_config
from bot.engine.views import Overview
from bot.gating.draft import tier_slot
from bot.gating.model import Baseline, GatePlan, PullRequest
from bot.gating.states import RunState
from bot.runs.facts import Line, table
from bot.server.pages.reader import Moment
from bot.server.pages.schedules import Scheduled, Tiers

_WITHHELD = "its error is shown to operators"
_ELSEWHERE = "a run of another repository"
MOST_SHOWN = 50
"""Rows of one list, unless all are asked for: more than anybody reads, and a page that a phone can hold."""
_PEOPLE = frozenset({RunState.awaiting_reviewer, RunState.awaiting_escalation})


class Card(msgspec.Struct, frozen=True):
    """A run in the list; `percent` and `end` where its ferry's outlook is known, `health` while a ferry is out."""

    line: Line
    key: str
    waits_for: str = ""
    percent: int | None = None
    end: datetime | None = None
    health: str = ""
    reason: str = ""
    verdict: str = ""


class Seen(msgspec.Struct, frozen=True):
    """A tier's last scheduled run, `run_id` 0 where it has none. `stale`: older than its schedule's period. `of_a_run`:
    GitHub did not say which it is, and this is the latest that any run was compared with."""

    repository: str
    run_id: int = 0
    run_url: str = ""
    sha: str = ""
    age: timedelta = timedelta(0)
    stale: bool = False
    of_a_run: bool = False


class Tier(msgspec.Struct, frozen=True):
    """`holder` and `queue` are runs, None or a run that this reader may not see. `climbed`: as far as is known, some
    repository's ladder has this tier."""

    number: int
    name: str
    held: bool
    holder: Card | None
    queue: tuple[Card | None, ...]
    baselines: tuple[Seen, ...]
    climbed: bool = True


class Group(msgspec.Struct, frozen=True):
    """The first cards of a list, and how many there are in all."""

    cards: tuple[Card, ...]
    count: int


class Home(msgspec.Struct, frozen=True):
    """`left_out`: runs that ended before those in `ended`."""

    running: Group
    waiting: Group
    ended: Group
    left_out: int
    tiers: tuple[Tier, ...]
    hidden: int
    oldest_waiting: timedelta | None
    dead: int
    now: datetime


def home(
    moment: Moment,
    visible: Collection[str],
    *,
    operator: bool,
    everything: bool = False,
    schedules: Mapping[str, Tiers] | None = None,
) -> Home:
    """`visible` are the repositories (`owner/name`) whose runs this reader may see, `schedules` what GitHub says of
    their tiers' scheduled runs, as far as it is known."""
    shown = {key: pr for key, pr in moment.outlines.items() if pr.place and pr.place.full_name in visible}
    overview = moment.overview if operator else for_visitors(moment.overview, shown)
    listed = table(shown, overview, moment.now, everything=everything)
    keys = {pr.run.id: key for key, pr in shown.items() if pr.run is not None}
    cards = {line.run: _card(line, keys[line.run], shown[keys[line.run]], overview) for line in listed.runs}
    live = [card for card in cards.values() if not card.line.ended]
    waits = [card for card in live if card.line.state in _PEOPLE or card.line.state == RunState.queued]
    oldest = moment.overview.oldest_waiting
    runs = [pr for pr in moment.outlines.values() if pr.run is not None]
    waiting = {card.key for card in waits}

    def group(found: list[Card]) -> Group:
        return Group(tuple(found if everything else found[:MOST_SHOWN]), len(found))

    return Home(
        running=group([card for card in live if card.key not in waiting]),
        waiting=group(waits),
        ended=group([card for card in cards.values() if card.line.ended]),
        left_out=listed.left_out,
        tiers=_tiers(shown, overview, cards, schedules or {}, moment.now),
        hidden=len(runs) - sum(pr.run is not None for pr in shown.values()),
        oldest_waiting=None if oldest is None else moment.now - oldest,
        dead=moment.overview.dead,
        now=moment.now,
    )


def for_visitors(overview: Overview, visible: Collection[str]) -> Overview:
    """What is open, without the private words of errors and the names of runs that only operators may see."""
    return replace(
        overview,
        effects=tuple(
            replace(one, last_error=_WITHHELD if one.last_error else None)
            for one in overview.effects
            if one.key in visible
        ),
        stalled=tuple(replace(one, error=_WITHHELD) for one in overview.stalled if one.key in visible),
        slots=tuple(one if one.key in visible else replace(one, holder=_ELSEWHERE) for one in overview.slots),
        deliveries=tuple(replace(one, error=_WITHHELD if one.error else None) for one in overview.deliveries),
    )


def waits_for(line: Line, key: str, overview: Overview) -> str:
    """What the run waits for, in the words of who reads pages: which holder it is, the tier's panel says."""
    for seat in overview.slots:
        if line.state == RunState.queued and seat.key == key and not seat.granted:
            queue = [one for one in overview.slots if one.slot == seat.slot and not one.granted]
            return f"the slot of tier {seat.slot.rpartition('-')[2]}, number {queue.index(seat) + 1} in line"
    return line.waits_for


def _card(line: Line, key: str, pr: PullRequest, overview: Overview) -> Card:
    run, waiting = pr.run, waits_for(line, key, overview)
    if run is None or run.attempt is None:
        return Card(line, key, waiting, reason=run.reason if run else "")
    attempt = run.attempt
    seen = attempt.outlook if run.state.has_live_ferry else None
    return Card(
        line,
        key,
        waiting,
        percent=seen.percent if seen else None,
        end=seen.end if seen else None,
        health=str(attempt.vitals.health) if run.state is RunState.ferrying else "",
        reason=run.reason,
        verdict=attempt.judgement.verdict if attempt.judgement else "",
    )


def _tiers(
    pulls: Mapping[str, PullRequest],
    overview: Overview,
    cards: Mapping[str, Card],
    schedules: Mapping[str, Tiers],
    now: datetime,
) -> tuple[Tier, ...]:
    by_key = {card.key: card for card in cards.values()}
    known = bool(schedules) and all(pr.place.full_name in schedules for pr in pulls.values() if pr.place)
    found = []
    for number, name in _names(pulls).items():
        seats = [one for one in overview.slots if one.slot == tier_slot(number)]
        holder = next((one for one in seats if one.granted), None)
        found.append(
            Tier(
                number=number,
                name=name,
                held=holder is not None,
                holder=by_key.get(holder.key) if holder else None,
                queue=tuple(by_key.get(one.key) for one in seats if not one.granted),
                baselines=_baselines(pulls.values(), number, schedules, now),
                climbed=any(number in tiers for tiers in schedules.values()) or not known,
            )
        )
    return tuple(found)


def _names(pulls: Mapping[str, PullRequest]) -> dict[int, str]:
    """The tiers there are: the built-in ones under the names of the latest plan that has them."""
    names = {int(number): gate.name for number, gate in builtin_config().gates.items()}
    for pr in reversed(list(pulls.values())):
        names |= {plan.number: plan.name for plan in (pr.run.plan if pr.run else ())}
    return dict(sorted(names.items()))


def _baselines(
    pulls: Collection[PullRequest], number: int, schedules: Mapping[str, Tiers], now: datetime
) -> tuple[Seen, ...]:
    """One for each repository that has this tier."""
    found = {name: _used(name, *used, now) for name, used in _latest(pulls, number).items()}
    for name, tiers in schedules.items():
        if number in tiers:
            found[name] = _scheduled(name, tiers[number], now)
    return tuple(found[name] for name in sorted(found))


def _scheduled(name: str, run: Scheduled | None, now: datetime) -> Seen:
    if run is None:
        return Seen(name, stale=True)
    age = now - run.created_at
    return Seen(name, run.run_id, run.run_url, run.sha, age, age > run.expected_within)


def _used(name: str, baseline: Baseline, plan: GatePlan, now: datetime) -> Seen:
    stale, age = bool(stale_warning(baseline, plan, now)), now - baseline.created_at
    return Seen(name, baseline.run_id, baseline.run_url, baseline.sha, age, stale, of_a_run=True)


def _latest(pulls: Collection[PullRequest], number: int) -> dict[str, tuple[Baseline, GatePlan]]:
    """By repository the newest baseline that any run was compared with."""
    latest: dict[str, tuple[Baseline, GatePlan]] = {}
    for pr in pulls:
        gate = pr.run.gate_of(number) if pr.run else None
        if pr.run is None or pr.place is None or gate is None or gate.baseline is None:
            continue
        known = latest.get(pr.place.full_name)
        if known is None or gate.baseline.created_at > known[0].created_at:
            latest[pr.place.full_name] = (gate.baseline, pr.run.plan_of(number))
    return latest
