"""`python -m bot.assessment`: see `wire`. Exit 2 and a sentence on standard error when the request is malformed."""

from __future__ import annotations

import sys

from bot.assessment.paused import collector_paused, exit_uncollected
from bot.assessment.wire import BadRequest, answer


def main() -> int:
    exit_uncollected()
    try:
        with collector_paused():
            reply = answer(sys.stdin.buffer.read())
    except BadRequest as error:
        sys.stderr.write(f"not an assessment request: {error}\n")
        return 2
    sys.stdout.buffer.write(reply)
    return 0


if __name__ == "__main__":
    sys.exit(main())
