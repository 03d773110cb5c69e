"""The environment of the iris program: a search path, a scratch home, and what the operator named. Nothing else."""

from __future__ import annotations

import os

from bot.iris.settings import IrisSettings


def child_environment(settings: IrisSettings) -> dict[str, str]:
    """What the program gets.

    Secrets go this way and never through `-e` on its command line: Iris keeps the argument list of every submission for
    anyone to read, and takes HF_TOKEN from the environment by itself.
    """
    path = os.pathsep.join((str(settings.command.parent), "/usr/local/bin", "/usr/bin", "/bin"))
    passed = {name: os.environ[name] for name in settings.pass_env if name in os.environ}
    # Its warnings would push the reason of a refusal out of the last lines.
    return passed | {"PATH": path, "HOME": str(settings.home), "LANG": "C.UTF-8", "PYTHONWARNINGS": "ignore"}
