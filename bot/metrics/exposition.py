"""`GET /metrics`: the tally and the state, in Prometheus' text format. No name of a repository or person is in it.

Every label has few values, known beforehand: kinds, outcomes, states, verdicts, gates, and installations of this App.
Source: Prometheus, "Metric and label naming" and "Exposition formats".
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from aiohttp import web

from bot.engine.port import CannotStart, StoreError
from bot.engine.tables import inspection
from bot.engine.times import loaded, stored
from bot.engine.transaction import Tx
from bot.engine.views import Counts
from bot.gating.climb import TOLD_LAUNCHES
from bot.gating.model import PullRequest
from bot.gating.states import RunState
from bot.metrics.tally import BUCKETS, OUTCOMES, Reaction, Tally
from bot.verdict.model import VerdictName
from bot.watching.vitals import Health

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

FERRY_STATES = (
    *("queued", "submitting", "not taken", "pending", "building", "running", "out of sight", "collecting", "other"),
)
"""Of a live ferry: before and after it is Iris', the run's state; in between what Iris says, where it does."""
_DELIVERIES = ("accepted", "seen before", "not stored")
_GATES = ("1", "2", "3")
_MOST_INSTALLATIONS = 50
_LIVE = tuple(state for state in RunState if not state.ended)
_log = logging.getLogger(__name__)

Read = Callable[[Callable[[Tx, Mapping[str, PullRequest]], "Snapshot"]], Awaitable["Snapshot"]]


class Snapshot(msgspec.Struct, frozen=True):
    """What the stored state says at one moment; `waits` are the seconds that first reactions took."""

    counts: Counts
    runs: Mapping[str, int]
    ferries: Mapping[str, int]
    stuck: int
    open_effects: Mapping[tuple[str, str], int]
    waits: Sequence[float]


class Process(msgspec.Struct, frozen=True):
    """What only the process knows: requests left by installation, whether the engine's loop runs, the sandbox, rounds.

    `sandbox_holds` None: not tested yet; `asked_at` None: GitHub has not told yet which webhooks it could not deliver.
    """

    requests_left: Mapping[str, int]
    engine_runs: bool
    sandbox_holds: bool | None
    started: datetime
    asked_at: datetime | None


def metrics(
    read: Read, tally: Tally, process: Callable[[], Process], kinds: Sequence[str], now: Callable[[], datetime]
) -> Callable[[web.Request], Awaitable[web.Response]]:
    """The handler. `read` runs a function over the stored state, in nobody's way; `kinds` are all kinds of effects."""

    async def answer(_request: web.Request) -> web.Response:
        # Slow to import, and wanted only where somebody scrapes.
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

        asked, seen = tally.take_reactions(), None
        try:
            seen = await read(lambda tx, pulls: snapshot(tx, pulls, asked))
        except (StoreError, CannotStart) as error:
            _log.error("the state cannot be read for /metrics", extra={"why": str(error)})
            return web.Response(text="# the state cannot be read; the log says why\n", status=503)
        finally:
            if seen is None:
                tally.put_back(asked)
        tally.observe(seen.waits)
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Once(lambda: families(seen, tally, process(), kinds, now())))
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    return answer


class _Once:
    """What prometheus_client calls a collector."""

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self.collect = collect


def snapshot(tx: Tx, pulls: Mapping[str, PullRequest], reactions: Sequence[Reaction]) -> Snapshot:
    runs: Counter[str] = Counter()
    ferries: Counter[str] = Counter()
    stuck = 0
    for pr in pulls.values():
        if pr.run is None or pr.run.state.ended:
            # Of those that are closed nobody waits for a verdict any more.
            stuck += pr.run is not None and pr.run.state is RunState.stuck and pr.is_open
            continue
        runs[pr.run.state] += 1
        if (state := ferry_state(pr)) is not None:
            ferries[state] += 1
    return Snapshot(
        counts=inspection.counts(tx),
        runs=runs,
        ferries=ferries,
        stuck=stuck,
        open_effects=inspection.open_effects(tx),
        waits=[_waited(tx, one) for one in reactions],
    )


def ferry_state(pr: PullRequest) -> str | None:
    """One of FERRY_STATES, or None where no ferry is live. "not taken" and "out of sight" want an operator: effects
    that Iris does not answer end well all the same, so that no count of failures shows them."""
    run = pr.run
    if run is None or run.attempt is None:
        return None
    if run.state is RunState.submitting and run.attempt.launches >= TOLD_LAUNCHES:
        return "not taken"
    if run.state in (RunState.queued, RunState.submitting, RunState.collecting):
        return str(run.state)
    if run.state is not RunState.ferrying:
        return None
    if run.attempt.vitals.health is Health.unreachable:
        return "out of sight"
    said = run.attempt.ferry_state or "pending"
    return said if said in FERRY_STATES else "other"


