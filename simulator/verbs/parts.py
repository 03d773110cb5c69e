"""What every verb works with."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.deliveries import Deliveries
from simulator.events import Announcer
from simulator.faults import Faults
from simulator.limits import RateLimits
from simulator.state import Account, Comment, Repository
from simulator.world import World

RepositoryOrName = Repository | str


@dataclass
class Parts:
    world: World
    deliveries: Deliveries
    announcer: Announcer
    faults: Faults
    limits: RateLimits

    def _repository(self, which: RepositoryOrName) -> Repository:
        return which if isinstance(which, Repository) else self.world.repository(which)

    def _comment(self, which: Comment | int) -> Comment:
        """Raises LookupError."""
        if isinstance(which, Comment):
            return which
        try:
            return self.world.comments[which]
        except KeyError:
            raise LookupError(f"there is no comment {which}") from None

    def _account(self, which: Account | str) -> Account:
        return which if isinstance(which, Account) else self.world.account(which)
