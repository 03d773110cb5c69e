"""Where the pages of a deployment are, for whoever links to them: the comment, the check runs."""

from __future__ import annotations

import re
from urllib.parse import quote

_PLAIN_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~-]+)*/?")


def is_plain_address(address: str) -> bool:
    """Whether a link to it can stand in Markdown, with a path of ours behind it."""
    return _PLAIN_ADDRESS.fullmatch(address) is not None


def run_page(public_url: str | None, run_id: str) -> str | None:
    """The address of the page of one run; None where the deployment has no public address (PERF_GATE_PUBLIC_URL)."""
    return None if public_url is None else f"{public_url}/runs/{quote(run_id, safe='')}"
