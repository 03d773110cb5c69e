"""Every short sentence the bot says back, as pure functions. Golden files pin them.

What is drawn from a whole run, the question and the canonical comment, is in `bot.comment`: conversation knows no runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.conversation.durations import minutes
from bot.conversation.grammar import GRAMMAR

BUILT_IN_ROLES: Mapping[str, str] = {"go": "write", "override": "write", "skip": "write", "stop": "write"}
_UNDO = "`@perf-gate include stage=NAME` takes it back."
_READS_ALOUD = {
    "assessing": "reading the diff",
    "awaiting_reviewer": "waiting for an answer to the question above",
    "preparing": "checking out the commit",
    "testing": "running lint, types and tests",
    "locating_baseline": "looking for the scheduled baseline",
    "queued": "waiting for the tier's slot",
    "submitting": "submitting the ferry",
    "ferrying": "watching the ferry",
    "collecting": "collecting the ferry's perf report",
    "comparing": "comparing the two reports",
    "awaiting_escalation": "waiting for `continue` after a warning",
}


def short(sha: str) -> str:
    return f"`{sha[:10]}`" if sha else "the head commit"


def state_read_aloud(state: str) -> str:
    return _READS_ALOUD.get(state, state.replace("_", " "))


def help_table(roles: Mapping[str, str] = BUILT_IN_ROLES) -> str:
    """`roles`: family of commands → the least role that may give them."""
    rows = [
        f"| {_code(f'@perf-gate {entry.usage}'.strip())} | {entry.meaning} | {_who(entry.who, roles)} |"
        for entry in GRAMMAR.values()
    ]
    table = "\n".join(["| Say | and the bot will | Who may |", "|---|---|---|", *rows])
    return (
        f"🤖 What can be said to me:\n\n{table}\n\nWhile I wait for an answer, a bare `go` or `max_gate=N` is enough. "
        "One command a comment: in a comment, a review or on a line of the diff, but not in code, quotes or edits."
    )


def _code(text: str) -> str:
    # A pipe ends a table cell even inside a code span, unless it is escaped.
    return "`" + text.replace("|", "\\|") + "`"


def _who(family: str, roles: Mapping[str, str]) -> str:
    return "anyone" if family == "anyone" else f"{roles.get(family, 'write')} access"


def misunderstood(problem: str) -> str:
    end = "" if problem.endswith("?") else "."
    return f"😕 {problem[:1].upper()}{problem[1:]}{end} `@perf-gate help` shows what can be said."


def pressed(actor: str, button: str, text: str) -> str:
    """An answer to somebody who pressed a button, which unlike a comment is not there to be looked at."""
    name = "Re-run" if button == "retry" else button.capitalize()
    return f"{_quoted(actor)} pressed **{name}** on the check run. {text}"


def button_of_before(state: str, head_sha: str) -> str:
    now = f"is {state_read_aloud(state)}" if state in _READS_ALOUD else f"has ended: {state_read_aloud(state)}"
    return f"That button is of before: the run for {short(head_sha)} {now}. Nothing was done."


def unheard() -> str:
    return (
        "😕 I failed at this comment through a mistake of my own, so nothing of it was done; the operator's log has "
        "the details. Please say it again, in other words if you can."
    )


def heard_a_review() -> str:
    """Where GitHub takes no reaction, this says that the command was carried out."""
    return "🚀 I heard what your review says to me; the perf gate comment shows what became of it."


def edits_do_not_count() -> str:
    return (
        "Edits are not run, since others than its author can edit a comment: what this one says now is not done. "
        "To have it done, say it in a new comment."
    )


def denied(needed: str) -> str:
    return (
        f"Thanks, but this command needs `{needed}` access to the repository, which I could not find for you. "
        "Anyone who has it can give the same command, and then it counts."
    )


def cannot_authorise(why: str) -> str:
    return f"I could not look up whether you may do that: {why}. Nothing was done; please say it again later."


def closed() -> str:
    return "This pull request is closed, so nothing new is run for it. Reopen it and ask again."


def no_run() -> str:
    return "There is no run for this pull request yet. `@perf-gate` starts one."


def status(state: str, head_sha: str) -> str:
    now = f"is {state_read_aloud(state)}" if state in _READS_ALOUD else f"has ended: {state_read_aloud(state)}"
    return f"The run for {short(head_sha)} {now}; the perf gate comment has the details."


def already(state: str, head_sha: str) -> str:
    return (
        f"There is a run for {short(head_sha)} already: {state_read_aloud(state)}. "
        "`@perf-gate stop` ends it, then a new one can begin."
    )


def stale_go(shown: str, head: str) -> str:
    return (
        f"The question was about {short(shown)}, but the head is now {short(head)}. "
        "Nothing was run; I read the new diff and ask again."
    )


def asked_anew(head: str) -> str:
    """An answer that was written before the question that stands now counts for nothing."""
    return f"Your answer came before the question about {short(head)}, so nothing was run. Look at it and answer again."


def base_changed(shown: str, base: str) -> str:
    # A backtick, which a branch may have in its name, would end the span and let the rest of the name act.
    before, after = shown.replace("`", "'"), base.replace("`", "'")
    return (
        f"The question was about merging into `{before}`, but the base is now `{after}`. "
        "Nothing was run; I read the new diff and ask again."
    )


def not_granted(chosen: str) -> str:
    """The words alone were allowed, but what they come to for this question is not."""
    return (
        f"Here that means `max_gate={chosen}`, which this repository lets fewer people decide. "
        "Somebody with that permission can give the same answer."
    )


def superseded(head: str) -> str:
    return f"the head moved to {short(head)}"


def author_cannot_waive(chosen: str, proposed: str, role: str = "write") -> str:
    what = (
        f"`{chosen}` measures nothing" if chosen == proposed else f"`{chosen}` is less than the proposed `{proposed}`"
    )
    return (
        f"{what}, and the author of a pull request cannot weaken its own gate. Another person with {role} access can."
    )


def override(actor: str, chosen: str, reason: str) -> str:
    """The line recorded in the rationale (seed 002, step 1a); the reason is kept verbatim."""
    return f"reviewer override by {actor}: max_gate={chosen}" + (f" — {reason}" if reason else "")


def nothing_to_continue() -> str:
    return "There is no warning to continue from."


def nothing_to_stop() -> str:
    return "There is no run to stop."


def stopped_by(actor: str) -> str:
    return f"stopped by {actor}"


def confirm_stop(spent_seconds: float, wall_seconds: float) -> str:
    return (
        f"The ferry has run for {minutes(spent_seconds)} of about {minutes(wall_seconds)}, which would be lost. "
        "Say `@perf-gate stop` once more to stop it."
    )


def author_cannot_exclude(role: str = "write") -> str:
    return (
        "To leave a stage out of the verdict weakens the gate, and the author of a pull request cannot do that. "
        f"Another person with {role} access can."
    )


def nothing_to_correct() -> str:
    return "No question waits for an answer here, so there is nothing to correct. `@perf-gate` has the diff read anew."


def stale_answer(shown: str, head: str) -> str:
    return (
        f"The question was about {short(shown)}, but the head is now {short(head)}. "
        "Nothing was corrected; I read the new diff and ask again."
    )


def no_such_file(path: str, known: Sequence[str], close: str) -> str:
    hint = f" Did you mean {_quoted(close)}?" if close else ""
    return f"The assessment has no file {_quoted(path)}.{hint} These can be answered for: {_quoted_list(known)}."


def answered_so_already(path: str, question: str, *, yes: bool) -> str:
    return f"The answer to `{question}` for {_quoted(path)} is {_yes(yes)} already."


def author_cannot_correct(role: str = "write") -> str:
    return (
        "This answer would weaken the gate, and the author of a pull request cannot do that. "
        f"Another person with {role} access can."
    )


def corrected(path: str, question: str, before: str, after: str, *, yes: bool) -> str:
    gate = f"the proposal is now max_gate={after}" if before != after else f"the proposal stays max_gate={after}"
    return f"Recorded: `{question}` for {_quoted(path)} is {_yes(yes)}; {gate}. The question above says so too."


def correction(actor: str, when: str, path: str, question: str, reason: str, *, yes: bool) -> str:
    """The line in the rationale; the reason is kept verbatim."""
    why = f" — {reason}" if reason else ""
    return f"corrected by {actor} on {when}: {_quoted(path, 200)} {question}={_yes(yes)}{why}"


def _yes(yes: bool) -> str:
    return "yes" if yes else "no"


def excluded_ahead(stage: str, *, known: bool) -> str:
    """An exclusion that counts when the comparison comes; `known`: the baseline has the stage."""
    if known:
        counts = "from the next comparison of this run on"
    else:
        counts = "from the first comparison of this run on, if its reports have a stage of that name"
    return f"Recorded: {_quoted(stage)} does not count, {counts}. {_UNDO}"


def excluded(stage: str) -> str:
    return f"{_quoted(stage)} does not count any more."


def takes_it_back() -> str:
    """What undoes an exclusion, as the last sentence of the answer to it."""
    return _UNDO


def included_ahead(stage: str) -> str:
    return f"Recorded: {_quoted(stage)} counts again, from the next comparison of this run on."


def included(stage: str) -> str:
    return f"{_quoted(stage)} counts again."


def already_excluded(stage: str, actor: str) -> str:
    return f"{_quoted(stage)} is excluded already, by {_quoted(actor)}. Nothing was changed. {_UNDO}"


def not_excluded(stage: str, excluded: Sequence[str]) -> str:
    return f"{_quoted(stage)} is not excluded, so nothing was changed. Excluded: {_quoted_list(excluded)}."


def no_such_stage(stage: str, known: Sequence[str], close: str) -> str:
    hint = f" Did you mean {_quoted(close)}?" if close else ""
    return (
        f"The reports have no stage {_quoted(stage)}, so nothing was excluded.{hint} "
        f"These can be named: {_quoted_list(known)}."
    )


def nothing_would_be_left(stage: str) -> str:
    return (
        f"Without {_quoted(stage)} no stage would be left to compare, so it was not excluded. "
        "A run that is to measure nothing is waived, by `@perf-gate skip` as the answer to its question."
    )


def nothing_judged(state: str, head_sha: str) -> str:
    now = f"is {state_read_aloud(state)}" if state in _READS_ALOUD else f"has ended: {state_read_aloud(state)}"
    return f"No two reports were compared in the run for {short(head_sha)}, so there is no verdict to change. It {now}."


def reanalysed() -> str:
    return "The stored reports were judged again, by the rules of today and the limits of the run."


def judged_again(gate: int, before: str, after: str, *, moved: bool) -> str:
    """One gate's verdict then and now; `moved`: it reads the same, but something below it does not."""
    was, now = before.replace("_", " "), after.replace("_", " ")
    if was != now:
        return f"Gate {gate} reads **{now}** now; it read **{was}** before."
    if moved:
        return f"Gate {gate} reads **{now}** as before, but its reasons or notes have changed."
    return f"Gate {gate} reads **{now}** as before."


