"""What the bot says where stages are excluded or included, and where stored reports are judged again. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.conversation.quoting import quoted, quoted_list
from bot.conversation.replies import short, where_it_stands

_UNDO = "`@perf-gate include stage=NAME` takes it back."


def author_cannot_exclude(role: str = "write") -> str:
    return (
        "To leave a stage out of the verdict weakens the gate, and the author of a pull request cannot do that. "
        f"Another person with {role} access can."
    )


def excluded_ahead(stage: str, *, known: bool, close: str = "") -> str:
    """An exclusion that counts when the comparison comes. `known`: the baseline has the stage; else `close` is an
    expected one that may have been meant."""
    if known:
        return f"Recorded: from the next comparison of this run on, {quoted(stage)} does not count. {_UNDO}"
    name = f'"{close}"' if " " in close else close
    hint = (
        f" Did you mean {quoted(close)}? Then say {quoted(f'@perf-gate exclude stage={name}', 120)}." if close else ""
    )
    return (
        f"Recorded: from the first comparison of this run on, {quoted(stage)} does not count, if its reports have a "
        f"stage of that name.{hint} {_UNDO}"
    )


def excluded(stage: str) -> str:
    return f"{quoted(stage)} does not count any more."


def takes_it_back() -> str:
    """What undoes an exclusion, as the last sentence of the answer to it."""
    return _UNDO


def included_ahead(stage: str) -> str:
    return f"Recorded: from the next comparison of this run on, {quoted(stage)} counts again."


def included(stage: str) -> str:
    return f"{quoted(stage)} counts again."


def already_excluded(stage: str, actor: str) -> str:
    return f"{quoted(stage)} is excluded already, by {quoted(actor)}. Nothing was changed. {_UNDO}"


def not_excluded(stage: str, excluded: Sequence[str]) -> str:
    return f"{quoted(stage)} is not excluded, so nothing was changed. Excluded: {quoted_list(excluded)}."


def no_such_stage(stage: str, known: Sequence[str], close: str) -> str:
    hint = f" Did you mean {quoted(close)}?" if close else ""
    return (
        f"The reports have no stage {quoted(stage)}, so nothing was excluded.{hint} "
        f"These can be named: {quoted_list(known)}."
    )


def nothing_would_be_left(stage: str) -> str:
    return (
        f"Without {quoted(stage)} no stage would be left to compare, so it was not excluded. "
        "A run that is to measure nothing is waived, by `@perf-gate skip` as the answer to its question."
    )


def enough_excluded(most: int) -> str:
    return f"{most} names are excluded in this run already, and no more are kept. `@perf-gate include` takes one back."


def nothing_judged(state: str, head_sha: str) -> str:
    return (
        f"No two reports were compared in the run for {short(head_sha)}, so there is no verdict to change. "
        f"It {where_it_stands(state)}."
    )


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
