"""The assessment with one answer given otherwise: what contradicts it is taken back, and the gate follows."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from bot.assessment.model import QUESTIONS, Assessment, FileAnswers


def corrected(assessment: Assessment, path: str, question: str, *, yes: bool) -> Assessment:
    """With this one answer, what contradicts it taken back, and the gate that follows: all trivial → skip; any other
    yes → 3; else 1.

    Whoever corrects another question takes the file for more than trivial: of answers to one question the last alone
    is kept, so that each must say so by itself when it is given to the next run.
    """
    answers = assessment.per_file[path]
    if question != "trivial":
        answers = replace(answers, trivial=False, **{question: yes})
    elif yes:
        answers = replace(answers, trivial=True, shuffle=False, memory=False, cpu=False, design=False)
    else:
        answers = replace(answers, trivial=False)
    per_file = assessment.per_file | {path: answers}
    return replace(assessment, per_file=per_file, max_gate=_gate(per_file.values()))


def _gate(every: Collection[FileAnswers]) -> str:
    if all(answers.trivial for answers in every):
        return "skip"
    return "3" if any(getattr(answers, question) for answers in every for question in QUESTIONS) else "1"
