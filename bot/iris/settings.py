"""What an operator decides about Iris; no repository configuration can set any of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec


class IrisSettings(msgspec.Struct, frozen=True):
    """`command` is the iris program. Exactly one of `controller_url` (for HTTP) and `config` (a cluster YAML) is set.

    `status_prefix` is where ferries leave their status files: `gs://bucket/folder` or an absolute folder. `home` is a
    scratch HOME for the program, which writes `~/.iris`. `pass_env` names variables of our environment that the program
    gets: credentials for the cluster, and HF_TOKEN, which it hands on to the job itself.
    """

    command: Path
    status_prefix: str
    home: Path
    controller_url: str | None = None
    config: Path | None = None
    log_server_url: str | None = None
    user: str = "perf-gate"
    pass_env: tuple[str, ...] = ()
    submit_timeout: timedelta = timedelta(minutes=3)
    call_timeout: timedelta = timedelta(seconds=30)
    command_timeout: timedelta = timedelta(minutes=2)
    script_timeout: timedelta = timedelta(minutes=10)

    def __post_init__(self) -> None:
        if (self.controller_url is None) == (self.config is None):
            raise ValueError("set exactly one of controller_url and config")

    @property
    def connection_flags(self) -> tuple[str, ...]:
        """How the iris program is told which cluster is meant."""
        if self.controller_url is not None:
            return ("--controller-url", self.controller_url)
        return ("--config", str(self.config))
