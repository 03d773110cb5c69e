"""What a run leaves to the next one of the same commit: the answers people corrected, and how far it was to climb."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.assessment.model import Assessment
from bot.conversation.commands import Answer, Assess, Continue, Go, Retry, Skip, Stop
from bot.gating import correcting
from bot.gating.events import Assessed, Authorised
from bot.gating.happenings import Mentioned
from bot.gating.states import RunState
from bot.gating.words import MOST_REASON
from tests.gating.story import BASE, CONFIG, HEAD, HOT, MAIN, NEWER, PLACE, Story, assessment, plan
from tests.gating.test_orders import last_reply

CALM = Answer(HOT, "cpu", False, "measured it")
# Where a lower ceiling leaves gates out.
LONG = (1, 2, 3)
WORDS = [Answer(HOT, question, False, "read it") for question in ("shuffle", "memory", "cpu", "design")]


def asked(found: str = "3", ladder: tuple[int, ...] = (1,)) -> Story:
    story = Story()
    story.say(Assess())
    story.assessed(assessment(found), ladder=ladder)
    return story


def failed_under_what_a_reviewer_named() -> Story:
    """The diff alone asks for gate 1, a reviewer named 3, and the first of the gates failed."""
    story = asked("1", LONG)
    story.say(Go("3"), "rev")
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "fail")
    return story


def quiet(max_gate: str) -> Assessment:
    """Nothing of it touches anything; it is trivial where `max_gate` is skip."""
    found = assessment(max_gate)
    trivial = max_gate == "skip"
    answers = replace(found.per_file[HOT], trivial=trivial, shuffle=False, memory=False, cpu=False, design=False)
    return replace(found, per_file={HOT: answers})


def all_corrected(ladder: tuple[int, ...] = (1,)) -> Story:
    """The diff alone asks for gate 3; the reviewer's four answers leave gate 1 of it."""
    story = asked(ladder=ladder)
    for word in WORDS:
        story.say(word)
    assert story.run.proposed == "1"
    return story


def test_a_retry_while_the_question_waits_keeps_what_was_corrected() -> None:
    story = all_corrected()
    story.say(Retry())
    assert story.run.ordinal == 2
    story.assessed()
    assert [(one.question, one.yes, one.by) for one in story.run.corrections] == [
        (word.question, False, "rev") for word in WORDS
    ]
    assert story.run.proposed == "1"


def test_a_retry_of_a_corrected_run_takes_up_its_gate_without_another_question() -> None:
    story = all_corrected()
    story.say(Go())
    story.tests_fail()
    story.say(Retry())
    story.assessed()
    assert story.state() is RunState.preparing
    assert (story.run.max_gate, len(story.run.corrections)) == ("1", 4)


def test_continue_after_a_corrected_run_climbs_on_without_another_question() -> None:
    story = all_corrected(ladder=(1, 2))
    story.say(Go("3"))
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "inconclusive")
    story.submitted_again(1)
    story.ferry_ends(1, "inconclusive")
    story.say(Continue())
    story.assessed(ladder=(1, 2))
    assert story.state() is RunState.preparing


@pytest.mark.parametrize(("head", "base"), [(NEWER, "main"), (HEAD, "release")])
def test_what_was_corrected_is_about_that_commit_and_that_base(head: str, base: str) -> None:
    story = all_corrected()
    story.say(Retry(), head=head)
    story.tell(
        Assessed(story.run.id, head, BASE, base, "main", False, MAIN, CONFIG, plan(1), assessment("3")),
    )
    assert (story.run.corrections, story.run.proposed) == ((), "3")


def test_what_was_corrected_outlives_a_run_that_never_read_the_diff() -> None:
    story = all_corrected()
    story.say(Retry())
    story.say(Stop())
    story.say(Assess())
    story.assessed()
    assert story.run.proposed == "1"


def test_an_answer_given_over_and_over_is_kept_once_and_the_last_counts() -> None:
    story = asked()
    for turn in range(6):
        story.say(Answer(HOT, "cpu", turn % 2 == 1, f"turn {turn}"))
    assert [(one.yes, one.reason) for one in story.run.corrections] == [(True, "turn 5")]


def test_no_more_answers_are_kept_than_anybody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correcting, "MOST", 2)
    story = asked()
    for word in WORDS[:3]:
        story.say(word)
    assert len(story.run.corrections) == 2
    assert "max_gate" in last_reply(story)
    story.say(Answer(HOT, "shuffle", True))
    assert [(one.question, one.yes) for one in story.run.corrections] == [("memory", False), ("shuffle", True)]


def test_a_reason_of_a_whole_page_is_cut() -> None:
    story = asked()
    story.say(replace(CALM, reason="w" * 50_000))
    assert len(story.run.corrections[0].reason) == MOST_REASON


def test_no_answer_given_anew_makes_trivial_what_somebody_said_is_not() -> None:
    """Only the last answer to a question is kept, so each must say alone what the file is taken for."""
    found = quiet("skip")
    story = Story()
    story.say(Assess())
    story.assessed(found)
    story.say(Answer(HOT, "cpu", True))
    story.say(Answer(HOT, "cpu", False))
    assert story.run.proposed == "1"
    story.say(Retry())
    story.assessed(found)
    assert story.run.proposed == "1"


# ---- how far it was to climb


