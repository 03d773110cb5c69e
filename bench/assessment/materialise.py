"""From labels to trees: the wheels they name are downloaded once, the edits they hold are applied.

A side of a file is `{"wheel": VERSION}` (its text in that published wheel), `{"text": …}`, or `{"edit_of_base": […]}`
and `{"edit_of_head": […]}`: `[first, last, replacement lines]` over the other side, 0-based half-open line ranges.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from bench.assessment.labels import Case, versions_of

DISTRIBUTION = "marin-zephyr"
_SIDES = ("base", "head")


def materialise(cases: list[Case], into: Path, package_root: str) -> int:
    """Write `into/ID/base` and `into/ID/head`; the number of cases. Wheels are kept in `into/wheels`."""
    wheels = into / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    root = package_root.rstrip("/") + "/"
    for case in cases:
        stored = {version: _fetched(version, wheels) for version in versions_of(case)}
        for side in _SIDES:
            shutil.rmtree(into / case.id / side, ignore_errors=True)
            (into / case.id / side).mkdir(parents=True)
        for path, spec in case.files.items():
            for side in _SIDES:
                text = _text(spec, side, path.removeprefix(root), stored)
                if text is not None:
                    target = into / case.id / side / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(text, "utf-8")
    return len(cases)


def _text(spec: dict[str, Any], side: str, name: str, stored: dict[str, Path]) -> str | None:
    told = spec.get(side)
    if told is None:
        return None
    if "text" in told:
        return str(told["text"])
    if "wheel" in told:
        with zipfile.ZipFile(stored[told["wheel"]]) as archive:
            return archive.read(f"zephyr/{name}").decode("utf-8")
    other = "base" if "edit_of_base" in told else "head"
    lines = (_text(spec, other, name, stored) or "").splitlines(keepends=True)
    for first, last, replacement in sorted(told[f"edit_of_{other}"], reverse=True):
        lines[first:last] = replacement
    return "".join(lines)


def _fetched(version: str, wheels: Path) -> Path:
    """The wheel of a version; pip and its configuration say where it comes from. Raises CalledProcessError."""
    pattern = f"*-{version}-*.whl"
    if not list(wheels.glob(pattern)):
        options = ["--quiet", "--no-deps", "--pre", "--only-binary=:all:", "--python-version", "3.12"]
        command = [*_pip(), "download", *options, "--dest", str(wheels), f"{DISTRIBUTION}=={version}"]
        subprocess.run(command, check=True)
    return next(iter(wheels.glob(pattern)))


def _pip() -> list[str]:
    """A virtual environment need not hold pip; then the one on the path serves."""
    here = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False)
    return [sys.executable, "-m", "pip"] if here.returncode == 0 else ["pip"]
