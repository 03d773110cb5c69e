"""Accounts, Apps, repositories, collaborators: what stands before the story begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from simulator.git import GitRepository
from simulator.state import (
    DEFAULT_EVENTS,
    DEFAULT_PERMISSIONS,
    Account,
    AccountType,
    App,
    Collaborator,
    Installation,
    Permission,
    Repository,
)
from simulator.verbs.parts import Parts, RepositoryOrName

# GitHub's five roles and what they show as in `permission`; any other name is a custom role, which says it itself.
_SHOWN: dict[str, Permission] = {
    "admin": "admin",
    "maintain": "write",
    "write": "write",
    "triage": "read",
    "read": "read",
}

Files = Mapping[str, str | bytes | None]


class SetupVerbs(Parts):
    def account(self, login: str, type: AccountType = "User") -> Account:
        """The account of that login, made where there is none. Unknown logins are 404 to the App."""
        return self.world.account(login, type)

    async def create_app(
        self,
        slug: str = "perf-gate",
        *,
        public_key: str,
        webhook_secret: str = "",
        webhook_url: str | None = None,
        owner: str = "marin-community",
        permissions: Mapping[str, str] = DEFAULT_PERMISSIONS,
        events: Sequence[str] = DEFAULT_EVENTS,
        app_id: int | None = None,
    ) -> App:
        """Register an App; `public_key` is the PEM whose private half signs its JWTs. With an address, it is pinged."""
        app = App(
            id=app_id or self.world.next_app_id(),
            slug=slug,
            owner=self.world.account(owner, "Organization"),
            bot=self.world.account(f"{slug}[bot]", "Bot"),
            public_key=public_key,
            webhook_url=None,
            webhook_secret=webhook_secret,
            hook_id=self.world.next_id(),
            created_at=self.world.clock.now(),
            permissions=dict(permissions),
            events=tuple(events),
        )
        self.world.apps[app.id] = app
        if webhook_url is not None:
            await self.set_webhook(app, webhook_url)
        return app

    async def set_webhook(self, app: App | int, url: str, *, secret: str | None = None, ping: bool = True) -> None:
        app = self._app(app)
        app.webhook_url = url
        if secret is not None:
            app.webhook_secret = secret
        if ping:
            await self.deliveries.ping(app)

    async def create_repository(
        self,
        full_name: str,
        *,
        files: Files | None = None,
        folder: Path | None = None,
        bare: Path | None = None,
        private: bool = False,
        default_branch: str = "main",
        owner_type: AccountType = "Organization",
    ) -> Repository:
        """A repository with one commit of `files`, or a `folder` with its history, or a `bare` one served as it is.

        Raises ValueError where there is one of that name.
        """
        owner, name = full_name.split("/")
        path = self.world.folder / owner / f"{name}.git"
        if path.exists():
            raise ValueError(f"{full_name} is there already")
        if bare is not None:
            git = GitRepository(bare)
        elif folder is not None and (folder / ".git").exists():
            git = await GitRepository.clone(folder, path)
        else:
            git = await GitRepository.create(path, default_branch)
        repository = Repository(
            id=self.world.next_id(),
            owner=self.world.account(owner, owner_type),
            name=name,
            git=git,
            created_at=self.world.clock.now(),
            private=private,
            default_branch=default_branch,
        )
        if bare is None and (folder is None or not (folder / ".git").exists()):
            content = dict(files or {"README.md": f"# {name}\n"}) if folder is None else _files_of(folder)
            who = self.world.identity(self.world.account("octocat"))
            await git.commit(f"refs/heads/{default_branch}", content, parents=[], message="Begin", identity=who)
        self.world.repositories[repository.id] = repository
        await self.world.changed()
        return repository

    async def fork(self, repository: RepositoryOrName, owner: str) -> Repository:
        """The fork of that owner, made where there is none."""
        parent = self._repository(repository)
        for known in self.world.repositories.values():
            if known.parent is parent and known.owner.login.lower() == owner.lower():
                return known
        path = self.world.folder / owner / f"{parent.name}.git"
        git = await GitRepository.clone(parent.git.path, path)
        fork = Repository(
            id=self.world.next_id(),
            owner=self.world.account(owner),
            name=parent.name,
            git=git,
            created_at=self.world.clock.now(),
            private=parent.private,
            default_branch=parent.default_branch,
            parent=parent,
        )
        self.world.repositories[fork.id] = fork
        return fork

    async def rename_repository(self, repository: RepositoryOrName, name: str) -> None:
        """The former name redirects: 301 for GET, 307 for anything else."""
        which = self._repository(repository)
        which.former_names.add(which.full_name.lower())
        which.name = name
        await self.world.changed()

    async def rename_account(self, login: str, new_login: str) -> None:
        """The id stays, and all that belongs to it; the former login is free for anybody."""
        account = self.world.accounts.pop(login.lower())
        account.login = new_login
        self.world.accounts[new_login.lower()] = account
        for repository in self.world.repositories.values():
            if (held := repository.collaborators.pop(login.lower(), None)) is not None:
                repository.collaborators[new_login.lower()] = held
        await self.world.changed()

    async def install(
        self,
        app: App | int,
        *repositories: RepositoryOrName,
        permissions: Mapping[str, str] | None = None,
    ) -> Installation:
        """Install the App on repositories of one owner; delivers `installation.created`."""
        app, chosen = self._app(app), [self._repository(which) for which in repositories]
        installation = Installation(
            id=self.world.next_id(),
            app=app,
            account=chosen[0].owner,
            repositories=chosen,
            permissions=dict(app.permissions if permissions is None else permissions),
            created_at=self.world.clock.now(),
        )
        self.world.installations[installation.id] = installation
        await self.announcer.installation_event("created", installation, self.world.account("octocat"))
        return installation

    async def collaborator(
        self,
        repository: RepositoryOrName,
        login: str,
        permission: str,
        role_name: str | None = None,
    ) -> None:
        """Give a role. `permission` may name any of GitHub's five roles; `role_name` is a custom role's name."""
        shown = _SHOWN.get(permission, "none")
        role = role_name or (permission if permission in _SHOWN else "none")
        account = self.world.account(login)
        self._repository(repository).collaborators[account.login.lower()] = Collaborator(shown, role)
        await self.world.changed()

    def _app(self, which: App | int) -> App:
        """Raises LookupError."""
        if isinstance(which, App):
            return which
        try:
            return self.world.apps[which]
        except KeyError:
            raise LookupError(f"there is no App {which}") from None


def _files_of(folder: Path) -> dict[str, str | bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
