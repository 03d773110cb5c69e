"""What the bot says where somebody corrects an answer of the assessment. Pure; golden files pin it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.conversation.quoting import quoted, quoted_list
from bot.conversation.replies import where_it_stands


def nothing_to_correct(state: str = "", *, live: bool = False) -> str:
    """`state` is that of the run, empty where there is none; `live`: it has not ended."""
    if state == "assessing":
        return "The diff is still being read. Once the question about it is there, its answers can be corrected."
    if live:
        return (
            f"No question waits for an answer: the run {where_it_stands(state)}. `@perf-gate stop` ends it, then "
            "`@perf-gate` has the diff read anew."
        )
    return "No question waits for an answer here, so there is nothing to correct. `@perf-gate` has the diff read anew."


def no_such_file(path: str, known: Sequence[str], close: str) -> str:
    hint = f" Did you mean {quoted(close)}?" if close else ""
    return f"The assessment has no file {quoted(path)}.{hint} These can be answered for: {quoted_list(known)}."


def answered_so_already(path: str, question: str, *, yes: bool) -> str:
    return f"The answer to `{question}` for {quoted(path)} is {_yes(yes)} already."


def author_cannot_correct(role: str = "write") -> str:
    return (
        "This answer would weaken the gate, and the author of a pull request cannot do that. "
        f"Another person with {role} access can."
    )


def enough_corrected(most: int) -> str:
    return (
        f"{most} answers of this assessment are corrected already, and no more are kept. "
        "`@perf-gate max_gate=N because …` says how far to climb all the same."
    )


def corrected(path: str, question: str, before: str, after: str, *, yes: bool) -> str:
    gate = f"the proposal is now max_gate={after}" if before != after else f"the proposal stays max_gate={after}"
    return f"Recorded: `{question}` for {quoted(path)} is {_yes(yes)}; {gate}. The question above says so too."


def correction(actor: str, when: str, path: str, question: str, reason: str, *, yes: bool) -> str:
    """The line in the rationale; the reason is kept verbatim."""
    why = f" — {reason}" if reason else ""
    return f"corrected by {actor} on {when}: {quoted(path, 200)} {question}={_yes(yes)}{why}"


def _yes(yes: bool) -> str:
    return "yes" if yes else "no"
