"""What reviewers write beside the diff."""

from __future__ import annotations

from simulator.reviewing import Reviewing
from simulator.state import Review, ReviewComment, ReviewState
from simulator.verbs.parts import Parts, RepositoryOrName


class ReviewVerbs(Parts):
    async def review(
        self,
        repository: RepositoryOrName,
        number: int,
        login: str,
        body: str | None,
        *,
        state: ReviewState = "commented",
    ) -> Review:
        """Submit a review; delivers `pull_request_review.submitted`."""
        pull = self._repository(repository).pull(number)
        return await Reviewing(self.announcer).submit(pull, self.world.account(login), body, state)

    async def edit_review(self, review: Review, body: str, *, by: str | None = None) -> None:
        editor = self.world.account(by) if by else review.author
        await Reviewing(self.announcer).edit(review, editor, body)

    async def review_comment(
        self,
        repository: RepositoryOrName,
        number: int,
        login: str,
        body: str,
        *,
        path: str,
        in_reply_to: ReviewComment | None = None,
    ) -> ReviewComment:
        """Comment on a line of the diff, or answer in its thread; delivers `pull_request_review_comment.created`."""
        pull = self._repository(repository).pull(number)
        author = self.world.account(login)
        return await Reviewing(self.announcer).comment(pull, author, body, path, in_reply_to=in_reply_to)

    async def edit_review_comment(self, comment: ReviewComment, body: str, *, by: str | None = None) -> None:
        editor = self.world.account(by) if by else comment.author
        await Reviewing(self.announcer).edit_comment(comment, editor, body)

    def review_comments(
        self, repository: RepositoryOrName, number: int, *, by: str | None = None
    ) -> list[ReviewComment]:
        """All comments on lines of this pull request's diff, oldest first; only what `by` wrote, where given."""
        pull = self._repository(repository).pull(number)
        found = [one for one in self.world.review_comments.values() if one.review.pull is pull]
        return [one for one in found if by is None or one.author.login == by]
