"""Pull requests at a moment of their run, as the comment has to tell them. Reports are judged by the real rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from bot.assessment.model import Assessment, FileAnswers
from bot.config.load import builtin_config
from bot.config.schema import RepositoryConfig
from bot.gating.model import Attempt, Baseline, GatePlan, GateRun, Place, PullRequest, Run
from bot.gating.states import RunState
from bot.verdict.judge import judge
from bot.verdict.past import PastRun
from bot.verdict.report import parse_json

NOW = datetime(2026, 6, 20, 12, 0, tzinfo=UTC)
PLACE = Place(installation_id=7, repository_id=42, full_name="marin-community/marin", number=5199, author="ada")
HEAD = "5b2f1c9d0e7a4b3c8d6e5f4a3b2c1d0e9f8a7b6c"
NEWER = "e07c55d1a2b3c4d5e6f708192a3b4c5d6e7f8091"
MAIN = "9c4d2b7e1f0a3c5d7e9b1a2c4d6e8f0a1b3c5d7e"
SHUFFLE = "lib/zephyr/src/zephyr/shuffle.py"
PLAN = "lib/zephyr/src/zephyr/plan.py"
RUN_URL = "https://github.com/marin-community/marin/actions/runs/"
JOB = "/perf-gate/perf-gate-5199-5b2f1c9d-1-g{gate}-a1-0f3e9a7b2c4d"
STAGES: Mapping[str, float | None] = {
    "download": 12.0,
    "normalize": 845.0,
    "minhash": 410.0,
    "fuzzy_dups": 233.5,
    "tokenize": 371.25,
}
BUCKETS = ("preempted", "oom", "hardware_fault", "scheduling_timeout", "application_failure", "other")


def report(*, job: str = "/runner/iris-run-job-20260620-063012", **changes: Any) -> dict[str, Any]:
    """A healthy tier-1 report; `infra` names the buckets that are not 0."""
    infra, stages = changes.pop("infra", {}), {**STAGES, **changes.pop("stages", {})}
    return {
        "iris_job_id": job,
        "status": "succeeded",
        "ferry_module": "experiments.ferries.datakit_ferry",
        "wall_seconds_total": sum(value or 0 for value in stages.values()) + 0.5,
        "stage_wall_seconds": stages,
        "sum_task_wall_seconds_total": 9000.0,
        "cached_steps": [],
        "ooms": 0,
        "failed_shards": 0,
        "peak_worker_memory_mb": 14202,
        "preemption_count": 0,
        "task_state_counts": {"succeeded": 42},
        "infra_failures": {name: infra.get(name, 0) for name in BUCKETS},
    } | changes


def treatment(*, gate: int = 1, **changes: Any) -> dict[str, Any]:
    return report(job=JOB.format(gate=gate), **changes)


def slower(by: float, *names: str) -> dict[str, float]:
    """The named stages (all, where none is) slower by a fraction."""
    return {name: (STAGES[name] or 0) * (1 + by) for name in names or STAGES}


def config(**changes: Any) -> RepositoryConfig:
    return RepositoryConfig.model_validate(builtin_config().model_dump() | changes)


def baseline(made: Mapping[str, Any], *, age: timedelta = timedelta(hours=5), apart: int | None = 3) -> Baseline:
    run = 9001
    return Baseline(run, f"{RUN_URL}{run}", MAIN, NOW - age, 77, json.dumps(made), apart, 1 if apart else None)


def attempt(gate: int, **fields: Any) -> Attempt:
    """A ferry that was submitted two hours ago and waited a minute."""
    submitted = NOW - timedelta(hours=2)
    ferry = Attempt(
        1,
        job_name=f"perf-gate-5199-g{gate}",
        job_id=JOB.format(gate=gate),
        submitted_at=submitted,
        started_at=submitted + timedelta(minutes=1),
        ferry_state="running",
    )
    return replace(ferry, **fields)


def judged(
    number: int,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    settings: RepositoryConfig | None = None,
    *,
    pinned: Baseline | None = None,
    history: tuple[PastRun, ...] = (),
    excluded: tuple[str, ...] = (),
    **fields: Any,
) -> GateRun:
    """A gate whose two reports were compared, without the stages `excluded`."""
    texts = json.dumps(before), json.dumps(after, indent=2)
    rules = settings or config()
    found = judge(
        parse_json(texts[0]),
        parse_json(texts[1]),
        rules.thresholds,
        history=history,
        policy=rules.verdict.policy,
        excluded=excluded,
    )
    ferry = {"ferry_state": str(after.get("status")), "report": texts[1], "judgement": found, **fields}
    return GateRun(number, pinned or baseline(before), (attempt(number, **ferry),), history)


# How far each earlier night was off its usual: all of it, then each stage, then each stage's work; in percent.
NIGHTS = (
    (-6, (1, -4, 5, 2, -3), (1, -2, 2, 0, 1)),
    (4, (-5, 3, -2, 6, 1), (0, 1, -1, 2, -2)),
    (11, (2, 5, -6, -1, 3), (-2, 0, 1, 1, 0)),
    (-9, (-3, -2, 4, 3, -5), (2, 1, 0, -2, 1)),
    (1, (6, -1, 1, -7, 2), (1, -1, -2, 0, 2)),
    (7, (-2, 4, -3, 5, 4), (-1, 2, 1, -1, -1)),
    (-3, (3, -6, 2, -2, -1), (0, 0, 2, 1, -2)),
    (-12, (-4, 2, 6, 1, 5), (1, -2, 0, 2, 0)),
)


def nights(how_many: int = len(NIGHTS)) -> tuple[PastRun, ...]:
    """The last scheduled runs of a tier, oldest first."""
    made = []
    for ago, (shared, own, own_work) in zip(range(how_many, 0, -1), NIGHTS, strict=False):
        factors = zip(STAGES.items(), own, own_work, strict=True)
        walls: dict[str, float] = {}
        work: dict[str, float] = {}
        for (name, seconds), apart, work_apart in factors:
            walls[name] = (seconds or 0) * (1 + shared / 100) * (1 + apart / 100)
            work[name] = (seconds or 0) * 8 * (1 + work_apart / 100)
        at = NOW - timedelta(days=ago)
        made.append(PastRun(9001 - ago, MAIN, at, sum(walls.values()), 14202.0 + own[0] * 20, walls, work))
    return tuple(made)


def work(by: float = 0, *names: str) -> dict[str, float]:
    """The stages' work, the named ones' more by a fraction."""
    return {name: (seconds or 0) * 8 * (1 + (by if name in names else 0)) for name, seconds in STAGES.items()}


def assessed(max_gate: str = "3", **changes: Any) -> Assessment:
    shuffle = FileAnswers(
        False, True, True, True, False, "scatter combiner buffering changed", ("line 41: BUFFER sizes a buffer",)
    )
    plan = FileAnswers(True, False, False, False, False, "docstring only", ("equal syntax trees",))
    return replace(
        Assessment(
            in_scope=True,
            max_gate=max_gate,  # type: ignore[arg-type]  # one of the three, from the tests
            rationale="shuffle.py: per-key buffer became per-shard (memory, CPU)",
            per_file={SHUFFLE: shuffle, PLAN: plan},
            out_of_scope={},
            flagged={},
        ),
        **changes,
    )


def plans(settings: RepositoryConfig) -> tuple[GatePlan, ...]:
    return tuple(
        GatePlan(
            number,
            gate.name,
            gate.wall_time.total_seconds(),
            gate.first_check.total_seconds(),
            gate.check_every.total_seconds(),
            gate.schedule_period.total_seconds(),
            gate.stall_limit.total_seconds(),
        )
        for number, gate in settings.gates.items()
    )


def pull(
    state: RunState, *gates: GateRun, settings: RepositoryConfig | None = None, is_open: bool = True, **fields: Any
) -> PullRequest:
    """A pull request whose run is in `state`, after these gates."""
    chosen = settings or config()
    run = Run(
        id="42-5199-1",
        ordinal=1,
        state=state,
        since=NOW - timedelta(minutes=7),
        asked_by="rev",
        head_sha=HEAD,
        config=chosen.model_dump_json(),
        plan=plans(chosen),
        assessment=assessed(),
        proposed="3",
        max_gate="1" if len(gates) < 2 else "3",
        approved_by="rev",
        gates=gates,
    )
    run = replace(run, **fields)
    return PullRequest(place=PLACE, is_open=is_open, head_sha=HEAD, run=run)
