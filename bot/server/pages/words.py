"""Times, states and links as the pages show them. A state is told by its words and its shape, never by colour alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.gating.states import RunState

_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/?#@!&*+,;=%\[\]-]+")
_TONES: Mapping[str, str] = {
    RunState.passed: "good",
    RunState.waived: "good",
    RunState.warned: "warn",
    RunState.inconclusive: "warn",
    RunState.awaiting_escalation: "warn",
    RunState.failed: "bad",
    RunState.stuck: "bad",
    RunState.halted: "bad",
    RunState.stopped: "still",
    RunState.out_of_scope: "still",
    RunState.awaiting_reviewer: "wait",
    RunState.queued: "wait",
}
_MARKS = {"good": "✓", "warn": "!", "bad": "✕", "wait": "◷", "still": "–", "work": "▸"}


def tone(state: str) -> str:
    """good, warn, bad, wait, still or work."""
    return _TONES.get(state, "work")


def mark(state: str) -> str:
    return _MARKS[tone(state)]


def label(state: str) -> str:
    return state.replace("_", " ")


def span(length: timedelta) -> str:
    """`42 s`, `12 min`, `2 h 5 min`, `3 d 4 h`."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours = seconds // 60, seconds // 3600
    if minutes < 60:
        return f"{minutes} min"
    days, rest = divmod(hours, 24)
    if days:
        return f"{days} d {rest} h" if rest and days < 3 else f"{days} d"
    return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"


def ago(then: datetime, now: datetime) -> str:
    return f"{span(now - then)} ago"


def until(due: datetime, now: datetime) -> str:
    return f"in {span(due - now)}" if due > now else "now"


def moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%d %H:%M UTC")


def clock(when: datetime) -> str:
    return when.strftime("%H:%M:%S")


def day(when: datetime) -> str:
    return when.strftime("%a %d %b %Y")


def iso(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


def link(address: str) -> str:
    """The address where it is one that a browser may be sent to; else nothing."""
    return address if _ADDRESS.fullmatch(address) else ""
