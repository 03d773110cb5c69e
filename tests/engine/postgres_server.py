"""A PostgreSQL server of the tests' own: in a temporary folder, on a socket there, as a user who may do nothing else.

It starts when a test first asks for a database and stops with the test run. Child processes find it by a variable.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from bot.engine.postgres.schema import prepare
from bot.engine.postgres.session import Session
from tests.engine.script import Script

SERVER = "PERF_GATE_TEST_POSTGRES"
"""The folder of the running server's socket."""

_INSTALLED = Path("/usr/lib/postgresql")
# Its data is thrown away in the end: nothing need survive the machine.
_CARELESS = ("fsync=off", "full_page_writes=off")
_SETTINGS = ("listen_addresses=", "max_connections=200", "log_min_messages=fatal")
DURABLE = "PERF_GATE_TEST_POSTGRES_DURABLE"
"""Set to measure a server that keeps what it acknowledged."""


class NoServer(RuntimeError):
    """PostgreSQL is not installed, or does not start; the message says what to do."""


def address(folder: Path) -> str:
    """The address of the database that belongs to `folder`; made when first asked for."""
    with _administering() as connection, suppress(psycopg.errors.DuplicateDatabase):
        like = sql.Identifier(_ready())
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(_name(folder)), like))
    return _address(_name(folder))


def empty(folder: Path) -> str:
    """The address of a database without tables."""
    with _administering() as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(_name(folder))))
    return _address(_name(folder))


def drop(folder: Path) -> None:
    with _administering() as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(_name(folder))))


def _name(folder: Path) -> str:
    return "t" + hashlib.sha256(str(folder).encode()).hexdigest()[:20]


def _address(name: str) -> str:
    return f"postgresql://postgres@/{name}?host={_server()}"


@cache
def _ready() -> str:
    """A database with the tables in it, to copy: they take longer to make than most tests."""
    name = "ready"
    with _administering() as connection, suppress(psycopg.errors.DuplicateDatabase):
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        session = Session(_address(name))
        prepare(session, Script().state_schema)
        session.close()
    return name


def _administering() -> psycopg.Connection[Any]:
    return psycopg.connect(f"postgresql://postgres@/postgres?host={_server()}", autocommit=True)


@cache
def _server() -> str:
    if running := os.environ.get(SERVER):
        return running
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="perf-gate-postgres-"))
    user = _unprivileged()
    if user is not None:
        shutil.chown(folder, user)
    data = folder / "data"
    _run([programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"], user)
    careless = () if os.environ.get(DURABLE) else _CARELESS
    settings = " ".join(f"-c {setting}" for setting in (*careless, *_SETTINGS, f"unix_socket_directories={folder}"))
    log = folder / "log"
    _run([programs / "pg_ctl", "-D", data, "-o", settings, "-l", log, "-w", "start"], user)
    atexit.register(_stop, programs, folder, user)
    os.environ[SERVER] = str(folder)
    return str(folder)


def _stop(programs: Path, folder: Path, user: str | None) -> None:
    _run([programs / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop"], user)
    shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str | Path], user: str | None) -> None:
    # Not through a pipe: the server inherits it, and the reader would wait for its end.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, user=user, cwd="/", stdout=output, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            output.seek(0)
            raise NoServer(f"{Path(command[0]).name} failed: {output.read().decode(errors='replace')}")


def _programs() -> Path:
    """Debian keeps the server's programs by version, off the PATH; other systems put them on it."""
    if found := sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])):
        return found[-1].parent
    if on_path := shutil.which("initdb"):
        return Path(on_path).parent
    raise NoServer("these tests need a PostgreSQL server: run `make test`, or apt-get install postgresql")


def _unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
