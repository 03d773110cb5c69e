"""What a run leaves on the cluster when it ends while its preflight runs there: for the clean-up, which may come when
another run has taken its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bot.config.schema import RepositoryConfig
from bot.gating.model import PullRequest, Run
from bot.gating.states import RunState
from bot.gating.tested import CommandsLeft


def left_by(run: Run) -> dict[str, Any]:
    """The clean-up's payload of a run that is about to end: None for nothing, as before and after it is tested."""
    left = _commands(run, run.head_sha, run.ordinal) if run.state is RunState.testing else None
    return {"left": None if left is None else msgspec.to_builtins(left)}


def left_of(payload: Mapping[str, Any], pr: PullRequest) -> CommandsLeft | None:
    """What this clean-up has to stop. Earlier releases kept nothing of it, so there the pull request has to tell."""
    if "left" not in payload:
        return _as_far_as_known(pr, str(payload["run_id"]))
    return None if payload["left"] is None else msgspec.convert(payload["left"], CommandsLeft)


def _as_far_as_known(pr: PullRequest, run_id: str) -> CommandsLeft | None:
    """All that it may have begun, which costs little where nothing of it is there. Of a run that was replaced only the
    configuration of the run that stands is known; before that one is read, the job's own time limit has to do."""
    run = pr.run
    if run is None:
        return None
    if run.id == run_id:
        # Who came to a gate has no preflight any more.
        return None if run.gates else _commands(run, run.head_sha, run.ordinal)
    head_sha = next((one.head_sha for one in pr.earlier if one.id == run_id), "")
    return _commands(run, head_sha, int(run_id.rpartition("-")[2])) if head_sha else None


def _commands(known_by: Run, head_sha: str, ordinal: int) -> CommandsLeft | None:
    if not known_by.config:
        return None
    preflight = RepositoryConfig.model_validate_json(known_by.config).preflight
    return CommandsLeft(head_sha, ordinal, len(preflight.commands)) if preflight.runner == "iris" else None
