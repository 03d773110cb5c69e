"""Commits, pushes and the life of pull requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simulator.git import NOBODY_SHA
from simulator.state import Account, Issue, Pull, Repository
from simulator.verbs.parts import RepositoryOrName
from simulator.verbs.setup import Files, SetupVerbs


class PullVerbs(SetupVerbs):
    async def commit(
        self,
        repository: RepositoryOrName,
        branch: str,
        files: Files,
        *,
        message: str = "Change files",
        author: str = "octocat",
        executable: Sequence[str] = (),
    ) -> str:
        """Push a commit to a branch (an absent one starts at the default one) and give its SHA; None removes a file."""
        where, who = self._repository(repository), self.world.account(author)
        tip = await where.git.resolve(f"refs/heads/{branch}")
        parent = tip or await where.git.resolve(f"refs/heads/{where.default_branch}")
        sha = await where.git.commit(
            f"refs/heads/{branch}",
            files,
            parents=[parent] if parent else [],
            message=message,
            identity=self.world.identity(who),
            executable=executable,
        )
        await self._follow(where, branch, sha, who)
        return sha

    async def move_branch(self, repository: RepositoryOrName, branch: str, sha: str, *, by: str = "octocat") -> None:
        """Push (or force-push) a branch; open pull requests from it follow, with `pull_request.synchronize`."""
        where = self._repository(repository)
        await where.git.update_ref(f"refs/heads/{branch}", sha)
        await self._follow(where, branch, sha, self.world.account(by))

    async def _follow(self, where: Repository, branch: str, sha: str, by: Account) -> None:
        where.pushed_at = self.world.clock.now()
        for pull in self._open_pulls():
            if pull.head_repository is where and pull.head_ref == branch and pull.head_sha != sha:
                await self._synchronize(pull, sha, by)
        await self.world.changed()

    async def open_pull(
        self,
        repository: RepositoryOrName,
        *,
        author: str,
        title: str = "Change something",
        head: str = "feature",
        files: Files | None = None,
        base: str | None = None,
        fork_owner: str | None = None,
        body: str | None = None,
        draft: bool = False,
        message: str | None = None,
    ) -> Pull:
        """Open a pull request from branch `head` (of the fork of `fork_owner`); `files` are committed to it first."""
        where, who = self._repository(repository), self.world.account(author)
        source = await self.fork(where, fork_owner) if fork_owner else where
        base_ref = base or where.default_branch
        base_sha = await _need(where, f"refs/heads/{base_ref}")
        if files is not None:
            await self.commit(source, head, files, message=message or title, author=author)
        head_sha = await _need(source, f"refs/heads/{head}")
        now = self.world.clock.now()
        pull = Pull(
            id=self.world.next_id(),
            number=self._next_number(where),
            repository=where,
            author=who,
            title=title,
            body=body,
            created_at=now,
            updated_at=now,
            base_ref=base_ref,
            base_sha=base_sha,
            head_ref=head,
            head_sha=head_sha,
            head_owner=source.owner,
            head_repository=source,
            draft=draft,
        )
        self.world.next_id()  # the pull request's own id, one above its issue's
        await self._publish_head(pull)
        where.issues[pull.number] = pull
        await self.announcer.pull_event("opened", pull, who)
        return pull

    async def open_issue(
        self, repository: RepositoryOrName, *, author: str, title: str, body: str | None = None
    ) -> Issue:
        """A plain issue: its comments arrive as `issue_comment` too, without the `pull_request` key."""
        where, now = self._repository(repository), self.world.clock.now()
        who = self.world.account(author)
        issue = Issue(self.world.next_id(), self._next_number(where), where, who, title, body, now, now)
        where.issues[issue.number] = issue
        await self.world.changed()
        return issue

    async def push(
        self,
        repository: RepositoryOrName,
        number: int,
        files: Files,
        *,
        message: str = "Change more",
        by: str | None = None,
    ) -> str:
        """Commit onto the pull request's head branch and give the new head SHA."""
        pull = self._repository(repository).pull(number)
        if pull.head_repository is None:
            raise LookupError(f"the fork of pull request {number} is gone")
        who = by or pull.author.login
        return await self.commit(pull.head_repository, pull.head_ref, files, message=message, author=who)

    async def edit_pull(
        self,
        repository: RepositoryOrName,
        number: int,
        *,
        by: str,
        title: str | None = None,
        body: str | None = None,
        base: str | None = None,
    ) -> None:
        """Change title, description or base branch; delivers `pull_request.edited`. Raises LookupError."""
        pull = self._repository(repository).pull(number)
        changes: dict[str, Any] = {}
        if title is not None:
            changes["title"], pull.title = {"from": pull.title}, title
        if body is not None:
            changes["body"], pull.body = {"from": pull.body or ""}, body
        if base is not None:
            sha = await _need(pull.repository, f"refs/heads/{base}")
            changes["base"] = {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}
            pull.base_ref, pull.base_sha = base, sha
        pull.updated_at = self.world.clock.now()
        await self.announcer.pull_event("edited", pull, self.world.account(by), {"changes": changes})

    async def set_draft(self, repository: RepositoryOrName, number: int, draft: bool, *, by: str) -> None:
        """Back to a draft, or ready for review."""
        pull = self._repository(repository).pull(number)
        pull.draft, pull.updated_at = draft, self.world.clock.now()
        action = "converted_to_draft" if draft else "ready_for_review"
        await self.announcer.pull_event(action, pull, self.world.account(by))

    async def close(self, repository: RepositoryOrName, number: int, *, by: str) -> None:
        pull = self._repository(repository).pull(number)
        pull.state, pull.closed_at = "closed", self.world.clock.now()
        pull.updated_at = pull.closed_at
        await self.announcer.pull_event("closed", pull, self.world.account(by))

    async def reopen(self, repository: RepositoryOrName, number: int, *, by: str) -> None:
        pull = self._repository(repository).pull(number)
        pull.state, pull.closed_at, pull.updated_at = "open", None, self.world.clock.now()
        await self.announcer.pull_event("reopened", pull, self.world.account(by))

    async def merge(self, repository: RepositoryOrName, number: int, *, by: str) -> str:
        """Merge into the base branch and give the merge commit's SHA. Raises ValueError where they conflict."""
        where = self._repository(repository)
        pull, who = where.pull(number), self.world.account(by)
        base = await _need(where, f"refs/heads/{pull.base_ref}")
        message = f"Merge pull request #{number} from {pull.head_ref}\n\n{pull.title}"
        sha = await where.git.merge(base, pull.head_sha, message=message, identity=self.world.identity(who))
        if sha is None:
            raise ValueError(f"pull request {number} conflicts with {pull.base_ref}")
        await where.git.update_ref(f"refs/heads/{pull.base_ref}", sha)
        pull.merge_commit_sha, pull.merged_by, pull.merged_at = sha, who, self.world.clock.now()
        await self.close(where, number, by=by)
        return sha

    async def delete_fork(self, repository: RepositoryOrName, number: int) -> None:
        """The head's repository is null from now on; `refs/pull/N/head` of the base keeps the commits."""
        pull = self._repository(repository).pull(number)
        if pull.head_repository is not None and pull.head_repository is not pull.repository:
            self.world.repositories.pop(pull.head_repository.id, None)
            pull.head_repository = None
            await self.world.changed()

    async def _synchronize(self, pull: Pull, sha: str, by: Account) -> None:
        before, pull.head_sha = pull.head_sha, sha
        pull.base_sha = await pull.repository.git.resolve(f"refs/heads/{pull.base_ref}") or pull.base_sha
        pull.updated_at = self.world.clock.now()
        await self._publish_head(pull)
        extra: Mapping[str, Any] = {"before": before or NOBODY_SHA, "after": sha}
        await self.announcer.pull_event("synchronize", pull, by, dict(extra))

    async def _publish_head(self, pull: Pull) -> None:
        git, source = pull.repository.git, pull.head_repository
        if source is not None and source is not pull.repository:
            await git.run("fetch", "--quiet", "--no-tags", str(source.git.path), pull.head_sha)
        await git.update_ref(f"refs/pull/{pull.number}/head", pull.head_sha)

    def _open_pulls(self) -> list[Pull]:
        issues = [issue for repository in self.world.repositories.values() for issue in repository.issues.values()]
        return [issue for issue in issues if isinstance(issue, Pull) and issue.state == "open"]

    def _next_number(self, repository: Repository) -> int:
        return max(repository.issues, default=0) + 1


async def _need(repository: Repository, ref: str) -> str:
    sha = await repository.git.resolve(ref)
    if sha is None:
        raise LookupError(f"{repository.full_name} has no {ref}")
    return sha
