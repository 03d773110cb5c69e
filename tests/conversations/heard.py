"""What the bot said on a pull request, as a test reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from simulator import Simulator
from simulator.state import CheckRun, Comment, Pull, Repository

BOT = "perf-gate[bot]"
NOTICE = "<!-- perf-gate:notice "
SENTINEL = "<!-- zephyr-perf-gate -->"


@dataclass(kw_only=True)
class Heard:
    """Comments, check runs and reactions of the bot; it remembers which comments somebody looked at."""

    sim: Simulator
    repository: Repository
    pull: Pull
    _seen: set[int] = field(default_factory=set)

    def comments(self) -> list[Comment]:
        return self.sim.comments(self.repository, self.pull.number, by=BOT)

    def new_comments(self) -> list[str]:
        """The bot's comments that nobody looked at so far, readable."""
        fresh = [comment for comment in self.said() if comment.id not in self._seen]
        self._seen |= {comment.id for comment in fresh}
        return [self.readable(comment.body) for comment in fresh]

    def said(self) -> list[Comment]:
        """What the bot said, but its notices, which are looked at by `notices` and when the world ends."""
        return [comment for comment in self.comments() if NOTICE not in comment.body]

    def notices(self, *, hidden: bool = False) -> list[str]:
        """The comments that call people, without what is hidden in them; those that are folded away, or the others."""
        found = [one for one in self.comments() if NOTICE in one.body and bool(one.minimized) is hidden]
        return [self.readable(one.body).rpartition("\n\n")[0].partition(" [Details]")[0] for one in found]

    def question(self) -> Comment:
        """The last question, as it is now."""
        return [one for one in self.comments() if "perf-gate:question" in one.body][-1]

    def canonical(self) -> str:
        """The one canonical comment as it stands."""
        found = [comment for comment in self.comments() if comment.body.startswith(SENTINEL)]
        assert len(found) == 1, f"{len(found)} canonical comments"
        self._seen.add(found[0].id)
        return self.readable(found[0].body)

    def reply(self) -> str:
        """The one new comment."""
        fresh = [body for body in self.new_comments() if not body.startswith(SENTINEL)]
        assert len(fresh) == 1, fresh
        return fresh[0]

    def reply_without_marker(self) -> str:
        """The one new comment without its last line, which names the comment that it answers."""
        text, _, marker = self.reply().rstrip().rpartition("\n\n")
        assert marker.startswith("<!-- perf-gate:reply "), marker
        return text

    def checks(self) -> list[CheckRun]:
        """The bot's check runs on all commits, oldest first."""
        return self.sim.check_runs(self.repository)

    def check(self) -> str:
        """The last check run, readable."""
        run = self.checks()[-1]
        details = (run.details_url or "").rpartition("#")[2].partition("-")[0]
        lines = [
            f"{run.name}: {run.status}" + (f", {run.conclusion}" if run.conclusion else ""),
            f"on: {run.suite.head_sha[:10]}, details: {details}",
            f"title: {run.title}",
            *(f"button: {a['label']} ({a['description']})" for a in run.actions),
        ]
        return self.readable("\n".join([*lines, "", run.summary or ""]))

    def reactions(self, comment: Comment) -> list[str]:
        return [reaction.content for reaction in comment.reactions]

    def readable(self, body: str) -> str:
        """Without what differs from run to run: ports."""
        return re.sub(r"http://127\.0\.0\.1:\d+", "http://github", body)

    def says_nothing(self) -> bool:
        """No new comment of the bot."""
        return self.new_comments() == []

    def assert_nothing_unseen(self) -> None:
        """On no pull request of the world is there a comment of the bot that the test did not look at."""
        for number in self.repository.issues:
            said = self.sim.comments(self.repository, number, by=BOT)
            unseen = [one for one in said if one.id not in self._seen and NOTICE not in one.body]
            assert [comment.body for comment in unseen] == []
            # Nobody is called twice for one thing, and every notice calls somebody.
            called = [one.body for one in said if NOTICE in one.body]
            assert len({body.rpartition("\n")[2] for body in called}) == len(called), called
            assert all(body.startswith(("@", "`")) for body in called), called
            # Of settled questions none stays unfolded.
            assert not [one.body for one in said if one.body.startswith("> **Settled") and not one.minimized]

    def canonical_id(self) -> int:
        (found,) = [comment.id for comment in self.comments() if comment.body.startswith(SENTINEL)]
        return found
