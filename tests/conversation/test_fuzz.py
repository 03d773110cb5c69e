"""Made-up comments, by the hundred: none crashes the bot, none commands that must not, each addressed one is answered
once. `python -m bench.conversation` plays ten thousand."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.conversation.commands import Assess, Misunderstood, Stop, parse_bare, parse_comment
from bot.gating.words import HeardIn
from tests.conversation.listening import Listener, assert_answered_once
from tests.conversation.markdown import WILD, Written, bare_comments, comments
from tests.gating.story import Story

PLACES: st.SearchStrategy[HeardIn] = st.sampled_from(["comment", "review", "thread"])
STATES = st.sampled_from(["fresh", "asked", "ferrying", "warned", "stopped"])
PEOPLE = st.sampled_from(["rev", "rev", "rev", "eve", "ada"])
# GitHub's numbers rise; the story's own question is numbered from 100.
NUMBERS = itertools.count(1_000_000)
PLAIN = settings(deadline=None, suppress_health_check=list(HealthCheck))


def in_state(state: str) -> Listener:
    story = Story()
    if state in ("asked", "stopped"):
        story.say(Assess())
        story.assessed()
    elif state in ("ferrying", "warned"):
        story.to_ferrying(ladder=(1, 2), max_gate="2" if state == "warned" else None)
    if state == "warned":
        story.ferry_ends(1, "warn")
    if state == "stopped":
        story.say(Stop())
    return Listener(story)


def check_the_reading(written: Written) -> None:
    """The parser reads what the comment was built to say."""
    said = parse_comment(written.body)
    if isinstance(written.said, Misunderstood):
        assert isinstance(said, Misunderstood), written
    else:
        assert said == written.said, written


def check_the_answer(written: Written, heard_in: HeardIn, state: str, login: str) -> None:
    """Said, told again, and edited in: answered once, obeyed at most once, and never for the edit."""
    listener, number = in_state(state), next(NUMBERS)
    before = listener.story.pr
    answers = listener.hear(heard_in, number, login, written.body)
    if written.said is None:
        # A whole comment that is nothing but an answer is none of the comments made up here.
        assert not answers, written
        assert listener.story.pr == before
    else:
        assert_answered_once(heard_in, answers)
        assert len(listener.commands) == (
            0 if isinstance(written.said, Misunderstood) or login != "rev" else answers["authorise"]
        )
        assert not listener.hear(heard_in, number, login, written.body), "told twice"
    check_the_edit(listener, written, heard_in, login)


def check_the_edit(listener: Listener, written: Written, heard_in: HeardIn, login: str) -> None:
    number, obeyed = next(NUMBERS), list(listener.commands)
    answers = listener.hear(heard_in, number, login, written.body, before="Nice.")
    answers += listener.hear(heard_in, number, login, written.body, before="Very nice.")
    assert dict(answers) == ({} if written.said is None else {"reply": 1})
    assert listener.commands == obeyed


def check_a_bare_answer(written: Written, heard_in: HeardIn, state: str, login: str) -> None:
    """Obeyed and answered once while the bot asks; otherwise, and in code, quote or edit, as if it were not there."""
    assert parse_bare(written.body) == written.said, written
    listener, number = in_state(state), next(NUMBERS)
    counts = written.said is not None and state in ("asked", "warned")
    edited = listener.hear(heard_in, next(NUMBERS), login, written.body, before="Nice.")
    assert dict(edited) == ({"reply": 1} if counts else {}), "an edit is told that it does not count"
    assert listener.commands == []
    answers = listener.hear(heard_in, number, login, written.body)
    if not counts:
        assert not answers, written
        assert listener.commands == []
    else:
        assert_answered_once(heard_in, answers)
        assert listener.commands == ([written.said] if login == "rev" else [])
    assert not listener.hear(heard_in, number, login, written.body), "told twice"


def check_the_wild(body: str, heard_in: HeardIn, state: str) -> None:
    """Whatever it is, it is read without harm; wholly quoted or fenced it says nothing."""
    quoted = "".join(f"> {line}\n" for line in body.replace("\r", "\n").split("\n"))
    fence = "`" * (max((len(run) for run in body.split() if set(run) == {"`"}), default=0) + body.count("`") + 3)
    assert parse_comment(quoted) is None, body
    assert parse_comment(f"{fence}\n{body}\n{fence}") is None, body
    assert parse_bare(quoted) is parse_bare(f"{fence}\n{body}\n{fence}") is None, body
    listener, number = in_state(state), next(NUMBERS)
    answers = listener.hear(heard_in, number, "rev", body)
    if parse_comment(body) is not None:
        assert_answered_once(heard_in, answers)
    elif parse_bare(body) is None:
        assert not answers, body
    assert not listener.hear(heard_in, number, "rev", body)


@given(comments())
@settings(PLAIN, max_examples=300)
def test_a_comment_is_read_as_it_was_built(written: Written) -> None:
    check_the_reading(written)


@given(comments(), PLACES, STATES, PEOPLE)
@settings(PLAIN, max_examples=150)
def test_every_addressed_comment_is_answered_once_and_no_edit_is_run(
    written: Written, heard_in: HeardIn, state: str, login: str
) -> None:
    check_the_answer(written, heard_in, state, login)


@given(bare_comments(), PLACES, st.just("asked") | STATES, PEOPLE)
@settings(PLAIN, max_examples=150)
def test_a_bare_answer_is_obeyed_once_and_only_while_the_bot_asks(
    written: Written, heard_in: HeardIn, state: str, login: str
) -> None:
    check_a_bare_answer(written, heard_in, state, login)


@given(WILD, PLACES, STATES)
@settings(PLAIN, max_examples=150)
def test_anything_at_all_is_heard_without_harm(body: str, heard_in: HeardIn, state: str) -> None:
    check_the_wild(body, heard_in, state)
