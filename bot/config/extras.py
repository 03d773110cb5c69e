"""What to say where libraries are missing that only some deployments need."""

from __future__ import annotations


def without_postgres(error: ImportError) -> str:
    """The rest of `cannot start: …`, where an address of a database is set and its libraries are not there."""
    return (
        f"PERF_GATE_DATABASE_URL is set, but PostgreSQL's libraries are missing ({error}): run "
        "pip install '.[postgres]' in the clone, or unset the variable to keep state in a file"
    )
