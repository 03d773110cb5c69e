"""A real local Iris cluster as a child process: started for a test session or a demo, gone when its owner is gone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent
IRIS = ROOT / ".iris"
START_WITHIN_SECONDS = 120.0
STOP_WITHIN_SECONDS = 30.0


class ClusterFailed(RuntimeError):
    """The cluster did not start; the message ends with its last log lines."""


def iris_command(iris: Path = IRIS) -> Path:
    """The real Iris command line of that environment."""
    return iris / "bin" / "iris"


def installed_zephyr(iris: Path = IRIS) -> Path:
    """The folder of the zephyr package installed beside Iris."""
    found = sorted(iris.glob("lib/python3.*/site-packages/zephyr/__init__.py"))
    if not found:
        raise ClusterFailed(f"no zephyr package in {iris}: run `make .iris`")
    return found[0].parent


@dataclass
class LocalCluster:
    """`async with LocalCluster(scratch) as cluster:` gives a cluster that can run a job at `cluster.url`.

    Everything it writes lies under `scratch`: its state, its HOME, its temporary files and, as `marin_prefix`, what the
    ferries on it produce. Leaving the context stops the cluster and its tasks.
    """

    scratch: Path
    iris: Path = IRIS
    url: str = ""
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)

    @property
    def marin_prefix(self) -> Path:
        return self.scratch / "marin"

    @property
    def status_prefix(self) -> Path:
        """Where ferries may leave their status files."""
        return self.scratch / "status"

    @property
    def temporary(self) -> Path:
        """Where tasks unpack their bundles."""
        return self.scratch / "tmp"

    @property
    def log(self) -> Path:
        return self.scratch / "cluster.log"

    async def __aenter__(self) -> LocalCluster:
        state, home = self.scratch / "state", self.scratch / "home"
        for folder in (state, home, self.temporary, self.marin_prefix, self.status_prefix):
            folder.mkdir(parents=True, exist_ok=True)
        # The cluster's own environment is part of every local task's environment, so it gets no more than this. py-spy,
        # which thread dumps need, is found beside Iris' interpreter.
        environment = {
            "HOME": str(home),
            "TMPDIR": str(self.temporary),
            "PATH": os.pathsep.join((str(self.iris / "bin"), "/usr/local/bin", "/usr/bin", "/bin")),
            "LANG": "C.UTF-8",
            "PYTHONWARNINGS": "ignore",
            "MARIN_PREFIX": str(self.marin_prefix),
        }
        with self.log.open("wb") as log:
            self.process = await asyncio.create_subprocess_exec(
                str(self.iris / "bin" / "python"),
                str(ROOT / "demo" / "iris_cluster.py"),
                str(state),
                env=environment,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                # A Ctrl-C in the terminal reaches the owner alone, which then stops the cluster in order.
                start_new_session=True,
            )
        try:
            line = await asyncio.wait_for(_first_line(self.process), START_WITHIN_SECONDS)
            if not line:
                raise ClusterFailed(f"the Iris cluster did not start:\n{self._last_lines()}")
        except BaseException:
            await self.stop()
            raise
        self.url = json.loads(line)["url"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Ask the cluster to stop its tasks and itself; insist when it takes longer than half a minute."""
        process = self.process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(process.wait(), STOP_WITHIN_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()

    def submissions(self) -> list[str]:
        """The root jobs that the controller took, in that order: a name again for each time that it was taken."""
        words = [line.split() for line in (self.scratch / "state" / "audit.log").read_text().splitlines()]
        taken = [one[1].removeprefix("entity=") for one in words if one[:1] == ["event=job_submitted"]]
        return [job_id for job_id in taken if job_id.count("/") == 2]

    def _last_lines(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])


async def _first_line(process: asyncio.subprocess.Process) -> bytes:
    return await process.stdout.readline() if process.stdout else b""


async def serve(scratch: Path) -> None:
    """`python -m demo.cluster SCRATCH`: run a cluster by hand until Ctrl-C."""
    stop = asyncio.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    async with LocalCluster(scratch) as cluster:
        print(cluster.url, flush=True)
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]).resolve()))
