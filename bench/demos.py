"""How reliable is the main job? Plain demos must pass and slow ones must fail, every time.

`python -m bench.demos --runs 10` plays that many of each, one after another, and prints what each measured.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_VERDICT = re.compile(r"^\*\*Verdict:\*\* (\S+)", re.MULTILINE)
_STAGE = re.compile(r"^\| (\w+) \| [^|]+ \| [^|]+ \| ([+-][\d.]+)% \| (\S+) \|$", re.MULTILINE)
EXPECTED = {None: "✅", "normalize": "❌"}


@dataclass(frozen=True, slots=True)
class Played:
    slow: str | None
    verdict: str
    seconds: float
    deltas: dict[str, str]

    @property
    def as_expected(self) -> bool:
        named = self.slow is None or self.deltas.get(self.slow, "").endswith("❌")
        return self.verdict == EXPECTED[self.slow] and named


def play(slow: str | None) -> Played:
    words = [sys.executable, "-m", "demo", "--once", *(["--slow", slow] if slow else [])]
    began = time.monotonic()
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    verdict = _VERDICT.search(done.stdout)
    if verdict is None:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    deltas = {name: f"{delta}% {mark}" for name, delta, mark in _STAGE.findall(done.stdout)}
    return Played(slow, verdict[1] if verdict else "none", seconds, deltas)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.demos", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    played = []
    print(f"{os.cpu_count()} cores; {arguments.runs} plain and {arguments.runs} slow demos, one after another")
    print(f"{'demo':<12} {'verdict':<8} {'seconds':>7}  stages")
    for slow in (None, "normalize") * arguments.runs:
        result = play(slow)
        played.append(result)
        stages = ", ".join(f"{name} {delta}" for name, delta in result.deltas.items())
        print(f"{slow or 'plain':<12} {result.verdict:<8} {result.seconds:>7.1f}  {stages}", flush=True)
    for slow, name in ((None, "plain"), ("normalize", "slow")):
        of_kind = [result for result in played if result.slow == slow]
        good = sum(result.as_expected for result in of_kind)
        print(f"{name}: {good} of {len(of_kind)} gave {EXPECTED[slow]}")
    return 0 if all(result.as_expected for result in played) else 1


if __name__ == "__main__":
    sys.exit(main())
