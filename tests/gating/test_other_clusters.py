"""`retry cluster=NAME`: it is asked for twice, and what a treatment on other machines still proves."""

from __future__ import annotations

import json

from msgspec.structs import replace

from bot.config.load import builtin_config
from bot.conversation.commands import Assess, Go, Retry
from bot.gating.events import CannotAssess
from bot.gating.happenings import HeadMoved
from bot.gating.resubmission import on_another_cluster
from bot.gating.states import RunState
from bot.verdict.judge import judge
from bot.verdict.report import parse_json
from tests.conversations.reports import perf_report
from tests.gating.story import HEAD, NEWER, PLACE, Story, judgement
from tests.gating.test_lifecycle import halted
from tests.gating.test_orders import last_reply

NEWEST = "e" * 40


def test_another_cluster_is_asked_about_first_and_only_one_that_is_set_up() -> None:
    story = Story()
    story.to_ferrying()
    story.ferry_ends(1, "fail")
    assert "reply" in story.say(Retry("spare"))
    assert "no cluster `spare`" in last_reply(story)
    story.pr = replace(story.pr, run=replace(story.run, clusters=("spare",)))
    assert "reply" in story.say(Retry("spare"))
    assert "not comparable" in last_reply(story)
    assert story.state() is RunState.failed
    story.say(Retry("spare"))
    assert (story.state(), story.run.cluster) == (RunState.assessing, "spare")


def test_before_a_diff_was_read_nobody_is_told_that_there_is_no_other_cluster() -> None:
    story = Story()
    story.say(Retry("spare"))
    assert "no other one" not in last_reply(story)
    assert "known once the diff was read" in last_reply(story)
    story.say(Assess())
    story.tell(CannotAssess(story.run.id, HEAD, "there is no common history"))
    story.say(Retry("spare"))
    assert "known once the diff was read" in last_reply(story)


def with_spare(story: Story) -> Story:
    story.pr = replace(story.pr, run=replace(story.run, clusters=("spare",)))
    return story


def test_after_a_push_another_cluster_is_asked_about_in_the_question_about_the_new_head() -> None:
    story = with_spare(halted())
    story.say(Retry("spare"), head=NEWER)
    assert (story.run.ordinal, story.run.cluster) == (2, "spare")
    assert not [effect for effect in story.effects if effect.kind == "reply"]
    assert "ask" in story.assessed(head=NEWER)
    assert (story.state(), story.run.head_sha, story.run.cluster) == (RunState.awaiting_reviewer, NEWER, "spare")


def test_another_cluster_can_be_named_while_the_question_waits_and_is_then_asked_about_in_it() -> None:
    story = with_spare(halted())
    # The push was told before the word, so its question is on its way already.
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    assert "reply" in story.say(Retry("spare"), head=NEWER)
    assert "still reading the diff" in last_reply(story)
    story.assessed(head=NEWER)
    with_spare(story).say(Retry("spare"), head=NEWER)
    assert "ask" in story.assessed(head=NEWER)
    assert story.run.cluster == "spare"
    story.say(Retry(), head=NEWER)
    assert story.run.cluster == ""


def test_a_question_that_is_asked_anew_is_about_the_same_cluster() -> None:
    story = with_spare(halted())
    story.say(Retry("spare"), head=NEWER)
    story.assessed(head=NEWER)
    story.say(Go(), head=NEWEST)
    assert (story.run.ordinal, story.run.cluster) == (3, "spare")


def test_a_push_after_a_halt_is_read_for_the_same_cluster() -> None:
    story = halted()
    story.pr = replace(story.pr, run=replace(story.run, cluster="spare"))
    story.tell(HeadMoved(PLACE, NEWER, HEAD))
    assert (story.state(), story.run.cluster) == (RunState.assessing, "spare")


def test_what_was_measured_on_another_cluster_is_no_verdict() -> None:
    found = on_another_cluster("spare", judgement("pass"))
    assert found.verdict == "not_comparable"
    assert found.total == judgement("pass").total


def test_running_out_of_memory_fails_on_whatever_cluster() -> None:
    baseline, treatment = perf_report(), perf_report(iris_job_id="/bot/other", infra_failures={"oom": 1})
    judged = judge(parse_json(json.dumps(baseline)), parse_json(json.dumps(treatment)), builtin_config().thresholds)
    assert judged.verdict == "fail"
    found = on_another_cluster("spare", judged)
    assert (found.verdict, found.reasons) == ("fail", judged.reasons)
    assert [branch.rule for branch in found.tree[:2]] == ["more_oom", "another_cluster"]
