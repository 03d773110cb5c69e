"""A server under measurement: a process of its own, its start timed, its memory and CPU read from /proc."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
START_WITHIN_SECONDS = 30.0


@dataclass(frozen=True)
class Server:
    """`started` is seconds from its spawning to its first accepted connection, `started_cpu` what of a core it took."""

    process: subprocess.Popen[bytes]
    started: float
    started_cpu: float

    def memory_mb(self) -> float:
        """Resident now."""
        return self._status("VmRSS") / 1024

    def most_memory_mb(self) -> float:
        return self._status("VmHWM") / 1024

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def _status(self, name: str) -> int:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def cpu_seconds(pid: int) -> float:
    """Of the process, its threads, and the children it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICK


@contextmanager
def serving(words: Sequence[str], environment: dict[str, str], port: int, log: Path) -> Iterator[Server]:
    """Return when it listens; leaving stops it. Raises RuntimeError with the end of its log."""
    with log.open("ab") as file:
        began = time.perf_counter()
        process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        started = _listening(process, port, began, log)
        yield Server(process, started, cpu_seconds(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listening(process: subprocess.Popen[bytes], port: int, began: float, log: Path) -> float:
    while (passed := time.perf_counter() - began) < START_WITHIN_SECONDS:
        if process.poll() is not None:
            break
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.002)
        else:
            return time.perf_counter() - began
    raise RuntimeError(f"{log.name}: the server does not listen after {passed:.1f} s:\n{log.read_text()[-2000:]}")


def free_port() -> int:
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def fsync_ms(folder: Path) -> float:
    """The disk's own median time to make 4 KB durable."""
    took = []
    with (folder / "fsync").open("wb", buffering=0) as file:
        for _ in range(200):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    return sorted(took)[100] * 1000
