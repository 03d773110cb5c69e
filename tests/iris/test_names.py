"""Names that identify an attempt for all time."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.iris.names import LONGEST_NAME, job_id, job_name, smoke_run_id, status_path

SHA = "0123456789abcdef0123456789abcdef01234567"
IDS = st.tuples(
    st.integers(1, 10**12),
    st.integers(1, 10**7),
    st.text("0123456789abcdef", min_size=40, max_size=40),
    st.one_of(st.integers(1, 999), st.text(min_size=1, max_size=60)),
    st.integers(1, 3),
    st.integers(1, 99),
)


def test_a_name_reads_as_what_it_is() -> None:
    name = job_name(41, 5199, SHA, 2, 1, 3)
    assert re.fullmatch(r"perf-gate-5199-01234567-2-g1-a3-[0-9a-f]{12}", name)
    assert job_id("bot", name) == f"/bot/{name}"
    assert smoke_run_id(name) == name
    assert status_path("gs://bucket/folder/", name) == f"gs://bucket/folder/{name}/ferry_run_status.json"


@given(IDS)
def test_every_name_is_one_iris_takes(ids: tuple[int, int, str, int | str, int, int]) -> None:
    name = job_name(*ids)
    assert len(name) <= LONGEST_NAME
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert job_name(*ids) == name


@given(IDS, IDS)
def test_two_attempts_never_share_a_name(
    one: tuple[int, int, str, int | str, int, int], other: tuple[int, int, str, int | str, int, int]
) -> None:
    assert (job_name(*one) == job_name(*other)) == ([str(i) for i in one] == [str(i) for i in other])
