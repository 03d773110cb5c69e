"""The peer: Probot, a real node server with the same webhook secret, its signature check and a trivial handler."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

VERSION = "14.3.2"
PATH = "/api/github/webhooks"
APP = """
export default (app) => {
  app.on("issue_comment.created", async () => {});
};
"""


class NoPeer(RuntimeError):
    """The message says what is missing."""


def install(cache: Path) -> Path:
    """The folder with Probot in it, filled by npm when it is not there yet. Raises NoPeer."""
    for tool in ("node", "npm", "wrk"):
        if shutil.which(tool) is None:
            package = {"node": "nodejs"}.get(tool, tool)
            raise NoPeer(f"the peer needs {tool}; on Debian: apt-get install {package}")
    folder = cache / f"probot-{VERSION}"
    if not (folder / "node_modules" / "probot").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), f"probot@{VERSION}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoPeer(f"npm could not install probot {VERSION}: {done.stderr[-500:]}")
    (folder / "package.json").write_text('{"type": "module", "dependencies": {"probot": "' + VERSION + '"}}')
    (folder / "app.js").write_text(APP)
    return folder


def node_version() -> str:
    return subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def command(folder: Path) -> list[str]:
    return ["node", str(folder / "node_modules" / "probot" / "bin" / "probot.js"), "run", str(folder / "app.js")]


def environment(port: int, key: str, secret: str, github: str) -> dict[str, str]:
    """As deployed: production mode, its default log level."""
    return {
        "PATH": os.environ["PATH"],
        "NODE_ENV": "production",
        "APP_ID": "1",
        "PRIVATE_KEY": key,
        "WEBHOOK_SECRET": secret,
        "PORT": str(port),
        "HOST": "127.0.0.1",
        "GHE_HOST": github,
        "GHE_PROTOCOL": "http",
    }
