"""Does the proof hold on generated changes of real sources? The same seed makes the same changes on any machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from itertools import islice, zip_longest
from multiprocessing import get_context
from random import Random

from bench.assessment.generator.edit import Edit, source
from bench.assessment.generator.mutations import MUTATIONS
from bench.assessment.generator.preserving import PRESERVING
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.triviality.proof import Proof, prove

Package = dict[str, bytes]
SORTS = {"mutations": MUTATIONS, "preserving edits": PRESERVING}
# Small files hold fewer changes than their share, so the others are asked for more.
OVERDRAWN = 1.15
MOST_OF_A_KIND = 8


@dataclass(slots=True)
class Tally:
    """How many changes of each kind were made, how many were proven trivial, and the ones against expectation."""

    made: Counter[str] = field(default_factory=Counter)
    trivial: Counter[str] = field(default_factory=Counter)
    surprises: list[tuple[str, Edit, Proof]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.made.update(other.made)
        self.trivial.update(other.trivial)
        self.surprises += other.surprises

    @property
    def share(self) -> float:
        """Of the changes made, how many were proven trivial."""
        return self.trivial.total() / max(1, self.made.total())


def sweep(packages: Sequence[Package], sort: str, count: int, seed: int, jobs: int = 1) -> Tally:
    """About `count` changes and more, spread evenly over the files and, in each file, over the kinds."""
    # Nightly sources are alike, so each version of a file is visited once.
    files = {text: (package, path) for package in packages for path, text in package.items() if parses(text)}
    sizes = {text: len(text) for text in files}
    one = partial(_of_file, sort=sort, seed=seed)
    wanted = [
        (package, path, max(2, round(OVERDRAWN * count * sizes[text] / sum(sizes.values()))))
        for text, (package, path) in files.items()
    ]
    tally = Tally()
    if jobs == 1:
        for part in map(one, wanted):
            tally.add(part)
        return tally
    with get_context("spawn").Pool(jobs) as pool:
        # Neighbours share most of their package, which a worker reads once.
        for part in pool.imap(one, wanted, chunksize=4):
            tally.add(part)
    return tally


def _of_file(wanted: tuple[Package, str, int], sort: str, seed: int) -> Tally:
    """All changes of one file, each proven beside its whole package."""
    package, path, most = wanted
    of = source(package[path], b"".join(text for name, text in package.items() if name != path))
    tally = Tally()
    random = Random(f"{seed} {sort} {sha256(of.text).hexdigest()}")
    edits = (edit for maker in SORTS[sort] for edit in maker(of, random))
    for edit in islice(_mixed(edits, random), most):
        view = PackageView({**package, path: edit.base}, {**package, path: edit.head})
        proof = prove(FileChange(path, "modified", None, edit.base, edit.head), view)
        tally.made[edit.kind] += 1
        tally.trivial[edit.kind] += proof.trivial
        if proof.trivial is (sort == "mutations"):
            tally.surprises.append((path, edit, proof))
    return tally


def _mixed(edits: Iterable[Edit], random: Random) -> Iterator[Edit]:
    """An even draw of each kind, the kinds taking turns, so that the rare ones are not lost among the many."""
    kept: dict[str, list[Edit]] = {}
    seen: Counter[str] = Counter()
    for edit in edits:
        kind = kept.setdefault(edit.kind, [])
        seen[edit.kind] += 1
        if len(kind) < MOST_OF_A_KIND:
            kind.append(edit)
        elif (at := random.randrange(seen[edit.kind])) < MOST_OF_A_KIND:
            kind[at] = edit
    kinds = list(kept.values())
    random.shuffle(kinds)
    for turn in zip_longest(*kinds):
        yield from (edit for edit in turn if edit is not None and parses(edit.base) and parses(edit.head))


@lru_cache(maxsize=64)
def parses(text: bytes) -> bool:
    """Is it a program of this interpreter? Files in a newer grammar stay part of their package, unedited."""
    try:
        compile(text, "generated", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
