"""Where the pages of a deployment are, for whoever links to them: the comment, the check runs."""

from __future__ import annotations

from urllib.parse import quote


def run_page(public_url: str | None, run_id: str) -> str | None:
    """The address of the page of one run; None where the deployment has no public address (PERF_GATE_PUBLIC_URL)."""
    return None if public_url is None else f"{public_url}/runs/{quote(run_id, safe='')}"
