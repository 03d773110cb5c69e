"""Record a healthy, a cached and a failed ferry of a real local cluster: `python -m tests.iris.record`.

Writes tests/iris/fixtures/<name>/{jobs,tasks,status}.json as Iris and the ferry gave them, with this machine's paths
replaced. The expectations in test_collect.py are checked by hand against what it writes.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import aiohttp

from bot.iris import status_file
from bot.iris.adapter import Iris
from bot.iris.http import HttpTransport
from bot.iris.submit import Submitted
from demo.cluster import LocalCluster, installed_zephyr
from demo.repository import create
from tests.iris.clusters import cluster_settings, demo_gate, now, open_cage, tree_of, watch_to_end

FIXTURES = Path(__file__).parent / "fixtures"
SCRATCH = "SCRATCH"


async def record(transport: HttpTransport, job_id: str, status: str, scratch: Path, name: str) -> None:
    jobs = await transport.call("ListJobs", {"query": {"jobIdPrefix": job_id, "limit": 500}})
    tasks = {job["jobId"]: await transport.call("ListTasks", {"jobId": job["jobId"]}) for job in jobs["jobs"]}
    folder = FIXTURES / name
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "jobs.json", jobs, scratch)
    write(folder / "tasks.json", tasks, scratch)
    write(folder / "status.json", (await status_file.read(status)).fields, scratch)


def write(path: Path, value: Any, scratch: Path) -> None:
    path.write_text(json.dumps(value, indent=1).replace(str(scratch), SCRATCH) + "\n")


async def main() -> None:
    gate = demo_gate()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        repository = create(scratch / "repository", installed_zephyr())
        heads = {"healthy": repository.main_sha, "failed": repository.branch("broken", broken="normalize")}
        async with LocalCluster(scratch / "cluster") as cluster, aiohttp.ClientSession() as session:
            settings = cluster_settings(cluster, scratch / "home")
            transport = HttpTransport(session, cluster.url, timeout=settings.call_timeout)
            async with Iris.open(settings, now, open_cage) as iris:
                for name, sha in heads.items():
                    submitted = await iris.submit(gate, name, tree_of(repository, sha, scratch / name))
                    assert isinstance(submitted, Submitted), submitted
                    await watch_to_end(iris, submitted.job_id)
                    await record(transport, submitted.job_id, iris.status_path(name), scratch, name)
                # The same SMOKE_RUN_ID again, as a re-submission under a reused name would have it: Iris replaces the
                # finished job, and the ferry skips what it finds.
                submitted = await iris.submit(gate, "healthy", scratch / "healthy")
                assert isinstance(submitted, Submitted), submitted
                await watch_to_end(iris, submitted.job_id)
                await record(transport, submitted.job_id, iris.status_path("healthy"), scratch, "cached")


if __name__ == "__main__":
    asyncio.run(main())
