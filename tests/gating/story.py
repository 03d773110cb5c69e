"""A pull request's story for the tests of the state machine: events in, effects out, no clock but ours."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from bot.assessment.model import Assessment, FileAnswers
from bot.config.load import builtin_config
from bot.conversation.commands import Assess, Command, Go
from bot.engine.port import EffectRequest, Transition
from bot.gating.events import (
    Assessed,
    Authorised,
    BaselineFound,
    Collected,
    Compared,
    Event,
    PreflightFailed,
    PreflightPassed,
    Prepared,
    SlotGranted,
    Submitted,
    Watched,
)
from bot.gating.happenings import Mentioned
from bot.gating.machine import GateMachine
from bot.gating.model import Attempt, Baseline, GatePlan, Place, PullRequest, Run
from bot.gating.states import RunState
from bot.gating.tested import FailedCommand
from bot.gating.written import Asked
from bot.verdict.model import Judgement, Row, VerdictName
from bot.watching.cause import Cause

START = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)
PLACE = Place(installation_id=7, repository_id=42, full_name="marin-community/marin", number=5199, author="ada")
HEAD, NEWER, BASE, MAIN = "a" * 40, "b" * 40, "c" * 40, "d" * 40
CONFIG = builtin_config().model_dump_json()
BESIDE = {"check", "notify", "hide", "settle"}
HOT = "lib/zephyr/src/zephyr/shuffle.py"


def plan(*numbers: int) -> tuple[GatePlan, ...]:
    return tuple(GatePlan(n, f"tier {n}", 3600.0, 180.0, 600.0, 86400.0) for n in numbers)


def assessment(max_gate: str = "3", *, in_scope: bool = True, flagged: bool = False) -> Assessment:
    answers = FileAnswers(False, True, True, True, True, "scatter buffering changed", ("not analysed",))
    return Assessment(
        in_scope=in_scope,
        max_gate=max_gate,  # type: ignore[arg-type]
        rationale="shuffle.py decides",
        per_file={HOT: answers} if in_scope else {},
        out_of_scope={} if in_scope else {"docs/index.md": "documentation"},
        flagged={"lib/fray/x.py": "fray"} if flagged else {},
    )


def judgement(verdict: VerdictName) -> Judgement:
    row = Row(Decimal(10), Decimal(11), Decimal("0.1"), "warn")
    return Judgement(verdict=verdict, reasons=(f"because {verdict}",), total=row, stages={"normalize": row})


class Story:
    """Applies events, and checks at every step that the state survives its stored form."""

    def __init__(self, pr: PullRequest | None = None) -> None:
        self.machine = GateMachine("perf-gate", {PLACE.full_name})
        self.pr = pr or self.machine.initial(PLACE.key)
        self.now = START
        self.effects: list[EffectRequest] = []
        self.last: Transition[PullRequest, Event] | None = None
        self._comment = 100

    @property
    def run(self) -> Run:
        assert self.pr.run is not None
        return self.pr.run

    def state(self) -> RunState:
        """A call, not a property, so that the type checker expects it to change."""
        return self.run.state

    def tell(self, event: Event) -> list[str]:
        """Deliver one event; the kinds of the effects it asked for, but what goes with the comment."""
        kind, stored = self.machine.dump_event(event)
        assert self.machine.load_event(stored) == event
        assert kind == type(event).__name__
        self.last = self.machine.step(self.pr, event, self.now)
        self.pr = self.machine.load_state(self.machine.state_schema, self.machine.dump_state(self.last.state))
        assert self.pr == self.last.state
        self.effects += self.last.effects
        self.now += timedelta(seconds=1)
        return [effect.kind for effect in self.last.effects if effect.kind not in BESIDE]

    def say(self, said: Command, actor: str = "rev", *, head: str = HEAD, is_open: bool = True) -> list[str]:
        """A person with enough permission comments."""
        self._comment += 1
        kinds = self.tell(Mentioned(PLACE, self._comment, actor, said))
        return kinds + self.tell(Authorised(self._comment, actor, "write", said, head, is_open))

    def assessed(self, found: Assessment | None = None, *, ladder: Iterable[int] = (1,), head: str = HEAD) -> list[str]:
        """The diff is read, and where that leads to a question, it stands on the pull request."""
        found = found or assessment()
        event = Assessed(self.run.id, head, BASE, "main", "main", False, MAIN, CONFIG, plan(*ladder), found)
        kinds = self.tell(event)
        if "ask" in kinds:
            self._comment += 1
            self.tell(Asked(self.run.id, self._comment))
        return kinds

    def to_ferrying(self, *, ladder: Iterable[int] = (1,), max_gate: str | None = None) -> None:
        self.say(Assess())
        self.assessed(ladder=ladder)
        self.say(Go(max_gate))  # type: ignore[arg-type]
        self.to_first_gate()
        self.gate_to_ferrying(1)

    def to_submitting(self) -> None:
        self.say(Assess())
        self.assessed()
        self.say(Go())
        self.to_first_gate()
        self.tell(BaselineFound(self.run.id, 1, baseline()))
        self.tell(SlotGranted(self.run.id, 1, 1))

    def to_first_gate(self) -> None:
        """What was answered `go` is tested and passes."""
        self.tell(Prepared(self.run.id))
        self.tell(PreflightPassed(self.run.id))

    def tests_fail(self) -> None:
        """What was answered `go` is tested and is red."""
        self.tell(Prepared(self.run.id))
        self.tell(PreflightFailed(self.run.id, FailedCommand("pytest", 1, "1 failed")))

    def to_halted(self) -> None:
        self.say(Assess())
        self.assessed()
        self.say(Go())
        self.tests_fail()
        assert self.state() is RunState.halted

    def gate_to_ferrying(self, gate: int) -> None:
        self.tell(BaselineFound(self.run.id, gate, baseline()))
        self.tell(SlotGranted(self.run.id, gate, 1))
        self.tell(Submitted(self.run.id, gate, 1, f"/bot/ferry-{gate}"))

    def ferry_ends(
        self, gate: int, verdict: VerdictName, *, state: str = "succeeded", cause: Cause | None = None
    ) -> list[str]:
        """The gate's last attempt ends so."""
        assert self.run.attempt is not None
        number = self.run.attempt.number
        self.tell(Watched(self.run.id, gate, number, Attempt(number, ferry_state=state), ended=True))
        self.tell(Collected(self.run.id, gate, number, "{}", cause))
        return self.tell(Compared(self.run.id, gate, number, judgement(verdict)))

    def submitted_again(self, gate: int) -> None:
        """The second attempt gets its slot and its job."""
        self.tell(SlotGranted(self.run.id, gate, 2))
        self.tell(Submitted(self.run.id, gate, 2, f"/bot/ferry-{gate}-again"))


def baseline() -> Baseline:
    return Baseline(1001, "https://github.example/runs/1001", MAIN, START - timedelta(hours=5), 77, "{}")
