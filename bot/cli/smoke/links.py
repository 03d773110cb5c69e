"""The links from a submission to a report, in order; each is followed until it holds or is known to be broken.

Source of the idea: an Iris submission whose child's logs were never seen looked like a training that had stalled.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import msgspec

from bot.cli.checks.model import Found, Surroundings, ok, wrong
from bot.cli.smoke import payload
from bot.config.load import builtin_config
from bot.config.schema import Gate, IrisFlags
from bot.engine.port import Clock
from bot.faults import Fault
from bot.iris import process, status_file
from bot.iris.records import Job
from bot.iris.submit import Refused

Tell = Callable[[Found], None]
EVERY = timedelta(seconds=2)
_LOG_LINES = 40
# Links that are waited for, and the time of all calls between.
_LINKS = 7
_CALLS_WITHIN = timedelta(minutes=10)


def longest(within: timedelta) -> timedelta:
    """For all of a smoke job, whatever hangs; `within` is for each link that is waited for."""
    return _LINKS * within + _CALLS_WITHIN


class Broken(Exception):
    """A link does not hold; `said` what was seen instead, `fix` what to do about it."""

    def __init__(self, link: str, said: str, fix: str) -> None:
        super().__init__(said)
        self.found = wrong(f"broken link: {link}: {said}", fix)


class Smoke(msgspec.Struct):
    """One smoke job. `within` bounds each link that is waited for; `link` is the one that is followed now."""

    around: Surroundings
    clock: Clock
    within: timedelta
    tell: Tell
    link: str = "submission"

    async def run(self) -> bool:
        """Follow every link; False where one is broken. The job is stopped in any case."""
        name = f"perf-gate-smoke-{self.clock.now():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        job_id = self.around.iris.job_id(name)
        try:
            async with asyncio.timeout(longest(self.within).total_seconds()):
                await self._submit(name)
                await self._follow(job_id, name)
        except Broken as broken:
            self.tell(broken.found)
            return False
        except TimeoutError:
            said = f"broken link: {self.link}: no answer, and {longest(self.within).total_seconds():g} s are over"
            self.tell(wrong(said, "look at where this link leads; the ones before it hold"))
            return False
        except Fault as fault:
            self.tell(wrong(f"broken link: the controller: {fault}", "look at the controller's own log"))
            return False
        finally:
            await self._stop(job_id)
        return True

    async def _submit(self, name: str) -> None:
        settings = self.around.settings
        with tempfile.TemporaryDirectory(prefix="perf-gate-smoke-") as folder:
            bundle = Path(folder)
            payload.write(bundle, await _iris_version(settings.iris_command))
            try:
                answer = await self.around.iris.submit(_gate(self.within), name, bundle)
            except Fault as fault:
                fix = f"run `{settings.iris_command} job run` by hand, as {settings.iris_user}"
                raise Broken("submission", str(fault), fix) from fault
        if isinstance(answer, Refused):
            raise Broken("submission", f"Iris refused the job: {answer.reason}", "give the user what the refusal names")
        self.tell(ok(f"submission: {answer.job_id} was taken"))

    async def _follow(self, job_id: str, name: str) -> None:
        child = f"{job_id}/{payload.CHILD}"
        await self._until(job_id, "scheduling", lambda jobs: _ran(jobs.get(job_id)), "more machines, or another quota")
        self.tell(ok("scheduling: a machine runs the launcher"))
        await self._logged(job_id, "the launcher's log", payload.LAUNCHER_SAYS)
        fix = "a job must reach the controller from its machine (IRIS_CONTROLLER_ADDRESS in its environment)"
        await self._until(job_id, "the child's submission", lambda jobs: child in jobs, fix)
        self.tell(ok(f"the child's submission: {child}"))
        await self._until(job_id, "the child's scheduling", lambda jobs: _ran(jobs.get(child)), "more machines")
        await self._logged(child, "the child's log", payload.CHILD_SAYS)
        await self._until(job_id, "the end", lambda jobs: _over(jobs.get(job_id)), "read the launcher's log")
        await self._succeeded(job_id)
        self.link = "the status file"
        status = await status_file.read(self.around.iris.status_path(name))
        if status.status != "succeeded":
            prefix = self.around.settings.status_prefix
            said = status.problem or f"it says {status.status}"
            raise Broken("the status file", said, f"let jobs write to {prefix}, and this machine read there")
        self.tell(ok("the status file: written by the job and read here"))

    async def _until(self, job_id: str, link: str, holds: Callable[[dict[str, Job]], bool], fix: str) -> None:
        """Look at the tree until `holds`. Broken when the time is over, or the launcher is."""
        self.link = link
        never, deadline = asyncio.Event(), self.clock.now() + self.within
        while True:
            jobs = {job.id: job for job in await self.around.iris.jobs(job_id)}
            if holds(jobs):
                return
            root = jobs.get(job_id)
            if root is not None and root.terminal:
                raise Broken(link, f"the launcher ended {root.state}: {await self._words(job_id, root)}", fix)
            if self.clock.now() >= deadline:
                waits = (root.pending_reason if root else "") or "nothing was seen of it"
                raise Broken(link, f"not within {self.within.total_seconds():g} s: {waits}", fix)
            await self.clock.wait(never, self.clock.now() + EVERY)

    async def _logged(self, job_id: str, link: str, marker: str) -> None:
        """A log comes a little after what it tells."""
        self.link = link
        never, deadline = asyncio.Event(), self.clock.now() + self.within
        while not any(marker in line for line in await self.around.iris.log(job_id, marker, _LOG_LINES)):
            if self.clock.now() >= deadline:
                fix = "reach the log server from this machine; `iris job logs` reads the same lines"
                raise Broken(link, f"the line {marker!r} never came", fix)
            await self.clock.wait(never, self.clock.now() + EVERY)
        self.tell(ok(f"{link}: read"))

    async def _succeeded(self, job_id: str) -> None:
        (root,) = [job for job in await self.around.iris.jobs(job_id) if job.id == job_id]
        if root.state != "succeeded":
            raise Broken("the end", f"the launcher ended {root.state}: {await self._words(job_id, root)}", "mend that")
        self.tell(ok("the end: launcher and child succeeded"))

    async def _words(self, job_id: str, root: Job) -> str:
        """Why the launcher ended: from its tasks, and the last it said."""
        cause = await self.around.iris.cause(job_id)
        lines = [line.strip() for line in cause.log[-2:]] if cause else []
        return " … ".join(filter(None, [cause.error if cause else root.error, *lines])) or "without a word"

    async def _stop(self, job_id: str) -> None:
        try:
            await self.around.iris.stop(job_id)
        except Fault as fault:
            self.tell(Found("unknown", f"{job_id} may still run: {fault}", "stop it by hand"))


def _gate(within: timedelta) -> Gate:
    """A gate of which only the launch matters; the smallest of jobs."""
    shape = builtin_config().gates[1]
    environment = {"PYTHONPATH": "/app", "SMOKE_SECONDS": f"{within.total_seconds():g}"}
    flags = IrisFlags.model_validate({"cpu": "0.1", "memory": "512M", "disk": "1G"})
    return shape.model_copy(update={"ferry_module": payload.MODULE, "flags": flags, "environment": environment})


async def _iris_version(command: Path) -> str:
    """Jobs get the version that submits them; empty where the program stands in no environment of Python's."""
    python = command.parent / "python"
    asks = "import importlib.metadata as m; print(m.version('marin-iris'))"
    try:
        done = await process.run(
            [str(python), "-I", "-c", asks],
            cwd=Path("/"),
            environment={"PATH": "/usr/bin:/bin"},
            within=timedelta(seconds=30),
            called="python -c version",
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.exit_code == 0 else ""


def _ran(job: Job | None) -> bool:
    return job is not None and job.started_ms is not None


def _over(job: Job | None) -> bool:
    return job is not None and job.terminal
