"""Where lint, types and tests of the commit are run, which the repository decides: a reviewer's `go` sets it off."""

from __future__ import annotations

from collections.abc import Mapping

from bot.comment.markdown import code
from bot.config.schema import Preflight, RepositoryConfig
from bot.gating.model import Run

_WHERE: Mapping[str, str] = {"sandbox": "in the sandbox", "iris": "as jobs on the cluster"}
_MOST_NAMES = 10


def what_runs(run: Run, of: str = "") -> str:
    """What `go` does first, in the third person; `of` stands after the tests, such as " of that commit"."""
    preflight = _preflight(run)
    if preflight.runner == "checks":
        return f"waits until the commit's own checks are green ({_names(preflight)})"
    return f"runs lint, types and tests{of} {_WHERE[preflight.runner]}"


def what_is_run(run: Run) -> str:
    """The same while it goes on."""
    preflight = _preflight(run)
    if preflight.runner == "checks":
        return f"waiting until the commit's own checks are green ({_names(preflight)})"
    return f"running lint, types and tests {_WHERE[preflight.runner]}"


def _names(preflight: Preflight) -> str:
    more = " …" if len(preflight.checks) > _MOST_NAMES else ""
    return ", ".join(code(name, 60) for name in preflight.checks[:_MOST_NAMES]) + more


def _preflight(run: Run) -> Preflight:
    # A run that was stored before it was assessed has no configuration.
    return RepositoryConfig.model_validate_json(run.config).preflight if run.config else Preflight()
