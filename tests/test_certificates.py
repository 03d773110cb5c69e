"""A start reads no certificates; before the bot asks anybody for anything they are read."""

from __future__ import annotations

import ssl
import subprocess
import sys

from bot import certificates

# What aiohttp does when it is imported, in a process of its own, since here it was long ago.
IMPORTED = """
from bot import certificates
with certificates.read_later():
    from aiohttp import connector
verified, unverified = connector._SSL_CONTEXT_VERIFIED, connector._SSL_CONTEXT_UNVERIFIED
print(len(verified.get_ca_certs()), len(unverified.get_ca_certs()))
certificates.read()
print(len(verified.get_ca_certs()), len(unverified.get_ca_certs()))
"""


def test_what_is_made_meanwhile_trusts_nobody_until_certificates_are_read() -> None:
    with certificates.read_later():
        strict, lax = ssl.create_default_context(), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        lax.check_hostname = False
        lax.verify_mode = ssl.CERT_NONE
        lax.set_default_verify_paths()
    at_once = ssl.create_default_context()
    assert at_once.get_ca_certs(), "this machine has certificates"
    assert strict.get_ca_certs() == []
    assert strict.verify_mode is ssl.CERT_REQUIRED
    certificates.read()
    assert strict.get_ca_certs() == at_once.get_ca_certs()
    assert lax.get_ca_certs() == []


def test_the_client_of_github_gets_its_certificates() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    before, after = done.stdout.splitlines()
    assert before == "0 0"
    assert after == f"{len(ssl.create_default_context().get_ca_certs())} 0"
