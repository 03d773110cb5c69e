"""Submitting a ferry: the tier workflow's `iris job run`, from the pinned tree, in the cage."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from bot.config.schema import Gate, IrisFlags
from bot.faults import Fault
from bot.iris import names, process
from bot.iris.environment import child_environment
from bot.iris.process import Cage, Finished
from bot.iris.settings import IrisSettings

# The program may print whatever it likes before it; the id alone is the last line of its standard output.
_JOB_ID = re.compile(r"^/?[a-z0-9][a-z0-9./_-]*$")
# Words of refusals that stay as they are until somebody changes the configuration or the cluster. Iris drops the
# error's code on the way, so its sentences are all there is (recorded from a real cluster in tests/iris).
_FOR_GOOD = re.compile(
    r"is unschedulable: no groups|cannot submit \w+ jobs|requires --enable-extra-resources|client is too old"
    r"|No such option|Invalid value|exceeds maximum|bundle size|must be ISO|Job name|InvalidSize",
    re.IGNORECASE,
)
_ALREADY_THERE = re.compile(r"JobAlreadyExists|already exists")
_USAGE_ERROR = 2


class Submitted(msgspec.Struct, frozen=True):
    job_id: str


class Refused(msgspec.Struct, frozen=True):
    """Iris will not take this job however often it is asked; `reason` is its own words."""

    reason: str


def arguments(settings: IrisSettings, gate: Gate, name: str) -> list[str]:
    """The whole command line. The job's name, SMOKE_RUN_ID and status path all derive from `name`."""
    environment = {
        **gate.environment,
        "SMOKE_RUN_ID": names.smoke_run_id(name),
        "FERRY_STATUS_PATH": names.status_path(settings.status_prefix, name),
    }
    return [
        str(settings.command),
        *settings.connection_flags,
        *("job", "run", "--no-wait"),
        *("--job-name", name, "--user", settings.user),
        *flags(gate.flags),
        *_pairs(environment),
        *("--", "python", "-m", gate.ferry_module),
    ]


def flags(shape: IrisFlags) -> list[str]:
    """The flags that shape the job, as the tier workflows write them."""
    given = {"memory": shape.memory, "disk": shape.disk, "cpu": shape.cpu, "region": shape.region}
    result = [f"--{name}={value}" for name, value in given.items() if value is not None]
    result += [f"--extra={extra}" for extra in shape.extra]
    if shape.priority is not None:
        result += ["--priority", shape.priority]
    if shape.enable_extra_resources:
        result.append("--enable-extra-resources")
    if shape.preemptible is not None:
        result.append("--preemptible" if shape.preemptible else "--no-preemptible")
    return result


async def submit(settings: IrisSettings, cage: Cage, gate: Gate, name: str, tree: Path) -> Submitted | Refused:
    """Bundle `tree` and run the gate's ferry from it under `name`.

    Call it only after a look-up said that the name is absent. Raises a retryable Fault when it cannot be known whether
    the job was taken: the caller looks up again before it submits again.
    """
    line, called = arguments(settings, gate, name), f"iris job run --job-name {name} -- python -m {gate.ferry_module}"
    return await bundle(settings, cage, line, names.job_id(settings.user, name), tree, called)


async def bundle(
    settings: IrisSettings, cage: Cage, line: Sequence[str], job_id: str, tree: Path, called: str
) -> Submitted | Refused:
    """Run this command line of the iris program in `tree`, which becomes the job's bundle; see `submit`. `called` is
    what it is remembered by."""
    settings.home.mkdir(parents=True, exist_ok=True)
    environment = child_environment(settings)
    argv = cage(line, tree=tree, environment=environment, writable=[settings.home])
    try:
        done = await process.run(argv, cwd=tree, environment=environment, within=settings.submit_timeout, called=called)
    except OSError as error:
        raise Fault("the iris program cannot be started", f"{argv[0]}: {error}") from error
    return read_answer(done, job_id)


def read_answer(done: Finished, expected_id: str) -> Submitted | Refused:
    """What the finished program says about the submission; see `submit` for what is raised."""
    if done.timed_out:
        # The program itself goes on trying for an hour when the controller cannot be reached.
        raise Fault("Iris did not take the job in time", done.last_words(), retryable=True)
    if done.exit_code == 0:
        lines = done.stdout.split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        if not _JOB_ID.match(last):
            raise Fault("Iris named no job after a submission", f"last line: {last[:200]!r}", retryable=True)
        if last.lstrip("/") != expected_id.lstrip("/"):
            raise Fault("Iris named another job than was submitted", f"{last} instead of {expected_id}", retryable=True)
        return Submitted(expected_id)
    said = _reason(done.stderr)
    if _ALREADY_THERE.search(said):
        raise Fault("a job of this name is already there", said, retryable=True)
    if done.exit_code == _USAGE_ERROR or _FOR_GOOD.search(said) or said.startswith("bwrap: "):
        return Refused(said)
    raise Fault("Iris could not take the job", f"exit {done.exit_code}: {said}", retryable=True)


def _reason(stderr: str) -> str:
    """The program's last word: click's `Error: …` with what follows, or a traceback's last line without its class."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    start = next((i for i, line in enumerate(lines) if line.startswith("Error: ")), max(0, len(lines) - 1))
    text = " ".join(lines[start:])
    text = re.sub(r"^(Error|connectrpc\.errors\.ConnectError|ValueError): ", "", text)
    # What follows are the constraints in Python's notation.
    return text.split(" (constraints: ", 1)[0][:500] or "no reason given"


def _pairs(environment: Mapping[str, str]) -> list[str]:
    return [word for key, value in environment.items() for word in ("-e", key, value)]
