"""Whom a TLS client asks for: one address may serve many names, and the client chooses by its first message."""

from __future__ import annotations

import asyncio
import ssl

# A first message has some 2,000 bytes; more than a record of them is none (RFC 8446, section 5.1).
_MOST = 2**14
# RFC 8446, section 6: a fatal alert, unrecognized_name.
REFUSAL = b"\x15\x03\x03\x00\x02\x02\x70"


class NotTls(Exception):
    """What came is no TLS."""


async def read_server_name(reader: asyncio.StreamReader) -> tuple[bytes, str | None]:
    """What was read, which has yet to be passed on, and the name in lower case; None where the client names none.
    Raises NotTls.

    OpenSSL reads it, as a server that ends the handshake once it has heard the name.
    """
    names: list[str | None] = []

    def hear(_: ssl.SSLObject | ssl.SSLSocket, name: str | None, __: ssl.SSLContext) -> int:
        names.append(name)
        return int(ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = hear
    incoming = ssl.MemoryBIO()
    server = context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True)
    data = b""
    while not names and len(data) < _MOST and (piece := await reader.read(_MOST)):
        data += piece
        incoming.write(piece)
        try:
            server.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLError:
            break
    if not names:
        raise NotTls
    (name,) = names
    return data, name.lower() if name is not None else None
