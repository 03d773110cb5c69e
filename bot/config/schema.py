"""The strict schema of `.github/perf-gate.toml`: everything a repository may decide about its gate.

Whatever an attacker could turn against the cluster or its secrets (controller, credentials, bucket prefixes, sandbox
policy, names of passed variables) is an operator's setting, in `settings`, and has no key here.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from bot.config.modules import Modules
from bot.config.strict import Duration, Name, Percent, Strict, format_duration

GateNumber = Literal[1, 2, 3]


def _table_name(value: Any) -> Any:
    """TOML writes the 1 of `[gates.1]` as a string."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


GateKey = Annotated[GateNumber, BeforeValidator(_table_name)]

Role = Literal["triage", "write", "maintain", "admin"]


class IrisFlags(Strict):
    """The flags of `iris job run` that shape a job; the tier's workflow file on main is the truth they mirror."""

    cpu: Decimal | None = Field(default=None, gt=0)
    memory: str | None = Field(default=None, pattern=r"^\d+(\.\d+)?[KMGT]B?$")
    disk: str | None = Field(default=None, pattern=r"^\d+(\.\d+)?[KMGT]B?$")
    region: str | None = Field(default=None, pattern=r"^[a-z0-9-]+$")
    extra: tuple[Name, ...] = ()
    priority: Literal["production", "interactive", "batch"] | None = None
    preemptible: bool | None = None
    enable_extra_resources: bool = False


# A ferry is not polled tightly (seed 002): its usual time holds no more looks than this.
MOST_LOOKS = 60


