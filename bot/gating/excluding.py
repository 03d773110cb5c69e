"""What does not count in a verdict: a reviewer leaves a stage out, or takes that back.

It holds for the run: for the verdict that stands where the run waits over one or has ended, else for those to come.
"""

from __future__ import annotations

from msgspec.structs import replace

from bot.conversation import judged
from bot.conversation.commands import Exclude, Include
from bot.gating import rejudging
from bot.gating.draft import Draft
from bot.gating.events import Authorised
from bot.gating.granting import is_author, permissions_of
from bot.gating.model import GateRun, Run
from bot.gating.stages import closest, expected, leaves_nothing, nameable, resolve
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON, Exclusion

# Far more than a report has stages; before one is there, any name is taken.
MOST = 50


def exclude(draft: Draft, event: Authorised, command: Exclude) -> None:
    run = draft.pr.run
    if is_author(draft.pr, event):
        draft.reply(event.comment_id, judged.author_cannot_exclude(permissions_of(run).override))
        return
    if run is None or _has_no_verdict(run):
        draft.reply(event.comment_id, rejudging.no_verdict(run))
        return
    gate = _gate_meant(run)
    number = gate.number if gate else 0
    names = nameable(gate)
    stage = command.stage if names is None else resolve(command.stage, names)
    if stage is None:
        known = names or []
        draft.reply(event.comment_id, judged.no_such_stage(command.stage, known, closest(command.stage, known)))
        return
    if already := next((one for one in run.excluded_at(number) if one.stage == stage), None):
        draft.reply(event.comment_id, judged.already_excluded(stage, already.by))
        return
    if gate is not None and leaves_nothing(gate, {*run.excluded_names(number), stage}):
        draft.reply(event.comment_id, judged.nothing_would_be_left(stage))
        return
    if len(run.exclusions) >= MOST:
        draft.reply(event.comment_id, judged.enough_excluded(MOST))
        return
    exclusion = Exclusion(stage, event.actor, draft.now, command.reason[:MOST_REASON], number)
    draft.change(exclusions=(*run.exclusions, exclusion))
    draft.reason = f"{event.actor} excludes {stage!r}"
    likely = expected(run) if names is None else []
    close = "" if resolve(stage, likely) else closest(stage, likely)
    ahead = judged.excluded_ahead(stage, known=names is not None, close=close)
    _count_anew(draft, event, replace(command, stage=stage), ahead)


def include(draft: Draft, event: Authorised, command: Include) -> None:
    """Nobody weakens the gate by this, so the author may do it too. Gates climbed with the exclusion keep it."""
    run = draft.pr.run
    if run is None or _has_no_verdict(run):
        draft.reply(event.comment_id, rejudging.no_verdict(run))
        return
    gate = _gate_meant(run)
    number = gate.number if gate else 0
    excluded = run.excluded_names(number)
    stage = resolve(command.stage, excluded)
    if stage is None:
        draft.reply(event.comment_id, judged.not_excluded(command.stage, excluded))
        return
    draft.change(exclusions=tuple(_taken_back(run.exclusions, stage, number)))
    draft.reason = f"{event.actor} includes {stage!r} again"
    _count_anew(draft, event, replace(command, stage=stage), judged.included_ahead(stage))


def _stands(run: Run) -> bool:
    """Whether no other verdict comes by itself."""
    return run.state.ended or run.state is RunState.awaiting_escalation


def _has_no_verdict(run: Run) -> bool:
    return _stands(run) and run.judged_gate is None


def _gate_meant(run: Run) -> GateRun | None:
    return run.judged_gate if _stands(run) else run.gate


def _taken_back(exclusions: tuple[Exclusion, ...], stage: str, gate: int) -> list[Exclusion]:
    kept = []
    for one in exclusions:
        if one.stage != stage or not one.counts_at(gate):
            kept.append(one)
        elif one.since_gate < gate:
            kept.append(replace(one, until_gate=gate))
    return kept


def _count_anew(draft: Draft, event: Authorised, command: Exclude | Include, ahead: str) -> None:
    run = draft.run
    if _stands(run) and run.judged_gate is not None:
        rejudging.ask(draft, event.comment_id, event.actor, command, [run.judged_gate.number])
    else:
        draft.reply(event.comment_id, ahead, done=True)
        draft.publish()
