"""How an operator writes a value in an environment variable, and what is made of it. Wrong forms are ValueErrors."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr

from bot.config.addresses import is_plain_address

_CLUSTER = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
# A path as people name keys; a key whose first and last lines were lost, in one line, is longer and has no such end.
_PATH = re.compile(r"[\w./~-]{1,200}\.(?:pem|key)|(?:/[\w.-]{1,40}){1,8}")
# Bucket names: https://cloud.google.com/storage/docs/buckets#naming
_BUCKET_FOLDER = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](/[A-Za-z0-9=._-]+)*/?")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?")


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _repositories(value: object) -> object:
    if not isinstance(value, str):
        return value
    names = frozenset(part.lower() for part in _parts(value))
    if bad := sorted(n for n in names if n.count("/") != 1 or n.startswith("/") or n.endswith("/")):
        raise ValueError(f"{bad[0]!r} is not owner/name")
    return names


def _hosts(value: object) -> object:
    if not isinstance(value, str):
        return value
    hosts = tuple(part.lower() for part in _parts(value))
    if bad := [host for host in hosts if not _HOST.fullmatch(host)]:
        raise ValueError(f"{bad[0]!r} is neither host nor host:port")
    return hosts


def _clusters(value: object) -> object:
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in _parts(value)]
    if bad := [name for name, _, _ in pairs if not _CLUSTER.fullmatch(name)]:
        raise ValueError(f"{bad[0]!r} is no name: lower-case letters, digits and hyphens")
    if bad := [name for name, _, at in pairs if not at.startswith(("http://", "https://", "/"))]:
        raise ValueError(f"{bad[0]!r} has neither an address of the form https://host nor an absolute path")
    return tuple((name, at) for name, _, at in pairs)


def _names(value: object) -> object:
    return tuple(_parts(value)) if isinstance(value, str) else value


def _folders(value: object) -> object:
    return tuple(Path(part) for part in value.split(os.pathsep) if part) if isinstance(value, str) else value


def _key(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if "PRIVATE KEY" not in text:
        try:
            text = Path(text).read_text("utf-8", errors="replace")
        except OSError as error:
            named = f": {text}" if _PATH.fullmatch(text) else ""
            raise ValueError(f"neither PEM text nor a readable file{named}: {error.strerror}") from None
    if "PRIVATE KEY" not in text:
        raise ValueError(f"the file {value.get_secret_value()} holds no PEM private key")
    # Variables often carry the line breaks as two characters.
    return SecretStr(text.replace("\\n", "\n"))


def at_least(characters: int) -> Callable[[SecretStr], SecretStr]:
    """Refuses a secret that is shorter: it could be guessed."""

    def checked(value: SecretStr) -> SecretStr:
        if len(value.get_secret_value()) < characters:
            raise ValueError(f"shorter than {characters} characters")
        return value

    return checked


def _postgres(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("postgresql://", "postgres://")):
        raise ValueError("not of the form postgresql://user:password@host/name")
    return value


def _address(value: str) -> str:
    if not (value.startswith(("http://", "https://")) and urlsplit(value).netloc):
        raise ValueError("not an address of the form https://host")
    return value


def _page_address(value: str) -> str:
    """It stands in Markdown links, with a path of ours behind it."""
    if not is_plain_address(_address(value)):
        raise ValueError("not a plain address such as https://host or https://host/folder")
    return value.rstrip("/")


def _status_prefix(value: str) -> str:
    if not value.startswith(("gs://", "/")):
        raise ValueError("neither gs://bucket/folder nor an absolute path")
    return value


def _bucket_folder(value: str) -> str:
    if not _BUCKET_FOLDER.fullmatch(value):
        raise ValueError("not gs://bucket/folder")
    return value.rstrip("/")


AbsolutePath = Annotated[Path, AfterValidator(Path.absolute)]
Address = Annotated[str, AfterValidator(_address)]
PageAddress = Annotated[str, AfterValidator(_page_address)]
BucketFolder = Annotated[str, AfterValidator(_bucket_folder)]
StatusPrefix = Annotated[str, AfterValidator(_status_prefix)]
DatabaseUrl = Annotated[SecretStr, AfterValidator(_postgres)]
PrivateKey = Annotated[SecretStr, AfterValidator(_key)]
Repositories = Annotated[frozenset[str], BeforeValidator(_repositories)]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Hosts = Annotated[tuple[str, ...], BeforeValidator(_hosts)]
Folders = Annotated[tuple[Path, ...], BeforeValidator(_folders)]
Clusters = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_clusters)]