def climbs_on(gate: int) -> str:
    return f"The run climbs on to gate {gate}."


def goes_on() -> str:
    """A verdict below the gate that is under way has changed: nothing is stopped unasked."""
    return "What is under way goes on; `@perf-gate stop` ends it."


def not_climbed(gates: Sequence[int]) -> str:
    """A run whose end was judged again does not live again: what it did not measure is said."""
    which = f"gate {gates[0]} was" if len(gates) == 1 else f"gates {' and '.join(map(str, gates))} were"
    return f"this run had ended, so {which} not run; `@perf-gate retry` begins a new one"


def did_not_climb(gates: Sequence[int]) -> str:
    """The same as a sentence of its own."""
    why = not_climbed(gates)
    return f"{why[:1].upper()}{why[1:]}."


def run_was_replaced() -> str:
    return "A new run has begun meanwhile, so the reports of the one before were not judged again."


def cannot_rejudge(why: str) -> str:
    return (
        f"I could not judge the stored reports again: {why}. The verdict stands as it was; "
        "`@perf-gate reanalyse` tries again."
    )


def closed_run(merged: bool) -> str:
    return "the pull request was merged" if merged else "the pull request was closed"


def closed_before_climbing() -> str:
    return "the pull request is closed, so no higher gate was run"


def nobody_answered(days: int) -> str:
    return f"nobody answered within {days} days"


def _quoted(name: str, limit: int = 60) -> str:
    """A name out of a report or a comment as a code span, in which nothing of it acts."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in name).split()).replace("`", "'")
    return f"`{flat if len(flat) <= limit else f'{flat[: limit - 1]}…'}`" if flat else "`—`"


def _quoted_list(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(map(_quoted, names[:most])) + more) if names else "nothing"
