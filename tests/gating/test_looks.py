"""How often a ferry is looked at: as its gate says, and never more tightly."""

from __future__ import annotations

import json
from datetime import timedelta

from msgspec.structs import replace

from bot.gating.events import Watched
from bot.gating.model import Attempt
from bot.watching.look import Look, Step
from tests.conversations.reports import STAGES, perf_report
from tests.gating.story import START, Story


def test_the_next_look_is_never_sooner_than_the_gates_interval_however_near_the_end() -> None:
    story = Story()
    story.to_ferrying()
    gate = story.run.gates[-1]
    assert gate.baseline is not None
    known = replace(gate.baseline, report=json.dumps(perf_report()))
    story.pr = replace(story.pr, run=replace(story.run, gates=(replace(gate, baseline=known),)))
    *before, last = STAGES
    steps = (*(Step(name, "done", STAGES[name]) for name in before), Step(last, "running", STAGES[last] - 30))
    asked_at = story.now
    look = Look("running", START, steps, coordinators=1, workers=2)
    story.tell(Watched(story.run.id, 1, 1, Attempt(1, ferry_state="running"), ended=False, look=look))
    assert story.run.attempt is not None
    assert story.run.attempt.outlook is not None
    assert story.run.attempt.outlook.end - asked_at < timedelta(minutes=3)
    assert story.last is not None
    assert [timer.due - asked_at for timer in story.last.timers] == [timedelta(minutes=10)]
