"""What of an effect's failures may pass: its own machine may be out of room as GitHub may be out of order."""

from __future__ import annotations

import errno
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from bot.effects.context import Rooms
from bot.effects.registry import Policy, policies
from bot.engine.port import Effect
from bot.faults import Fault
from bot.gating.events import EffectFailed

NOW = datetime(2026, 6, 20, 8, 0, tzinfo=UTC)


def policy(kind: str) -> Policy:
    rooms: Any = None
    (found,) = [one for one in policies(cast(Rooms, rooms)) if one.kind == kind]
    return found


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE])
@pytest.mark.parametrize("kind", ["prepare", "preflight", "locate", "collect", "ask"])
def test_a_machine_without_room_is_waited_for(kind: str, number: int) -> None:
    assert policy(kind).retryable(OSError(number, "no room"))


@pytest.mark.parametrize("kind", ["prepare", "preflight", "locate", "collect", "ask"])
def test_it_is_waited_for_until_somebody_may_have_made_room(kind: str) -> None:
    known = policy(kind)
    assert max(known.patience, known.attempts * known.backoff.most) >= timedelta(hours=6)


@pytest.mark.parametrize("error", [PermissionError(errno.EACCES, "no"), ValueError("no"), Fault("no")])
def test_what_does_not_pass_is_not_waited_for(error: Exception) -> None:
    assert not policy("prepare").retryable(error)


def test_when_no_room_is_made_for_long_the_run_says_whose_affair_it_is() -> None:
    effect = Effect("42/1#7:prepare", "42/1", "prepare", {"run_id": "42-1-1"}, "42-1-1", 10, NOW)
    failed = policy("prepare").failed(effect, OSError(errno.ENOSPC, "No space left on device", "/srv/perf-gate/x"))
    assert isinstance(failed, EffectFailed)
    assert failed.sentence == (
        "perf-gate's own machine has no room left for `prepare` (No space left on device); its operator can make some"
    )
