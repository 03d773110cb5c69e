"""A step in the making: the next state and the effects asked for so far. Mutable inside one `step`, never outside."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.conversation import replies
from bot.engine.port import EffectRequest, SlotRequest, Timer, Transition
from bot.gating import handing, leaving
from bot.gating.events import CheckDue, Event, Expired, SlotGranted
from bot.gating.marks import Press
from bot.gating.model import Attempt, EarlierRun, GateRun, PullRequest, Run
from bot.gating.states import RunState
from bot.gating.words import Consent, HeardIn, MaxGate

# GitHub counts writes by installation; the other lanes guard what is this machine's own.
_WRITES = frozenset({"react", "reply", "help", "ask", "publish", "check", "notify", "hide", "settle"})
# Answers that wait for their question to be posted: far more than people give in the seconds that it takes.
MOST_HELD = 10
# Effects whose outcome answers the comment that they carry.
_ANSWERS_LATER = frozenset({"authorise", "rejudge", "help"})


class Draft:
    """Collects what a transition will hold. `run` is the current run and must exist where a method speaks of it."""

    def __init__(self, pr: PullRequest, now: datetime, heard_in: HeardIn = "comment") -> None:
        self.pr = pr
        self.now = now
        self.heard_in = heard_in
        self.reason = ""
        self.answered = False
        """Whether the comment of this event was answered, or will be by the outcome of an effect."""
        self._effects: list[EffectRequest] = []
        self._revoke: list[str] = []
        self._timers: list[Timer[Event]] = []
        self._cancel: list[str] = []
        self._release: list[str] = []
        self._acquire: list[SlotRequest[Event]] = []

    @property
    def run(self) -> Run:
        assert self.pr.run is not None, "a handler asked for the run of a pull request that has none"  # noqa: S101
        return self.pr.run

    @property
    def author(self) -> str:
        """Login of the pull request's author; empty before a delivery named it."""
        return self.pr.place.author if self.pr.place is not None else ""

    def transition(self) -> Transition[PullRequest, Event]:
        return Transition(
            state=self.pr,
            effects=tuple(self._effects),
            revoke=tuple(self._revoke),
            timers=tuple(self._timers),
            cancel_timers=tuple(self._cancel),
            release=tuple(self._release),
            acquire=tuple(self._acquire),
            reason=self.reason,
        )

    # ---- the aggregate

    def set(self, **fields: Any) -> None:
        self.pr = replace(self.pr, **fields)

    def change(self, **fields: Any) -> None:
        """Change fields of the current run."""
        self.set(run=replace(self.run, **fields))

    def enter(self, state: RunState, *, passing: bool = False, **fields: Any) -> None:
        """`passing`: it lasts for a moment, so that nobody would read of it before what follows is written."""
        self.reason = self.reason or f"{self.run.state} → {state}"
        self.change(state=state, since=self.now, **fields)
        if not passing:
            self.publish()

    def notice_head(self, head_sha: str) -> None:
        """The head as it is now: the comment of a run of another commit says so, also after the run's end."""
        self.set(head_sha=head_sha)
        run = self.pr.run
        if run is None or not run.head_sha:
            return
        moved_to = "" if head_sha == run.head_sha else head_sha
        if run.head_moved_to != moved_to:
            self.change(head_moved_to=moved_to)
            self.publish()

    def change_gate(self, **fields: Any) -> None:
        gates = self.run.gates
        self.change(gates=(*gates[:-1], replace(gates[-1], **fields)))

    def change_attempt(self, **fields: Any) -> None:
        attempts = self.run.gates[-1].attempts
        self.change_gate(attempts=(*attempts[:-1], replace(attempts[-1], **fields)))

    def begin_run(
        self,
        asked_by: str,
        requested: MaxGate | None = None,
        reason: str = "",
        consent: Consent | None = None,
        by_author: bool | None = None,
    ) -> None:
        """Start anew; the run before it (ended) stays in view as a line."""
        before, place = self.pr.run, self.pr.place
        assert place is not None, "a run begins only by a mention, which names its place"  # noqa: S101
        ordinal = 1
        self.set(handovers=handing.remembered(self.pr.handovers, before, place.author, self.pr.head_sha))
        if before is not None:
            ordinal = before.ordinal + 1
            line = EarlierRun(before.id, before.state, before.head_sha, before.since)
            self.set(earlier=(*self.pr.earlier[-9:], line))
        run = Run(
            id=f"{place.repository_id}-{place.number}-{ordinal}",
            ordinal=ordinal,
            state=RunState.assessing,
            since=self.now,
            asked_by=asked_by,
            requested=requested,
            requested_reason=reason,
            by_author=by_author,
            consent=consent,
        )
        self.set(run=run)
        self.reason = f"run {run.id} begins, asked for by {asked_by}"
        self.run_effect("assess")
        self.publish()

    def end(self, state: RunState, reason: str = "") -> None:
        """Finish the run: nothing of it acts any more, but its trees are removed and its comment is updated."""
        run = self.run
        left = leaving.left_by(run)
        self._revoke.append(run.id)
        self._cancel += [f"check:{run.id}", f"expiry:{run.id}"]
        if run.gate is not None and run.attempt is not None:
            self._release.append(holder(run, run.gate, run.attempt))
        self.enter(state, reason=reason)
        self.weigh_held()
        self.effect("cleanup", {"run_id": run.id} | left, scope=f"{run.id}/end")

    # ---- effects

    def effect(
        self, kind: str, payload: dict[str, Any], *, scope: str = "", coalesce: str = "", due: datetime | None = None
    ) -> None:
        place = self.pr.place
        assert place is not None, "an effect needs the place a delivery named"  # noqa: S101
        if "comment_id" in payload and self.heard_in != "comment":
            payload = {**payload, "heard_in": self.heard_in}
        self.answered = self.answered or kind in _ANSWERS_LATER
        sequence = self.pr.sequence + 1
        self.set(sequence=sequence)
        self._effects.append(
            EffectRequest(
                id=f"{place.key}#{sequence}:{kind}",
                kind=kind,
                payload=payload,
                scope=scope,
                partition=str(place.installation_id) if kind in _WRITES else "",
                coalesce=coalesce,
                due=due,
            )
        )

    def run_effect(self, kind: str) -> None:
        """An effect of the run as a whole, revoked when the run ends."""
        self.effect(kind, {"run_id": self.run.id}, scope=self.run.id)

    def attempt_effect(self, kind: str, *, due: datetime | None = None) -> None:
        """An effect of the gate and attempt that run now."""
        gate, attempt = self.run.gates[-1], self.run.gates[-1].attempts[-1]
        payload = {"run_id": self.run.id, "gate": gate.number, "attempt": attempt.number}
        self.effect(kind, payload, scope=self.run.id, due=due)

    def publish(self) -> None:
        self.effect("publish", {}, coalesce="publish")
        self.show_check()

    def show_check(self) -> None:
        """Make the check run say what is true now, where there is one or is to be one."""
        run = self.pr.run
        if self.pr.check is not None or (run is not None and run.plan and run.checks):
            self.effect("check", {}, coalesce="check")

    def press_of(self, comment_id: int) -> Press | None:
        """The button that was pressed, where no comment spoke."""
        return next((press for press in self.pr.presses if press.number == comment_id), None)

    # ---- what a comment is answered

    def reply(self, comment_id: int, text: str, *, done: bool = False) -> None:
        """Answer in words. `done`: what the comment asked for was done, or is said; else nothing of it was."""
        self.answered = True
        if (press := self.press_of(comment_id)) is not None:
            text = replies.pressed(press.actor, press.button, text)
        self.effect("reply", {"comment_id": comment_id, "text": text})
        self.react(comment_id, "+1" if done else "confused")

    def obeyed(self, comment_id: int) -> None:
        """The command was carried out and needs no words: the canonical comment shows what became of it."""
        run = self.pr.run
        under_way = run is not None and not run.state.ended
        if self.press_of(comment_id) is not None:
            # What came of a button is seen where it was pressed.
            self.answered = True
        elif self.heard_in == "review":
            self.reply(comment_id, replies.heard_a_review(), done=True)
        else:
            self.answered = True
            self.react(comment_id, "rocket" if under_way else "+1")

    def react(self, comment_id: int, content: str) -> None:
        """GitHub knows no reactions to a review, and a button takes none; those are only answered."""
        if comment_id > 0 and self.heard_in != "review":
            self.effect("react", {"comment_id": comment_id, "content": content})

    def weigh_held(self) -> None:
        """Have the answers looked at again that came while their question was on its way; it stands, or never will.

        Where somebody ended the run they are only told so: looked at again, they would begin another.
        """
        held, now = self.run.held, (self.heard_in, self.answered)
        if held:
            self.change(held=())
        for one in held:
            self.heard_in = one.heard_in
            if self.run.state is RunState.stopped:
                self.reply(one.comment_id, replies.ended_before_its_question(self.run.reason))
                continue
            payload = {"comment_id": one.comment_id, "actor": one.actor, "actor_id": one.actor_id}
            payload["said"] = msgspec.to_builtins(one.said)
            if one.said_at is not None:
                payload["said_at"] = one.said_at.isoformat()
            self.effect("authorise", payload)
        # The comment of this event is another, and not answered by that.
        self.heard_in, self.answered = now

    # ---- timers and slots

    def check_after(self, seconds: float) -> None:
        gate, attempt = self.run.gates[-1], self.run.gates[-1].attempts[-1]
        event = CheckDue(self.run.id, gate.number, attempt.number)
        self._timers.append(Timer(f"check:{self.run.id}", self.now + timedelta(seconds=seconds), event))

    def cancel_check(self) -> None:
        self._cancel.append(f"check:{self.run.id}")

    def expire_after(self, wait: timedelta) -> None:
        event = Expired(self.run.id, self.now)
        self._timers.append(Timer(f"expiry:{self.run.id}", self.now + wait, event))

    def cancel_expiry(self) -> None:
        self._cancel.append(f"expiry:{self.run.id}")

    def acquire_tier(self) -> None:
        gate, attempt = self.run.gates[-1], self.run.gates[-1].attempts[-1]
        granted = SlotGranted(self.run.id, gate.number, attempt.number)
        self._acquire.append(SlotRequest(tier_slot(gate.number), holder(self.run, gate, attempt), granted))

    def release_tier(self) -> None:
        gate = self.run.gates[-1]
        self._release.append(holder(self.run, gate, gate.attempts[-1]))


def tier_slot(gate: int) -> str:
    """The slot that lets one treatment of a tier run at a time: two would slow each other down."""
    return f"tier-{gate}"


def holder(run: Run, gate: GateRun, attempt: Attempt) -> str:
    """Who holds a tier's slot: unique for all time, since run ids are."""
    return f"{run.id}/g{gate.number}/a{attempt.number}"
