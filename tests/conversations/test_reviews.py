"""What is said in a review or on a line of the diff counts like any comment; answers stand where GitHub takes them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.gating.model import PullRequest
from bot.gating.states import RunState
from simulator.state import Review, ReviewComment
from tests.conversations.heard import BOT
from tests.conversations.world import FILES, SHUFFLE, World, golden, world


async def reviews(w: World, login: str, body: str | None) -> Review:
    made = await w.sim.review(w.repository, w.pull.number, login, body)
    await w.settle()
    return made


async def remarks(w: World, login: str, body: str, to: ReviewComment | None = None) -> ReviewComment:
    made = await w.sim.review_comment(w.repository, w.pull.number, login, body, path=SHUFFLE, in_reply_to=to)
    await w.settle()
    return made


def answers(w: World, to: ReviewComment) -> list[str]:
    """What the bot said in this comment's thread, without the line that names what it answers."""
    said = w.sim.review_comments(w.repository, w.pull.number, by=BOT)
    return [one.body.rpartition("\n\n")[0] for one in said if one.in_reply_to is to]


def signs(comment: ReviewComment) -> list[str]:
    return [reaction.content for reaction in comment.reactions]


async def test_a_review_commands_and_is_answered_in_words_since_it_takes_no_reaction(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await reviews(w, "rev", "The buffer looks fine.\n\n@perf-gate")
        question = next(body for body in w.new_comments() if "Proposed max_gate" in body)
        assert w.pull.head_sha[:10] in question
        await w.live_through(timedelta(minutes=1))
        await reviews(w, "rev", "go")
        golden("reviews/go", w.reply_without_marker())
        assert "watching the ferry" in w.canonical()
        await reviews(w, "rev", "@perf-gate gooo")
        assert "did you mean `go`?" in w.reply()


async def test_a_comment_on_a_line_is_answered_in_its_thread(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        first = await remarks(w, "rev", "Why 4096?")
        assert signs(first) == []
        second = await remarks(w, "rev", "@perf-gate status", first)
        assert signs(second) == ["eyes", "+1"]
        assert answers(w, first) == ["There is no run for this pull request yet. `@perf-gate` starts one."]
        asked = await remarks(w, "ada", "@perf-gate", first)
        assert signs(asked) == ["eyes", "rocket"]
        assert len(answers(w, first)) == 1
        assert "Proposed max_gate: 3" in w.new_comments()[1]
        w.sim.account("eve")
        denied = await remarks(w, "eve", "@perf-gate go")
        assert signs(denied) == ["eyes", "confused"]
        assert "needs `write` access" in answers(w, denied)[0]
        assert (await w.run()).state is RunState.awaiting_reviewer
        await w.live_through(timedelta(minutes=1))
        told = await remarks(w, "rev", "go", first)
        assert signs(told) == ["eyes", "rocket"]
        assert "watching the ferry" in w.canonical()
        assert w.iris.submissions == 1


async def test_an_answer_given_in_the_second_of_the_question_is_no_answer_to_it(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        early = await remarks(w, "rev", "go")
        assert "Your answer came before the question" in answers(w, early)[0]
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_edited_reviews_and_remarks_are_not_run(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        review = await reviews(w, "rev", "Nice.")
        await w.sim.edit_review(review, "@perf-gate go max_gate=1")
        await w.settle()
        assert "Edits are not run" in w.reply()
        remark = await remarks(w, "rev", "Nice.")
        for body in ("@perf-gate go max_gate=1", "@perf-gate skip"):
            await w.sim.edit_review_comment(remark, body)
            await w.settle()
        assert len(answers(w, remark)) == 1
        stored = await w.app.engine.read(w.key)
        assert stored is not None
        assert stored.run is None


async def test_code_quotes_and_reviews_without_words_say_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        before = w.asked_github()
        for body in (None, "", "`@perf-gate go`", "> @perf-gate go", "LGTM"):
            await reviews(w, "rev", body)
        for body in ("```suggestion\n@perf-gate go\n```", "me@perf-gate", "go"):
            remark = await remarks(w, "rev", body)
            assert signs(remark) == []
        assert w.asked_github() == before
        assert await w.app.engine.read(w.key) in (None, PullRequest())


async def test_a_thread_that_was_deleted_is_answered_below_the_pull_request(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        w.sim.hold_deliveries()
        gone = await remarks(w, "rev", "@perf-gate status")
        del w.sim.world.review_comments[gone.id]
        await w.sim.release_deliveries()
        await w.settle()
        assert "There is no run" in w.reply()


async def test_a_review_of_an_older_commit_is_told_of_the_new_one(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.live_through(timedelta(minutes=1))
        await w.push(FILES[SHUFFLE].replace("1024", "9"))
        w.canonical()
        await reviews(w, "rev", "@perf-gate go")
        refusal, question = [body for body in w.new_comments() if "Zephyr perf gate —" not in body]
        assert "the head is now" in refusal
        assert w.pull.head_sha[:10] in question
