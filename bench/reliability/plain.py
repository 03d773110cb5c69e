"""What the bot said, without what differs from run to run: addresses, ids, SHAs and moments."""

from __future__ import annotations

import re

_DIFFERS = [
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"http://127\.0\.0\.1:\d+", "GITHUB"),
        (r"perf-gate-\d+-[0-9a-f]{8}-(\d+-g\d-a\d)-[0-9a-f]{12}", r"JOB-\1"),
        (r"\b[0-9a-f]{40}\b", "SHA"),
        (r"`[0-9a-f]{10}`", "`SHA`"),
        (r"has run for \d+ min", "has run for MINUTES"),
        (r"age=\d+d", "age=DAYS"),
        (r"\b25\d{8}\b", "ID"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)", "TIME"),
    )
]


def plain(body: str) -> str:
    """The same for two runs that said the same."""
    for pattern, instead in _DIFFERS:
        body = pattern.sub(instead, body)
    return body
