"""The choice of one heap is the process's, so it is made in one of its own."""

from __future__ import annotations

import platform
import subprocess
import sys


def test_all_threads_share_one_heap_where_the_c_library_has_the_choice() -> None:
    words = [sys.executable, "-c", "from bot.heap import share_one_heap; print(share_one_heap())"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(platform.libc_ver()[0] == "glibc")
