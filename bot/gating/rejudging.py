"""Stored reports judged again: what asks for it, and what follows.

Ends are final (DESIGN "The run"): judged again, a run may turn out to have ended as something else, but it never lives
again, and nothing is submitted. A run that waits over a warning goes on as the new verdict says.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from bot.conversation import judged, replies
from bot.conversation.commands import Exclude, Include, Reanalyse
from bot.gating import climb
from bot.gating.draft import Draft
from bot.gating.events import Authorised, Compared, Rejudged
from bot.gating.model import GateRun, Run
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON, FormerVerdict
from bot.verdict.model import Judgement

Order = Exclude | Include | Reanalyse
# Verdicts that a gate is remembered to have had; the comment shows the last of them.
_MOST_FORMER = 10
# The ends that a verdict makes. A run that was stopped at its second gate stays stopped, whatever the first one shows.
_BY_VERDICT = (RunState.passed, RunState.warned, RunState.failed, RunState.inconclusive, RunState.stuck)


def reanalyse(draft: Draft, event: Authorised, command: Reanalyse) -> None:
    """Judge every gate that came to a verdict again, by the rules of today."""
    run = draft.pr.run
    if run is None or run.judged_gate is None:
        draft.reply(event.comment_id, no_verdict(run))
        return
    gates = [gate.number for gate in run.gates if gate.can_be_judged_again]
    ask(draft, event.comment_id, event.actor, command, gates)


def no_verdict(run: Run | None) -> str:
    return replies.no_run() if run is None else judged.nothing_judged(run.state, run.head_sha)


def ask(draft: Draft, comment_id: int, actor: str, command: Order, gates: Sequence[int]) -> None:
    said = msgspec.to_builtins(command)
    payload = {"run_id": draft.run.id, "comment_id": comment_id, "actor": actor, "said": said, "gates": list(gates)}
    # Of no scope: the end of the run does not revoke it.
    draft.effect("rejudge", payload)


def rejudged(draft: Draft, event: Rejudged) -> None:
    """The verdicts by today's rules: kept, shown beside those they replace, followed, and told to who asked."""
    run = draft.pr.run
    if run is None or run.id != event.run_id:
        draft.reply(event.comment_id, judged.run_was_replaced())
        return
    if any(_is_outdated(run, verdict) for verdict in event.verdicts):
        ask(draft, event.comment_id, event.actor, event.command, [verdict.gate for verdict in event.verdicts])
        return
    told = [_told(event.command)]
    for verdict in event.verdicts:
        told.append(_keep(draft, event, verdict.gate, verdict.judgement))
    draft.reason = f"judged again for {event.actor}"
    told.append(_follow(draft, run))
    if isinstance(event.command, Exclude):
        told.append(judged.takes_it_back())
    draft.reply(event.comment_id, " ".join(part for part in told if part), done=True)
    draft.publish()


def _is_outdated(run: Run, verdict: Compared) -> bool:
    """What counts, or the ferry, is another since the reports were read."""
    gate = run.gate_of(verdict.gate)
    attempt = gate.attempt.number if gate and gate.attempt else None
    return attempt != verdict.attempt or verdict.excluded != run.excluded_names(verdict.gate)


def _told(command: Order) -> str:
    if isinstance(command, Exclude):
        return judged.excluded(command.stage)
    return judged.included(command.stage) if isinstance(command, Include) else judged.reanalysed()


def _keep(draft: Draft, event: Rejudged, number: int, found: Judgement) -> str:
    """Put the judgement in the place of the one before; what there is to say of it."""
    gate = draft.run.gate_of(number)
    if gate is None or gate.attempt is None or gate.judgement is None:
        return ""
    before = gate.judgement
    attempt, former = replace(gate.attempt, judgement=found), gate.former
    if before.verdict != found.verdict:
        former = (*former[-_MOST_FORMER + 1 :], _former(event, before, draft))
    changed = replace(gate, attempts=(*gate.attempts[:-1], attempt), former=former)
    draft.change(gates=tuple(changed if one.number == number else one for one in draft.run.gates))
    asked_for_news = isinstance(event.command, Reanalyse)
    return judged.judged_again(number, before.verdict, found.verdict, moved=asked_for_news and before != found)


def _former(event: Rejudged, before: Judgement, draft: Draft) -> FormerVerdict:
    command = event.command
    if isinstance(command, Reanalyse):
        return FormerVerdict(before.verdict, draft.now, event.actor, "reanalyse")
    why = command.reason[:MOST_REASON]
    if isinstance(command, Exclude):
        return FormerVerdict(before.verdict, draft.now, event.actor, "exclude", command.stage, why)
    return FormerVerdict(before.verdict, draft.now, event.actor, "include", command.stage, why)


def _follow(draft: Draft, before: Run) -> str:
    """What a changed verdict of the last gate means for the run; nothing where it says what it said."""
    last = draft.run.gate
    if last is None or before.gate is None or before.gate.judgement is None or last.judgement is None:
        changed = any(now.former != then.former for now, then in zip(draft.run.gates, before.gates, strict=True))
        return judged.goes_on() if changed and not before.state.ended else ""
    verdict = last.judgement.verdict
    if verdict == before.gate.judgement.verdict:
        return ""
    if before.state is RunState.awaiting_escalation:
        return _go_on(draft, last, last.judgement)
    if before.state in _BY_VERDICT:
        state, reason = _end(draft, last, last.judgement)
        draft.enter(state, reason=reason)
        unclimbed = _unclimbed(draft.run, last)
        return judged.did_not_climb(unclimbed) if unclimbed and verdict in ("pass", "warn") else ""
    return ""


def _go_on(draft: Draft, gate: GateRun, judgement: Judgement) -> str:
    """The run waits for `continue` after a warning: what was a warning no longer is one."""
    draft.cancel_expiry()
    following = climb.next_gate(draft)
    if judgement.verdict == "pass" and following is not None:
        climb.begin_gate(draft, following)
        return judged.climbs_on(following)
    draft.end(*_end(draft, gate, judgement))
    return ""


def _end(draft: Draft, gate: GateRun, judgement: Judgement) -> tuple[RunState, str]:
    """How a run ends by this verdict. A pass that did not climb as far as was asked for is none: a human decides."""
    unclimbed = _unclimbed(draft.run, gate)
    left = judged.not_climbed(unclimbed) if unclimbed else ""
    if judgement.verdict == "pass":
        return (RunState.warned, left) if unclimbed else (RunState.passed, "")
    if judgement.verdict == "warn":
        return RunState.warned, left
    if judgement.verdict == "not_comparable":
        return RunState.stuck, climb.why_not_comparable(draft, judgement)
    return (RunState.failed if judgement.verdict == "fail" else RunState.inconclusive), ""


def _unclimbed(run: Run, gate: GateRun) -> list[int]:
    """The gates that were asked for and not run."""
    if run.max_gate is None or run.max_gate == "skip":
        return []
    return [plan.number for plan in run.plan if gate.number < plan.number <= int(run.max_gate)]
