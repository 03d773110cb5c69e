"""Keys that no App should have."""

from __future__ import annotations

import base64


def damaged(private_pem: str) -> str:
    """An RSA key of 2,048 bits in the traditional form, with one bit of its private exponent turned.

    PEM and DER are as sound as before.
    """
    first, *lines, last = private_pem.strip().split("\n")
    der = bytearray(base64.b64decode("".join(lines)))
    # Behind the modulus of 256 bytes, before the primes.
    der[400] ^= 1
    return "\n".join([first, base64.b64encode(der).decode(), last, ""])
