"""What a calm run costs: GitHub's requests are counted, since an installation has 5,000 of them an hour."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.conversations.world import world

MOST = 30


async def test_a_calm_run_asks_github_at_most_30_times(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.scheduled_run()
        before = len(w.sim.requests())
        await w.to_ferrying()
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        asked = Counter(
            f"{one.origin}: {one.operation or one.method} → {one.status}" for one in w.sim.requests()[before:]
        )
        # Keeping the comment true while things go on is what it is for: each piece of news reads and writes it once.
        counted = sum(count for what, count in asked.items() if "/issues/comments/{comment_id} " not in what)
        table = "\n".join(f"{count:3} {what}" for what, count in asked.most_common())
        assert counted <= MOST, f"{counted} requests without the comment's own writes:\n{table}"
