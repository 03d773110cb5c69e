"""Text that looks like it is for people alone, and is read by a program: each case tells who reads it."""

from __future__ import annotations

import pytest

from tests.assessment.triviality.test_tricks import Case, cases, trivial


@pytest.mark.parametrize("case", cases("read_elsewhere.txt"), ids=lambda case: case.title)
def test_what_a_program_reads_is_never_trivial(case: Case) -> None:
    assert case.base != case.head
    assert not trivial(case.base, case.head, case.others)
