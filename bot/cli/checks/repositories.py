"""Each served repository's configuration, as its default branch has it now."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.config.load import CONFIG_PATH, BadConfig, load_repository_config
from bot.config.schema import RepositoryConfig
from bot.github.names import RepoRef


async def configurations(around: Surroundings) -> dict[str, RepositoryConfig]:
    """By repository, where it can be read and used; `configuration` tells of the others."""
    found = {}
    for name in sorted(around.settings.repositories):
        installation = await around.github.installation(name)
        repo = None if installation is None else RepoRef(installation, name)
        repository = None if repo is None else await around.github.contents.repository(repo)
        if repo is None or repository is None:
            continue
        text = await around.github.contents.read(repo, CONFIG_PATH, repository.default_branch)
        with suppress(BadConfig, UnicodeDecodeError):
            found[name] = load_repository_config((text or b"").decode("utf-8"))
    return found


async def configuration(around: Surroundings) -> Sequence[Found]:
    return [await _of(around, name) for name in sorted(around.settings.repositories)]


async def _of(around: Surroundings, name: str) -> Found:
    contents = around.github.contents
    installation = await around.github.installation(name)
    repository = None if installation is None else await contents.repository(RepoRef(installation, name))
    if installation is None or repository is None:
        return unknown(f"{name}: cannot be read", f"install the App on {name}")
    text = await contents.read(RepoRef(installation, name), CONFIG_PATH, repository.default_branch)
    if text is None:
        return ok(f"{name}: no {CONFIG_PATH}, so the built-in ladder holds")
    try:
        config = load_repository_config(text.decode("utf-8"))
    except (BadConfig, UnicodeDecodeError) as error:
        fix = f"mend it on {repository.default_branch}; perf-gate config check tells where"
        return wrong(f"{name}: {CONFIG_PATH} cannot be used: {error}", fix)
    gates = ", ".join(f"{number} ({config.gates[number].name})" for number in config.ladder)
    return ok(f"{name}: {CONFIG_PATH} is fine; ladder {gates}")
