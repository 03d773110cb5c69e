"""Whether GitHub sent it: HMAC-SHA256 over the body's bytes.

Source: GitHub, "Validating webhook deliveries". gidgethub's own check raises TypeError on a header that is not ASCII.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence


class Secrets:
    """The webhook secrets that count: the present one and, while it is being rotated, the one before."""

    def __init__(self, secrets: bytes | Sequence[bytes]) -> None:
        given = (secrets,) if isinstance(secrets, bytes) else tuple(secrets)
        if not given or not all(given):
            raise ValueError("a webhook secret must not be empty: anybody could sign with it")
        self._keyed = [hmac.new(secret, digestmod="sha256") for secret in given]

    def signed(self, body: bytes, header: str | None) -> bool:
        """Whether the `X-Hub-Signature-256` header is the signature of these bytes by one of the secrets."""
        if header is None:
            return False
        # What is not ASCII becomes a question mark, which no signature contains.
        given = header.encode("ascii", "replace")
        matches = [hmac.compare_digest(given, _signature(keyed, body)) for keyed in self._keyed]
        return any(matches)


def _signature(keyed: hmac.HMAC, body: bytes) -> bytes:
    signing = keyed.copy()
    signing.update(body)
    return b"sha256=" + signing.hexdigest().encode()
