"""Every sentence that calls somebody, or is written over a question, and that a name calls nobody else."""

from __future__ import annotations

from pathlib import Path

from bot.conversation import notices
from tests.comment.golden import golden

HEAD = "5b2f1c9d0e7a4b3c8d6e5f4a3b2c1d0e9f8a7b6c"
WHO = ("rev", "ada")


def test_what_is_said() -> None:
    said = [
        notices.verdict(WHO, "pass", 1, HEAD),
        notices.verdict(WHO, "fail", 2, HEAD),
        notices.verdict(WHO, "inconclusive", 3, HEAD),
        notices.asks_to_continue(WHO, 1, HEAD),
        notices.halted(WHO, HEAD),
        notices.stuck(WHO, HEAD),
        notices.trouble(WHO, "workers_failing", 1, HEAD),
        notices.answered("rev", "3"),
        notices.answered("rev", "skip"),
        notices.no_answer_needed("stopped by rev"),
        notices.no_answer_needed(""),
    ]
    golden(Path(__file__).parent / "golden_notices.md", "\n\n".join(said))


def test_everybody_is_called_once_and_nobody_by_a_name_that_is_none() -> None:
    assert notices.call("rev", "Rev", "", "ada") == "@rev @ada"
    assert notices.call("rev @everyone", "x") == "`reveveryone` @x"
