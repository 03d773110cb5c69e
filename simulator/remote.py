"""A simulator in another process, driven over its control side."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import aiohttp


class ControlRefused(Exception):
    """The control side answered with an error; the message is its own."""


class RemoteSimulator:
    """`async with RemoteSimulator(control_url) as sim: await sim.call("comment", repository=…, number=1, …)`.

    Verbs and arguments are those of `Simulator`, in the JSON that `simulator.control` describes.
    """

    def __init__(self, control_url: str) -> None:
        self._url = control_url
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # A wait lasts as long as its own `within` says.
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def call(self, verb: str, **arguments: Any) -> Any:
        """The verb's result. Raises ControlRefused; TimeoutError where a wait outlived its `within`."""
        if self._session is None:
            raise ControlRefused("enter the simulator first: async with RemoteSimulator(...)")
        async with self._session.post(f"{self._url}/{verb}", json=arguments) as response:
            body = await response.json()
        if response.status == 408:
            raise TimeoutError(f"{verb}: {body['error']}")
        if "error" in body:
            raise ControlRefused(f"{verb}: {body['error']}")
        return body["result"]
