"""From the changed files to the proposal: what is proven trivial, what the evidence says, and the gate that follows.

The decision is the gate's own: all trivial → skip; any other yes → 3; else 1.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from posixpath import basename

import msgspec

from bot.assessment.changes import changed_definitions, imported, read_sides
from bot.assessment.dormant import by_default
from bot.assessment.evidence.analysis import also_by_default, analyse
from bot.assessment.evidence.model import Evidence
from bot.assessment.model import Assessment, FileAnswers, FileChange, MaxGate
from bot.assessment.package import PackageView
from bot.assessment.pyproject import pyproject_evidence
from bot.assessment.scope import Placement, place
from bot.assessment.summary import of_definitions, of_evidence
from bot.assessment.triviality.index import Index
from bot.assessment.triviality.proof import prove
from bot.assessment.vocabulary import Vocabulary
from bot.config.modules import Modules
from bot.config.schema import Scope

MOST_EVIDENCE, MOST_EXPORTS = 12, 4


def assess(
    changes: Sequence[FileChange], scope: Scope, modules: Modules, package: PackageView | None = None
) -> Assessment:
    """Answer the five questions for each gated file. Total: any bytes and any names are answered, none raises."""
    gated_changes: dict[str, list[FileChange]] = {}
    outside: dict[str, dict[str, str]] = {"out": {}, "flagged": {}}
    for change in changes:
        gated, others = _sides(change, scope)
        for path, placement in others:
            outside[placement.kind][path] = placement.reason
        if gated is not None:
            gated_changes.setdefault(gated, []).append(_as_gated(change, gated))
    if not gated_changes:
        return Assessment(False, "1", _nothing_gated(outside), {}, outside["out"], outside["flagged"])
    vocabulary = Vocabulary(modules)
    per_file, weights = _answers(gated_changes, vocabulary, package)
    gate, rationale = _decide(per_file, weights, vocabulary)
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


def _as_gated(change: FileChange, gated: str) -> FileChange:
    """A file that leaves the gated package is gone from it, whatever its new name holds."""
    if gated == change.path:
        return change
    return msgspec.structs.replace(change, path=gated, old_path=change.path, head=None)


def _answers(
    gated: dict[str, list[FileChange]], vocabulary: Vocabulary, package: PackageView | None
) -> tuple[dict[str, FileAnswers], dict[str, int]]:
    answers: dict[str, FileAnswers] = {}
    weights: dict[str, int] = {}
    open_changes = []
    view = package or PackageView({}, {})
    index = Index(view.base, view.head)
    for path, same_name in gated.items():
        proofs = [(change, prove(change, view, index)) for change in same_name]
        # Two names that print alike must not let the harmless one stand for both.
        change, proof = next(((c, p) for c, p in proofs if not p.trivial), proofs[0])
        if proof.trivial:
            summary = f"only {', '.join(proof.rules)}" if proof.rules else proof.why
            answers[path] = FileAnswers(True, False, False, False, False, summary, (proof.why,))
        elif obstacle := _obstacle(change):
            answers[path] = _doubt(obstacle)
        elif basename(path) == "pyproject.toml":
            answers[path] = _of_pyproject(change, vocabulary.modules)
        else:
            open_changes.append(change)
    answers.update(_of_python(open_changes, vocabulary, package, weights))
    return {path: answers[path] for path in gated}, weights


def _obstacle(change: FileChange) -> str | None:
    """Why a file cannot be read as code; such a file may touch everything."""
    if change.status == "special":
        return "a symbolic link, a submodule or another kind of entry changed"
    for side, data, there in (
        ("base", change.base, change.status != "added"),
        ("head", change.head, change.status != "deleted" and not (change.status == "renamed" and change.base)),
    ):
        if data is None and there:
            return "too large to read"
        if data is not None and b"\0" in data:
            return f"binary in the {side}"
        try:
            (data or b"").decode("utf-8")
        except UnicodeDecodeError:
            return f"not UTF-8 in the {side}"
    if not change.path.endswith((".py", ".toml")):
        return f"{'new' if change.status == 'added' else 'changed'} file that is neither Python nor TOML"
    return None


def _doubt(why: str) -> FileAnswers:
    evidence = f"{why} — it cannot be judged — so it may touch everything — as often as it is used"
    return FileAnswers(False, True, True, True, True, why, (evidence,))


def _of_pyproject(change: FileChange, modules: Modules) -> FileAnswers:
    try:
        evidence, said, inert = pyproject_evidence(change.path, change.base or b"", change.head or b"", modules)
    except (ValueError, RecursionError) as error:
        return _doubt(f"does not parse: {type(error).__name__}")
    if change.status == "modified" and inert and not evidence:
        why = f"only metadata or tool settings: {', '.join(said[:4])}"
        return FileAnswers(True, False, False, False, False, why, (why,))
    return _yes(evidence, ", ".join(said[:4]) or "packaging only")


def _of_python(
    changes: list[FileChange], vocabulary: Vocabulary, package: PackageView | None, weights: dict[str, int]
) -> dict[str, FileAnswers]:
    if not changes:
        return {}
    if not vocabulary.modules.roles:
        return {change.path: _doubt("[modules] of the configuration names no roles") for change in changes}
    try:
        base, head, broken = read_sides(changes, package)
        readable = [change.path for change in changes if change.path not in broken]
        changed = changed_definitions(readable, base, head)
        evidence = analyse(changed, base, head, vocabulary)
        if (awake := by_default(changed, base, head)) is not None:
            evidence = also_by_default(evidence, analyse(changed_definitions(readable, *awake), *awake, vocabulary))
        # Only a file without evidence is told by its definitions.
        told = of_definitions([path for path in readable if not evidence.get(path)], changed)
    # ValueError: a number of more digits than the interpreter writes out.
    except (RecursionError, MemoryError, ValueError):
        return {change.path: _doubt("nested too deeply or too long to read") for change in changes}
    answers: dict[str, FileAnswers] = {}
    for change in changes:
        path = change.path
        if path in broken:
            answers[path] = _doubt(broken[path])
            continue
        found = [*evidence.get(path, []), *_exports(change)]
        moved = f"moved from {change.old_path}; " if change.status == "renamed" and change.old_path else ""
        kind = {"added": "new file; ", "deleted": "deleted file; "}.get(change.status, moved)
        answers[path] = _yes(found, kind + told.get(path, ""), kind)
        weights[path] = max((item.weight for item in found), default=0)
    return answers


def _exports(change: FileChange) -> list[Evidence]:
    """What `__init__.py` imports is what users import."""
    if basename(change.path) != "__init__.py" or change.status != "modified":
        return []
    sides = [imported(side) - sys.stdlib_module_names for side in (change.base, change.head)]
    gone, new = sides[0] - sides[1], sides[1] - sides[0]
    if not gone and not new:
        return []
    told = [f"{verb} {_few(names)}" for verb, names in (("exports", new), ("no longer exports", gone)) if names]
    return [Evidence(change.path, 0, " and ".join(told), "what users import", "import", ("design",), 20)]


def _few(names: frozenset[str]) -> str:
    shown = sorted(names)[:MOST_EXPORTS]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def _yes(evidence: list[Evidence], refactor: str, kind: str = "") -> FileAnswers:
    yes = {question for item in evidence for question in item.questions}
    summary = kind + of_evidence(evidence) if evidence else refactor
    shown = tuple(item.text for item in evidence[:MOST_EVIDENCE])
    return FileAnswers(
        trivial=False,
        shuffle="shuffle" in yes,
        memory="memory" in yes,
        cpu="cpu" in yes,
        design="design" in yes,
        summary=summary,
        evidence=shown,
    )


def _decide(per_file: dict[str, FileAnswers], weights: dict[str, int], vocabulary: Vocabulary) -> tuple[MaxGate, str]:
    if all(answers.trivial for answers in per_file.values()):
        said = list(dict.fromkeys(answers.summary for answers in per_file.values()))
        return "skip", f"proven trivial in {_count(len(per_file), 'file')}: {'; '.join(said[:3])}"
    serious = {path: answers for path, answers in per_file.items() if not answers.trivial}
    climbing = {path: answers for path, answers in serious.items() if answers.climbs}
    among = climbing or serious
    deciding = min(among, key=lambda path: (not vocabulary.high_prior(path), -weights.get(path, 0), path))
    more = f", and {_count(len(serious) - 1, 'more file')}" if len(serious) > 1 else ""
    climbs = " + ".join(among[deciding].climbs)
    why = f" ({climbs})" if climbs else ""
    return "3" if climbing else "1", f"{basename(deciding)}: {among[deciding].summary}{why}{more}"


def _nothing_gated(outside: dict[str, dict[str, str]]) -> str:
    if outside["flagged"]:
        return f"{next(iter(outside['flagged']))}: flagged, and no changed file is gated: the reviewer decides"
    if outside["out"]:
        return "no changed file is in the gate's scope"
    return "no file changed between merge base and head"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
