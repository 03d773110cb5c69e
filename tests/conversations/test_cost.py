"""What a calm run costs: GitHub's requests are counted, since an installation has 5,000 of them an hour."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.conversations.world import CONFIG, world

# Of the API, which alone counts against the limit: git and the artifacts' storage do not.
MOST_WITH_A_CHECK_RUN = 40
MOST_WITHOUT = 25


async def asked_in_a_calm_run(tmp_path: Path, config: str) -> Counter[str]:
    async with world(tmp_path, config=config) as w:
        await w.scheduled_run()
        before = len(w.sim.requests())
        await w.to_ferrying()
        await w.ferry_ends()
        assert "✅ pass" in w.canonical()
        w.new_comments()
        asked = w.sim.requests()[before:]
        return Counter(f"{one.operation} → {one.status}" for one in asked if one.origin == "api")


def table(asked: Counter[str]) -> str:
    return "\n".join([f"{asked.total()} requests:", *(f"{count:3} {what}" for what, count in asked.most_common())])


async def test_a_calm_run_with_a_check_run_asks_github_at_most_40_times(tmp_path: Path) -> None:
    asked = await asked_in_a_calm_run(tmp_path, CONFIG)
    assert any("check-runs" in what for what in asked)
    assert asked.total() <= MOST_WITH_A_CHECK_RUN, table(asked)


async def test_without_one_it_asks_at_most_25_times_beside_keeping_the_comment_true(tmp_path: Path) -> None:
    asked = await asked_in_a_calm_run(tmp_path, f"checks = false\n{CONFIG}")
    assert not any("check-runs" in what for what in asked)
    # Keeping the comment true while things go on is what it is for: each piece of news writes it once.
    beside = Counter({what: count for what, count in asked.items() if "PATCH" not in what})
    assert beside.total() <= MOST_WITHOUT, table(beside)
