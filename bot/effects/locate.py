"""The gate's baseline, located, downloaded and pinned before anything is submitted."""

from __future__ import annotations

from bot.baseline.locate import BaselinePin, Missing, locate
from bot.config.schema import RepositoryConfig
from bot.effects.context import Context, Rooms, config_of, current_gate, gate_config, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.gating.events import BaselineFound, BaselineMissing, Event
from bot.gating.model import Baseline, Place, Run


async def locate_baseline(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    pr, run, gate = found
    place = place_of(pr)
    wanted = gate_config(config_of(run), gate.number)
    answer = await locate(rooms.github, repo_of(place), wanted, run.default_branch, context.clock.now())
    if isinstance(answer, Missing):
        return Outcome(BaselineMissing(run.id, gate.number, answer.reason))
    return Outcome(BaselineFound(run.id, gate.number, await _measured(rooms, place, run, answer.pin)))


def _folders(config: RepositoryConfig) -> list[str]:
    """What git is asked about: the scope's patterns up to their first wildcard."""
    return [pattern.partition("*")[0].rstrip("/") for pattern in config.scope.include]


async def _measured(rooms: Rooms, place: Place, run: Run, pin: BaselinePin) -> Baseline:
    """How far the baseline's commit is from what the pull request branched off: differences that are not its doing."""
    mirror = rooms.mirror(place)
    apart = await mirror.distance(pin.sha, run.merge_base)
    touching = await mirror.distance(pin.sha, run.merge_base, _folders(config_of(run)))
    return Baseline(
        run_id=pin.run_id,
        run_url=pin.run_url,
        sha=pin.sha,
        created_at=pin.created_at,
        artifact_id=pin.artifact_id,
        report=pin.report,
        commits_apart=apart.only_first + apart.only_second if apart else None,
        zephyr_commits_apart=touching.only_first + touching.only_second if touching else None,
    )
