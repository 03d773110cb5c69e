"""`python -m bench.reliability` prints what was tried, what died, and what was lost or done twice."""

from __future__ import annotations

import argparse
import logging
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench.reliability.matrix import Tally, matrix
from bench.reliability.real import real
from bench.reliability.shells import SHELLS
from bench.reliability.storm import storms

SEED = 20_261


def kills(folder: Path, shells: list[str], trials: int, workers: int) -> bool:
    print(f"{'kill matrix':<12} {'trials':>6} {'kills':>6} {'points':>6} {'lost':>5} {'doubled':>7} {'seconds':>8}")
    well = True
    for name in shells:
        tally = uvloop.run(matrix(SHELLS[name], folder / name, trials, workers, SEED, told))
        show(name, tally)
        well = well and not tally.problems
    return well


def storming(folder: Path, runs: int) -> bool:
    began = time.monotonic()
    # What the bot says of each fault would fill pages.
    logging.disable(logging.CRITICAL)
    tally = uvloop.run(storms(folder, range(SEED, SEED + runs), lambda so_far: told(f"  {so_far}")))
    logging.disable(logging.NOTSET)
    hours, seconds = tally.virtual.total_seconds() / 3600, time.monotonic() - began
    print(f"fault storms: {tally.runs} in {seconds:.0f} s, {hours:.0f} hours of the bot's time; ", end="")
    print(f"{tally.faults.total()} faults, {tally.lost} lost, {tally.doubled} ferries doubled, ", end="")
    print(f"{tally.differing} with other comments, {tally.dead} dead, {tally.violations} violations of a limit")
    for name, count in tally.faults.most_common():
        print(f"  {count:>5}  {name}")
    for problem in tally.problems:
        print(f"  {problem}")
    return not tally.problems


def really() -> bool:
    done = uvloop.run(real())
    print(
        f"kills with the real Iris: {len(done.kills)}, the last one found its ferry finished; {done.ferries} ferries ",
        end="",
    )
    print(f"for 2 runs, {done.replaced} replaced, {done.seconds:.0f} s")
    for line in (*done.kills, *done.problems):
        print(f"  {line}")
    return not done.problems and not done.replaced


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
    parser.add_argument("what", nargs="*", help="kills, storms, real; all of them where nothing is named")
    parser.add_argument("--trials", type=int, default=200, help="of the kill matrix, a shell; some 26 come on top")
    parser.add_argument("--storms", type=int, default=100)
    parser.add_argument("--shell", choices=sorted(SHELLS), action="append")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}, seed {SEED}")
    well, what = True, arguments.what or ["kills", "storms", "real"]
    with tempfile.TemporaryDirectory(prefix="perf-gate-reliability-") as text:
        folder = Path(text)
        folder.chmod(0o755)
        if "storms" in what:
            well &= storming(folder / "storms", arguments.storms)
        if "kills" in what:
            well &= kills(folder, arguments.shell or sorted(SHELLS, reverse=True), arguments.trials, arguments.workers)
    if "real" in what:
        well &= really()
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
