"""Run a real Iris cluster (controller, autoscaler, one worker, log server) in this process, until told to stop.

This file is run by the interpreter of Iris' own environment, so it may import only Iris and the standard library.
`python iris_cluster.py STATE_DIR` prints one JSON line, `{"url": ...}`, once a worker can take a task. It stops, with
its tasks, on SIGINT, SIGTERM, or when its standard input is closed: the parent holds the other end, so the cluster
never outlives it, however the parent dies.
"""

from __future__ import annotations

import json
import logging
import signal
import sys
import threading
import time
from datetime import timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import iris.cluster.controller.service as controller_service
from iris.cluster.backends.local.cluster import LocalCluster
from iris.cluster.config import load_config, make_local_config

CONFIG = """
name: demo
platform:
  local:
controller:
  local:
    port: 0
storage:
  remote_state_dir: file://{state}
worker_provider: {{}}
scale_groups:
  cpu:
    num_vms: 1
    resources:
      cpu: 16
      ram: 32GB
      disk: 100GB
      device_type: cpu
      device_variant: cpu
      capacity_type: on-demand
    buffer_slices: 1
    max_slices: 1
    slice_template:
      num_vms: 1
      local:
"""
READY_WITHIN_SECONDS = 60.0
AUDIT = "iris.cluster.controller.audit_logging"


def worker_is_healthy(url: str) -> bool:
    """Whether the controller knows a worker that can take a task now."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=2)
    try:
        connection.request(
            "POST", "/iris.cluster.ControllerService/ListWorkers", b"{}", {"Content-Type": "application/json"}
        )
        workers = json.load(connection.getresponse()).get("workers", [])
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return any(worker.get("healthy") for worker in workers)


def keep_the_audit_in(path: Path) -> None:
    """What the controller did, a line each. Its tables forget a job that another of the same name replaced."""
    audit = logging.getLogger(AUDIT)
    audit.setLevel(logging.INFO)
    audit.addHandler(logging.FileHandler(path))


def start(state: Path) -> tuple[LocalCluster, str]:
    """Start the cluster and wait until it can run a job. Raises TimeoutError when no worker comes up."""
    # The controller refuses clients built more than 14 days ago; pinned wheels would stop working.
    controller_service.FRESHNESS_WINDOW = timedelta(days=36500)
    keep_the_audit_in(state / "audit.log")
    config = state / "cluster.yaml"
    config.write_text(CONFIG.format(state=state / "remote"))
    cluster = LocalCluster(make_local_config(load_config(config)))
    url = cluster.start()
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while not worker_is_healthy(url):
        if time.monotonic() > deadline:
            cluster.close()
            raise TimeoutError("no Iris worker became healthy")
        time.sleep(0.2)
    return cluster, url


def main() -> None:
    stop = threading.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: stop.set())

    def watch_parent() -> None:
        sys.stdin.buffer.read()
        stop.set()

    threading.Thread(target=watch_parent, daemon=True).start()
    cluster, url = start(Path(sys.argv[1]))
    print(json.dumps({"url": url}), flush=True)
    stop.wait()
    cluster.close()


if __name__ == "__main__":
    main()
