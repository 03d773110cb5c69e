"""What the bot says where a ferry or a gate is run again: questions before it, reasons for it. Pure; goldens pin it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.conversation.durations import minutes
from bot.conversation.replies import short


def confirm_retry(spent_seconds: float | None, wall_seconds: float, cluster: str) -> str:
    """`spent_seconds` None: nobody knows of a job yet."""
    other = f" {_not_comparable(cluster)}" if cluster else ""
    again = f"retry cluster={cluster}" if cluster else "retry"
    if spent_seconds is None:
        return (
            "The ferry of this run is only being submitted: Iris does not say yet that it has it, so nothing is known "
            f"to be spent.{other} Say `@perf-gate {again}` once more to have what Iris has of it stopped and then the "
            "gate submitted again."
        )
    return (
        f"A ferry of this run is out. It has run for {minutes(spent_seconds)} of about {minutes(wall_seconds)}, which "
        f"would be lost.{other} Say `@perf-gate {again}` once more to have it stopped and, once it is gone, the gate "
        "submitted again."
    )


def confirm_cluster(cluster: str) -> str:
    return f"{_not_comparable(cluster)} Say `@perf-gate retry cluster={cluster}` once more to run it there."


def _not_comparable(cluster: str) -> str:
    return (
        f"The baseline ran elsewhere than on `{cluster}`, so a report from there is shown beside it, but not judged: "
        "the two are not comparable."
    )


def no_such_cluster(cluster: str, known: Sequence[str] | None) -> str:
    """`known` None: nothing was read yet that would tell."""
    if known is None:
        return (
            f"I do not know yet whether there is a cluster `{cluster}`, so nothing was done: which there are is known "
            "once the diff was read, for which `@perf-gate` asks."
        )
    named = ", ".join(f"`{name}`" for name in known)
    can = f"These can be named: {named}." if known else "The operator has set up no other one."
    return f"I know no cluster `{cluster}`, so nothing was done. {can}"


def retry_begins_when_it_is_gone(*, submitted: bool) -> str:
    if not submitted:
        return "What Iris has of this ferry is stopped, and then the gate is submitted again."
    return "The ferry is being stopped; the gate is submitted again when it is gone."


def verdict_is_coming() -> str:
    return (
        "The ferry has ended and its report is being judged, so there is nothing left to stop but the verdict. The run "
        "ends with it and submits nothing more. Say `@perf-gate stop` once more to end it without one."
    )


def stopped_for_retry(actor: str) -> str:
    return f"stopped by {actor}, who has the gate run again"


def no_gate_above() -> str:
    return "There is no gate above the one that was inconclusive; `@perf-gate retry` measures it again."


def continues_another_head(shown: str, head: str) -> str:
    return (
        f"What was inconclusive was measured for {short(shown)}, and the head is now {short(head)}. "
        "`@perf-gate` assesses the new one."
    )


def warned_about_another_head(shown: str, head: str) -> str:
    return (
        f"The warning is about {short(shown)}, and the head is now {short(head)}. `@perf-gate retry` assesses the new "
        f"one; `@perf-gate continue` climbs on with {short(shown)} all the same."
    )


def was_inconclusive() -> str:
    """Why a ferry is submitted again, as the rest of a sentence that names the one before."""
    return "was inconclusive: noise of the cluster, which says nothing about the code"


def ended_badly(state: str) -> str:
    return f"ended {state.replace('_', ' ')}; a single failure is no verdict"


def same_error_twice(error: str) -> str:
    words = " ".join(error.split())
    return (
        f"The ferry failed twice with the same application error: {words if len(words) <= 300 else f'{words[:299]}…'}."
    )


def on_another_cluster(cluster: str) -> str:
    return f"The treatment ran on the cluster `{cluster}`, as was asked, and the baseline on the usual one."


def launched_otherwise(differences: Sequence[str]) -> str:
    """Sentences of `parity.model.Difference`; nothing was submitted."""
    return (
        "the gate's configuration is not how the baseline was launched, so a treatment would not be comparable, and "
        f"none was submitted: {'; '.join(differences)}"
    )
