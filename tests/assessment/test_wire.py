"""The assessment in a process of its own, over real pipes."""

from __future__ import annotations

import subprocess
import sys

from bot.assessment.assess import assess
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.wire import decode_answer, encode_request
from bot.config.load import builtin_config
from bot.config.schema import Scope

CHANGES = (
    FileChange("lib/zephyr/src/zephyr/plan.py", "modified", None, b"X = 1\n", b"X = 1  # \xc3\xa9\n"),
    FileChange("lib/zephyr/src/zephyr/spill.py", "modified", None, b"\xff\x00", b"X = 2\n"),
    FileChange("lib/fray/a.py", "renamed", "lib/fray/b.py"),
)


def child(request: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "bot.assessment"], input=request, capture_output=True, check=False)


def test_a_child_answers_exactly_as_this_process_would() -> None:
    modules = builtin_config().modules
    package = PackageView({"lib/zephyr/src/zephyr/__init__.py": b""}, {"lib/zephyr/src/zephyr/__init__.py": b""})
    done = child(encode_request(CHANGES, Scope(), modules, package))
    assert done.returncode == 0, done.stderr
    assert decode_answer(done.stdout) == assess(CHANGES, Scope(), modules, package)


def test_a_malformed_request_is_a_sentence_and_exit_2() -> None:
    done = child(b'{"changes": 1}')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"not an assessment request: ")
