"""What an assessment costs: a small change through the command as a person starts it, a very large one in a process.

The large one is made of real code: the modules of a wheel, copied under new names until there are thirty, with every
third function of each renamed, so that ten thousand lines differ and nothing cancels out.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.assessment.generator.wheels import ROOT, download, read_package
from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.wire import decode_answer, encode_request
from bot.config.load import builtin_config

FILES = 30
CHANGED_LINES = 10_000
RUNS = 9
_CODE = re.compile(rb"^( +)(\w[\w.]* = )(?!\()(.+[^,(\[{\\:])$", re.MULTILINE)


def report(wheel: Path | None) -> list[str]:
    """Measures and says; asserts nothing, because the clock of a busy machine proves nothing."""
    package = read_package(wheel or download()[-1])
    return [_small(package), _large(package)]


def _small(package: dict[str, bytes]) -> str:
    """Median and worst of several starts of `perf-gate assess` on one changed number."""
    path = f"{ROOT}/shuffle.py"
    changed = re.sub(rb"^(_?[A-Z_]+ = )(\d)", rb"\g<1>9\2", package[path], count=1, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        sides = [Path(folder) / side for side in ("base", "head")]
        for side, own in zip(sides, (package[path], changed), strict=True):
            for name, text in {**package, path: own}.items():
                (side / name).parent.mkdir(parents=True, exist_ok=True)
                (side / name).write_bytes(text)
        command = [str(Path(sys.executable).with_name("perf-gate")), "assess", "--json"]
        command += ["--base-dir", str(sides[0]), "--head-dir", str(sides[1])]
        seconds = []
        for _ in range(RUNS):
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - began)
    seconds.sort()
    return f"one changed number: median {seconds[RUNS // 2]:.2f} s, worst {seconds[-1]:.2f} s of {RUNS} starts"


def _large(package: dict[str, bytes]) -> str:
    config = builtin_config()
    base = _many(package)
    head, lines = dict(base), 0
    for path in sorted(base, key=lambda name: -len(base[name])):
        head[path], made = _CODE.subn(rb"\1\2_measured(\3)", base[path])
        lines += 2 * made
    order = sorted(base)
    grown = _grown(head, order, CHANGED_LINES - lines)
    changes = [FileChange(path, "modified", None, base[path], grown[path]) for path in order]
    request = encode_request(changes, config.scope, config.modules, PackageView(base, grown))
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "bot.assessment"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        answer, _ = child.communicate(request)
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    gate = decode_answer(answer).max_gate
    return (
        f"{len(changes)} files, {max(lines, CHANGED_LINES)} changed lines: {seconds:.2f} s, {memory:.0f} MB, "
        f"max_gate {gate} ({os.cpu_count()} cores)"
    )


def _many(package: dict[str, bytes]) -> dict[str, bytes]:
    """The package's modules, copied until there are enough files to change."""
    found = {path: text for path, text in package.items() if len(text) > 1000}
    originals = list(found.items())
    for number in range(FILES - len(found)):
        path, text = originals[number % len(originals)]
        found[path.replace(".py", f"_{number}.py")] = text
    kept = dict(list(found.items())[:FILES])
    return {**kept, f"{ROOT}/__init__.py": package[f"{ROOT}/__init__.py"]}


def _grown(head: dict[str, bytes], order: list[str], missing: int) -> dict[str, bytes]:
    """New functions, where the changed assignments alone are not lines enough."""
    each = max(0, -(-missing // (5 * len(order))))
    body = "\n\ndef _added_{0}(rows):\n    kept = [row for row in rows if row.size > {0}]\n    return sorted(kept)\n"
    added = "".join(body.format(number) for number in range(each)).encode()
    return {path: head[path] + added for path in order}
