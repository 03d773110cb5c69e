"""Where a new App's credentials go: three files that only their owner can read, and what to do with them."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from bot.faults import Fault

KEY, SECRET, ENVIRONMENT = "private-key.pem", "webhook-secret", "app.env"


def refuse_to_overwrite(folder: Path) -> None:
    """Raises Fault: a key is shown once, so the one that is there may be the only copy."""
    if there := [name for name in (KEY, SECRET, ENVIRONMENT) if (folder / name).exists()]:
        raise Fault(f"{folder / there[0]} is there already, and may be an App's only key; move it away, or set --to")


def make_ready(folder: Path) -> None:
    """Before anything is registered: a key is shown once, and must then have a place. Raises Fault."""
    refuse_to_overwrite(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = folder / ".probe"
        # Of a setup that was killed: it is written over nothing.
        probe.unlink(missing_ok=True)
        try:
            _write(probe, "The size of a key and more, where a disk may be full.\n" * 100)
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise _not_kept(folder, error) from error


def keep(folder: Path, app_id: int, pem: str, webhook_secret: str, public_url: str = "") -> Path:
    """Write all three; the environment file. Raises Fault where one is there, or the disk will not take them: then
    nothing of it is left, and it may be tried again. `public_url`: where the pages will be, for links to them."""
    refuse_to_overwrite(folder)
    key, secret, file = (folder / name for name in (KEY, SECRET, ENVIRONMENT))
    lines = {
        "PERF_GATE_APP_ID": str(app_id),
        "PERF_GATE_PRIVATE_KEY": str(key.absolute()),
        "PERF_GATE_WEBHOOK_SECRET_FILE": str(secret.absolute()),
    } | ({"PERF_GATE_PUBLIC_URL": public_url} if public_url else {})
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(key, pem if pem.endswith("\n") else f"{pem}\n")
        _write(secret, f"{webhook_secret}\n")
        _write(file, "".join(f"{name}={shlex.quote(value)}\n" for name, value in lines.items()))
    except OSError as error:
        for written in (key, secret, file):
            with suppress(OSError):
                written.unlink(missing_ok=True)
        raise _not_kept(folder, error) from error
    return file


def _not_kept(folder: Path, error: OSError) -> Fault:
    return Fault(f"the App's credentials cannot be kept in {folder}: {error.strerror}")


def _write(file: Path, text: str) -> None:
    """Never readable by others, not even for a moment, and never over what is there."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


def next_steps(file: Path, slug: str, install_url: str) -> str:
    """What a person does now, in order."""
    return f"""The App {slug} is registered; its key and secret are in {file.parent} (only you can read them).

1. Install it on the repositories it is to gate: {install_url}
2. Set the rest (perf-gate serve names what is missing), and start it:
     set -a; . {shlex.quote(str(file))}; set +a
     perf-gate serve
3. See whether all is well: perf-gate doctor"""
