"""An answer of the assessment corrected by a person: the proposal follows, and it is kept who, when and why."""

from __future__ import annotations

from pathlib import Path

from bot.gating.states import RunState
from tests.conversations.world import FILES, SHUFFLE, golden, world

WORSE = FILES[SHUFFLE].replace("1024", "9")
INIT = "lib/zephyr/src/zephyr/__init__.py"


async def test_a_corrected_answer_changes_the_proposal_and_stands_in_the_rationale(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        await w.to_question()
        said = await w.says("rev", "@perf-gate answer shuffle.py memory=no because the buffer is *never* full")
        golden("answers/corrected", w.reply_without_marker())
        assert w.reactions(said) == ["eyes", "+1"]
        (question,) = [one.body for one in w.comments() if one.body.startswith("🤖 Zephyr perf gate assessment")]
        golden("answers/question_after", question)
        await w.says("rev", "go")
        golden("answers/run_by_the_corrected_plan", w.canonical())
        run = await w.run()
        assert run.max_gate == "1"
        assert run.override == ""
        assert w.iris.submissions == 1


async def test_the_author_may_answer_yes_but_not_no(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        await w.says("ada", f"@perf-gate answer `{SHUFFLE}` memory=no — it is small")
        golden("answers/author_cannot", w.reply_without_marker())
        await w.says("ada", f"@perf-gate answer `{SHUFFLE}` trivial=yes")
        assert "would weaken the gate" in w.reply()
        await w.says("ada", f"@perf-gate answer `{SHUFFLE}` cpu=yes")
        golden("answers/stays", w.reply_without_marker())
        run = await w.run()
        assert [(one.question, one.yes, one.by) for one in run.corrections] == [("cpu", True, "ada")]


async def test_all_trivial_proposes_to_skip_and_one_yes_climbs_again(tmp_path: Path) -> None:
    async with world(tmp_path, files={SHUFFLE: WORSE, INIT: "VERSION = 2\n"}) as w:
        await w.to_question()
        for path in (INIT, SHUFFLE):
            await w.says("rev", f"@perf-gate answer {path} trivial=yes because it is a test double")
            w.reply()
        assert (await w.run()).proposed == "skip"
        await w.says("rev", f"@perf-gate answer {INIT} design=yes")
        assert "the proposal is now max_gate=3" in w.reply()


async def test_an_answer_from_before_the_correction_runs_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.to_question()
        w.sim.hold_deliveries()
        await w.sim.comment(w.repository, w.pull.number, "rev", "go")
        await w.sim.comment(w.repository, w.pull.number, "rev", f"@perf-gate answer {SHUFFLE} memory=no")
        await w.sim.release_deliveries(reverse=True)
        await w.settle()
        said = w.new_comments()
        assert [body for body in said if "Your answer came before the question" in body]
        assert (await w.run()).state is RunState.awaiting_reviewer


async def test_what_cannot_be_corrected_is_told(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.says("rev", "@perf-gate answer shuffle.py cpu=no")
        golden("answers/no_question", w.reply_without_marker())
        await w.to_question()
        for name, body in (
            ("no_such_file", "@perf-gate answer shufle.py cpu=no"),
            ("so_already", "@perf-gate answer shuffle.py cpu=no"),
            ("no_such_question", "@perf-gate answer shuffle.py gpu=no"),
            ("neither", "@perf-gate answer shuffle.py cpu=maybe"),
            ("usage", "@perf-gate answer cpu=no"),
            ("not_a_reason", "@perf-gate answer shuffle.py cpu=yes memory=no"),
        ):
            await w.says("rev", body)
            golden(f"answers/{name}", w.reply_without_marker())
        await w.push(WORSE)
        w.canonical()
        await w.says("rev", "@perf-gate answer shuffle.py cpu=yes")
        refusal, question = w.new_comments()
        golden("answers/stale", refusal.rpartition("\n\n")[0])
        assert w.pull.head_sha[:10] in question
