"""`perf-gate replay DELIVERY.json`: a saved delivery, signed and sent to a running server, as GitHub would."""

from __future__ import annotations

import hmac
import http.client
import json
import os
import re
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from bot.cli.state import refuse
from bot.config.environment import MissingSettings, secret_value
from bot.config.settings import PREFIX

_SECONDS = 30.0
# What tells one event from another where the file does not name it; the more telling first.
_TELLING = (
    ({"comment", "issue"}, "issue_comment"),
    ({"comment", "pull_request"}, "pull_request_review_comment"),
    ({"review", "pull_request"}, "pull_request_review"),
    ({"check_run"}, "check_run"),
    ({"check_suite"}, "check_suite"),
    ({"pull_request"}, "pull_request"),
    ({"hook", "zen"}, "ping"),
)
_HEADER = re.compile(r"[!-~]{1,100}")


class Saved(msgspec.Struct, frozen=True):
    """`body`: the bytes that are signed and sent."""

    event: str
    guid: str
    body: bytes


@click.command("replay", short_help="Send a saved delivery to a running server, signed.")
@click.argument("file", metavar="DELIVERY.json", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--to", "address", metavar="URL", help="The server's door; default: the one on this machine.")
@click.option("--event", help="The X-GitHub-Event of a bare payload, where it cannot be told from its content.")
@click.option("--same-id", is_flag=True, help="Keep the saved GUID: a server that had it says so and does nothing.")
def command(file: Path, address: str | None, event: str | None, same_id: bool) -> None:
    """Feed a delivery to perf-gate serve: one that GitHub's API gave (`/app/hook/deliveries/ID`), or a bare payload.

    It is signed with PERF_GATE_WEBHOOK_SECRET. Exits 1 where the server refuses it, and says its reason.
    """
    try:
        secret = secret_value("webhook_secret")
    except MissingSettings as error:
        refuse(str(error))
    if not secret:
        refuse(f"set {PREFIX}WEBHOOK_SECRET (or {PREFIX}WEBHOOK_SECRET_FILE), the secret of the running server")
    saved = _read(file, event)
    guid = _as_header(saved.guid) if same_id and saved.guid else str(uuid.uuid4())
    status, said = _send(address or _here(), saved, guid, secret.encode())
    click.echo(f"{status} {said}")
    if status != 202:
        raise SystemExit(1)
    click.echo(f"perf-gate trace {guid}")


def _here() -> str:
    host = os.environ.get(f"{PREFIX}HOST", "") or "127.0.0.1"
    port = os.environ.get(f"{PREFIX}PORT", "") or "8080"
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 — listened on, and reached as this machine
    return f"http://{f'[{here}]' if ':' in here else here}:{port}/webhook"


def _read(file: Path, event: str | None) -> Saved:
    """Ends the command with 2 where the file is no delivery."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        refuse(f"{file} cannot be read as JSON: {error}")
    if not isinstance(found, dict):
        refuse(f"{file} holds no JSON object")
    request = found.get("request")
    if isinstance(request, dict) and isinstance(request.get("payload"), dict):
        return Saved(event or str(found.get("event", "")), str(found.get("guid", "")), _bytes(request["payload"]))
    told = event or next((name for keys, name in _TELLING if keys <= found.keys()), None)
    if told is None:
        refuse(f"{file} does not say which event it is; give --event")
    return Saved(told, "", _bytes(found))


def _as_header(value: str) -> str:
    """Ends the command with 2 where no header can hold it."""
    if not _HEADER.fullmatch(value):
        refuse(f"{value!r} is no event's name and no GUID; mend the file, or give --event")
    return value


def _bytes(payload: dict[str, Any]) -> bytes:
    return json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()


def _send(address: str, saved: Saved, guid: str, secret: bytes) -> tuple[int, str]:
    if not address.startswith(("http://", "https://")):
        refuse(f"{address} is not an address of the form http://host:port/webhook")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/perf-gate-replay",
        "X-GitHub-Event": _as_header(saved.event),
        "X-GitHub-Delivery": guid,
        "X-Hub-Signature-256": "sha256=" + hmac.new(secret, saved.body, "sha256").hexdigest(),
    }
    request = urllib.request.Request(address, saved.body, headers)  # noqa: S310 — the scheme is checked above
    try:
        # Straight there: a proxy of this machine's knows nothing of what listens on it.
        proxies = {} if _is_here(address) else urllib.request.getproxies()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        with opener.open(request, timeout=_SECONDS) as answer:
            return answer.status, answer.read(2000).decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read(2000).decode(errors="replace")
    except http.client.HTTPException as error:
        refuse(f"what answers at {address} speaks no HTTP ({type(error).__name__}); does --to lead to perf-gate serve?")
    except OSError as error:
        refuse(f"nobody answers at {address}: {getattr(error, 'reason', error)}; is perf-gate serve running?")


def _is_here(address: str) -> bool:
    return urlsplit(address).hostname in ("127.0.0.1", "::1", "localhost")
