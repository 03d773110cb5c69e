"""Who answered otherwise than the assessment, when and why: lines for the rationale."""

from __future__ import annotations

from bot.comment.sentences import moment
from bot.conversation import answers
from bot.gating.model import Run

_MOST = 20


def corrections(run: Run) -> list[str]:
    """A line each, as given; the last twenty."""
    return [
        answers.correction(one.by, moment(one.at), one.path, one.question, one.reason, yes=one.yes)
        for one in run.corrections[-_MOST:]
    ]
