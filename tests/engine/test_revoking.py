"""Effects that a transition revokes: unclaimed ones are never performed, claimed ones are told."""

from __future__ import annotations

from tests.engine.script import Act, Do, delivery
from tests.engine.stage import MINUTE, Flaky, Shell, playing


async def test_a_revoked_effect_that_nobody_claimed_is_never_performed(shell: Shell) -> None:
    async with playing(shell) as stage:
        acts = (Act("x", scope="run1", after=MINUTE), Act("y", scope="run2", after=MINUTE))
        await stage.do("a", Do("placed", effects=acts))
        await stage.do("b", Do("placed", effects=(Act("z", scope="run1", after=MINUTE),)))
        await stage.do("a", Do("stop", revoke=("run1",), effects=(Act("w", scope="run1", after=MINUTE),)))
        await stage.clock.pass_time(stage.engine, 2 * MINUTE)
        assert sorted(stage.hands.performed) == ["w", "y", "z"], (
            "the scope is the aggregate's own, and what follows is not revoked"
        )


async def test_a_claimed_effect_is_told_of_its_revocation_and_its_outcome_still_counts(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x", scope="run1"),)), cause="test")
        assert not await held.is_revoked()
        await stage.engine.advance("a", Do("stop", revoke=("run1",)), cause="test")
        assert await held.is_revoked()
        held.go.set()
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "stop", "x done")


async def test_a_revoked_effect_that_fails_is_not_tried_again_but_told(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        held.error = Flaky()
        await stage.engine.advance("a", Do("placed", effects=(Act("x", scope="run1"),)), cause="test")
        await held.reached.wait()
        await stage.engine.advance("a", Do("stop", revoke=("run1",)), cause="test")
        held.go.set()
        await stage.engine.idle()
        assert await stage.labels("a") == ("placed", "stop", "x failed: Revoked")
        assert await stage.engine.next_due() is None


async def test_a_revocation_that_was_undone_is_told_nobody(shell: Shell) -> None:
    async with playing(shell) as stage:
        held = stage.hands.hold("x")
        await stage.engine.advance("a", Do("placed", effects=(Act("x", scope="run1"),)), cause="test")
        await held.reached.wait()
        stage.machine.poison.add("bad")
        await stage.engine.accept(delivery("g1", ("a", Do("stop", revoke=("run1",))), ("a", Do("bad"))))
        await stage.engine.accept(delivery("g2", ("b", Do("seen", effects=(Act("y"),)))))
        seen = stage.hands.hold("y")
        assert not await seen.is_revoked()
        assert not await held.is_revoked(), "g1 was handled before g2, and undone"
        for each in (held, seen):
            each.go.set()
