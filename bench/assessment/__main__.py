"""`python -m bench.assessment score LABELS.json --materialised DIR`: exit 1 when it is not good enough.

Good enough is no false skip and at least 97 % acceptable gates.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from bench.assessment.labels import changes_of, package_of, read_cases
from bench.assessment.score import Scored, report, timed
from bot.assessment.assess import assess
from bot.config.load import builtin_config

LEAST_ACCEPTABLE = 0.97


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.assessment", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    score = commands.add_parser("score", help="score labelled diffs")
    score.add_argument("labels", type=Path)
    score.add_argument("--materialised", type=Path, required=True, help="the folder with ID/base and ID/head trees")
    score.add_argument("--alone", action="store_true", help="show the changed files only, not the package around them")
    score.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    config, scored = builtin_config(), []
    for case in read_cases(arguments.labels):
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
