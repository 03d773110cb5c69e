"""What people say, and what was said."""

from __future__ import annotations

from collections.abc import Callable

from simulator.state import Comment
from simulator.verbs.parts import Parts, RepositoryOrName


class ConversationVerbs(Parts):
    async def comment(self, repository: RepositoryOrName, number: int, login: str, body: str) -> Comment:
        """Say something; delivers `issue_comment.created`."""
        issue = self.world.issue(self._repository(repository).full_name, number)
        return await self.announcer.add_comment(issue, self.world.account(login), body)

    async def edit_comment(self, comment: Comment | int, body: str, *, by: str | None = None) -> None:
        which = self._comment(comment)
        await self.announcer.edit_comment(which, self.world.account(by) if by else which.author, body)

    async def delete_comment(self, comment: Comment | int, *, by: str | None = None) -> None:
        which = self._comment(comment)
        await self.announcer.delete_comment(which, self.world.account(by) if by else which.author)

    def comments(self, repository: RepositoryOrName, number: int, *, by: str | None = None) -> list[Comment]:
        """The conversation as it stands, oldest first; only what `by` wrote, where given."""
        issue = self.world.issue(self._repository(repository).full_name, number)
        return [one for one in issue.comments if by is None or one.author.login == by]

    async def wait_for(self, predicate: Callable[[], bool]) -> None:
        """Return once `predicate` holds; asked again after every change of anything, never on a timer."""
        await self.world.wait_for(predicate)

    async def wait_for_comment(
        self,
        repository: RepositoryOrName,
        number: int,
        *,
        by: str | None = None,
        containing: str = "",
        after: Comment | int | None = None,
    ) -> Comment:
        """The first comment that fits, now or as soon as there is one. `after`: newer than this comment."""
        since = after.id if isinstance(after, Comment) else after or 0

        def fitting() -> list[Comment]:
            said = self.comments(repository, number, by=by)
            return [one for one in said if one.id > since and containing in one.body]

        await self.world.wait_for(lambda: bool(fitting()))
        return fitting()[0]
