"""Every asynchronous test runs on uvloop, as `serve` does: it differs from asyncio's own loop where pipes end.

And every test finds one umask, whatever the shell's is, and leaves it: folders that others cannot enter, made under the
umask of an earlier test's server, keep the sandbox's user from its tree.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Generator, Iterator, Mapping

import pytest
import uvloop
from aiohttp import web_app

_UMASK = 0o022


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture(autouse=True)
def one_umask() -> Iterator[None]:
    before = os.umask(_UMASK)
    yield
    left = os.umask(before)
    assert left == _UMASK, "what changes the umask of its process runs in a process of its own"


@pytest.fixture(autouse=True)
def logging_left_alone() -> Iterator[None]:
    """Else later tests do not find what was logged, or find it redacted."""
    handlers = len(logging.getLogger().handlers)
    yield
    assert len(logging.getLogger().handlers) >= handlers, "what sets up logging runs in a process of its own"


@pytest.fixture(autouse=True)
def no_world_is_kept() -> Iterator[None]:
    """aiohttp remembers a thousand handlers and so their simulated worlds: each child would start slower."""
    yield
    web_app._cached_build_middleware.cache_clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Reports travel between processes, as UTF-8; what a test logged on purpose may hold what that cannot say."""
    report = yield
    report.sections = [(name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections]
    return report