class Gate(Strict):
    """One rung of the ladder: which scheduled workflow is its baseline, and how its ferry is launched and watched."""

    name: str = Field(min_length=1, max_length=60)
    workflow: Name
    artifact: Name
    ferry_module: str = Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")
    flags: IrisFlags = IrisFlags()
    environment: dict[Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")], str] = Field(default={})
    # Steps that always run unless their output exists: absent from a successful run, they count as cached. Download is
    # not among them, because the nemotron ferry verifies a staged dump instead of downloading one.
    expected_steps: tuple[Name, ...] = ("normalize", "minhash", "fuzzy_dups", "consolidate", "tokenize")
    schedule_period: Duration
    wall_time: Duration
    first_check: Duration
    check_every: Duration
    stall_limit: Duration

    @model_validator(mode="after")
    def _watched_sensibly(self) -> Gate:
        """A ferry is looked at neither all the time nor too seldom to notice that it stands still."""
        if not self.wall_time:
            raise ValueError("wall_time must not be 0")
        least = self.wall_time / MOST_LOOKS
        for name, wait in (("first_check", self.first_check), ("check_every", self.check_every)):
            if wait < least:
                raise ValueError(f"{name} must be at least a {MOST_LOOKS}th of wall_time, so {format_duration(least)}")
        if self.first_check > self.check_every:
            raise ValueError("first_check must not be longer than check_every")
        if self.check_every > self.stall_limit:
            raise ValueError("check_every must not be longer than stall_limit: a stall would be seen too late")
        if self.stall_limit > self.wall_time:
            raise ValueError("stall_limit must not be longer than wall_time")
        return self


class Band(Strict):
    """Two limits in percent of the baseline; a delta equal to a limit belongs to the milder side."""

    warn_percent: Percent
    fail_percent: Percent

    @model_validator(mode="after")
    def _ordered(self) -> Band:
        if self.warn_percent > self.fail_percent:
            raise ValueError(f"warn_percent ({self.warn_percent}) must not be above fail_percent ({self.fail_percent})")
        return self


class Thresholds(Strict):
    """The limits of the verdict; a delta equal to a limit belongs to the milder side."""

    total: Band = Band(warn_percent=Decimal(5), fail_percent=Decimal(10))
    stage: Band = Band(warn_percent=Decimal(5), fail_percent=Decimal(10))
    memory: Band = Band(warn_percent=Decimal(5), fail_percent=Decimal(15))
    preemptions_over_baseline: int = Field(default=3, ge=0)
    contention_min_stages: int = Field(default=3, ge=1)
    contention_spread_points: Percent = Decimal(5)
    contention_work_percent: Percent = Decimal(2)
    task_totals_apart_percent: Percent = Decimal(10)


class Verdict(Strict):
    """How deltas are judged: by the fixed table, or by the noise of the tier's last scheduled runs ("calibrated")."""

    policy: Literal["table", "calibrated"] = "table"


class Parity(Strict):
    """What a difference between a gate's launch and its baseline's (by the tier's workflow file) does."""

    on_difference: Literal["stop", "warn"] = "stop"


class Scope(Strict):
    """Glob patterns (`**` crosses folders) of paths; `exclude` wins over `include`, `flag` asks the reviewer.

    `doubt` asks about paths that no other rule speaks of: they may reach what the gate measures.
    """

    include: tuple[str, ...] = ("lib/zephyr/src/zephyr/**", "lib/zephyr/pyproject.toml")
    exclude: tuple[str, ...] = (
        "**/*.md",
        "**/*.rst",
        "lib/zephyr/docs/**",
        "lib/zephyr/tests/**",
        "lib/zephyr/src/zephyr/**/tests/**",
        "lib/zephyr/src/zephyr/**/test_*.py",
        "lib/zephyr/src/zephyr/**/*_test.py",
        "lib/zephyr/src/zephyr/**/conftest.py",
        "lib/marin/src/marin/processing/classification/deduplication/**",
        "lib/marin/src/marin/datakit/normalize/**",
        "lib/marin/src/marin/processing/tokenize/**",
    )
    flag: tuple[str, ...] = ("lib/fray/**",)
    doubt: tuple[str, ...] = ("lib/zephyr/**", "uv.lock")


class Permissions(Strict):
    """The least role that may give a command; what weakens the gate also needs someone other than the author."""

    go: Role = "write"
    override: Role = "write"
    skip: Role = "write"
    stop: Role = "write"

    @property
    def ask(self) -> Role:
        """Who may have the diff read and the question asked: whoever may write, or answer it with less than that."""
        return "triage" if self.go == "triage" else "write"


class PreflightCommand(Strict):
    """One command that must succeed before any ferry is paid for."""

    run: tuple[str, ...] = Field(min_length=1)
    timeout: Duration = timedelta(minutes=30)
    memory_mb: int = Field(default=8192, ge=64)


class Preflight(Strict):
    """Where lint, types and tests of the pinned head run; without them there is no ferry.

    `runner`: in the bot's own sandbox; each command as a job on the cluster, of the shape `job`, without the ferry's
    secrets; or not at all, because the check runs named in `checks` are green for the head ("checks").
    """

    runner: Literal["sandbox", "iris", "checks"] = "sandbox"
    job: IrisFlags = IrisFlags(cpu=Decimal(1), disk="10GB", enable_extra_resources=True)
    checks: tuple[str, ...] = ()
    # How long checks may take until they are green, and a job until a machine begins it.
    checks_within: Duration = timedelta(hours=2)
    starts_within: Duration = timedelta(hours=6)
    # How often cluster and GitHub are asked.
    check_every: Duration = timedelta(minutes=1)
    commands: tuple[PreflightCommand, ...] = (
        PreflightCommand(run=("./infra/pre-commit.py", "lib/zephyr/")),
        PreflightCommand(run=("uv", "run", "pyrefly")),
        PreflightCommand(run=("uv", "run", "pytest", "lib/zephyr/tests/")),
    )

    @model_validator(mode="after")
    def _names_its_checks(self) -> Preflight:
        if self.runner == "checks" and not self.checks:
            raise ValueError('runner = "checks" needs the names of the checks, such as checks = ["lint", "unit tests"]')
        if not self.check_every:
            raise ValueError("check_every must not be 0")
        return self


class RepositoryConfig(Strict):
    """The whole file. `ladder` lists the gates a run may climb, in order; each must have a `[gates.N]` table."""

    ladder: tuple[GateNumber, ...] = Field(min_length=1)
    gates: dict[GateKey, Gate]
    thresholds: Thresholds = Thresholds()
    verdict: Verdict = Verdict()
    parity: Parity = Parity()
    scope: Scope = Scope()
    modules: Modules = Modules()
    permissions: Permissions = Permissions()
    preflight: Preflight = Preflight()
    # Whether the head commit shows a check run `perf-gate` beside the comment.
    checks: bool = True

    @model_validator(mode="after")
    def _ladder_has_gates(self) -> RepositoryConfig:
        if list(self.ladder) != sorted(set(self.ladder)):
            raise ValueError("ladder must rise without repeats, such as [1, 2, 3]")
        if absent := [n for n in self.ladder if n not in self.gates]:
            raise ValueError(f"ladder names gate {absent[0]}, but there is no [gates.{absent[0]}] table")
        return self
