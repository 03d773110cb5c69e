"""What an event says, in a few words: by its fields, so that kinds of event that came later can be told as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.redaction import redact

Event = Mapping[str, Any]
_SHOWN = 200
_LEFT_OUT = frozenset({"type", "place", "run_id", "config", "plan", "report", "granted", "bare"})


def spelled(command: object) -> str:
    """A command as one would type it."""
    if not isinstance(command, Mapping):
        return str(command)
    words = [str(command.get("type", ""))]
    words += [f"{name}={value}" for name, value in command.items() if name not in ("type", "reason") and value]
    reason = str(command.get("reason") or "")
    return redact(" ".join(words) + (f" because {reason}" if reason else ""))[:_SHOWN]


COMMANDS = frozenset({"Mentioned", "Pressed", "SuiteRerequested"})
"""The kinds of event by which a person commands: a comment, a button of the check run, GitHub's own Re-run all."""


def asked_for(event: Event) -> str:
    """What a person's event asks for, as one would type it."""
    if "said" in event:
        return spelled(event["said"])
    return f"button {event['button']}" if "button" in event else "re-run all checks"


def commanded(event: Event) -> str:
    where = f", in comment {event['comment_id']}" if "comment_id" in event else ""
    where = f", on check run {event['check_id']}" if "check_id" in event else where
    return f"{event.get('actor', 'somebody')}: {asked_for(event)}{where}"


def happened(kind: str, event: Event) -> str:
    """The event without its name; empty where the name says it all."""
    return _KNOWN.get(kind, _fields)(event)


def _fields(event: Event) -> str:
    """Whatever is short: names and values."""
    plain = [
        f"{name} {value}"
        for name, value in event.items()
        if name not in _LEFT_OUT and isinstance(value, str | int | float) and value not in ("", False)
    ]
    return redact(", ".join(plain))[:_SHOWN]


def _allowed(event: Event) -> str:
    head = str(event.get("head_sha", ""))[:10]
    return (
        f"{event.get('actor')} may {spelled(event.get('command'))}: role {event.get('role') or 'unknown'}, head {head}"
    )


def _denied(event: Event) -> str:
    role = f", has {event['role']}" if event.get("role") else ""
    return f"{event.get('actor')} may not: needs {event.get('needed')}{role}"


def _assessed(event: Event) -> str:
    files = event.get("assessment", {}).get("per_file", ())
    head, base = str(event.get("head_sha", ""))[:10], str(event.get("merge_base", ""))[:10]
    count = f"{len(files)} file{'' if len(files) == 1 else 's'} in scope"
    return f"{count} between {base} and {head}, by the configuration at {str(event.get('config_sha'))[:10]}"


def _baseline(event: Event) -> str:
    found = event.get("baseline", {})
    return f"gate {event.get('gate')}: scheduled run {found.get('run_id')} at {str(found.get('sha', ''))[:10]}"


def _submitted(event: Event) -> str:
    return f"{_attempt(event)} is out"


def _unsubmitted(event: Event) -> str:
    return redact(f"{_attempt(event)} was not taken: {event.get('reason')}")[:_SHOWN]


def _unseen(event: Event) -> str:
    return redact(f"{_attempt(event)}: {event.get('why') or 'Iris does not answer'}")[:_SHOWN]


def _watched(event: Event) -> str:
    seen = event.get("seen", {})
    done = [stage["name"] for stage in seen.get("progress", ()) if stage.get("state") == "done"]
    told = f"{_attempt(event)}: {seen.get('ferry_state') or 'no state'}"
    told += f", done: {', '.join(done)}" if done else ""
    return redact(f"{told}, {seen['error']}" if seen.get("error") else told)[:_SHOWN]


def _compared(event: Event) -> str:
    return f"{_attempt(event)}: {event.get('judgement', {}).get('verdict')}"


def _preflight(event: Event) -> str:
    command = event.get("command", {})
    return redact(f"`{command.get('command')}` exit {command.get('exit_code')}")


def _attempt(event: Event) -> str:
    return f"gate {event.get('gate')} attempt {event.get('attempt')}"


def _nothing(event: Event) -> str:
    return ""


_KNOWN: dict[str, Callable[[Event], str]] = {
    "Mentioned": lambda event: f"comment {event.get('comment_id')}",
    "Authorised": _allowed,
    "Denied": _denied,
    "Assessed": _assessed,
    "BaselineFound": _baseline,
    "Submitted": _submitted,
    "Watched": _watched,
    "Collected": _attempt,
    "Compared": _compared,
    "PreflightFailed": _preflight,
    "SlotGranted": _attempt,
    "CheckDue": _attempt,
    "Unseen": _unseen,
    "Unsubmitted": _unsubmitted,
    "FerryStopped": _attempt,
    "Published": _nothing,
    "Asked": _nothing,
    "Prepared": _nothing,
    "PreflightPassed": _nothing,
}
