"""wrk at the door: signed deliveries of 25 KB, each with a GUID of its own."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """
local file = io.open("{body}", "rb")
local body = file:read("*a")
file:close()
local count = 0
local headers = {{
  ["Content-Type"] = "application/json",
  ["X-GitHub-Event"] = "issue_comment",
  ["X-Hub-Signature-256"] = "{signature}",
}}
request = function()
  count = count + 1
  headers["X-GitHub-Delivery"] = "{prefix}-" .. count
  return wrk.format("POST", nil, headers, body)
end
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("measured %d %d %d %d %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
"""


@dataclass(frozen=True)
class Figures:
    """Requests a second, and milliseconds."""

    rate: float
    p50: float
    p99: float


def press(url: str, body: bytes, secret: str, connections: int, seconds: int, folder: Path) -> Figures:
    """Deliver for so many seconds. Raises RuntimeError where any delivery was not accepted."""
    (folder / "body.json").write_bytes(body)
    script = folder / "deliver.lua"
    signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    script.write_text(_SCRIPT.format(body=folder / "body.json", signature=signature, prefix=secrets.token_hex(8)))
    words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", str(script), url]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("measured "))
    count, microseconds, p50, p99, errors = map(int, line.split()[1:])
    if errors or not count:
        raise RuntimeError(f"{errors} deliveries of {count} failed at {url}:\n{done.stdout}")
    return Figures(count / (microseconds / 1e6), p50 / 1000, p99 / 1000)
