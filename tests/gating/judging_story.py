"""A story whose reports are judged by the real rules: stages are left out of it, and stored pairs judged again."""

from __future__ import annotations

import json

import msgspec
from msgspec.structs import replace

from bot.conversation.commands import Assess, Exclude, Go, Include, Reanalyse
from bot.effects.compare import judge_gate
from bot.engine.port import EffectRequest
from bot.gating.events import (
    BaselineFound,
    Collected,
    PreflightPassed,
    Prepared,
    Rejudged,
    SlotGranted,
    Submitted,
    Watched,
)
from bot.gating.model import Attempt
from bot.verdict.model import VerdictName
from tests.gating.story import Story, baseline

LADDER = (1, 2, 3)
STAGES = {"download": 100.0, "normalize": 900.0, "tokenize": 600.0}
NOTHING_NEW = {"react", "authorise", "reply", "rejudge", "publish"}


def report(**stages: float) -> str:
    took = STAGES | stages
    job = "/runner/x" if not stages else "/bot/ferry"
    return json.dumps(
        {
            "iris_job_id": job,
            "status": "succeeded",
            "wall_seconds_total": sum(took.values()),
            "stage_wall_seconds": took,
        }
    )


class Judging(Story):
    """A story whose pairs are judged by the real rules, as the performers of the effects do it."""

    def last_reply(self) -> str:
        return str([effect for effect in self.effects if effect.kind == "reply"][-1].payload["text"])

    def to_reports(self, *, ladder: tuple[int, ...] = (1,), **stages: float) -> None:
        """Up to the moment at which the first gate's reports wait for their comparison."""
        self.say(Assess())
        self.assessed(ladder=ladder)
        self.say(Go())
        self.tell(Prepared(self.run.id))
        self.tell(PreflightPassed(self.run.id))
        self.gate_reports(1, **stages)

    def gate_out(self, gate: int) -> None:
        self.tell(BaselineFound(self.run.id, gate, replace(baseline(), report=report())))
        self.tell(SlotGranted(self.run.id, gate, 1))
        self.tell(Submitted(self.run.id, gate, 1, f"/bot/ferry-{gate}"))

    def gate_reports(self, gate: int, **stages: float) -> None:
        self.gate_out(gate)
        self.tell(Watched(self.run.id, gate, 1, Attempt(1, ferry_state="succeeded"), ended=True))
        self.tell(Collected(self.run.id, gate, 1, report(**{"download": 100.0} | stages)))

    def compare(self) -> list[str]:
        gate = self.run.gate
        assert gate is not None
        return self.tell(judge_gate(self.run, gate))

    def to_verdict(self, *, ladder: tuple[int, ...] = (1,), **stages: float) -> None:
        self.to_reports(ladder=ladder, **stages)
        self.compare()

    def asked_to_judge(self) -> EffectRequest:
        return [effect for effect in self.effects if effect.kind == "rejudge"][-1]

    def outcome(self, effect: EffectRequest) -> Rejudged:
        """What the performer answers, of the state as it is now."""
        payload = effect.payload
        gates = [gate for gate in self.run.gates if gate.number in payload["gates"]]
        said = msgspec.convert(payload["said"], Exclude | Include | Reanalyse)
        verdicts = tuple(judge_gate(self.run, gate) for gate in gates)
        return Rejudged(payload["run_id"], payload["comment_id"], payload["actor"], said, verdicts)

    def order(self, command: Exclude | Include | Reanalyse, actor: str = "rev") -> list[str]:
        """Say it, and let the reports be judged where that was asked for."""
        kinds = self.say(command, actor)
        if "rejudge" in kinds:
            kinds += self.tell(self.outcome(self.asked_to_judge()))
        return kinds

    def verdict(self) -> VerdictName:
        gate = self.run.judged_gate
        assert gate is not None
        assert gate.judgement is not None
        return gate.judgement.verdict
