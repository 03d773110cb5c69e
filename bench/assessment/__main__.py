"""`python -m bench.assessment materialise LABELS.json --materialised DIR`, then `score` with the same arguments.

`score` exits with 1 when it is not good enough: no false skip and at least 97 % acceptable gates. `speed`
(`--wheel FILE`) says what a small and a very large change cost.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from bench.assessment.labels import changes_of, package_of, read_cases
from bench.assessment.materialise import materialise
from bench.assessment.score import Scored, report, timed
from bench.assessment.speed import report as speed_report
from bot.assessment.assess import assess
from bot.config.load import builtin_config

LEAST_ACCEPTABLE = 0.97


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.assessment", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser("materialise", help="download the wheels that labels name and write their trees")
    score = commands.add_parser("score", help="score labelled diffs")
    for command in (fetch, score):
        command.add_argument("labels", type=Path)
        command.add_argument("--materialised", type=Path, required=True, help="folder of ID/base, ID/head and wheels/")
    score.add_argument("--part", choices=["tune", "held"], help="only the cases of that part")
    score.add_argument("--alone", action="store_true", help="show the changed files only, not the package around them")
    score.add_argument("--verbose", action="store_true")
    speed = commands.add_parser("speed", help="measure a small and a very large change")
    speed.add_argument("--wheel", type=Path, help="a wheel or a folder of the package; else one is downloaded")
    arguments = parser.parse_args()
    if arguments.command == "speed":
        print("\n".join(speed_report(arguments.wheel)))
        return 0
    config, scored = builtin_config(), []
    cases = read_cases(arguments.labels)
    if arguments.command == "materialise":
        print(f"{materialise(cases, arguments.materialised, config.modules.package_root)} cases")
        return 0
    for case in cases:
        if arguments.part and case.part != arguments.part:
            continue
        changes = changes_of(case, arguments.materialised, config)
        package = None if arguments.alone else package_of(case, changes, arguments.materialised, config)
        began = time.monotonic()
        scored.append(Scored(case, assess(changes, config.scope, config.modules, package), timed(began)))
    for line in report(scored, verbose=arguments.verbose):
        print(line)
    good = sum(item.acceptable for item in scored) >= LEAST_ACCEPTABLE * len(scored)
    return 0 if good and not any(item.false_skip for item in scored) else 1


if __name__ == "__main__":
    sys.exit(main())
