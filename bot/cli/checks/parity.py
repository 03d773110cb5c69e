"""Would a treatment be launched as its baseline was? Each gate beside the tier's workflow at its last scheduled run."""

from __future__ import annotations

from collections.abc import Sequence

from bot.baseline.model import Tier
from bot.baseline.scheduled import scheduled_runs
from bot.cli.checks.model import Found, Surroundings, ok, unknown, wrong
from bot.config.load import CONFIG_PATH, BadConfig, load_repository_config
from bot.config.schema import Gate
from bot.github.adapter import GitHub
from bot.github.model import Repository
from bot.github.names import RepoRef
from bot.parity import compare, script
from bot.parity.model import Parity


async def tier_parity(around: Surroundings) -> Sequence[Found]:
    found: list[Found] = []
    for name in sorted(around.settings.repositories):
        found += await _of_repository(around.github, name)
    return found


async def _of_repository(github: GitHub, name: str) -> list[Found]:
    installation = await github.installation(name)
    if installation is None:
        return [unknown(f"{name}: the App is not installed there", f"install the App on {name}")]
    repo = RepoRef(installation, name)
    repository = await github.contents.repository(repo)
    if repository is None:
        return [unknown(f"{name}: the repository cannot be read", "grant the App read access to contents")]
    text = await github.contents.read(repo, CONFIG_PATH, repository.default_branch)
    try:
        config = load_repository_config((text or b"").decode("utf-8"))
    except (BadConfig, UnicodeDecodeError) as error:
        return [wrong(f"{name}: {CONFIG_PATH} cannot be used: {error}", "perf-gate config check")]
    found: list[Found] = []
    for number in config.ladder:
        found += await _of_gate(github, repo, repository, number, config.gates[number])
    return found


async def _of_gate(github: GitHub, repo: RepoRef, repository: Repository, number: int, gate: Gate) -> list[Found]:
    which = f"{repo.full_name} gate {number}"
    runs = await scheduled_runs(github, Tier(repo, number, gate, repository.default_branch))
    if not runs:
        return [unknown(f"{which}: {gate.workflow} has no successful scheduled run to be compared with")]
    sha = runs[0].head_sha
    workflow = await github.contents.read(repo, f"{compare.FOLDER}/{gate.workflow}", sha)
    by_hand = await github.contents.read(repo, str(script.PATH), sha)
    return told(which, number, compare.compare(gate, number, sha, _text(workflow), _text(by_hand)))


def told(which: str, number: int, parity: Parity) -> list[Found]:
    """A line for each difference; one for all that could not be verified, which is nothing to be mended."""
    where = f"{which} at {parity.sha[:10]}"
    fix = f"make [gates.{number}] of {CONFIG_PATH} and {{}} the same".format
    found = [wrong(f"{where}: {difference}", fix("the workflow")) for difference in parity.stopping]
    found += [wrong(f"{where}: {difference}", fix(script.PATH)) for difference in parity.by_hand]
    if parity.unverified:
        found.append(unknown(f"{where}: not verified: {'; '.join(parity.unverified)}"))
    return found or [ok(f"{where}: launched as its workflow launches the baseline")]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")
