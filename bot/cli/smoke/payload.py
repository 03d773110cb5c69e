"""What the smoke job is: the files of its bundle, which run on the cluster and know nothing of perf-gate.

The launcher does what a ferry's does: it says something, has a child job run, and writes its status file.
"""

from __future__ import annotations

from pathlib import Path

MODULE = "perf_gate_smoke"
LAUNCHER_SAYS, CHILD_SAYS = "perf-gate-smoke: the launcher runs", "perf-gate-smoke: the child runs"
NO_CHILD = "perf-gate-smoke: the child came to nothing"
CHILD = "smoke-child"

LAUNCHER = f'''"""Goes the way of a ferry, in seconds."""
import json
import os
import sys

from iris.client import iris_ctx
from iris.cluster.types import Entrypoint, ResourceSpec

print("{LAUNCHER_SAYS}", flush=True)
child = Entrypoint.from_command("python", "-c", "print('{CHILD_SAYS}', flush=True)")
job = iris_ctx().client.submit(child, "{CHILD}", ResourceSpec(cpu=0.1, memory="256m", disk="256m"))
try:
    job.wait(timeout=float(os.environ["SMOKE_SECONDS"]))
except Exception as error:
    print(f"{NO_CHILD}: {{error!r}}", flush=True)
    sys.exit(1)
path, status = os.environ["FERRY_STATUS_PATH"], json.dumps({{"status": "succeeded"}})
if path.startswith("/"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(status)
else:
    import fsspec

    with fsspec.open(path, "w") as file:
        file.write(status)
'''
# Read by `uv sync` on a cluster that makes an environment for each job.
_PROJECT = """[project]
name = "perf-gate-smoke"
version = "0"
requires-python = ">=3.11"
dependencies = ["marin-iris{version}", "fsspec", "gcsfs"]

[tool.uv]
prerelease = "if-necessary-or-explicit"
"""


def write(folder: Path, iris_version: str) -> None:
    """The bundle. `iris_version` is that of the submitting program, empty where it is not known."""
    # The cage's user must be able to enter it.
    folder.chmod(0o755)
    (folder / f"{MODULE}.py").write_text(LAUNCHER, "utf-8")
    (folder / "pyproject.toml").write_text(
        _PROJECT.format(version=f"=={iris_version}" if iris_version else ""), "utf-8"
    )
