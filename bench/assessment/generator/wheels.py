"""Real sources: nightly wheels of marin-zephyr through pip, and folders that hold the package."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = "lib/zephyr/src/zephyr"
# From the first weeks to the latest, so that no rule is fitted to one month's code.
VERSIONS = (
    "0.2.1.dev202605292307",
    "0.2.15.dev202606130841",
    "0.2.38.dev202607060946",
    "0.2.60.dev30223685542",
    "0.2.100.dev33742804442",
    "0.2.150.dev37843708094",
    "0.2.200.dev39117391147",
    "0.2.227.dev40316220070",
)
CACHE = Path("build/wheels")


def download(versions: Sequence[str] = VERSIONS, cache: Path = CACHE) -> list[Path]:
    """The wheels of these versions, fetched where they are not kept already. Raises CalledProcessError."""
    cache.mkdir(parents=True, exist_ok=True)
    found = []
    for version in versions:
        place = cache / f"marin_zephyr-{version}-py3-none-any.whl"
        if not place.exists():
            how = ("--quiet", "--no-deps", "--pre", "--only-binary=:all:", "--python-version", "3.12")
            command = [sys.executable, "-m", "pip", "download", *how, "--dest", str(cache), f"marin-zephyr=={version}"]
            subprocess.run(command, check=True)
        found.append(place)
    return found


def read_package(place: Path) -> dict[str, bytes]:
    """The sources of a wheel, or of a folder that holds the package (`.py` or `.py.txt`), by repository path."""
    if place.is_dir():
        files = sorted(one for one in place.rglob("*") if one.name.endswith((".py", ".py.txt")))
        return {f"{ROOT}/{one.relative_to(place).as_posix().removesuffix('.txt')}": one.read_bytes() for one in files}
    with zipfile.ZipFile(place) as wheel:
        names = [name for name in wheel.namelist() if name.startswith("zephyr/") and name.endswith(".py")]
        return {f"{ROOT}/{name.removeprefix('zephyr/')}": wheel.read(name) for name in names}
