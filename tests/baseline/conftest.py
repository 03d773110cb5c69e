"""The same scripted GitHub as in the tests of the adapter."""

from __future__ import annotations

from tests.github.conftest import gh, now, private_key_pem, service

__all__ = ["gh", "now", "private_key_pem", "service"]
