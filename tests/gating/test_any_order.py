"""Any sequence of events in any order, doubled and late: what always holds of a pull request's runs.

The world around `step` is played here: effects are performed with whatever outcome they may have, in any order, also
again; timers fire; a cluster counts which ferries live. Hypothesis looks for the story that breaks a rule.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import event as note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from bot.conversation.commands import (
    Answer,
    Assess,
    Command,
    Continue,
    Exclude,
    Go,
    Help,
    Include,
    Reanalyse,
    Retry,
    Skip,
    Status,
    Stop,
)
from bot.engine.port import EffectRequest, SlotRequest
from bot.gating.events import (
    Authorised,
    Event,
    Rejudged,
)
from bot.gating.happenings import Closed, CommentLost, HeadMoved, Mentioned, Pressed, Reopened
from bot.gating.marks import Check
from bot.gating.model import Run
from bot.gating.step import step
from bot.gating.written import Checked
from tests.gating.named_ceilings import NamedCeilings
from tests.gating.story import (
    BESIDE,
    HEAD,
    HOT,
    NEWER,
    PLACE,
)
from tests.gating.surroundings import VERDICTS, Surroundings, chosen

COMMANDS: tuple[Command, ...] = (
    *(Assess(), Help(), Status(), Continue(), Retry(), Retry("spare"), Stop(), Reanalyse(), Skip("no need")),
    *(Go(), Go("skip", "no need"), Go("1", "enough"), Go("3", "all of it")),
    *(Answer(HOT, "cpu", False, "measured"), Answer(HOT, "trivial", True, "a comment"), Answer(HOT, "shuffle", True)),
    *(Exclude("normalize", "flaky"), Exclude("nothing of that name"), Include("normalize")),
)
# What an ended run may still ask for: reading, speaking, cleaning and judging again.
HARMLESS = {"publish", "check", "notify", "hide", "settle", "cleanup", "reply", "help", "react", "authorise", "rejudge"}
# Drawn without a look at the world, which keeps every story repeatable: what is not there is chosen from what is.
PICK = st.integers(0, 999)


class World(Surroundings, RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[EffectRequest] = []
        self.told: list[Event] = []
        self.timers: dict[str, Event] = {}
        self.waiting: dict[str, SlotRequest[Event]] = {}
        self.held: set[str] = set()
        self.ceilings = NamedCeilings()

    # ---- the engine

    def tell(self, event: Event) -> None:
        before = self.pr
        if before.run is not None:
            note(before.run.state)
        transition = step(before, event, self.now)
        assert step(before, event, self.now) == transition, "the same event must always do the same"
        stored = self.machine.load_state(self.machine.state_schema, self.machine.dump_state(transition.state))
        assert stored == transition.state
        assert self.machine.load_event(self.machine.dump_event(event)[1]) == event
        self.pr = transition.state
        self.now += timedelta(seconds=1)
        self._check_the_end(event, before.run, transition.effects)
        self.ceilings.follow(event, before.run, self.pr.run)
        self.open = [one for one in self.open if one.scope not in transition.revoke or self._claimed(one)]
        for effect in transition.effects:
            # The check run is written by a rule of its own. Nothing waits for these.
            if effect.kind in BESIDE:
                continue
            if not (effect.coalesce and any(one.coalesce == effect.coalesce for one in self.open)):
                self.open.append(effect)
        for timer in transition.timers:
            self.timers[timer.name] = timer.event
        for name in transition.cancel_timers:
            self.timers.pop(name, None)
        for holder in transition.release:
            self.held.discard(holder)
            self.waiting.pop(holder, None)
        for request in transition.acquire:
            assert request.holder not in self.held | self.waiting.keys(), "a slot is asked for once"
            self.waiting[request.holder] = request
        self.check_what_always_holds()

    def _claimed(self, effect: EffectRequest) -> bool:
        """A revoked effect that is being performed comes to its end all the same."""
        return effect.kind in {"submit", "stop_ferry"}

    def _check_the_end(self, event: Event, before: Run | None, effects: tuple[EffectRequest, ...]) -> None:
        after = self.pr.run
        if before is None or after is None or not before.state.ended or after.id != before.id:
            return
        again = isinstance(event, Rejudged) and after.state.ended
        assert after.state is before.state or again, f"{before.state} did not stay an end, but became {after.state}"
        assert {effect.kind for effect in effects} <= HARMLESS
        assert after.gates == before.gates or "rejudge" not in {effect.kind for effect in effects}

    # ---- people, GitHub and time

    @rule(command=st.sampled_from(COMMANDS), actor=st.sampled_from(["rev", "ada"]), heard=st.booleans())
    def someone_says(self, command: Command, actor: str, heard: bool) -> None:
        self.comment += 1
        if heard or self.pr.place is None:
            self.tell(Mentioned(PLACE, self.comment, actor, command))
        else:
            self.tell(Authorised(self.comment, actor, "write", command, self.head, self.is_open))

    @rule()
    def push(self) -> None:
        before, self.head = self.head, NEWER if self.head == HEAD else HEAD
        self.tell(HeadMoved(PLACE, self.head, before))

    @rule(merged=st.booleans())
    def close(self, merged: bool) -> None:
        self.is_open = False
        self.tell(Closed(PLACE, merged))

    @rule()
    def reopen(self) -> None:
        self.is_open = True
        self.tell(Reopened(PLACE))

    @rule()
    def the_check_run_is_written(self) -> None:
        run = self.pr.run
        if run is not None and run.head_sha:
            self.tell(Checked(Check(1, run.id, run.head_sha, digest=str(self.now))))

    @rule(button=st.sampled_from(["go", "skip", "continue", "retry"]), actor=st.sampled_from(["rev", "ada"]))
    def somebody_presses_a_button(self, button: Any, actor: str) -> None:
        run_id = self.pr.run.id if self.pr.run is not None else "42-5199-1"
        self.tell(Pressed(7, PLACE.full_name, run_id, self.head, 1, actor, button))

    @rule(gone=st.booleans())
    def comment_is_lost(self, gone: bool) -> None:
        self.tell(CommentLost(PLACE, gone))

    @rule(pick=PICK)
    def a_timer_fires(self, pick: int) -> None:
        if not self.timers:
            return
        name = chosen(sorted(self.timers), pick)
        self.now += timedelta(hours=1)
        self.tell(self.timers.pop(name))

    @rule(pick=PICK)
    def a_slot_is_granted(self, pick: int) -> None:
        if not self.waiting:
            return
        holder = chosen(sorted(self.waiting), pick)
        request = self.waiting.pop(holder)
        self.held.add(holder)
        self.tell(request.granted)

    @rule(pick=PICK)
    def an_old_outcome_comes_again(self, pick: int) -> None:
        if self.told:
            self.tell(chosen(self.told, pick))

    @rule(pick=PICK, way=PICK)
    def an_effect_is_performed(self, pick: int, way: int) -> None:
        if not self.open:
            return
        effect = self.open.pop(pick % len(self.open))
        event = self.outcome(effect, way)
        if event is not None:
            self.told.append(event)
            self.tell(event)

    @rule(steps=st.integers(1, 12))
    def all_goes_well_for_a_while(self, steps: int) -> None:
        for _ in range(steps):
            if self.waiting:
                holder, request = self.waiting.popitem()
                self.held.add(holder)
                self.tell(request.granted)
            elif self.open:
                effect = self.open.pop(0)
                if possible := self._outcomes(effect, str(effect.payload.get("run_id", ""))):
                    self.told.append(possible[0])
                    self.tell(possible[0])

    @initialize(steps=st.integers(0, 70), luck=st.lists(st.integers(0, len(VERDICTS) - 1), min_size=1, max_size=3))
    def the_story_begins_well(self, steps: int, luck: list[int]) -> None:
        """Somewhere on the way up the ladder: by chance alone few stories would ever see a ferry."""
        self.luck = luck
        self.someone_says(Assess(), "rev", heard=True)
        self.all_goes_well_for_a_while(min(steps, 8))
        if steps > 8:
            self.someone_says(Go("3", "all of it"), "rev", heard=True)
        for _ in range(max(0, steps - 8)):
            self.all_goes_well_for_a_while(1)
            if not self.open and self.timers:
                self.tell(self.timers.pop(min(self.timers)))

    # ---- what always holds

    def check_what_always_holds(self) -> None:
        self.never_two_live_ferries_for_one_gate()
        self.a_live_ferry_holds_its_tier()
        self.an_ended_run_holds_and_awaits_nothing()
        self.a_live_run_is_waiting_for_something()
        self.each_answer_is_kept_once()

    def never_two_live_ferries_for_one_gate(self) -> None:
        # Whichever of the pull request's runs they belong to.
        alive = [ferry.name[1] for ferry in self.ferries.values() if ferry.alive]
        assert len(alive) == len(set(alive))

    def a_live_ferry_holds_its_tier(self) -> None:
        for ferry in self.ferries.values():
            if ferry.alive:
                run_id, gate, attempt = ferry.name
                assert f"{run_id}/g{gate}/a{attempt}" in self.held

    def an_ended_run_holds_and_awaits_nothing(self) -> None:
        run = self.pr.run
        if run is not None and run.state.ended:
            assert not [holder for holder in self.held | self.waiting.keys() if holder.startswith(f"{run.id}/")]
            assert not [name for name in self.timers if name.endswith(f":{run.id}")]

    def a_live_run_is_waiting_for_something(self) -> None:
        run = self.pr.run
        if run is None or run.state.ended:
            return
        awaited = any(effect.payload.get("run_id") == run.id for effect in self.open)
        timed = any(name.endswith(f":{run.id}") for name in self.timers)
        queued = any(holder.startswith(f"{run.id}/") for holder in self.waiting)
        assert awaited or timed or queued, f"nothing will ever move a run that is {run.state}"

    def each_answer_is_kept_once(self) -> None:
        corrections = self.pr.run.corrections if self.pr.run is not None else ()
        assert len({(one.path, one.question) for one in corrections}) == len(corrections)

    def teardown(self) -> None:
        """From wherever the story left it, an end is reachable: stop is said, and what is open ends."""
        for _ in range(200):
            if self.pr.run is None or self.pr.run.state.ended:
                return
            self.comment += 1
            self.tell(Authorised(self.comment, "rev", "write", Stop(), self.head, is_open=True))
            acting = [effect for effect in self.open if effect.kind in {"submit", "stop_ferry", "watch"}]
            self.open = [effect for effect in self.open if effect not in acting]
            for effect in acting:
                for event in self._of_the_ferry(effect, str(effect.payload["run_id"])):
                    self.tell(event)
        raise AssertionError(f"no end can be reached from {self.pr.run.state if self.pr.run else None}")


TestAnyOrder = World.TestCase
TestAnyOrder.settings = settings(
    max_examples=150, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
