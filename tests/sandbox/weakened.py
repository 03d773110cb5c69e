"""Cages with a hole that was made on purpose: what looks for holes must find each."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

REAL = shutil.which("bwrap") or "bwrap"
PARENT = "the folder that holds the tree"
NO_PID_NAMESPACE = {"--unshare-all": ["--unshare-ipc", "--unshare-uts", "--unshare-net"]}


def weakened(folder: Path, changes: dict[str, list[str]], environment: str = "") -> str:
    """A bubblewrap that replaces some of its options, as a careless edit of ours would."""
    told = {old: [str(folder) if word == PARENT else word for word in new] for old, new in changes.items()}
    cases = "\n".join(f'{shlex.quote(old)}) set -- "$@" {shlex.join(new)} ;;' for old, new in told.items())
    script = folder / "bwrap"
    script.write_text(
        f"""#!/bin/sh
count=$#
while [ "$count" -gt 0 ]; do
  word=$1; shift; count=$((count - 1))
  case "$word" in
    {cases}
    *) set -- "$@" "$word" ;;
  esac
done
exec env {environment} {REAL} "$@"
"""
    )
    script.chmod(0o755)
    folder.chmod(0o755)
    return str(script)
