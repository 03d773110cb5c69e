"""`python -m bench.assessment.generator WHEEL_OR_FOLDER…`: does the proof hold on generated changes of real sources?"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random

from bench.assessment.generator.edit import Edit, Maker, source
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.triviality.proof import Proof, prove

ROOT = "lib/zephyr/src/zephyr"


@dataclass(slots=True)
class Tally:
    """How many changes of each kind were made, how many were proven trivial, and the ones against expectation."""

    made: Counter[str] = field(default_factory=Counter)
    trivial: Counter[str] = field(default_factory=Counter)
    surprises: list[tuple[str, Edit, Proof]] = field(default_factory=list)


def read_package(place: Path) -> dict[str, bytes]:
    """The sources of a wheel, or of a folder that holds the package, by repository path."""
    if place.is_dir():
        return {
            f"{ROOT}/{file.relative_to(place).as_posix()}": file.read_bytes() for file in sorted(place.rglob("*.py"))
        }
    with zipfile.ZipFile(place) as wheel:
        names = [name for name in wheel.namelist() if name.startswith("zephyr/") and name.endswith(".py")]
        return {f"{ROOT}/{name.removeprefix('zephyr/')}": wheel.read(name) for name in names}


@lru_cache(maxsize=64)
def parses(text: bytes) -> bool:
    try:
        compile(text, "generated", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _sampled(edits: Iterator[Edit], most: int, random: Random) -> list[Edit]:
    """An even draw from a stream that is too long to keep."""
    kept: list[Edit] = []
    for number, edit in enumerate(edits):
        if number < most:
            kept.append(edit)
        elif (at := random.randrange(number + 1)) < most:
            kept[at] = edit
    return kept


def sweep(packages: Sequence[dict[str, bytes]], makers: Sequence[Maker], count: int, seed: int, trivial: bool) -> Tally:
    """At least `count` changes where the sources hold as many: an equal share of each maker, drawn by the seed."""
    random, tally = Random(seed), Tally()
    drawn: list[tuple[dict[str, bytes], str, Edit]] = []
    # Nightly sources are alike, so each version of a file is visited once.
    files = list({text: (package, path) for package in packages for path, text in package.items()}.values())
    share = -(-count // len(makers)) * 2
    made: list[list[tuple[dict[str, bytes], str, Edit]]] = [[] for _ in makers]
    random.shuffle(files)
    for package, path in files:
        # A file in a grammar newer than the interpreter's is part of its package, and no edit is made in it.
        if not parses(package[path]):
            continue
        of = source(package[path])
        for number, maker in enumerate(makers):
            edits = _sampled(maker(of, random), max(4, 4 * share // len(files)), random)
            made[number] += [(package, path, edit) for edit in edits]
    for pool in made:
        drawn += random.sample(pool, min(len(pool), share))
    random.shuffle(drawn)
    for package, path, edit in drawn:
        if tally.made.total() >= count:
            break
        if not (parses(edit.base) and parses(edit.head)):
            continue
        view = PackageView({**package, path: edit.base}, {**package, path: edit.head})
        proof = prove(FileChange(path, "modified", None, edit.base, edit.head), view)
        tally.made[edit.kind] += 1
        tally.trivial[edit.kind] += proof.trivial
        if proof.trivial is not trivial:
            tally.surprises.append((path, edit, proof))
    return tally
