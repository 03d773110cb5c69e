"""Where dependencies come from inside a cage: the operator's package index through the door, and a seeded cache.

The seed is read-only. Each run has a cache of its own, which begins with the seed's entries: what a pull request's
build backend leaves in it is gone with the run, and no later one meets it.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from bot.sandbox.forwarder import PORT
from bot.sandbox.proxy import HTTPS, Host

SEED, CACHE = "/packages", "/cache"
# Where PyPI's index sends for the files themselves (https://docs.pypi.org/api/index-api/).
_FILES_OF = {"pypi.org": ("files.pythonhosted.org",)}
# uv locks and writes what it reads, so it needs a cache of its own. What takes the room are the unpacked archives, and
# their files it only reads: links to the seed's will do, in folders of its own, for uv copies no folder through a link.
# Until it is marked as filled no command has run, so whatever stands there is what a killed filling left.
FILL = f"""
fill() {{
  [ -e {CACHE}/.filled ] && return
  for left in {CACHE}/uv {CACHE}/.filling; do
    [ ! -e "$left" ] || {{ chmod -R u+rwX "$left" && rm -rf "$left"; }} || return
  done
  mkdir -p {CACHE}/.filling && for entry in {SEED}/* {SEED}/.[!.]*; do
    case "$entry" in
      */archive-v*) cp -rs "$entry" {CACHE}/.filling/ ;;
      *) [ ! -e "$entry" ] || cp -r "$entry" {CACHE}/.filling/ ;;
    esac || return
  done && mv {CACHE}/.filling {CACHE}/uv && touch {CACHE}/.filled
}}
"""


class Packages(msgspec.Struct, frozen=True):
    """`index` is an https address such as https://pypi.org/simple, `hosts` more hosts that it sends to, `seed` a folder
    that uv once used as its cache, `certificates` a file of authorities to trust instead of the system's."""

    index: str = ""
    hosts: tuple[Host, ...] = ()
    seed: Path | None = None
    certificates: Path | None = None

    @property
    def reachable(self) -> frozenset[Host]:
        """The hosts that the door leads to."""
        if not self.index:
            return frozenset()
        parts = urlsplit(self.index)
        name = (parts.hostname or "").lower()
        return frozenset({Host(name, parts.port or HTTPS), *map(Host, _FILES_OF.get(name, ())), *self.hosts})

    def environment(self) -> dict[str, str]:
        """What package clients are told. Without an index they are told not to look for one, and say so at once."""
        cache = {"UV_CACHE_DIR": f"{CACHE}/uv", "PIP_CACHE_DIR": f"{CACHE}/pip"}
        cache |= {"UV_PYTHON_DOWNLOADS": "never", "UV_LINK_MODE": "copy"}
        if not self.index:
            return cache | {"UV_OFFLINE": "1", "PIP_NO_INDEX": "1"}
        proxy = f"http://127.0.0.1:{PORT}"
        trust = str(self.certificates) if self.certificates else ""
        trusted = {"SSL_CERT_FILE": trust, "PIP_CERT": trust, "REQUESTS_CA_BUNDLE": trust} if trust else {}
        return (
            cache
            | trusted
            | {"HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": "localhost,127.0.0.1,::1"}
            | {"UV_DEFAULT_INDEX": self.index, "PIP_INDEX_URL": self.index}
        )
