"""A real headless Chromium, spoken to over the DevTools protocol: what a page looks like and does for a reader.

Protocol: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

START_WITHIN_SECONDS = 60.0
ANSWER_WITHIN_SECONDS = 60.0
# A promise that is kept when the condition holds: looked at whenever the page changes.
_UNTIL = """
new Promise((done) => {
  const watch = new MutationObserver(() => look());
  const look = () => { if (CONDITION) { watch.disconnect(); done(true); } };
  watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
  look();
})
"""
DESKTOP, PHONE = (1280, 900), (390, 844)


@dataclass
class Tab:
    """A page that is open."""

    socket: aiohttp.ClientWebSocketResponse
    said: list[str] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _answers: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)
    _loaded: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send_json({"id": number, "method": method, "params": params})
        async with asyncio.timeout(ANSWER_WITHIN_SECONDS):
            result: dict[str, Any] = await answer
        return result

    async def listen(self) -> None:
        async for message in self.socket:
            told = json.loads(message.data)
            if "id" in told:
                self._answers.pop(told["id"]).set_result(told.get("result", told))
            elif told["method"] == "Page.loadEventFired":
                self._loaded.set()
            elif told["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(json.dumps(told["params"]))

    async def look(self, size: tuple[int, int], *, dark: bool = False) -> None:
        """From now on a window of this size, of a reader who likes it light or dark."""
        width, height = size
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def go(self, url: str) -> None:
        self._loaded.clear()
        await self.call("Page.navigate", url=url)
        async with asyncio.timeout(ANSWER_WITHIN_SECONDS):
            await self._loaded.wait()

    async def without_scripts(self) -> None:
        await self.call("Emulation.setScriptExecutionDisabled", value=True)

    async def ask(self, script: str) -> Any:
        """What the expression is worth; a promise is waited for."""
        answer = await self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    async def text(self) -> str:
        return str(await self.ask("document.body.innerText"))

    async def until(self, condition: str) -> None:
        """Return when the condition holds: looked at whenever the page changes."""
        held = await self.ask(_UNTIL.replace("CONDITION", condition))
        assert held

    async def scrolls_sideways(self) -> bool:
        return bool(await self.ask("document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    async def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        shot = await self.call("Page.captureScreenshot", captureBeyondViewport=True)
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))


@asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Tab]:
    """A browser of its own with one empty tab; gone afterwards."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "the tests need a Chromium: apt-get install chromium"
    profile = folder / "chromium"
    process = await asyncio.create_subprocess_exec(
        program,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
    )
    try:
        async with aiohttp.ClientSession() as session:
            async with asyncio.timeout(START_WITHIN_SECONDS):
                port = await _port(process)
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
            async with session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                tab = Tab(socket)
                listening = asyncio.create_task(tab.listen())
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                try:
                    yield tab
                finally:
                    listening.cancel()
                    await asyncio.gather(listening, return_exceptions=True)
    finally:
        process.kill()
        # Its pipe is read to its end, or the loop closes with it open.
        await process.communicate()


async def _port(process: asyncio.subprocess.Process) -> int:
    """Chromium says on standard error where it listens."""
    assert process.stderr is not None
    async for line in process.stderr:
        words = line.decode(errors="replace")
        if "DevTools listening on ws://" in words:
            return int(words.rpartition("ws://")[2].partition("/")[0].rpartition(":")[2])
    raise AssertionError("chromium ended before it listened")
