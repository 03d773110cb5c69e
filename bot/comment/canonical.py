"""The one canonical comment, drawn from the pull request's state alone: the same state gives the same comment."""

from __future__ import annotations

import hashlib
from datetime import datetime

from bot.comment.ends import end_comment
from bot.comment.limits import Section, join
from bot.comment.progress import progress_comment
from bot.comment.sentences import sha
from bot.comment.verdict import verdict_comment
from bot.conversation.replies import state_read_aloud
from bot.gating.model import PullRequest, Run
from bot.gating.states import RunState

SENTINEL = "<!-- zephyr-perf-gate -->"
# A gate's verdict stands in the comment in these states; not_comparable ends a run stuck, with its tables.
_JUDGED = (
    RunState.passed,
    RunState.warned,
    RunState.failed,
    RunState.inconclusive,
    RunState.awaiting_escalation,
    RunState.stuck,
)


def digest(body: str) -> str:
    """What a body says, as a hash: GitHub may hand back other line ends than it was given, and no blanks at the end."""
    return hashlib.sha256(body.replace("\r\n", "\n").rstrip().encode("utf-8", "replace")).hexdigest()


def render(pr: PullRequest, now: datetime, page: str | None = None) -> str:
    """The comment's Markdown, at most 65,000 characters and 260,000 bytes. ValueError without a run.

    `page` is the address where this run is shown step by step, None where there is none.
    """
    run = pr.run
    if run is None:
        raise ValueError("a pull request without a run has no canonical comment")
    sections = _of(run, pr.place.author if pr.place else "", now)
    first = Section(f"{SENTINEL}\n{sections[0].body}", stays=True)
    if run.state is RunState.waived:
        return first.body + (f" ([the run]({page}))" if page else "")
    link = Section(f"[This run, step by step]({page})" if page else "", stays=True)
    return join([first, Section(_closed(pr, run)), *sections[1:], Section(_earlier_runs(pr)), link]) + "\n"


def _of(run: Run, author: str, now: datetime) -> list[Section]:
    gate, attempt = run.gate, run.attempt
    judgement = attempt.judgement if attempt else None
    if run.state in _JUDGED and gate is not None and attempt is not None and judgement is not None:
        return verdict_comment(run, gate, attempt, judgement, now)
    return end_comment(run, now) if run.state.ended else progress_comment(run, author, now)


def _closed(pr: PullRequest, run: Run) -> str:
    """A ferry that is out when its pull request closes goes on (DESIGN "Trust"): whoever pays for it can stop it."""
    if pr.is_open or run.state.ended:
        return ""
    offer = " `@perf-gate stop` ends it." if run.state.has_live_ferry else ""
    return f"> ⚠ The pull request is closed: this ferry goes on to its verdict, and nothing new is submitted.{offer}"


def _earlier_runs(pr: PullRequest) -> str:
    if not pr.earlier:
        return ""
    runs = "; ".join(f"{sha(run.head_sha)} {state_read_aloud(run.state)}" for run in pr.earlier[-5:])
    return f"_Earlier runs: {runs}._"
