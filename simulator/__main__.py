"""`python -m simulator`: the simulator as its own process.

Prints one line of JSON with its addresses once it listens; stops on SIGINT or SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from simulator.simulator import Simulator


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m simulator", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="of the API; 0 lets the system choose, here as below")
    parser.add_argument("--web-port", type=int, default=0, help="of git and of the pages that people read")
    parser.add_argument("--artifacts-port", type=int, default=0)
    parser.add_argument("--storage-port", type=int, default=0, help="of buckets, as STORAGE_EMULATOR_HOST names it")
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument(
        "--state-dir", type=Path, help="where the bare repositories lie; without it, a temporary folder"
    )
    return parser.parse_args()


async def _serve(arguments: argparse.Namespace) -> None:
    if arguments.state_dir is not None:
        arguments.state_dir.mkdir(parents=True, exist_ok=True)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    sim = Simulator(
        folder=arguments.state_dir,
        host=arguments.host,
        port=arguments.port,
        web_port=arguments.web_port,
        artifacts_port=arguments.artifacts_port,
        storage_port=arguments.storage_port,
        control_port=arguments.control_port,
    )
    async with sim:
        sys.stdout.write(json.dumps(sim.addresses()) + "\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> None:
    asyncio.run(_serve(_arguments()))


if __name__ == "__main__":
    main()
