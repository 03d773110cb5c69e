"""Generate, prove, report: exit 1 when a mutation was called trivial or too few preserving edits were."""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from pathlib import Path

from bench.assessment.generator.mutations import MUTATIONS
from bench.assessment.generator.preserving import PRESERVING
from bench.assessment.generator.sweep import Tally, read_package, sweep

ENOUGH_PROVEN = 0.98


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+", type=Path, help="wheels of marin-zephyr, or folders of the package")
    parser.add_argument("--count", type=int, default=2500, help="changes of each sort")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="how many surprises to print")
    asked = parser.parse_args()
    packages = [read_package(place) for place in asked.packages]
    began = time.monotonic()
    mutated = sweep(packages, MUTATIONS, asked.count, asked.seed, trivial=False)
    kept = sweep(packages, PRESERVING, asked.count, asked.seed, trivial=True)
    for title, tally in (("mutations", mutated), ("preserving edits", kept)):
        _report(title, tally, asked.show)
    print(f"{time.monotonic() - began:.0f} s")
    share = kept.trivial.total() / max(1, kept.made.total())
    return int(bool(mutated.surprises) or share < ENOUGH_PROVEN)


def _report(title: str, tally: Tally, show: int) -> None:
    made, trivial = tally.made.total(), tally.trivial.total()
    print(f"{title}: {made}, of them proven trivial {trivial} ({100 * trivial / max(1, made):.2f} %)")
    for kind, number in sorted(tally.made.items()):
        print(f"  {kind}: {tally.trivial[kind]}/{number}")
    for path, edit, proof in tally.surprises[:show]:
        print(f"--- {edit.kind}: {path}: {proof.why}")
        before, after = (text.decode().splitlines() for text in (edit.base, edit.head))
        print("\n".join(list(difflib.unified_diff(before, after, lineterm="", n=1))[2:14]))


if __name__ == "__main__":
    sys.exit(main())
