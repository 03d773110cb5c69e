"""What people do with check runs."""

from __future__ import annotations

from simulator.checks import Checks
from simulator.state import CheckRun, CheckSuite
from simulator.verbs.parts import Parts, RepositoryOrName


class CheckVerbs(Parts):
    def check_runs(self, repository: RepositoryOrName, head_sha: str | None = None) -> list[CheckRun]:
        """Of one commit, or of all; oldest first."""
        suites = self._repository(repository).check_suites
        return [run for suite in suites if head_sha in {None, suite.head_sha} for run in suite.runs]

    async def press(self, check_run: CheckRun | int, identifier: str, *, by: str) -> None:
        """Press a button; delivers `check_run.requested_action`. Raises LookupError where it shows no such button."""
        run = self._check_run(check_run)
        await Checks(self.announcer).press(run, identifier, self.world.account(by))

    async def rerequest(self, check_run: CheckRun | int, *, by: str) -> None:
        """Press Re-run; delivers `check_run.rerequested`."""
        await Checks(self.announcer).rerequest(self._check_run(check_run), self.world.account(by))

    async def rerequest_suite(self, suite: CheckSuite, *, by: str) -> None:
        """Press Re-run all checks; delivers `check_suite.rerequested`."""
        await Checks(self.announcer).rerequest_suite(suite, self.world.account(by))

    def _check_run(self, which: CheckRun | int) -> CheckRun:
        if isinstance(which, CheckRun):
            return which
        try:
            return self.world.check_runs[which]
        except KeyError:
            raise LookupError(f"there is no check run {which}") from None
