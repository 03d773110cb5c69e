"""The status file, written by code that nobody trusts."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gcp_storage_emulator.server import create_server

from bot import google_storage
from bot.iris.status_file import LARGEST_FILE, StatusFile, parse, read

SAID = b'{"status": "succeeded", "marin_prefix": "gs://marin-us-central1", "more": [1]}'
READ = StatusFile(
    "succeeded",
    "gs://marin-us-central1",
    {"status": "succeeded", "marin_prefix": "gs://marin-us-central1", "more": [1]},
)


async def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    assert (await read(str(path))).problem == "not there"
    path.write_bytes(SAID)
    assert await read(str(path)) == READ


async def test_only_a_plain_small_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"status": "succeeded"}')
    link, pipe, large = tmp_path / "link", tmp_path / "pipe", tmp_path / "large"
    link.symlink_to(tmp_path / "secret.json")
    os.mkfifo(pipe)
    large.write_bytes(b" " * (LARGEST_FILE + 1))
    problems = [(await read(str(path))).problem for path in (link, pipe, tmp_path, large)]
    assert problems == ["not there", "not there", "not there", "larger than 64 KiB"]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b'"succeeded"', b"[" * 50_000])
def test_anything_but_an_object_is_a_problem(data: bytes) -> None:
    assert parse(data).problem in {"not JSON", "not a JSON object"}


@pytest.mark.parametrize(
    "data",
    [b'{"status": 1}', b'{"status": "a\\nb"}', b'{"status": "' + b"x" * 400 + b'"}', b'{"status": "\\u202e"}', b"{}"],
)
def test_a_status_that_is_no_short_line_is_none(data: bytes) -> None:
    assert (parse(data).status, parse(data).problem) == (None, "")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """A bucket of a real storage emulator."""
    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="status")
    server.start()
    port = server._api._httpd.server_port  # its address is told nowhere else
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "test")
    try:
        yield "gs://status"
    finally:
        server.stop()


async def test_an_object_in_a_bucket(bucket: str) -> None:
    assert (await read(f"{bucket}/run/ferry_run_status.json")).problem == "not there"
    with google_storage.opened() as client:
        blobs = client.bucket("status")
        blobs.blob("run/ferry_run_status.json").upload_from_string(SAID)
        blobs.blob("run/large.json").upload_from_string(b" " * (LARGEST_FILE + 10))
    assert await read(f"{bucket}/run/ferry_run_status.json") == READ
    assert (await read(f"{bucket}/run/large.json")).problem == "larger than 64 KiB"


async def test_a_storage_that_cannot_be_reached_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.iris.status_file.READ_WITHIN_SECONDS", 0.2)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "test")
    assert (await read("gs://status/x")).problem.startswith("not readable")
    # The library would go on asking for the bucket for two minutes, in a thread of its own.
    assert not [thread.name for thread in threading.enumerate() if "_fetch_background" in thread.name]
