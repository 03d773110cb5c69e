"""Each tier's last scheduled run as GitHub knows it now, whether or not any run was compared with it yet."""

from __future__ import annotations

import msgspec

from bot.baseline.model import Tier
from bot.baseline.scheduled import scheduled_successes
from bot.config.load import CONFIG_PATH, BadConfig, load_repository_config
from bot.config.schema import Gate
from bot.faults import Fault
from bot.github.adapter import GitHub
from bot.github.model import WorkflowRun
from bot.github.names import RepoRef


class Latest(msgspec.Struct, frozen=True):
    """`run` None: the tier's workflow has no successful scheduled run on the default branch."""

    number: int
    gate: Gate
    run: WorkflowRun | None


async def latest(gh: GitHub, repo: RepoRef) -> list[Latest]:
    """Of every tier of the repository's ladder. Raises Fault where GitHub does not say, or its configuration cannot be
    used. Two requests, and one for each tier."""
    repository = await gh.contents.repository(repo)
    if repository is None:
        raise Fault("the repository cannot be read")
    text = await gh.contents.read(repo, CONFIG_PATH, repository.default_branch)
    try:
        config = load_repository_config((text or b"").decode("utf-8"))
    except (BadConfig, UnicodeDecodeError) as error:
        raise Fault(f"{CONFIG_PATH} cannot be used", str(error)) from error
    found = []
    for number in config.ladder:
        gate = config.gates[number]
        runs = await scheduled_successes(gh, Tier(repo, number, gate, repository.default_branch), most=1)
        found.append(Latest(number, gate, runs[0] if runs else None))
    return found
