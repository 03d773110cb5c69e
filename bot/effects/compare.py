"""The verdict: the pinned baseline against the collected treatment, by the rules of `bot.verdict`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bot.conversation.commands import Exclude, Include, Reanalyse
from bot.effects.context import Context, Rooms, config_of, current_gate, heard_in
from bot.engine.port import Effect, Outcome
from bot.gating import resubmission
from bot.gating.events import Compared, Event, Rejudged
from bot.gating.model import GateRun, Run
from bot.verdict.judge import judge
from bot.verdict.report import parse_json
from bot.watching.look import Machine


async def compare(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    _, run, gate = found
    judged = judge_gate(run, gate)
    text = msgspec.json.format(msgspec.json.encode(judged.judgement), indent=2)
    rooms.rundirs.put(run.id, f"gate-{gate.number}/attempt-{judged.attempt}/judgement.json", text)
    return Outcome(judged)


async def rejudge(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    """Judge the stored reports of the gates named once more, by the rules of today and the run's pinned thresholds.

    Reads nothing but the stored state, so it also serves runs that have ended.
    """
    run, payload = (await context.read()).run, effect.payload
    verdicts: tuple[Compared, ...] = ()
    if run is not None and run.id == payload["run_id"]:
        again = [gate for gate in run.gates if gate.number in payload["gates"] and gate.can_be_judged_again]
        verdicts = tuple(judge_gate(run, gate) for gate in again)
    return Outcome(
        Rejudged(
            run_id=str(payload["run_id"]),
            comment_id=int(payload["comment_id"]),
            actor=str(payload["actor"]),
            command=msgspec.convert(payload["said"], Exclude | Include | Reanalyse),
            verdicts=verdicts,
            heard_in=heard_in(effect),
        )
    )


def judge_gate(run: Run, gate: GateRun) -> Compared:
    """A gate's two stored reports, judged by today's rules with the run's pinned thresholds and exclusions."""
    if gate.baseline is None or gate.attempt is None:
        raise AssertionError("a comparison was asked for before both reports were there")
    config, excluded = config_of(run), run.excluded_names(gate.number)
    judgement = judge(
        parse_json(gate.baseline.report),
        parse_json(gate.attempt.report),
        config.thresholds,
        excluded=excluded,
        history=gate.history,
        policy=config.verdict.policy,
        worker_generations=(generation(gate.baseline.machines), generation(gate.attempt.machines)),
    )
    if run.cluster:
        judgement = resubmission.on_another_cluster(run.cluster, judgement)
    judgement = resubmission.with_earlier_attempts(gate, judgement)
    return Compared(run.id, gate.number, gate.attempt.number, judgement, excluded)


def generation(machines: Sequence[Machine]) -> str | None:
    """What a side's workers ran on, where all of it is known."""
    kinds = [machine.kind for machine in machines]
    return " + ".join(sorted(set(kinds))) if kinds and all(kinds) else None
