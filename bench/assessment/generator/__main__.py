"""Generate, prove, report: exit 1 when a mutation was called trivial or too few preserving edits were.

`python -m bench.assessment.generator` downloads the wheels it is about, or takes wheels and folders as arguments.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import time
from pathlib import Path

from bench.assessment.generator.sweep import SORTS, Tally, sweep
from bench.assessment.generator.wheels import CACHE, download, read_package

ENOUGH_PROVEN = 0.98


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.assessment.generator", description=__doc__)
    parser.add_argument("packages", nargs="*", type=Path, help="wheels of marin-zephyr, or folders of the package")
    parser.add_argument("--count", type=int, default=2500, help="changes of each sort, at least about so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloaded wheels are kept")
    parser.add_argument("--show", type=int, default=10, help="how many surprises to print")
    asked = parser.parse_args()
    places = asked.packages or download(cache=asked.cache)
    print(f"seed {asked.seed}, {asked.jobs} processes, Python {sys.version.split()[0]}, sources:")
    for place in places:
        print(f"  {place.name}")
    packages = [read_package(place) for place in places]
    tallies = {}
    for sort in SORTS:
        began = time.monotonic()
        tallies[sort] = sweep(packages, sort, asked.count, asked.seed, asked.jobs)
        _report(sort, tallies[sort], time.monotonic() - began, asked.show)
    return int(bool(tallies["mutations"].surprises) or tallies["preserving edits"].share < ENOUGH_PROVEN)


def _report(sort: str, tally: Tally, seconds: float, show: int) -> None:
    made, trivial = tally.made.total(), tally.trivial.total()
    print(f"\n{sort}: {made} in {seconds:.0f} s, of them proven trivial {trivial} ({100 * tally.share:.2f} %)")
    for kind, number in sorted(tally.made.items()):
        print(f"  {kind:<28}{tally.trivial[kind]:>6} of {number:>5}")
    for path, edit, proof in tally.surprises[:show]:
        print(f"--- {edit.kind}: {path}: {proof.why}")
        before, after = (text.decode().splitlines() for text in (edit.base, edit.head))
        print("\n".join(list(difflib.unified_diff(before, after, lineterm="", n=1))[2:14]))


if __name__ == "__main__":
    sys.exit(main())
