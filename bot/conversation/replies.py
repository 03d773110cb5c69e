"""Every short sentence the bot says back, as pure functions. Golden files pin them.

What is drawn from a whole run, the question and the canonical comment, is in `bot.comment`: conversation knows no runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.conversation.durations import minutes
from bot.conversation.grammar import GRAMMAR
from bot.conversation.quoting import quoted

BUILT_IN_ROLES: Mapping[str, str] = {"go": "write", "override": "write", "skip": "write", "stop": "write"}
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


def where_it_stands(state: str) -> str:
    """The rest of a sentence about a run."""
    return f"{'is' if state in _READS_ALOUD else 'has ended:'} {state_read_aloud(state)}"


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
    return f"{quoted(actor)} pressed **{name}** on the check run. {text}"


def button_of_before(state: str, head_sha: str) -> str:
    return (
        "That button was for an earlier state of things, so nothing was done. "
        f"The run for {short(head_sha)} {where_it_stands(state)}."
    )


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
        "Edits are not run, since others than its author can edit a comment. "
        "To have done what this one says now, say it in a new comment."
    )


def denied(needed: str) -> str:
    return (
        f"Thanks, but this command needs `{needed}` access to the repository, and GitHub tells me that you have less. "
        "Anyone who has it can give the same command, and then it counts."
    )


def cannot_authorise(why: str) -> str:
    return f"I could not look up whether you may do that: {why}. Nothing was done; please say it again later."


def closed() -> str:
    return "This pull request is closed, so nothing new is run for it. Reopen it and ask again."


def no_run() -> str:
    return "There is no run for this pull request yet. `@perf-gate` starts one."


def status(state: str, head_sha: str) -> str:
    return f"The run for {short(head_sha)} {where_it_stands(state)}; the perf gate comment has the details."


def already(state: str, head_sha: str) -> str:
    """To somebody who asks for a run where one is under way."""
    if state == "assessing":
        return "I am still reading the diff. The question comes next, and can be answered then."
    return (
        f"There is a run for {short(head_sha)} already: {state_read_aloud(state)}. "
        "`@perf-gate stop` ends it, then a new one can begin."
    )


def stale_question(shown: str, head: str, undone: str) -> str:
    """`undone`: what the answer would have done."""
    return (
        f"The question was about {short(shown)}, but the head is now {short(head)}. "
        f"Nothing was {undone}; I read the new diff and ask again."
    )


def question_on_its_way() -> str:
    return "The question is still on its way, and others answered before you. Answer when it stands here."


def ended_before_its_question(why: str) -> str:
    return f"Your answer came before its question stood here, and the run has ended since: {why}. Nothing was run."


def asked_anew(head: str) -> str:
    """An answer that was written before the question that stands now counts for nothing."""
    return f"Your answer came before the question about {short(head)}, so nothing was run. Look at it and answer again."


def base_changed(shown: str, base: str, undone: str) -> str:
    # A backtick, which a branch may have in its name, would end the span and let the rest of the name act.
    before, after = shown.replace("`", "'"), base.replace("`", "'")
    return (
        f"The question was about merging into `{before}`, but the base is now `{after}`. "
        f"Nothing was {undone}; I read the new diff and ask again."
    )


def not_granted(chosen: str, role: str) -> str:
    """The words alone were allowed, but what they come to for this question needs another role."""
    return (
        f"Here that means `max_gate={chosen}`, which needs `{role}` access in this repository. "
        "Anyone who has it can give the same answer, and then it counts."
    )


def superseded(shown: str, head: str) -> str:
    """Why a run ended whose question was about `shown`; after another base, or a retry, it is the same commit."""
    return "its question is asked anew" if shown == head else f"the head moved to {short(head)}"


def author_cannot_waive(chosen: str, proposed: str, role: str = "write", named_by: str = "") -> str:
    """`named_by`: who let this commit climb to `proposed`; nobody where the diff alone asks for it."""
    meant = (
        f"the `{proposed}` that {quoted(named_by)} named for this commit" if named_by else f"the proposed `{proposed}`"
    )
    what = f"`{chosen}` measures nothing" if chosen == proposed else f"`{chosen}` is less than {meant}"
    return f"{what}, and the author of a pull request cannot weaken its gate. Another person with {role} access can."


def override(actor: str, chosen: str, reason: str) -> str:
    """The line recorded in the rationale (seed 002, step 1a); the reason is kept verbatim."""
    return f"reviewer override by {actor}: max_gate={chosen}" + (f" — {reason}" if reason else "")


def nothing_to_continue() -> str:
    return "There is no warning to continue from."


def nothing_to_stop() -> str:
    return "There is no run to stop."


def stopped_by(actor: str) -> str:
    return f"stopped by {actor}"


def confirm_stop(spent_seconds: float | None, wall_seconds: float) -> str:
    """`spent_seconds` None: nobody knows of a job yet."""
    if spent_seconds is None:
        return (
            "The ferry is only being submitted: Iris does not say yet that it has it, so nothing is known to be spent. "
            "Say `@perf-gate stop` once more to end the run; what Iris has of the ferry by then is stopped."
        )
    return (
        f"The ferry has run for {minutes(spent_seconds)} of about {minutes(wall_seconds)}, which would be lost. "
        "Say `@perf-gate stop` once more to stop it."
    )


def closed_run(merged: bool) -> str:
    return "the pull request was merged" if merged else "the pull request was closed"


def closed_before_climbing() -> str:
    return "the pull request is closed, so no higher gate was run"


def nobody_answered(days: int) -> str:
    return f"nobody answered within {days} days"
