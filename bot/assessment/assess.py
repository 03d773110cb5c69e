"""From the changed files to the proposal. Every change that is not proven trivial counts as touching everything.

The decision is the gate's own: all trivial → skip; any other yes → 3; else 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename

from bot.assessment.definitions import describe_python
from bot.assessment.model import Assessment, FileAnswers, FileChange, MaxGate
from bot.assessment.scope import Placement, place
from bot.assessment.trivial import prove
from bot.config.schema import Modules, Scope

NOT_ANALYSED = "not analysed"


def assess(changes: Sequence[FileChange], scope: Scope, modules: Modules) -> Assessment:
    """Answer the five questions for each gated file. Total: any bytes and any names are answered, none raises."""
    per_file: dict[str, FileAnswers] = {}
    outside: dict[str, dict[str, str]] = {"out": {}, "flagged": {}}
    for change in changes:
        gated, others = _sides(change, scope)
        for path, placement in others:
            outside[placement.kind][path] = placement.reason
        # Two names that print alike must not let the harmless one stand for both.
        if gated is not None and (gated not in per_file or per_file[gated].trivial):
            per_file[gated] = _answer(change)
    if not per_file:
        return Assessment(False, "1", _nothing_gated(outside), per_file, outside["out"], outside["flagged"])
    gate, rationale = _decide(per_file, modules)
    if outside["flagged"]:
        rationale += f"; {_count(len(outside['flagged']), 'flagged file')} not judged, the reviewer decides"
    return Assessment(True, gate, rationale, per_file, outside["out"], outside["flagged"])


def _sides(change: FileChange, scope: Scope) -> tuple[str | None, list[tuple[str, Placement]]]:
    """The name under which the change is gated, if it is, and the names that are not; a move counts on both sides."""
    paths = [change.path] + ([change.old_path] if change.old_path else [])
    placed = [(path, place(path, scope)) for path in paths]
    gated = next((path for path, placement in placed if placement.kind == "in"), None)
    if gated == change.path:
        return gated, []
    others = [(path, placement) for path, placement in placed if placement.kind != "in"]
    # A move among files that are not gated is told once, unless its sides are told differently.
    return gated, others[:1] if len({placement.kind for _, placement in others}) == 1 else others


def _answer(change: FileChange) -> FileAnswers:
    proof = prove(change)
    if proof.trivial:
        summary = "formatting or comments only" if change.path.endswith(".toml") else _TRIVIAL_PYTHON
        return FileAnswers(True, False, False, False, False, summary, (proof.why,))
    summary = proof.why
    if change.status == "modified" and change.path.endswith(".py"):
        summary = describe_python(change.base, change.head) or proof.why
    return FileAnswers(False, True, True, True, True, f"{summary} ({NOT_ANALYSED})", (NOT_ANALYSED,))


_TRIVIAL_PYTHON = "comments, docstrings or formatting only"


def _decide(per_file: dict[str, FileAnswers], modules: Modules) -> tuple[MaxGate, str]:
    if all(answers.trivial for answers in per_file.values()):
        return "skip", f"proven trivial in {_count(len(per_file), 'file')}: comments, docstrings or formatting only"
    serious = {path: answers for path, answers in per_file.items() if not answers.trivial}
    deciding = min(serious, key=lambda path: (not _high_prior(path, modules), path))
    gate: MaxGate = "3" if any(answers.climbs for answers in serious.values()) else "1"
    more = f", and {_count(len(serious) - 1, 'more file')}" if len(serious) > 1 else ""
    return gate, f"{basename(deciding)}: {serious[deciding].summary}{more}"


def _high_prior(path: str, modules: Modules) -> bool:
    return path.removeprefix(modules.package_root.rstrip("/") + "/") in modules.high_prior


def _nothing_gated(outside: dict[str, dict[str, str]]) -> str:
    if outside["flagged"]:
        return f"{next(iter(outside['flagged']))}: flagged, and no changed file is gated: the reviewer decides"
    if outside["out"]:
        return "no changed file is in the gate's scope"
    return "no file changed between merge base and head"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