@pytest.mark.parametrize("lower", [Go("1"), Skip("enough")])
def test_the_author_cannot_go_under_what_a_reviewer_asked_for(lower: Go | Skip) -> None:
    story = Story()
    story.say(Go("3", "the shuffle matters"), "rev")
    story.assessed(assessment("1"), ladder=LONG)
    assert story.run.proposed == "3"
    story.say(lower, "ada")
    assert story.state() is RunState.awaiting_reviewer
    assert "`3`" in last_reply(story)
    assert "rev" in last_reply(story)
    story.say(Go(), "ada")
    assert (story.state(), story.run.max_gate) == (RunState.preparing, "3")
    assert story.run.override == "reviewer override by rev: max_gate=3 — the shuffle matters"


def test_another_reviewer_may_go_under_it() -> None:
    story = Story()
    story.say(Go("3"), "rev")
    story.assessed(assessment("1"), ladder=LONG)
    story.say(Go("1", "3 is too much"), "bob")
    assert (story.state(), story.run.max_gate) == (RunState.preparing, "1")


def test_the_author_may_take_back_what_the_author_asked_for() -> None:
    story = Story()
    story.say(Go("3"), "ada")
    story.assessed(assessment("1"), ladder=LONG)
    story.say(Go("1"), "ada")
    assert (story.state(), story.run.max_gate) == (RunState.preparing, "1")


def test_the_author_cannot_bury_a_verdict_of_a_higher_ceiling() -> None:
    story = failed_under_what_a_reviewer_named()
    failed = story.run.id
    story.say(Go("1"), "ada")
    assert (story.run.id, story.state()) == (failed, RunState.failed)
    assert "less than the `3`" in last_reply(story)


@pytest.mark.parametrize("again", [Go(), Assess()])
def test_a_ceiling_outlives_the_run_that_had_it(again: Go | Assess) -> None:
    story = failed_under_what_a_reviewer_named()
    story.say(again, "ada")
    story.assessed(assessment("1"), ladder=LONG)
    assert story.run.proposed == "3"
    story.say(Go("1"), "ada")
    assert story.state() is RunState.awaiting_reviewer
    story.say(Stop(), "ada")
    story.say(Assess(), "ada")
    story.assessed(assessment("1"), ladder=LONG)
    story.say(Go("1"), "ada")
    assert story.state() is RunState.awaiting_reviewer


def test_a_ceiling_named_in_a_first_mention_outlives_a_stop_while_the_diff_is_read() -> None:
    story = Story()
    story.tell(Mentioned(PLACE, 7, "rev", Go("3")))
    story.tell(Authorised(7, "rev", "write", Go("3"), HEAD, True, unmoved=True))
    story.say(Stop(), "ada")
    story.tell(Authorised(9, "ada", "write", Go("1"), HEAD, True, unmoved=True))
    story.assessed(assessment("1"), ladder=LONG)
    assert story.state() is RunState.awaiting_reviewer


def test_a_new_commit_is_asked_about_by_its_own_diff() -> None:
    story = failed_under_what_a_reviewer_named()
    story.say(Go(), "ada", head=NEWER)
    story.assessed(assessment("1"), head=NEWER, ladder=LONG)
    assert story.run.proposed == "1"
    story.say(Go("1"), "ada", head=NEWER)
    assert story.state() is RunState.preparing


def test_a_reviewers_answers_take_the_ceiling_down_that_the_diff_alone_had_asked_for() -> None:
    story = asked("3")
    story.say(Go(), "rev")
    story.to_first_gate()
    story.gate_to_ferrying(1)
    story.ferry_ends(1, "pass")
    story.say(Assess(), "ada")
    story.assessed(assessment("3"), ladder=LONG)
    for word in WORDS:
        story.say(word, "rev")
    assert story.run.proposed == "1"
    story.say(Go("1"), "ada")
    assert story.state() is RunState.preparing


def test_a_reviewers_answers_take_no_ceiling_down_that_a_reviewer_named() -> None:
    story = failed_under_what_a_reviewer_named()
    story.say(Assess(), "ada")
    story.assessed(quiet("1"), ladder=LONG)
    story.say(Answer(HOT, "trivial", True), "bob")
    assert story.run.proposed == "3"


def test_an_author_under_a_new_name_is_still_who_asked() -> None:
    story = Story()
    story.tell(Mentioned(PLACE, 7, "ada-2", Go("3")))
    story.tell(Authorised(7, "ada-2", "write", Go("3"), HEAD, True, actor_id=5, author="ada-2", author_id=5))
    story.tell(Authorised(8, "ada-3", "write", Stop(), HEAD, True, actor_id=5, author="ada-3", author_id=5))
    story.say(Assess(), "rev")
    story.assessed(assessment("1"), ladder=LONG)
    assert story.run.proposed == "1"


def test_a_ceiling_named_after_a_push_outlives_a_stop_while_the_new_diff_is_read() -> None:
    story = asked("1", LONG)
    # The answer is for a head that is gone, so the new one is read, with what was asked for it.
    story.say(Go("3"), "rev", head=NEWER)
    assert (story.state(), story.run.requested) == (RunState.assessing, "3")
    story.say(Stop(), "ada", head=NEWER)
    story.say(Go("1"), "ada", head=NEWER)
    story.assessed(assessment("1"), head=NEWER, ladder=LONG)
    story.say(Go("1"), "ada", head=NEWER)
    assert story.state() is RunState.awaiting_reviewer


def test_why_a_ceiling_was_named_is_kept_with_it() -> None:
    story = Story()
    story.say(Go("3", "the shuffle matters"), "rev")
    story.assessed(assessment("1"), ladder=LONG)
    story.say(Stop(), "ada")
    story.say(Assess(), "ada")
    story.assessed(assessment("1"), ladder=LONG)
    story.say(Go(), "ada")
    assert story.run.override == "reviewer override by rev: max_gate=3 — the shuffle matters"
