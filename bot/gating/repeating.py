"""`continue`, `retry` and `stop`: a run goes on over its verdict, is begun again, or ends.

What costs hours that are already spent, or measures on another cluster, is asked for twice (seed 002, "Ask before").
"""

from __future__ import annotations

from bot.conversation import again, replies
from bot.conversation.commands import Go, Retry
from bot.gating import climb, resuming
from bot.gating.climb import CLUSTER
from bot.gating.draft import Draft
from bot.gating.events import Authorised
from bot.gating.granting import is_author
from bot.gating.model import Run
from bot.gating.states import JUDGING, RunState


def about_another_diff(run: Run, event: Authorised, undone: str) -> str | None:
    """Why an answer to this run's question counts for nothing: there was a push, or another base. None where it does.

    `undone`: what the answer would have done.
    """
    if run.head_sha != event.head_sha:
        return replies.stale_question(run.head_sha, event.head_sha, undone)
    if event.base_ref and run.base_ref != event.base_ref:
        return replies.base_changed(run.base_ref, event.base_ref, undone)
    return None


def ask_anew(draft: Draft, event: Authorised, command: Go | None = None, *, cluster: str | None = None) -> None:
    """The question was about a diff that is gone: end that run quietly and ask about the new one.

    `cluster`: where it is to run, as the question says; None: where the run was to.
    """
    cluster = draft.run.cluster if cluster is None else cluster
    draft.end(RunState.stopped, replies.superseded(draft.run.head_sha, event.head_sha))
    if command is None:
        draft.begin_run(event.actor)
    else:
        by_author = is_author(draft.pr, event)
        draft.begin_run(event.actor, command.max_gate, command.reason, by_author=by_author)
    draft.change(cluster=cluster)


def continue_(draft: Draft, event: Authorised) -> None:
    run = draft.pr.run
    if run is not None and run.state is RunState.inconclusive:
        _continue_above(draft, event, run)
        return
    if run is None or run.state is not RunState.awaiting_escalation:
        draft.reply(event.comment_id, replies.nothing_to_continue())
        return
    following = climb.next_gate(draft)
    draft.cancel_expiry()
    draft.reason = f"{event.actor} lets it climb on"
    if following is None:
        draft.end(RunState.warned)
    else:
        draft.change_gate(continued_by=event.actor)
        climb.begin_gate(draft, following)


def _continue_above(draft: Draft, event: Authorised, run: Run) -> None:
    """An inconclusive end is final, so a new run climbs on from it."""
    if not run.gates or climb.next_gate(draft) is None:
        draft.reply(event.comment_id, again.no_gate_above())
    elif not resuming.resumable(run, event.head_sha):
        draft.reply(event.comment_id, again.continues_another_head(run.head_sha, event.head_sha))
    else:
        resuming.resume(draft, event.actor, above=True, cluster=run.cluster)


def retry(draft: Draft, event: Authorised, command: Retry) -> None:
    run = draft.pr.run
    # Which clusters there are is read with the diff.
    reading = run is not None and run.state is RunState.assessing
    if command.cluster and not reading and (run is None or command.cluster not in run.clusters):
        known = run.clusters if run is not None and run.plan else None
        draft.reply(event.comment_id, again.no_such_cluster(command.cluster, known))
    elif run is None:
        draft.begin_run(event.actor)
    elif run.state is RunState.awaiting_reviewer:
        ask_anew(draft, event, cluster=command.cluster)
    elif run.state.has_live_ferry:
        _retry_live(draft, event, run, command)
    elif run.state.ended or run.state is RunState.awaiting_escalation:
        _retry_ended(draft, event, run, command)
    else:
        draft.reply(event.comment_id, replies.already(run.state, run.head_sha))


def _retry_live(draft: Draft, event: Authorised, run: Run, command: Retry) -> None:
    """Asks, stops, waits, submits: the new ferry comes only when the old one is gone (`climb.stopped_for_retry`)."""
    asked = CLUSTER + command.cluster
    # Who presses a button twice may only be impatient: the second time takes words.
    if run.retry_asked != asked or draft.press_of(event.comment_id) is not None:
        draft.change(retry_asked=asked)
        draft.reply(event.comment_id, again.confirm_retry(*_spent(draft), command.cluster))
        return
    draft.change(retry_requested_by=event.actor, retry_cluster=command.cluster)
    submitted = run.state is not RunState.submitting
    draft.reply(event.comment_id, again.retry_begins_when_it_is_gone(submitted=submitted), done=True)
    _stop_ferry(draft, event)


def _retry_ended(draft: Draft, event: Authorised, run: Run, command: Retry) -> None:
    asked = CLUSTER + command.cluster
    # After a push there is a question in any case, which is about the new head and says where it would run.
    if command.cluster and run.head_sha == event.head_sha and run.retry_asked != asked:
        draft.change(retry_asked=asked)
        draft.reply(event.comment_id, again.confirm_cluster(command.cluster))
        return
    if run.state is RunState.awaiting_escalation:
        leave_the_warning(draft)
    if resuming.resumable(draft.run, event.head_sha):
        resuming.resume(draft, event.actor, cluster=command.cluster)
    else:
        draft.begin_run(event.actor)
        draft.change(cluster=command.cluster)


def leave_the_warning(draft: Draft) -> None:
    """Nobody waits for `continue` any more: the run ends with the warning it had."""
    draft.cancel_expiry()
    draft.end(RunState.warned)


def stop(draft: Draft, event: Authorised) -> None:
    run = draft.pr.run
    if run is None or run.state.ended:
        draft.reply(event.comment_id, replies.nothing_to_stop())
    elif run.state in JUDGING and not run.stop_asked_by:
        # The ferry is paid for: what it measured is told, unless somebody insists.
        draft.change(stop_asked_by=event.actor, stop_requested_by=event.actor)
        draft.reply(event.comment_id, again.verdict_is_coming(), done=True)
        draft.publish()
    elif run.state is RunState.awaiting_escalation:
        draft.end(RunState.warned, replies.stopped_by(event.actor))
    elif not run.state.has_live_ferry:
        draft.end(RunState.stopped, replies.stopped_by(event.actor))
    elif not run.stop_asked_by:
        # Stopping a ferry that has not crossed its wall-time is asked for twice (seed 002, "Ask before").
        draft.change(stop_asked_by=event.actor)
        spent, wall = _spent(draft)
        if spent is None or spent < wall:
            draft.reply(event.comment_id, replies.confirm_stop(spent, wall))
        else:
            _stop_for_good(draft, event)
    else:
        _stop_for_good(draft, event)


def _spent(draft: Draft) -> tuple[float | None, float]:
    """(seconds since Iris has the ferry, None where it is not known to have it; its tier's wall-time)."""
    run = draft.run
    started = run.attempt.submitted_at if run.attempt else None
    spent = (draft.now - started).total_seconds() if started else None
    return spent, run.plan_of(run.gates[-1].number).wall_seconds


def _stop_for_good(draft: Draft, event: Authorised) -> None:
    # Whoever asked for another ferry meanwhile is overruled: stopping is the cautious half of what they asked for.
    draft.change(retry_requested_by="", retry_asked="")
    _stop_ferry(draft, event)


def _stop_ferry(draft: Draft, event: Authorised) -> None:
    draft.change(stop_requested_by=event.actor)
    draft.reason = f"{event.actor} stops the ferry"
    draft.publish()
    if draft.run.state is RunState.ferrying:
        draft.attempt_effect("stop_ferry")
