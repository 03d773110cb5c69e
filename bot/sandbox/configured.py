"""The cage that a deployment's settings describe."""

from __future__ import annotations

import os
from pathlib import Path

from bot.config.settings import Settings
from bot.sandbox.cage import Cage
from bot.sandbox.model import Limits
from bot.sandbox.packages import Packages
from bot.sandbox.proxy import HTTPS, Host


def cage_of(settings: Settings) -> Cage:
    limits = Limits(disk_bytes=settings.sandbox_disk_mb * 2**20)
    return Cage(settings.sandbox_tools, limits, packages=packages_of(settings))


def packages_of(settings: Settings) -> Packages:
    """Where dependencies come from. An authority that this process is told to trust is trusted inside too."""
    split = [host.partition(":") for host in settings.package_hosts]
    trusted = os.environ.get("SSL_CERT_FILE")
    return Packages(
        settings.package_index,
        tuple(Host(name, int(port or HTTPS)) for name, _, port in split),
        settings.package_cache,
        Path(trusted).absolute() if trusted else None,
    )
