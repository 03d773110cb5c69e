"""Labelled diffs: the JSON list of cases, and the trees that lie beside it."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec

from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.scope import gated
from bot.checkout.folders import compare_folders
from bot.config.schema import RepositoryConfig


class Case(msgspec.Struct):
    """One labelled diff; `files` says where its sides come from, which names the wheel around them.

    `part` is "tune" (its misses may be looked at) or "held" (only counted), by the hash of the id; empty in other sets.
    """

    id: str
    max_gate: str
    files: dict[str, Any]
    acceptable_max_gates: list[str] = []
    in_scope: bool = True
    per_file: dict[str, dict[str, Any]] = {}
    title: str = ""
    why: str = ""
    part: str = ""


def read_cases(path: Path) -> list[Case]:
    """Raises OSError or msgspec.ValidationError."""
    return msgspec.convert(json.loads(path.read_text("utf-8")), list[Case])


def versions_of(case: Case) -> list[str]:
    """The versions of the wheels that a case is made from."""
    specs = [spec.get(side) or {} for spec in case.files.values() for side in ("base", "head")]
    return sorted({spec["wheel"] for spec in specs if "wheel" in spec})


def changes_of(case: Case, materialised: Path, config: RepositoryConfig) -> list[FileChange]:
    """The diff between the case's base/ and head/ folders."""
    folders = [materialised / case.id / side for side in ("base", "head")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    return compare_folders(folders[0], folders[1], wanted=lambda path: gated(path, config.scope))


def package_of(
    case: Case, changes: list[FileChange], materialised: Path, config: RepositoryConfig
) -> PackageView | None:
    """The wheel around the changed files, with each side's own text of them; None where no wheel is named or stored."""
    root = config.modules.package_root.rstrip("/") + "/"
    names = {side: _wheel(case, side) for side in ("base", "head")}
    views = []
    for side in ("base", "head"):
        wheel = names[side] or names["base"] or names["head"]
        stored = sorted((materialised / "wheels").glob(f"*-{wheel}-*.whl")) if wheel else []
        if not stored:
            return None
        with zipfile.ZipFile(stored[0]) as archive:
            found = {
                root + name.partition("/")[2]: archive.read(name) for name in archive.namelist() if name.endswith(".py")
            }
        for change in changes:
            text = change.base if side == "base" else change.head
            found.pop(change.path, None)
            if text is not None:
                found[change.path] = text
        views.append(found)
    # A pair of wheels of which only some files are the case: the rest is the base's on both sides.
    touched = {change.path for change in changes}
    rest = {path: text for path, text in views[0].items() if path not in touched}
    return PackageView(views[0], {**rest, **{path: views[1][path] for path in touched if path in views[1]}})


def _wheel(case: Case, side: str) -> str | None:
    specs = [spec.get(side) or {} for spec in case.files.values()]
    return next((spec["wheel"] for spec in specs if "wheel" in spec), None)
