"""Import zephyr from this bundle.

A production cluster runs `uv sync` in the bundle, which installs lib/zephyr as it is there. A local cluster runs tasks on
its own interpreter, which has another zephyr installed: with the bundle's root on PYTHONPATH, Python imports this file at
start-up, in the launcher, the coordinators and the workers alike.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib" / "zephyr" / "src"))
