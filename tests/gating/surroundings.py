"""What performing an effect may lead to: the world around `step`, as the stories in any order meet it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import msgspec

from bot.conversation.commands import Command, Exclude, Include, Reanalyse
from bot.engine.port import EffectRequest
from bot.gating.events import (
    Assessed,
    Authorised,
    BaselineFound,
    BaselineMissing,
    CannotAssess,
    Collected,
    Compared,
    Denied,
    EffectFailed,
    Event,
    FerryStopped,
    PreflightFailed,
    PreflightGoesOn,
    PreflightPassed,
    Prepared,
    QueueSeen,
    Refused,
    Rejudged,
    Submitted,
    Unseen,
    Unsubmitted,
    Watched,
)
from bot.gating.machine import GateMachine
from bot.gating.model import Attempt, GateRun
from bot.gating.tested import FailedCommand
from bot.gating.written import Asked, Published
from bot.verdict.model import VerdictName
from bot.watching.look import Look, Shards, Step, Threads
from bot.watching.queue import Ahead, Queue
from tests.gating.story import BASE, CONFIG, HEAD, MAIN, PLACE, START, assessment, baseline, judgement, plan

VERDICTS: tuple[VerdictName, ...] = ("pass", "warn", "fail", "inconclusive", "not_comparable")
# As it goes well, as it waits, as nothing moves, and as nobody serves any more.
LOOKS = (
    Look(
        "running", START, (Step("normalize", "running", 60.0),), 1, 2, shards=(Shards("c", "s0", 1, 9, 1, 7, 2, 2, 0),)
    ),
    Look("pending", reasons=("quota_exceeded",)),
    Look("running", START, coordinators=1),
    Look("running", START, coordinators=1, threads=Threads("/bot/c", 9, 2, 2, False, True)),
)
# Tried until they are done, so they never end in a failure (see the registry).
ENDLESS = {"publish", "submit", "watch", "queue", "stop_ferry"}

T = TypeVar("T")


def chosen(among: Sequence[T], pick: int) -> T:
    return among[pick % len(among)]


@dataclass
class Ferry:
    """A job on the cluster."""

    name: tuple[str, int, int]
    alive: bool = True


class Surroundings:
    """A pull request, its people's luck, and a cluster that counts which ferries live."""

    machine: ClassVar = GateMachine("perf-gate", {PLACE.full_name})

    def __init__(self) -> None:
        super().__init__()
        self.pr = self.machine.initial(PLACE.key)
        self.now = START
        self.ferries: dict[tuple[str, int, int], Ferry] = {}
        self.head, self.is_open, self.comment = HEAD, True, 100
        self.luck = [0]

    def outcome(self, effect: EffectRequest, way: int) -> Event | None:
        run_id = str(effect.payload.get("run_id", ""))
        possible = self._outcomes(effect, run_id)
        if effect.kind not in ENDLESS:
            comment = int(effect.payload.get("comment_id", 0))
            possible.append(EffectFailed(effect.kind, run_id, "it could not be done", comment))
        return chosen(possible, way) if possible else None

    def _outcomes(self, effect: EffectRequest, run_id: str) -> list[Any]:
        if effect.kind in {"submit", "queue", "watch", "stop_ferry", "collect", "compare"}:
            return self._of_the_ferry(effect, run_id)
        gate = int(effect.payload.get("gate", 0))
        match effect.kind:
            case "assess":
                found = [
                    Assessed(
                        run_id,
                        self.head,
                        BASE,
                        "main",
                        "main",
                        False,
                        MAIN,
                        CONFIG,
                        plan(1, 2, 3),
                        one,
                        clusters=("spare",),
                    )
                    for one in (assessment("3"), assessment("skip"), assessment(in_scope=False))
                ]
                return [*found, CannotAssess(run_id, self.head, "there is no common history")]
            case "authorise":
                payload = effect.payload
                command = msgspec.convert(payload["said"], Command)
                allowed = Authorised(payload["comment_id"], payload["actor"], "write", command, self.head, self.is_open)
                return [allowed, Denied(payload["comment_id"], payload["actor"], "write")]
            case "ask":
                self.comment += 1
                return [Asked(run_id, self.comment)]
            case "publish":
                return [Published(1, str(self.now))]
            case "prepare":
                return [Prepared(run_id), Refused(run_id, "a symbolic link leads out of the tree")]
            case "preflight":
                cut_short = Refused(run_id, "`pytest` did not end", FailedCommand("pytest", None, "40 passed"))
                failed = PreflightFailed(run_id, FailedCommand("pytest", 1, "1 failed"))
                return [PreflightPassed(run_id), failed, PreflightGoesOn(run_id, 60.0), cut_short]
            case "locate":
                return [BaselineFound(run_id, gate, baseline()), BaselineMissing(run_id, gate, "no scheduled run")]
            case "rejudge":
                return [self._rejudged(effect, run_id)]
            case _:
                return []

    def _of_the_ferry(self, effect: EffectRequest, run_id: str) -> list[Any]:
        name = run_id, int(effect.payload["gate"]), int(effect.payload["attempt"])
        ferry = self.ferries.get(name)
        match effect.kind:
            case "submit":
                return self._of_a_submit(name)
            case "watch":
                assert ferry is not None, "what was never submitted is watched"
                looks = [Watched(*name, Attempt(name[2], ferry_state="running"), False, look) for look in LOOKS]
                if self.now.second % 3:
                    return [*looks, Unseen(*name)]
                ferry.alive = False
                ends = ("succeeded", "failed", "killed")
                state = ends[self.now.minute % len(ends)]
                return [Watched(*name, Attempt(name[2], ferry_state=state), ended=True)]
            case "queue":
                return [QueueSeen(*name, Queue((Ahead(5200, self.now, self.now),), self.now))]
            case "stop_ferry":
                assert ferry is not None, "what was never submitted is stopped"
                ferry.alive = False
                return [FerryStopped(*name)]
            case "collect":
                return [Collected(*name, "{}")]
            case _:
                self.luck = [*self.luck[1:], self.luck[0]]
                order = VERDICTS[self.luck[0] :] + VERDICTS[: self.luck[0]]
                return [Compared(*name, judgement(verdict), self._excluded(name[1])) for verdict in order]

    def _of_a_submit(self, name: tuple[str, int, int]) -> list[Any]:
        """Looked up before it is made: a second submit finds the first one's job, also where nobody heard of it."""
        run = self.pr.run
        if name in self.ferries:
            return [Submitted(*name, f"/bot/{name}")]
        if run is not None and run.id == name[0] and run.stop_requested_by:
            return [FerryStopped(*name)]
        if self.now.second % 7 == 3:
            return [Unsubmitted(*name, "Iris could not take the job"), Refused(name[0], "Iris refused the ferry")]
        self.ferries[name] = Ferry(name)
        # Of some that were taken no answer comes.
        lost = self.now.second % 7 == 5
        return [Unsubmitted(*name, "Iris named no job") if lost else Submitted(*name, f"/bot/{name}")]

    def _rejudged(self, effect: EffectRequest, run_id: str) -> Rejudged:
        payload, run = effect.payload, self.pr.run
        command = msgspec.convert(payload["said"], Exclude | Include | Reanalyse)
        gates = [gate for gate in (run.gates if run and run.id == run_id else ()) if gate.number in payload["gates"]]
        verdicts = tuple(self._again(run_id, gate) for gate in gates if gate.attempt)
        return Rejudged(run_id, payload["comment_id"], payload["actor"], command, verdicts)

    def _again(self, run_id: str, gate: GateRun) -> Compared:
        verdict = VERDICTS[self.now.second % len(VERDICTS)]
        number = gate.attempts[-1].number
        return Compared(run_id, gate.number, number, judgement(verdict), self._excluded(gate.number))

    def _excluded(self, gate: int) -> tuple[str, ...]:
        return self.pr.run.excluded_names(gate) if self.pr.run else ()
