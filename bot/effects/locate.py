"""The gate's baseline, located, downloaded and pinned before anything is submitted, and the tier's history with it."""

from __future__ import annotations

import asyncio
import logging
import re

from bot.baseline.history import past_runs
from bot.baseline.locate import locate
from bot.baseline.mirror import read_mirror
from bot.baseline.model import Archive, BaselinePin, Missing, Tier
from bot.baseline.scheduled import scheduled_runs
from bot.config.schema import RepositoryConfig
from bot.effects.context import Context, Rooms, config_of, current_gate, gate_config, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import BaselineFound, BaselineMissing, Event
from bot.gating.model import Baseline, Place, Run
from bot.parity import compare, script
from bot.parity.model import Parity
from bot.verdict.report import PerfReport, parse_report
from bot.watching.look import Machine

_log = logging.getLogger(__name__)

# What the mirror's reading may take of one attempt, seconds.
MIRROR_SECONDS = 45.0
# With the registry's waits between them some minutes, in which trouble of a bucket usually passes.
_PATIENT_ATTEMPTS = 7
# A commit of the default branch that is newer than the mirror; without it only the distance stays unknown.
_FETCH_SECONDS = 30.0
_MACHINES_SECONDS = 30.0
# An id that a scheduled run's report names; it goes into requests.
_JOB_ID = re.compile(r"/[A-Za-z0-9][A-Za-z0-9._/-]{0,300}")


async def locate_baseline(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current_gate(effect, context)
    if found is None:
        return Outcome()
    pr, run, gate = found
    place, now = place_of(pr), context.clock.now()
    tier = Tier(repo_of(place), gate.number, gate_config(config_of(run), gate.number), run.default_branch)
    archive = Archive(rooms.settings.state_dir / "perf-reports", rooms.settings.perf_reports, MIRROR_SECONDS)
    runs = await scheduled_runs(rooms.github, tier)
    mirrored = await read_mirror(archive, tier, runs, now) if runs else None
    patient = effect.attempt < _PATIENT_ATTEMPTS
    answer = await locate(rooms.github, tier, runs, mirrored, now, patient=patient)
    if isinstance(answer, Missing):
        if answer.passing:
            raise Fault(answer.reason, retryable=True)
        return Outcome(BaselineMissing(run.id, gate.number, answer.reason))
    history = await past_runs(rooms.github, tier, runs, mirrored, answer.pin, archive, now)
    rooms.rundirs.put(run.id, f"gate-{gate.number}/baseline.json", answer.pin.report)
    baseline = await _measured(rooms, place, run, answer.pin)
    found_parity = await parity_at(rooms, place, run, gate.number, baseline.sha)
    stops = config_of(run).parity.on_difference == "stop"
    return Outcome(BaselineFound(run.id, gate.number, baseline, history, found_parity, differing_stops=stops))


def _folders(config: RepositoryConfig) -> list[str]:
    """What git is asked about: the scope's patterns up to their first wildcard."""
    return [pattern.partition("*")[0].rstrip("/") for pattern in config.scope.include]


async def _measured(rooms: Rooms, place: Place, run: Run, pin: BaselinePin) -> Baseline:
    """How far the baseline's commit is from what the pull request branched off: differences that are not its doing."""
    mirror = rooms.mirror(place)
    await _fetch(rooms, place, pin.sha)
    apart = await mirror.distance(pin.sha, run.merge_base)
    touching = await mirror.distance(pin.sha, run.merge_base, _folders(config_of(run)))
    dates = await mirror.commit_date(pin.sha), await mirror.commit_date(run.merge_base)
    return Baseline(
        run_id=pin.run_id,
        run_url=pin.run_url,
        sha=pin.sha,
        created_at=pin.created_at,
        artifact_id=pin.artifact_id,
        report=pin.report,
        commits_apart=apart.only_first + apart.only_second if apart else None,
        zephyr_commits_apart=touching.only_first + touching.only_second if touching else None,
        seconds_apart=abs((dates[0] - dates[1]).total_seconds()) if dates[0] and dates[1] else None,
        source=pin.source,
        source_reason=pin.source_reason,
        machines=await _machines(rooms, pin.report),
    )


async def parity_at(rooms: Rooms, place: Place, run: Run, number: int, sha: str) -> Parity:
    """How the gate's launch compares with the one that the files at the baseline's commit describe."""
    gate, mirror = gate_config(config_of(run), number), rooms.mirror(place)
    paths = (f"{compare.FOLDER}/{gate.workflow}", str(script.PATH))
    # The fetch of the baseline's commit may have failed: then nothing is known of how it was launched.
    read = [await mirror.read(sha, path) if await mirror.has(sha) else None for path in paths]
    workflow_text, script_text = (None if data is None else data.decode("utf-8", "replace") for data in read)
    return compare.compare(gate, number, sha, workflow_text, script_text)


async def _machines(rooms: Rooms, report: str) -> tuple[Machine, ...]:
    """What the baseline's workers ran on, while the cluster remembers: scheduled runs are on the usual one."""
    read = parse_report(report)
    if not isinstance(read, PerfReport) or not _JOB_ID.fullmatch(read.iris_job_id or ""):
        return ()
    try:
        async with asyncio.timeout(_MACHINES_SECONDS):
            return await rooms.iris.machines(str(read.iris_job_id))
    except TimeoutError:
        return ()


async def _fetch(rooms: Rooms, place: Place, sha: str) -> None:
    """Have the baseline's commit, which may have come to the default branch after the run was prepared."""
    try:
        async with asyncio.timeout(_FETCH_SECONDS):
            await rooms.mirror(place).ensure(sha, rooms.git_token(place), make_way=False)
    except (Fault, TimeoutError) as error:
        _log.warning("the baseline's commit could not be fetched", extra={"sha": sha, "error": str(error)})