def _waited(tx: Tx, reaction: Reaction) -> float:
    """Seconds since the delivery that the reaction answers; where that is forgotten, since the comment was heard."""
    row = tx.execute(
        "SELECT deliveries.received_at FROM log JOIN deliveries ON deliveries.guid = substr(log.cause, 10) "
        "WHERE log.key = ? AND log.at = ? AND log.kind = 'Mentioned' ORDER BY log.seq LIMIT 1",
        (reaction.key, stored(reaction.asked_at)),
    ).fetchone()
    since = reaction.asked_at if row is None else loaded(row[0])
    return max(0.0, (reaction.done_at - since).total_seconds())


def families(seen: Snapshot, tally: Tally, process: Process, kinds: Sequence[str], now: datetime) -> Iterator[Metric]:
    """Every metric there is, also those that count nothing yet: a rate needs its zero."""
    yield from _of_deliveries(seen, tally, now)
    yield from _of_effects(seen, tally, kinds)
    yield from _of_runs(seen, tally)
    yield from _of_the_process(process, now)


def _gauge(name: str, help_text: str, value: float) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(f"perf_gate_{name}", help_text, value=value)


def _labelled(made: Any, values: Mapping[tuple[str, ...], float]) -> Metric:
    for labels, value in values.items():
        made.add_metric(list(labels), value)
    metric: Metric = made
    return metric


def _of_deliveries(seen: Snapshot, tally: Tally, now: datetime) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    counts, oldest = seen.counts, seen.counts.oldest_waiting
    yield HistogramMetricFamily(
        "perf_gate_first_reaction_seconds",
        "From a webhook's arrival to the first reaction on its comment.",
        buckets=_cumulated(tally),
        sum_value=tally.waited,
    )
    waits = 0.0 if oldest is None else max(0.0, (now - oldest).total_seconds())
    yield _gauge("oldest_unhandled_delivery_seconds", "Age of the oldest delivery that waits; 0: none does.", waits)
    yield _labelled(
        CounterMetricFamily("perf_gate_deliveries", "Deliveries with a valid signature.", labels=["outcome"]),
        {(how,): tally.deliveries[how] for how in _DELIVERIES},
    )
    yield _labelled(
        GaugeMetricFamily("perf_gate_dead", "What was given up and waits for a person.", labels=["what"]),
        {
            ("deliveries",): counts.dead_deliveries,
            ("effects",): counts.dead_effects,
            ("events",): counts.dead_events,
        },
    )


def _of_effects(seen: Snapshot, tally: Tally, kinds: Sequence[str]) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield _labelled(
        CounterMetricFamily("perf_gate_effects", "Attempts at effects that ended.", labels=["kind", "outcome"]),
        {(kind, how): tally.effects[kind, how] for kind in kinds for how in OUTCOMES},
    )
    yield _labelled(
        GaugeMetricFamily("perf_gate_open_effects", "Effects that wait or run.", labels=["kind", "status"]),
        {(kind, how): seen.open_effects.get((kind, how), 0) for kind in kinds for how in ("pending", "claimed")},
    )


def _of_runs(seen: Snapshot, tally: Tally) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    yield _labelled(
        GaugeMetricFamily("perf_gate_runs", "Runs under way.", labels=["state"]),
        {(str(state),): seen.runs.get(state, 0) for state in _LIVE},
    )
    yield _labelled(
        GaugeMetricFamily("perf_gate_ferries", "Ferries under way or waiting for their slot.", labels=["state"]),
        {(state,): seen.ferries.get(state, 0) for state in FERRY_STATES},
    )
    yield _gauge("stuck_runs", "Runs of open pull requests that only a person can bring to a verdict.", seen.stuck)
    yield _labelled(
        CounterMetricFamily("perf_gate_verdicts", "Gates that came to a verdict.", labels=["gate", "verdict"]),
        {(gate, verdict): tally.verdicts[gate, verdict] for gate in _GATES for verdict in get_args(VerdictName)},
    )


def _of_the_process(process: Process, now: datetime) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    yield _labelled(
        GaugeMetricFamily(
            "perf_gate_github_requests_left", "GitHub's API budget until its reset.", labels=["installation"]
        ),
        {(name,): left for name, left in list(process.requests_left.items())[:_MOST_INSTALLATIONS]},
    )
    yield _gauge("engine_running", "Whether the engine's loop runs.", process.engine_runs)
    # What is not tested yet is no trouble yet.
    yield _gauge("sandbox_holds", "Whether preflight can run.", process.sandbox_holds is not False)
    asked_at = process.asked_at or process.started
    yield _gauge(
        "last_recovery_round_age_seconds",
        "Since missed webhooks were last looked for.",
        (now - asked_at).total_seconds(),
    )


def _cumulated(tally: Tally) -> list[tuple[str, float]]:
    total, buckets = 0, []
    for bound in (*BUCKETS, float("inf")):
        total += tally.waits[bound]
        buckets.append(("+Inf" if bound == float("inf") else str(bound), float(total)))
    return buckets
