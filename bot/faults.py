"""The one error type that crosses rooms: a public sentence and a private detail.

Only ``public`` may ever reach a comment; ``private`` goes to the log, redacted. Expected outcomes (a red test, a
missing baseline, a denied command) are values, never faults.
"""

from __future__ import annotations

from datetime import timedelta


class Fault(Exception):
    """Something outside went wrong while an effect was performed.

    ``retryable`` says whether the same act may succeed later; ``retry_after`` is the shortest wait the other side asked
    for (GitHub's ``retry-after`` or rate-limit reset), None where it asked for none.
    """

    def __init__(
        self,
        public: str,
        private: str = "",
        *,
        retryable: bool = False,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(public)
        self.public = public
        self.private = private
        self.retryable = retryable
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.public} [{self.private}]" if self.private else self.public
