"""What can be said, as one table: the parser's hints, the `help` reply and the README are made from it."""

from __future__ import annotations

import msgspec


class Entry(msgspec.Struct, frozen=True):
    """One row of the grammar: the parser, `help` and the README's table are made from these."""

    usage: str
    meaning: str
    who: str


GRAMMAR: dict[str, Entry] = {
    "": Entry("", "read the diff, propose how far to climb (max_gate) and ask", "ask"),
    "assess": Entry("assess", "the same", "ask"),
    "go": Entry("go [max_gate=skip|1|2|3]", "run the gate for the commit shown", "go"),
    "max_gate": Entry("max_gate=skip|1|2|3 [because …]", "run with another ceiling", "override"),
    "skip": Entry("skip [because …]", "waive the gate: nothing is run", "skip"),
    "continue": Entry("continue", "climb on after a warning, or where it stayed inconclusive", "go"),
    "retry": Entry("retry [cluster=NAME]", "run the last gate again; asks before it stops a live ferry", "go"),
    "stop": Entry("stop", "end the run; asks before it stops a live ferry", "stop"),
    "answer": Entry("answer PATH question=yes|no [because …]", "correct an answer of the assessment", "override"),
    "exclude": Entry("exclude stage=NAME [because …]", "leave a stage, or total, out of the verdict", "override"),
    "include": Entry("include stage=NAME", "count an excluded stage again", "override"),
    "reanalyse": Entry("reanalyse", "judge the stored reports again, without the cluster", "go"),
    "status": Entry("status", "say where the run is", "anyone"),
    "help": Entry("help", "show this table", "anyone"),
}
