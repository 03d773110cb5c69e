"""What owners do with an installed App: take it away, suspend it, narrow it, move what it was installed on."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.state import Installation
from simulator.verbs.parts import Parts, RepositoryOrName


class InstallationVerbs(Parts):
    async def uninstall(self, installation: Installation | int) -> None:
        """Its tokens die at once; delivers `installation.deleted`."""
        which = self._installation(installation)
        await self.announcer.installation_event("deleted", which, self.world.account("octocat"))
        del self.world.installations[which.id]
        await self.world.changed()

    async def suspend(self, installation: Installation | int) -> None:
        """Delivers `installation.suspend`; until `unsuspend` every request of it is refused."""
        which = self._installation(installation)
        which.suspended_at = self.world.clock.now()
        await self.announcer.installation_event("suspend", which, self.world.account("octocat"))

    async def unsuspend(self, installation: Installation | int) -> None:
        which = self._installation(installation)
        which.suspended_at = None
        await self.announcer.installation_event("unsuspend", which, self.world.account("octocat"))

    async def remove_repository(self, installation: Installation | int, repository: RepositoryOrName) -> None:
        """Delivers `installation_repositories.removed`; its tokens open that repository no more."""
        which, where = self._installation(installation), self._repository(repository)
        which.repositories.remove(where)
        await self.announcer.repositories_removed(which, [where], self.world.account("octocat"))

    async def grant(self, installation: Installation | int, permissions: Mapping[str, str]) -> None:
        """The permissions that the installation has from now on, whatever its tokens were bought for."""
        self._installation(installation).permissions = dict(permissions)
        await self.world.changed()

    async def transfer_repository(self, repository: RepositoryOrName, owner: str) -> None:
        """To another owner: the former name redirects, installations of the former owner lose it."""
        where = self._repository(repository)
        losing = self.world.installations_of(where)
        where.former_names.add(where.full_name.lower())
        where.owner = self.world.account(owner, where.owner.type)
        for which in losing:
            await self.remove_repository(which, where)
        await self.world.changed()

    def _installation(self, which: Installation | int) -> Installation:
        """Raises LookupError."""
        if isinstance(which, Installation):
            return which
        try:
            return self.world.installations[which]
        except KeyError:
            raise LookupError(f"there is no installation {which}") from None
