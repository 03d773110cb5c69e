"""The short comments that call people, and what is written over a question once it is settled. Pure; golden files.

The whole list (DESIGN "The run"): needs an answer, halted, trouble (once), verdict, stuck. A question calls
by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.conversation.replies import short

# Letters, digits and hyphens; a managed user's login ends in an underscore and the enterprise's short code.
LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:_[A-Za-z0-9]{1,20})?")
_READS: Mapping[str, str] = {
    "pass": "✅ pass",
    "warn": "⚠ warn",
    "inconclusive": "⚠ inconclusive",
    "fail": "❌ fail",
    "not_comparable": "⚠ not comparable",
}


def call(*logins: str) -> str:
    """Calls people, each once; what is no login is only shown."""
    once = {login.lower(): login for login in reversed(logins) if login}
    return " ".join(f"@{one}" if LOGIN.fullmatch(one) else _shown(one) for one in reversed(once.values()))


def _shown(login: str) -> str:
    return "`" + "".join(char for char in login if char.isalnum() or char in "-_[]")[:60] + "`"


def asks_to_continue(people: Sequence[str], gate: int, head_sha: str) -> str:
    return (
        f"{call(*people)}: {_READS['warn']} at gate {gate} for {short(head_sha)}. `@perf-gate continue` climbs to the "
        "next gate; otherwise the warning stands after 7 days."
    )


def verdict(people: Sequence[str], verdict: str, gate: int, head_sha: str) -> str:
    return f"{call(*people)}: {_READS[verdict]} at gate {gate} for {short(head_sha)}."


def halted(people: Sequence[str], head_sha: str) -> str:
    return (
        f"{call(*people)}: halted for {short(head_sha)}, since lint, types or tests failed. No ferry was submitted; "
        "push the fix, and it is assessed without being asked for."
    )


def stuck(people: Sequence[str], head_sha: str) -> str:
    return f"{call(*people)}: stuck for {short(head_sha)}, without a verdict. `@perf-gate retry` tries again."


def trouble(people: Sequence[str], what: str, gate: int, head_sha: str) -> str:
    return (
        f"{call(*people)}: the ferry of gate {gate} for {short(head_sha)} is in trouble ({what.replace('_', ' ')}). "
        "It is watched on, and nothing is stopped unasked."
    )


def answered(actor: str, max_gate: str) -> str:
    done = "waived the gate" if max_gate == "skip" else f"answered: max_gate={max_gate}"
    return f"{_shown(actor)} {done}."


def no_answer_needed(why: str) -> str:
    return f"No answer is needed any more: {why}." if why else "No answer is needed any more."
