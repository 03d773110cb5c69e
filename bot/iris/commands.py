"""A single command as a small cluster job: for a preflight where the bot's own machine has no sandbox."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bot.config.schema import IrisFlags
from bot.iris import names
from bot.iris.controller import Absent, Controller
from bot.iris.process import Cage
from bot.iris.settings import IrisSettings
from bot.iris.submit import Refused, Submitted, bundle, flags

# The bot ends what takes too long itself; should it be away by then, the cluster does, this much later.
_MARGIN = timedelta(minutes=10)
_TAIL_LINES = 60
# What the client would hand on to the job by itself: a ferry's affair, and no test's.
_FOR_JOBS = frozenset({"HF_TOKEN", "WANDB_API_KEY"})


class CommandState(msgspec.Struct, frozen=True):
    """How the job is doing. `exit_code` is the command's once it came to its own end, `tail` the end of its output.

    A job that is `over` without an exit code was ended by somebody or something else; `error` is Iris' word for it, or
    for why it waits.
    """

    over: bool
    exit_code: int | None
    tail: str
    error: str
    started_at: datetime | None
    submitted_at: datetime | None = None


def arguments(
    settings: IrisSettings, name: str, words: Sequence[str], shape: IrisFlags, within: timedelta
) -> list[str]:
    """The whole command line of the submission."""
    return [
        str(settings.command),
        *settings.connection_flags,
        *("job", "run", "--no-wait", "--job-name", name, "--user", settings.user),
        *flags(shape),
        *("--timeout", str(round((within + _MARGIN).total_seconds()))),
        "--",
        *words,
    ]


async def submit(
    settings: IrisSettings,
    cage: Cage,
    name: str,
    words: Sequence[str],
    shape: IrisFlags,
    within: timedelta,
    tree: Path,
) -> Submitted | Refused:
    """Bundle `tree` and run the command in it; as for a ferry, only after a look-up said that the name is absent."""
    without = replace(settings, pass_env=tuple(one for one in settings.pass_env if one not in _FOR_JOBS))
    line = arguments(settings, name, words, shape, within)
    called = f"iris job run --job-name {name} -- {shlex.join(words)}"
    return await bundle(without, cage, line, names.job_id(settings.user, name), tree, called)


async def state(controller: Controller, job_id: str) -> CommandState | Absent:
    """Look once. Raises Fault where Iris cannot be asked."""
    root = next((job for job in await controller.jobs(job_id) if job.id == job_id), None)
    if root is None:
        return Absent(job_id)
    started = datetime.fromtimestamp(root.started_ms / 1000, UTC) if root.started_ms else None
    if not root.terminal and started is None:
        submitted = datetime.fromtimestamp(root.submitted_ms / 1000, UTC) if root.submitted_ms else None
        return CommandState(False, None, "", root.pending_reason, None, submitted)
    tail = "\n".join(await controller.logs(job_id, "", _TAIL_LINES))
    if not root.terminal:
        return CommandState(False, None, tail, "", started)
    codes = [task.exit_code for task in await controller.tasks(job_id)]
    if root.state == "succeeded":
        return CommandState(True, 0, tail, "", started)
    failed = next((code for code in codes if code), None) if root.state == "failed" else None
    return CommandState(True, failed, tail, root.error or root.state, started)
