"""What a calm run costs: GitHub's requests are counted, since an installation has 5,000 of them an hour."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.conversations.world import CONFIG, world

MOST = {"with a check run": 40, "without": 25}


@pytest.mark.parametrize("how", MOST)
async def test_what_a_calm_run_asks_of_github(tmp_path: Path, how: str) -> None:
    config = CONFIG if how == "with a check run" else f"checks = false\n{CONFIG}"
    async with world(tmp_path, config=config) as w:
        await w.scheduled_run()
        before = len(w.sim.requests())
        await w.to_ferrying()
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        w.new_comments()
        asked = Counter(
            f"{one.origin}: {one.operation or one.method} → {one.status}" for one in w.sim.requests()[before:]
        )
        # Keeping the comment true while things go on is what it is for: each piece of news writes it once.
        counted = sum(count for what, count in asked.items() if "/issues/comments/{comment_id} " not in what)
        table = "\n".join(f"{count:3} {what}" for what, count in asked.most_common())
        assert counted <= MOST[how], f"{counted} requests without the comment's own writes:\n{table}"
