"""What a trace says of events that tell an operator something is wrong."""

from __future__ import annotations

import pytest

from bot.cli.trace.wording import happened


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("Unsubmitted", {"reason": "Iris could not take the job"}, "was not taken: Iris could not take the job"),
        ("Unseen", {"why": ""}, ": Iris does not answer"),
        (
            "Unseen",
            {"why": "the cluster `spare` is not set up any more"},
            ": the cluster `spare` is not set up any more",
        ),
    ],
)
def test_a_silent_iris_is_told_with_its_reason(kind: str, fields: dict[str, str], said: str) -> None:
    told = happened(kind, {"gate": 1, "attempt": 2, **fields})
    assert told.startswith("gate 1 attempt 2")
    assert told.endswith(said)
