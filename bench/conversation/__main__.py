"""`python -m bench.conversation`: ten thousand made-up comments through the bot's real ears, parser and state machine.

None may crash it, none may command from code, a quote or an edit, and each that addresses it is answered exactly once
(see `tests/conversation/test_fuzz.py`, which plays some hundreds of the same). Exit 1 with the smallest comment found
that breaks this.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.gating.words import HeardIn
from tests.conversation.markdown import WILD, Written, bare_comments, comments
from tests.conversation.test_fuzz import (
    PEOPLE,
    PLACES,
    PLAIN,
    STATES,
    check_a_bare_answer,
    check_the_answer,
    check_the_reading,
    check_the_wild,
)

counted: Counter[str] = Counter()


def built(most: int) -> None:
    @given(comments(), PLACES, STATES, PEOPLE)
    @settings(PLAIN, max_examples=most, database=None)
    def play(written: Written, heard_in: HeardIn, state: str, login: str) -> None:
        check_the_reading(written)
        check_the_answer(written, heard_in, state, login)
        counted["made"] += 1
        counted["addressed"] += written.said is not None
        counted[heard_in] += 1

    play()


def bare(most: int) -> None:
    @given(bare_comments(), PLACES, st.just("asked") | STATES, PEOPLE)
    @settings(PLAIN, max_examples=most, database=None)
    def play(written: Written, heard_in: HeardIn, state: str, login: str) -> None:
        check_a_bare_answer(written, heard_in, state, login)
        counted["bare"] += 1

    play()


def wild(most: int) -> None:
    @given(WILD, PLACES, STATES)
    @settings(PLAIN, max_examples=most, database=None)
    def play(body: str, heard_in: HeardIn, state: str) -> None:
        check_the_wild(body, heard_in, state)
        counted["wild"] += 1

    play()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comments", type=int, default=10_000)
    asked = parser.parse_args().comments
    began = time.monotonic()
    try:
        built(asked * 7 // 10)
        bare(asked // 10)
        wild(asked - asked * 7 // 10 - asked // 10)
    except AssertionError as error:
        print(f"broken: {error}")
        return 1
    heard = ", ".join(f"{counted[place]} in a {place}" for place in ("comment", "review", "thread"))
    print(
        f"{counted['made']} made-up comments ({heard}), {counted['addressed']} of them for the bot: each read as built,"
    )
    print("answered once, told twice and edited in without being run. ", end="")
    print(
        f"{counted['bare']} answers as whole comments, or what looks like one: obeyed only while asked. ",
        end="",
    )
    print(f"{counted['wild']} wild ones heard without harm. {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
