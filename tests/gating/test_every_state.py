"""What every happening and every command does in every state of a run: a table each, to be read as a user would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from bot.conversation.commands import Answer, Assess, Command, Continue, Exclude, Go, Reanalyse, Retry, Skip, Stop
from bot.gating.events import Denied, EffectFailed
from bot.gating.happenings import (
    BaseChanged,
    Closed,
    CommentLost,
    HeadMoved,
    OwnCommentTouched,
    Reinstalled,
    Reopened,
)
from bot.gating.states import RunState
from tests.comment.golden import golden
from tests.gating.every_state import COMMENT, come_to
from tests.gating.story import HEAD, NEWER, PLACE, Story

GOLDEN = Path(__file__).parent / "golden"
Happening = Callable[[Story], object]


def close_and(*after: Happening) -> Happening:
    def happen(story: Story) -> None:
        story.tell(Closed(PLACE, merged=False))
        for one in after:
            one(story)

    return happen


def question_deleted(story: Story) -> None:
    story.tell(OwnCommentTouched(PLACE, story.run.question_id or 1, gone=True))


HAPPENINGS: Mapping[str, Happening] = {
    "a push": lambda story: story.tell(HeadMoved(PLACE, NEWER, HEAD)),
    "a push that is taken back": lambda story: (
        story.tell(HeadMoved(PLACE, NEWER, HEAD)),
        story.tell(HeadMoved(PLACE, HEAD, NEWER)),
    ),
    "it is closed": lambda story: story.tell(Closed(PLACE, merged=False)),
    "it is merged": lambda story: story.tell(Closed(PLACE, merged=True)),
    "it is closed, then a push is told of": close_and(lambda story: story.tell(HeadMoved(PLACE, NEWER, HEAD))),
    "it is closed and reopened": close_and(lambda story: story.tell(Reopened(PLACE, HEAD))),
    "it is closed, and reopened with another head": close_and(lambda story: story.tell(Reopened(PLACE, NEWER))),
    "its base is another branch": lambda story: story.tell(BaseChanged(PLACE, "release")),
    "its base is another branch and the first again": lambda story: (
        story.tell(BaseChanged(PLACE, "release")),
        story.tell(BaseChanged(PLACE, "main")),
    ),
    "somebody deletes the comment": lambda story: story.tell(OwnCommentTouched(PLACE, COMMENT, gone=True)),
    "somebody edits the comment": lambda story: story.tell(OwnCommentTouched(PLACE, COMMENT, gone=False)),
    "somebody deletes the question": question_deleted,
    "the comment is found to be gone": lambda story: story.tell(CommentLost(PLACE, gone=True)),
    "the App is installed anew": lambda story: story.tell(Reinstalled(PLACE)),
    "whoever says `go` has no permission any more": lambda story: story.tell(Denied(950, "rev", "write", "read")),
    "the permission of whoever says `go` cannot be read": lambda story: story.tell(
        EffectFailed("authorise", "", "GitHub does not answer", 950)
    ),
}
COMMANDS: Mapping[str, Command] = {
    "@perf-gate": Assess(),
    "go": Go(),
    "go max_gate=1": Go("1", "enough"),
    "skip": Skip("no need"),
    "continue": Continue(),
    "retry": Retry(),
    "stop": Stop(),
    "answer shuffle.py cpu=no": Answer("shuffle.py", "cpu", yes=False),
    "exclude stage=normalize": Exclude("normalize", "flaky"),
    "reanalyse": Reanalyse(),
}


def say(said: Command, story: Story, *, head: str = HEAD, is_open: bool = True) -> None:
    story.say(said, head=head, is_open=is_open)


def _named(title: str) -> str:
    return "@perf-gate" if title == "@perf-gate" else f"@perf-gate {title}"


def table(title: str, happen: Happening) -> str:
    """What the run is after it, what is asked for, and what is said; states of which the same is told share a row."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for state in RunState:
        story = come_to(state)
        before = len(story.effects)
        happen(story)
        told = (_after(story, state), _asked_for(story, before), _said(story, before))
        rows.setdefault(told, []).append(state)
    lines = [f"| {', '.join(states)} | {' | '.join(told)} |" for told, states in rows.items()]
    return "\n".join([f"## {title}", "", "| state | after it | asked for | said |", "|---|---|---|---|", *lines])


def _after(story: Story, before: RunState) -> str:
    run = story.run
    marks = [f"run {run.ordinal}"] if run.ordinal > 1 else []
    marks += ["head moved"] if run.head_moved_to else []
    marks += [f"base is {run.base_moved_to}"] if run.base_moved_to else []
    marks += ["closed"] if not story.pr.is_open else []
    marks += [f"{run.stop_requested_by} stops it"] if run.stop_requested_by and not run.state.ended else []
    reason = f": {run.reason}" if run.reason and run.state is not before else ""
    state = "the same" if run.state is before and run.ordinal == 1 else f"{run.state}{reason}"
    return state + (f" ({', '.join(marks)})" if marks else "")


def _asked_for(story: Story, before: int) -> str:
    """Without what every change of the comment brings with it."""
    kinds = [one.kind for one in story.effects[before:] if one.kind not in {"check", "react", "reply", "authorise"}]
    return ", ".join(dict.fromkeys(kinds))


def _said(story: Story, before: int) -> str:
    spoken = [one for one in story.effects[before:] if one.kind in {"reply", "notify", "settle"}]
    return " / ".join(str(one.payload["text"]).replace("|", "¦").replace("\n", " ") for one in spoken)


def test_happenings() -> None:
    golden(GOLDEN / "happenings.md", "\n\n".join(table(title, happen) for title, happen in HAPPENINGS.items()))


def test_commands() -> None:
    told = [table(_named(title), partial(say, said)) for title, said in COMMANDS.items()]
    golden(GOLDEN / "commands.md", "\n\n".join(told))


def test_commands_that_know_of_a_push_before_it_is_told() -> None:
    ahead = [
        table(f"{_named(title)}, after a push", partial(say, said, head=NEWER)) for title, said in COMMANDS.items()
    ]
    golden(GOLDEN / "commands_after_a_push.md", "\n\n".join(ahead))


def test_commands_that_know_of_a_close_before_it_is_told() -> None:
    late = [
        table(f"{_named(title)}, after it was closed", partial(say, said, is_open=False))
        for title, said in COMMANDS.items()
        if not isinstance(said, Skip | Continue | Retry | Answer)
    ]
    golden(GOLDEN / "commands_after_a_close.md", "\n\n".join(late))
