"""What a reviewer left out of the verdict, and the verdicts that stood before reports were judged again."""

from __future__ import annotations

from bot.comment.markdown import code
from bot.comment.sentences import moment, sentence
from bot.comment.tables import HEADLINES
from bot.gating.model import GateRun, Run
from bot.gating.words import Exclusion, FormerVerdict

_MOST_EXCLUSIONS, _MOST_FORMER = 10, 4


def exclusions(run: Run) -> str:
    """Who left out what, when and why, for the rationale; the reason is verbatim."""
    said = [_exclusion(one) for one in run.exclusions[:_MOST_EXCLUSIONS]]
    more = len(run.exclusions) - len(said)
    return " · ".join([*said, f"… and {more} more exclusions"] if more > 0 else said)


def former_verdicts(gate: GateRun) -> str:
    """One line that keeps what was replaced in view."""
    told = [_former(one) for one in gate.former[-_MOST_FORMER:]]
    return f"**Judged again:** was {', then '.join(told)}" if told else ""


def _exclusion(one: Exclusion) -> str:
    gates = f", from gate {one.since_gate} on" if one.since_gate > 1 else ""
    if one.until_gate is not None:
        gates = f", before gate {one.until_gate}"
    return f"{code(one.stage, 60)} excluded by {code(one.by)} on {moment(one.at)}{gates}{_because(one.reason)}"


def _former(one: FormerVerdict) -> str:
    if one.cause == "reanalyse":
        return f"{HEADLINES[one.verdict]} until {code(one.by)} had the stored reports judged again"
    did = "excluded" if one.cause == "exclude" else "included"
    again = " again" if one.cause == "include" else ""
    return f"{HEADLINES[one.verdict]} until {code(one.by)} {did} {code(one.stage, 60)}{again}{_because(one.reason)}"


def _because(reason: str) -> str:
    return f" — {sentence(reason, 400)}" if reason else ""
