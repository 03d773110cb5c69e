"""Read the pull request as it is now: its head, the repository's configuration, the diff, and what the diff means."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bot import children, journal
from bot.assessment.model import Assessment, FileChange
from bot.assessment.package import PackageView, is_package_file, names_to_look_for, reaches_by_name, whole
from bot.assessment.scope import place as place_in_scope
from bot.assessment.wire import BadRequest, decode_answer, encode_request
from bot.config.load import CONFIG_PATH, BadConfig, ConfigError, load_repository_config
from bot.config.schema import RepositoryConfig
from bot.effects.context import Context, Rooms, current, place_of, repo_of
from bot.engine.port import Effect, Outcome
from bot.faults import Fault
from bot.gating.events import Assessed, CannotAssess, Event
from bot.gating.model import GatePlan, Place
from bot.github.model import PullInfo

# Two seconds of parsing are ordinary for a large diff; a child that takes longer than this is stuck.
_PATIENCE = 120.0
# Far above the largest answer; what follows is of no use.
_MOST_SAID = 64 * 2**20
_MOST_CONFIGURATIONS = 32


async def assess(rooms: Rooms, effect: Effect, context: Context) -> Outcome[Event]:
    found = await current(effect, context)
    if found is None:
        return Outcome()
    pr, run = found
    place = place_of(pr)
    pull = await rooms.github.pulls.get(repo_of(place), place.number)
    repository = await rooms.github.contents.repository(repo_of(place))
    if pull is None or repository is None:
        raise Fault("GitHub does not show this pull request to me", f"{place.key} is 404", retryable=True)
    mirror, token = rooms.mirror(place), rooms.git_token(place)
    heads = await mirror.sync(place.number, pull.base_ref, token)
    if heads.pull != pull.head_sha:
        # The REST answer and the git server disagree for a moment after a push.
        raise Fault("the head moves just now", f"API {pull.head_sha}, git {heads.pull}", retryable=True)
    main = heads.default_branch
    if pull.base_ref != repository.default_branch:
        main = (await mirror.sync(None, repository.default_branch, token)).default_branch
    try:
        config = await _config(rooms, place, main)
    except BadConfig as error:
        return Outcome(CannotAssess(run.id, pull.head_sha, _config_problem(error)))
    merge_base = await mirror.merge_base(heads.default_branch, pull.head_sha)
    if merge_base is None:
        return Outcome(CannotAssess(run.id, pull.head_sha, f"the head shares no history with {pull.base_ref}"))
    changes = await mirror.changes(
        merge_base, pull.head_sha, lambda path: place_in_scope(path, config.scope).kind == "in"
    )
    root = config.modules.package_root
    sides = [
        await mirror.read_folder(sha, root, lambda path: is_package_file(path, root))
        for sha in (merge_base, pull.head_sha)
    ]
    asked = names_to_look_for(changes)
    outside = await mirror.words_written(pull.head_sha, asked, lambda path: reaches_by_name(path, root))
    assessment = await in_child(changes, config, whole(sides[0], sides[1], root, outside))
    await _keep(rooms, run.id, await mirror.patch(merge_base, pull.head_sha), config, assessment)
    return Outcome(
        replace(
            _assessed(run.id, pull, merge_base, repository.default_branch, main, config, assessment),
            clusters=tuple(rooms.other_clusters),
        ),
    )


async def _keep(
    rooms: Rooms, run_id: str, patch: bytes | None, config: RepositoryConfig, assessment: Assessment
) -> None:
    """What was read and what was made of it, for people."""
    keep = rooms.rundirs.put
    if patch is not None:
        await asyncio.to_thread(keep, run_id, "diff.patch", patch)
    keep(run_id, "config.json", config.model_dump_json(indent=2))
    keep(run_id, "assessment.json", msgspec.json.format(msgspec.json.encode(assessment), indent=2))


def _assessed(
    run_id: str,
    pull: PullInfo,
    merge_base: str,
    default_branch: str,
    config_sha: str,
    config: RepositoryConfig,
    assessment: Assessment,
) -> Assessed:
    return Assessed(
        run_id=run_id,
        head_sha=pull.head_sha,
        merge_base=merge_base,
        base_ref=pull.base_ref,
        default_branch=default_branch,
        is_fork=pull.is_fork,
        config_sha=config_sha,
        config=config.model_dump_json(),
        plan=plan_of(config),
        assessment=assessment,
        checks=config.checks,
    )


def plan_of(config: RepositoryConfig) -> tuple[GatePlan, ...]:
    """What the state machine needs of the ladder."""
    gates = [(number, config.gates[number]) for number in config.ladder]
    return tuple(
        GatePlan(
            number=number,
            name=gate.name,
            wall_seconds=gate.wall_time.total_seconds(),
            stall_seconds=gate.stall_limit.total_seconds(),
            first_check_seconds=gate.first_check.total_seconds(),
            check_every_seconds=gate.check_every.total_seconds(),
            period_seconds=gate.schedule_period.total_seconds(),
        )
        for number, gate in gates
    )


async def _config(rooms: Rooms, place: Place, main: str) -> RepositoryConfig:
    """The configuration of the default branch, never of the head: the gated code does not choose its gate.

    What a commit says never changes, so each is read once.
    """
    known = (place.repository_id, main)
    if known not in rooms.configurations:
        while len(rooms.configurations) >= _MOST_CONFIGURATIONS:
            del rooms.configurations[next(iter(rooms.configurations))]
        rooms.configurations[known] = _parsed(await rooms.mirror(place).read(main, CONFIG_PATH))
    return rooms.configurations[known]


def _parsed(found: bytes | None) -> RepositoryConfig:
    try:
        return load_repository_config((found or b"").decode("utf-8"))
    except UnicodeDecodeError:
        raise BadConfig((ConfigError(CONFIG_PATH, None, "", "not UTF-8 text"),)) from None


def _config_problem(error: BadConfig) -> str:
    return "the configuration on the default branch cannot be used: " + "; ".join(map(str, error.errors))


async def in_child(
    changes: Sequence[FileChange], config: RepositoryConfig, package: PackageView | None = None
) -> Assessment:
    """Assess in a process of its own: a large diff takes seconds of CPU, and deliveries must be acknowledged."""
    with journal.child("python -m bot.assessment") as ran:
        ended = await children.run(
            (sys.executable, "-I", "-m", "bot.assessment"),
            # The child reads hostile sources: it gets nothing of this process's environment.
            environment={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            cwd=Path("/"),
            stdin=encode_request(changes, config.scope, config.modules, package),
            seconds=_PATIENCE,
            most_output=_MOST_SAID,
            most_errors=_MOST_SAID,
        )
        if ended.code is None:
            raise Fault("the diff took too long to read", f"assessment ran over {_PATIENCE} s")
        ran.ended(ended.code, ended.errors.text)
    if ended.code != 0:
        raise Fault("the diff could not be read", ended.errors.text.decode("utf-8", "replace")[-2000:])
    try:
        return decode_answer(ended.output.text)
    except BadRequest as error:
        raise Fault("the diff could not be read", str(error)) from None
