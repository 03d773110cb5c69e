"""`/runs/ID`: the life of one run, from the comment that asked for it to its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from bot.comment.canonical import digest, render
from bot.comment.ferry import TITLES
from bot.engine.tables import history
from bot.engine.views import EffectView, StalledView, TimerView
from bot.gating.model import Attempt, Baseline, GatePlan, PullRequest, Run
from bot.runs.facts import Page as Facts
from bot.runs.facts import page as facts_of
from bot.runs.reading import pull
from bot.runs.story import Story, tell
from bot.server.pages.bars import Bars, bars
from bot.server.pages.home import for_visitors, waits_for
from bot.server.pages.reader import Moment
from bot.verdict.model import Judgement
from bot.watching.vitals import Trouble

_RUN = re.compile(r"(\d+)-(\d+)-\d+")


class Ailment(msgspec.Struct, frozen=True):
    """A trouble of a ferry in words; `over`: until when it lasted, None while it goes on."""

    title: str
    trouble: Trouble


class Ferry(msgspec.Struct, frozen=True):
    """One attempt at a gate. `troubles`: those that go on first."""

    attempt: Attempt
    bars: Bars | None
    troubles: tuple[Ailment, ...]


class Gate(msgspec.Struct, frozen=True):
    plan: GatePlan
    baseline: Baseline | None
    ferries: tuple[Ferry, ...]
    judgement: Judgement | None


class RunPage(msgspec.Struct, frozen=True):
    """`run` None: of a run before the current one only its end is known. `comment` is Markdown, `posted` whether it
    stands on the pull request as it is here."""

    id: str
    state: str
    since: datetime
    pr: PullRequest
    run: Run | None
    current: str
    facts: Facts
    story: Story
    gates: tuple[Gate, ...]
    effects: tuple[EffectView, ...]
    timers: tuple[TimerView, ...]
    stalled: tuple[StalledView, ...]
    waits_for: str
    comment: str
    posted: bool
    now: datetime


def key_of(moment: Moment, run_id: str) -> str | None:
    """The pull request that this run, of now or before, belongs to."""
    for key, pr in moment.outlines.items():
        if (pr.run is not None and pr.run.id == run_id) or any(one.id == run_id for one in pr.earlier):
            return key
    # A pull request's state names its last runs only; links of check runs lead to all there ever were.
    of = _RUN.fullmatch(run_id)
    key = f"{of[1]}/{of[2]}" if of is not None else ""
    return key if key in moment.outlines else None


def run_page(
    moment: Moment, key: str, run_id: str, *, operator: bool, public: Callable[[str], str], page: str | None
) -> RunPage | None:
    """`public` takes credentials out of a comment, `page` is this page's address in it."""
    pr = pull(moment.tx, key)
    if pr is None:
        return None
    story = tell(run_id, pr, history.moves(moment.tx, key))
    is_current = pr.run is not None and pr.run.id == run_id
    run = pr.run if is_current else story.run
    ended = next((one for one in pr.earlier if one.id == run_id), None)
    if run is None and ended is None:
        return None
    shown = replace(pr, run=run) if run is not None else pr
    overview = moment.overview if operator else for_visitors(moment.overview, {key})
    facts = facts_of(key, shown, overview, (), moment.now)
    comment = public(render(shown, moment.now, page)) if run is not None else ""
    return RunPage(
        id=run_id,
        state=str(ended.state if ended is not None and not is_current else run.state if run else "unknown"),
        since=ended.ended_at if ended is not None and not is_current else run.since if run else moment.now,
        pr=shown,
        run=run,
        current=pr.run.id if pr.run is not None else "",
        facts=facts,
        story=story,
        gates=tuple(_gates(run)) if run is not None else (),
        effects=facts.effects if is_current else (),
        timers=facts.timers if is_current else (),
        stalled=facts.stalled if is_current else (),
        waits_for=waits_for(facts.line, key, overview),
        comment=comment,
        posted=is_current and bool(comment) and digest(comment) == pr.comment_digest,
        now=moment.now,
    )


def _gates(run: Run) -> list[Gate]:
    """The gate that runs, or ran last, first."""
    return [
        Gate(
            run.plan_of(gate.number),
            gate.baseline,
            tuple(_ferry(gate.baseline, attempt) for attempt in reversed(gate.attempts)),
            gate.judgement,
        )
        for gate in reversed(run.gates)
    ]


def _ferry(baseline: Baseline | None, attempt: Attempt) -> Ferry:
    troubles = sorted(attempt.vitals.troubles, key=lambda one: one.until is not None)
    return Ferry(
        attempt, bars(baseline, attempt), tuple(Ailment(TITLES[trouble.kind], trouble) for trouble in troubles)
    )
