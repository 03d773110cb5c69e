"""The question: what the diff is taken to mean, how far to climb, and how to answer. A comment of its own.

It opens with the lines of seed 002, step 1a; table, evidence and what `go` entails follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import accumulate, islice

import msgspec

from bot.assessment.model import Assessment
from bot.comment.corrections import corrections
from bot.comment.costs import TierCost, costs_of
from bot.comment.limits import Section, join
from bot.comment.markdown import code, details, length, text
from bot.comment.preflight import what_runs
from bot.comment.sentences import gate_title, head_moved, mention, sentence, sha
from bot.comment.tables import assessment_table
from bot.gating.ceiling import bar, judged, proposal_weakens
from bot.gating.model import PullRequest, Run

_MOST_FILES = 30
_MOST_EVIDENCE = 100
# Characters of the list that opens the question; even names made of nothing but escapes leave room for the rest.
_MOST_OPENING = 16_000


class Question(msgspec.Struct, frozen=True):
    """The comment and the hidden line by which it is found again; it never starts with the canonical sentinel."""

    body: str
    marker: str


def question(pr: PullRequest, costs: Mapping[int, TierCost] | None = None, now: datetime | None = None) -> Question:
    """`costs`: what is known of the tiers at `now`, by gate. ValueError without an assessed run."""
    run = pr.run
    if run is None or run.assessment is None:
        raise ValueError("only an assessed run has a question")
    marker = marker_of(run.id)
    sections = [
        Section(_opening(run, run.assessment), stays=True),
        Section(_how_to_answer(run, pr.place.author if pr.place else ""), stays=True),
        Section(head_moved(run), stays=True),
        Section(assessment_table(run.assessment)),
        Section(_evidence(run.assessment), cut="The evidence is too long for a comment and was cut."),
        Section(_outside(run.assessment)),
        Section(_what_go_entails(run), stays=True),
        Section(costs_of(run.plan, costs or {}, now)),
        Section(marker, stays=True),
    ]
    return Question(join(sections), marker)


def marker_of(run_id: str) -> str:
    """The last line of a run's question."""
    return f"<!-- perf-gate:question {run_id} -->"


def _opening(run: Run, assessment: Assessment) -> str:
    first = islice(assessment.per_file.items(), _MOST_FILES)
    every = [f"- {code(path)}: {text(answers.summary, 200)}" for path, answers in first]
    files = [line for line, end in zip(every, accumulate(map(length, every)), strict=True) if end <= _MOST_OPENING]
    if left_out := len(assessment.per_file) - len(files):
        files.append(f"- … and {left_out} more")
    lines = [
        "🤖 Zephyr perf gate assessment",
        "",
        f"Proposed max_gate: {run.proposed}{_as_asked(run, assessment)}",
        f"Rationale: {' · '.join(sentence(line, 600) for line in (assessment.rationale, *corrections(run)))}",
        "",
        "Per-file:",
        *(files or ["- (no file in scope)"]),
    ]
    return "\n".join(lines)


def _as_asked(run: Run, assessment: Assessment) -> str:
    """Who wants another ceiling than the diff asks for: by this run's first words, or for this commit before."""
    alone = judged(assessment)
    if run.proposed == alone:
        return ""
    if run.requested is not None:
        return f" (as {code(run.asked_by)} asked; the diff alone: {alone})"
    before = run.handover.named_by if run.handover is not None else ""
    return f" (as {code(before)} named for this commit before; the diff alone: {alone})" if before else ""


def _how_to_answer(run: Run, author: str) -> str:
    waive, (_, named_by) = "", bar(run, author)
    if run.proposed == "skip":
        waive = " Nothing would be measured, so a person other than the author must say so."
    elif proposal_weakens(run, author):
        less = f"{code(named_by)} named" if named_by else "the diff asks for"
        waive = f" max_gate={run.proposed} is less than {less}, so a person other than the author must say so."
    return (
        'Reply "go" to run, or override with "max_gate=<skip|1|2|3>".\n'
        f"{mention(run.asked_by)}: the answer holds for commit {sha(run.head_sha)}; a reason after it is kept.{waive}"
    )


def _evidence(assessment: Assessment) -> str:
    found = [(path, line) for path, answers in assessment.per_file.items() for line in answers.evidence]
    if not found:
        return ""
    lines = [f"- {code(path)}: {text(line, 300)}" for path, line in found[:_MOST_EVIDENCE]]
    more = [f"- … and {len(found) - _MOST_EVIDENCE} more"] if len(found) > _MOST_EVIDENCE else []
    return details("Evidence", "\n".join([*lines, *more]))


def _outside(assessment: Assessment) -> str:
    parts = []
    if assessment.flagged:
        flagged = ", ".join(code(path) for path in list(assessment.flagged)[:10])
        parts.append(f"⚠ Flagged: {flagged}, which alone asks for no run. Is one wanted for it?")
    if assessment.out_of_scope:
        rows = [f"- {code(path)}: {text(why, 200)}" for path, why in list(assessment.out_of_scope.items())[:20]]
        count = len(assessment.out_of_scope)
        rows += [f"- … and {count - 20} more"] if count > 20 else []
        parts.append(details(f"{count} changed file{'' if count == 1 else 's'} out of scope", "\n".join(rows)))
    return "\n\n".join(parts)


def _what_go_entails(run: Run) -> str:
    """What the proposed answer sets off, and for forks whose code gets what."""
    ceiling = 1 if run.proposed == "skip" else int(run.proposed)
    gates = [plan for plan in run.plan if plan.number <= ceiling] or list(run.plan[:1])
    steps = ", then ".join(map(gate_title, gates))
    lines = [f"`go` {what_runs(run, ' of that commit')}, then {steps}."]
    if run.proposed == "skip":
        lines = [f"`go` waives the gate. `max_gate=1` {what_runs(run)}, then {steps}."]
    if run.plan and ceiling > run.plan[-1].number:
        lines.append(f"This repository's ladder ends at gate {run.plan[-1].number}.")
    if run.cluster:
        lines.append(
            f"⚠ **It runs on the cluster {code(run.cluster, 60)}**, as was asked, and the baseline ran elsewhere: the "
            "report is shown beside it, but not judged."
        )
    if run.is_fork:
        lines.append(
            "⚠ **This is a fork:** `go` hands the cluster's worker identity and HF_TOKEN to its code. "
            "Read the diff first."
        )
    return "\n".join(lines)
