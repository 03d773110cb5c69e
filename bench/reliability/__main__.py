"""`python -m bench.reliability` prints what was tried, what died, and what was lost or done twice."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

import uvloop

from bench.reliability.matrix import Tally, matrix
from bench.reliability.shells import SHELLS

SEED = 20_261


def kills(folder: Path, shells: list[str], trials: int, workers: int) -> bool:
    print(f"{'kill matrix':<12} {'trials':>6} {'kills':>6} {'points':>6} {'lost':>5} {'doubled':>7} {'seconds':>8}")
    well = True
    for name in shells:
        tally = uvloop.run(matrix(SHELLS[name], folder / name, trials, workers, SEED, told))
        show(name, tally)
        well = well and not tally.problems
    return well


def told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def show(name: str, tally: Tally) -> None:
    figures = (tally.trials, tally.kills, len(tally.where), tally.lost, tally.doubled, round(tally.seconds))
    print("{:<12} {:>6} {:>6} {:>6} {:>5} {:>7} {:>8}".format(name, *figures), flush=True)
    if tally.unreached:
        print(f"  {tally.unreached} trials ended before their point came up")
    for problem in tally.problems:
        print(f"  {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reliability", description=__doc__)
    parser.add_argument("what", nargs="*", default=["kills"], help="kills")
    parser.add_argument("--trials", type=int, default=200, help="of the kill matrix, a shell; some 26 come on top")
    parser.add_argument("--shell", choices=sorted(SHELLS), action="append")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}, seed {SEED}")
    well = True
    with tempfile.TemporaryDirectory(prefix="perf-gate-reliability-") as text:
        folder = Path(text)
        folder.chmod(0o755)
        if "kills" in arguments.what:
            well &= kills(folder, arguments.shell or sorted(SHELLS, reverse=True), arguments.trials, arguments.workers)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
