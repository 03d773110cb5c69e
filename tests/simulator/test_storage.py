"""Buckets over the JSON API: pages, ranges, preconditions, and google-cloud-storage's own reading of them."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from bot.google_storage import NO_LOOK_AT_THE_BUCKET
from simulator.simulator import Simulator

LISTING = "/storage/v1/b/reports/o"


async def get(sim: Simulator, path: str, **headers: str) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.get(f"{sim.storage_url}{path}", headers=headers) as answer:
        return answer.status, await (answer.json() if answer.content_type == "application/json" else answer.read())


async def test_a_listing_comes_in_pages_by_name(simulator: Simulator) -> None:
    for name in ("b/2", "a/1", "b/10", "é/1", "b/1", "c/1"):
        simulator.put_object("reports", name, "{}")
    first = (await get(simulator, f"{LISTING}?prefix=b/&maxResults=2"))[1]
    assert [item["name"] for item in first["items"]] == ["b/1", "b/10"]
    second = (await get(simulator, f"{LISTING}?prefix=b/&maxResults=2&pageToken={first['nextPageToken']}"))[1]
    assert [item["name"] for item in second["items"]] == ["b/2"]
    assert "nextPageToken" not in second
    simulator.world.most_listed = 1
    assert len((await get(simulator, LISTING))[1]["items"]) == 1
    assert (await get(simulator, f"{LISTING}?prefix=x"))[1] == {"kind": "storage#objects"}


async def test_offsets_cut_a_listing(simulator: Simulator) -> None:
    for name in ("a", "b", "c", "d"):
        simulator.put_object("reports", name, "{}")
    listed = (await get(simulator, f"{LISTING}?startOffset=b&endOffset=d"))[1]
    assert [item["name"] for item in listed["items"]] == ["b", "c"]


async def test_a_query_that_is_not_simulated_is_a_violation(simulator: Simulator) -> None:
    simulator.create_bucket("reports")
    await get(simulator, f"{LISTING}?matchGlob=*.json")
    assert simulator.violations == ["storage: a listing was asked with matchGlob"]
    simulator.violations.clear()


async def test_an_object_its_ranges_and_its_generation(simulator: Simulator) -> None:
    simulator.put_object("reports", "a/1", b"0123456789", content_type="text/plain")
    status, known = await get(simulator, f"{LISTING}/a%2F1")
    assert (status, known["size"], known["name"]) == (200, "10", "a/1")
    path = f"/download{LISTING}/a%2F1?alt=media"
    assert await get(simulator, path) == (200, b"0123456789")
    assert await get(simulator, path, Range="bytes=2-4") == (206, b"234")
    assert await get(simulator, path, Range="bytes=8-100") == (206, b"89")
    assert (await get(simulator, path, Range="bytes=10-"))[0] == 416
    assert (await get(simulator, path, Range="bytes=x"))[0] == 400
    simulator.put_object("reports", "a/1", b"other", content_type="text/plain")
    assert (await get(simulator, f"{path}&ifGenerationMatch={known['generation']}"))[0] == 412
    simulator.delete_object("reports", "a/1")
    assert (await get(simulator, path))[0] == 404
    with pytest.raises(LookupError):
        simulator.delete_object("reports", "a/1")


async def test_what_is_not_there_and_trouble(simulator: Simulator) -> None:
    assert (await get(simulator, LISTING))[0] == 404
    simulator.create_bucket("reports")
    simulator.fault("status", path=LISTING, status=503)
    assert [(await get(simulator, LISTING))[0] for _ in range(2)] == [503, 200]
    assert [one.origin for one in simulator.requests()] == ["storage"] * 3


async def test_googles_own_client_reads_it(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", simulator.storage_url)
    monkeypatch.setenv(NO_LOOK_AT_THE_BUCKET, "true")
    simulator.world.most_listed = 2
    for number in range(5):
        simulator.put_object("reports", f"r/{number}", f"report {number}")

    def read() -> list[bytes]:
        from google.cloud.storage import Client

        client = Client(project=None)
        try:
            # Without a range the client holds what it got against the hash that came with it.
            return [blob.download_as_bytes() for blob in client.list_blobs("reports", prefix="r/")]
        finally:
            client.close()

    assert await asyncio.to_thread(read) == [f"report {number}".encode() for number in range(5)]
