"""The certificates that TLS trusts, read once the process listens: reading them is a tenth of a start.

aiohttp makes two contexts when it is imported, and each reads all the machine's certificates from its disk. Until they
are read such a context trusts nobody.
Source: https://docs.python.org/3/library/ssl.html#ssl.SSLContext.set_default_verify_paths
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

_unread: list[ssl.SSLContext] = []


@contextmanager
def read_later() -> Iterator[None]:
    """Contexts made meanwhile read nothing before `read`. Not while other threads make some."""

    def later(context: ssl.SSLContext) -> None:
        _unread.append(context)

    at_once = ssl.SSLContext.set_default_verify_paths
    ssl.SSLContext.set_default_verify_paths = later  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        ssl.SSLContext.set_default_verify_paths = at_once  # type: ignore[method-assign]


def read() -> None:
    """Takes some hundredths of a second, mostly without the interpreter's lock."""
    while _unread:
        context = _unread.pop()
        # Who asks for no proof needs nothing to prove it by.
        if context.verify_mode is not ssl.CERT_NONE:
            context.set_default_verify_paths()
