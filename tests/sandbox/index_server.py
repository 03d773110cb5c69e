"""A package index on loopback that speaks real TLS, with an authority of its own and one wheel to install."""

from __future__ import annotations

import hashlib
import io
import ipaddress
import ssl
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.sandbox.packages import Packages
from bot.sandbox.proxy import Host, Streams, dial

NAME = "packages.example.org"
KEPT = {"Cache-Control": "max-age=3600"}


@dataclass
class Index:
    """`host` is what clients ask for; `dial` leads to where it really listens. `asked` are the paths that it heard."""

    certificates: Path
    port: int = 0
    asked: list[str] = field(default_factory=list)
    dialled: list[Host] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"https://{NAME}:{self.port}/simple"

    def packages(self, seed: Path | None = None) -> Packages:
        return Packages(self.url, seed=seed, certificates=self.certificates)

    async def dial(self, host: Host) -> Streams:
        self.dialled.append(host)
        return await dial(Host("127.0.0.1", host.port) if host.name == NAME else host)


def wheel() -> bytes:
    """`canaries`, version 1.0: a package of two modules."""
    data = io.BytesIO()
    info = "canaries-1.0.dist-info"
    files = {
        "canaries/__init__.py": "from canaries.song import SONG\n",
        "canaries/song.py": "SONG = 'tweet'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: canaries\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return data.getvalue()


@asynccontextmanager
async def index_server(folder: Path) -> AsyncIterator[Index]:
    """`folder` must be one that every user of this machine can enter."""
    index = Index(folder / "authority.pem")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(_certificate(index.certificates))
    body = wheel()
    file = "canaries-1.0-py3-none-any.whl"

    async def answer(request: web.Request) -> web.Response:
        index.asked.append(request.path)
        if request.path == "/simple/canaries/":
            link = f'<a href="/files/{file}#sha256={hashlib.sha256(body).hexdigest()}">{file}</a>'
            return web.Response(text=link, content_type="text/html", headers=KEPT)
        if request.path == f"/files/{file}":
            return web.Response(body=body, content_type="application/octet-stream", headers=KEPT)
        return web.Response(status=404)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    (address,) = runner.addresses
    index.port = address[1]
    try:
        yield index
    finally:
        await runner.cleanup()


def _certificate(authority: Path) -> Path:
    """Write the authority's certificate there, and beside it the server's with its key."""
    issuer_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
    names = x509.SubjectAlternativeName([x509.DNSName(NAME), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = datetime.now(UTC)

    def build(subject: x509.Name, public: ec.EllipticCurvePublicKey, extension: x509.ExtensionType) -> bytes:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(public)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        builder = builder.not_valid_after(now + timedelta(days=1)).add_extension(extension, critical=False)
        usage = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
        builder = builder.add_extension(usage, critical=False)
        return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    authority.write_bytes(build(issuer, issuer_key.public_key(), x509.BasicConstraints(ca=True, path_length=None)))
    authority.chmod(0o644)
    server = authority.with_name("server.pem")
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    server.write_bytes(build(subject, key.public_key(), names) + private)
    return server
