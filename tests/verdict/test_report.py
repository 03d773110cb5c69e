"""What a report may look like: what is missing is accepted, what is wrong is named."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from bot.verdict.report import BadReport, PerfReport, parse_json, parse_report, validate_report
from tests.verdict.pairs import clean_report, dumps
from tests.verdict.story import exactly, judged

NUMBER = "expected a finite number that is not negative"
NUMBER_FIELDS = [
    "wall_seconds_total",
    "sum_task_wall_seconds_total",
    "ooms",
    "failed_shards",
    "peak_worker_memory_mb",
    "preemption_count",
    "failure_count",
    "tree_job_count",
]
MAP_FIELDS = ["stage_wall_seconds", "stage_sum_task_wall_seconds", "task_state_counts", "infra_failures"]
TEXT_FIELDS = [
    "iris_job_id",
    "status",
    "marin_prefix",
    "workflow_name",
    "commit_sha",
    "collected_at_utc",
    "ferry_module",
    "wandb_url",
]
LIST_FIELDS = ["cached_steps", "warnings"]
NOT_NUMBERS: list[tuple[Any, str]] = [
    ("12", 'is the string "12"'),
    (True, "is the boolean true"),
    (False, "is the boolean false"),
    (-1, "is the number -1"),
    (exactly("-1e-300"), "is the number -1E-300"),
    (exactly("NaN"), "is the number NaN"),
    (exactly("Infinity"), "is the number Infinity"),
    (exactly("-Infinity"), "is the number -Infinity"),
    ([], "is a list"),
    ({}, "is an object"),
]


def bad(**changes: Any) -> BadReport:
    result = parse_report(dumps({**clean_report("/bot/a"), **changes}))
    assert isinstance(result, BadReport)
    return result


@pytest.mark.parametrize(("value", "said"), NOT_NUMBERS)
@pytest.mark.parametrize("field", NUMBER_FIELDS)
def test_a_number_field_that_holds_no_number(field: str, value: Any, said: str) -> None:
    assert bad(**{field: value}) == BadReport(field, f"{said}; {NUMBER}")


@pytest.mark.parametrize(("value", "said"), NOT_NUMBERS)
@pytest.mark.parametrize("field", MAP_FIELDS)
def test_a_number_in_a_map_is_named_by_its_path(field: str, value: Any, said: str) -> None:
    assert bad(**{field: {"fine": 1, "minhash": value}}) == BadReport(f"{field}.minhash", f"{said}; {NUMBER}")


@pytest.mark.parametrize("field", MAP_FIELDS)
def test_a_map_field_that_holds_no_map(field: str) -> None:
    for value, said in (([], "is a list"), (3, "is the number 3"), ("{}", 'is the string "{}"'), (True, "is the")):
        found = bad(**{field: value})
        assert (found.field, found.problem.startswith(said)) == (field, True)
        assert found.problem.endswith("expected an object whose values are numbers or null")


@pytest.mark.parametrize("field", TEXT_FIELDS)
def test_a_text_field_that_holds_no_text(field: str) -> None:
    for value, said in ((3, "is the number 3"), (True, "is the boolean true"), ([], "is a list"), ({}, "is an object")):
        assert bad(**{field: value}) == BadReport(field, f"{said}; expected a string")


@pytest.mark.parametrize("field", LIST_FIELDS)
def test_a_list_field_that_holds_no_strings(field: str) -> None:
    assert bad(**{field: "minhash"}) == BadReport(field, 'is the string "minhash"; expected a list of strings')
    assert bad(**{field: {"minhash": 1}}) == BadReport(field, "is an object; expected a list of strings")
    assert bad(**{field: ["a", 4]}) == BadReport(field, "holds the number 4; expected only strings")
    assert bad(**{field: [None]}) == BadReport(field, "holds null; expected only strings")


def test_a_run_id_may_be_text_or_a_number_and_nothing_else() -> None:
    for value, kept in (("26905", "26905"), (26905, "26905"), (None, None)):
        report = parse_report(dumps({"workflow_run_id": value}))
        assert isinstance(report, PerfReport)
        assert report.workflow_run_id == kept
    assert bad(workflow_run_id=True).field == "workflow_run_id"
    assert bad(workflow_run_attempt=[1]).field == "workflow_run_attempt"


@pytest.mark.parametrize("value", ["1e1001", "1e-1001", "1e999999999", "1" + "0" * 1001])
def test_a_number_too_far_from_one_for_exact_arithmetic_is_refused(value: str) -> None:
    assert bad(wall_seconds_total=exactly(value)).problem.endswith("expected a number between 1E-1000 and 1E+1000")


def test_an_exponent_beyond_any_arithmetic_is_no_number() -> None:
    assert bad(ooms=exactly("1e99999999999999999999")).field == "ooms"


def test_every_known_field_may_be_missing_or_null() -> None:
    for field in clean_report(""):
        for report in ({field: None}, {key: value for key, value in clean_report("/a").items() if key != field}):
            assert isinstance(parse_report(dumps(report)), PerfReport), field
    assert isinstance(parse_report("{}"), PerfReport)


def test_numbers_keep_every_digit() -> None:
    digits = "0.1000000000000000055511151231257827"
    report = parse_report(f'{{"wall_seconds_total": {digits}, "ooms": -0.0, "failed_shards": 3.0}}')
    assert isinstance(report, PerfReport)
    assert (report.wall_seconds_total, report.failed_shards) == (Decimal(digits), Decimal(3))
    assert str(report.ooms) == "0"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "is not JSON: Expecting value at line 1, column 1"),
        (b'{"ooms": 1,\n "x"', "is not JSON: Expecting ':' delimiter at line 2, column 5"),
        (b"\xff\xfe{}", "is not UTF-8 text: byte 1 cannot be read"),
        (b"[" * 200_000, "is not JSON that can be read: it is nested too deeply"),
        (b"[]", "is a list; expected a JSON object"),
        (b"null", "is null; expected a JSON object"),
        (b'"\\ud800"', 'is the string "\N{REPLACEMENT CHARACTER}"; expected a JSON object'),
    ],
)
def test_what_is_no_report_at_all(text: bytes, problem: str) -> None:
    assert parse_report(text) == BadReport("report", problem)


def test_a_byte_order_mark_is_harmless() -> None:
    assert isinstance(parse_report(b"\xef\xbb\xbf{}"), PerfReport)


def test_half_a_surrogate_pair_can_be_written_out_again() -> None:
    value = parse_json('{"stage_wall_seconds": {"a\\udc00": 1}, "marin_prefix": "\\ud83d\\ude00", "l": ["\\uD800"]}')
    assert json.dumps(value, default=str, ensure_ascii=False).encode()
    assert value["marin_prefix"] == "\N{GRINNING FACE}"


def test_hostile_names_and_values_cannot_act_on_a_terminal_or_flood_it() -> None:
    found = bad(stage_wall_seconds={"\x1b[2J" + "x" * 500: "\x1b]0;owned\x07" + "y" * 500})
    assert "\x1b" not in str(found)
    assert len(str(found)) < 350


def test_all_wrong_fields_of_both_reports_are_told_at_once_up_to_ten() -> None:
    ours = judged({"ooms": "1"}, {"stage_wall_seconds": {"minhash": True}})
    assert ours.verdict == "not_comparable"
    assert ours.reasons == (
        f'baseline: ooms is the string "1"; {NUMBER}.',
        f"treatment: stage_wall_seconds.minhash is the boolean true; {NUMBER}.",
    )
    many = judged({"stage_wall_seconds": {str(n): "x" for n in range(15)}}, {})
    assert (len(many.reasons), many.reasons[-1]) == (11, "And 5 more of this kind.")


def test_parsed_values_of_python_are_taken_too() -> None:
    assert validate_report({"ooms": 3, "wall_seconds_total": 0.1}) == PerfReport(
        ooms=Decimal(3), wall_seconds_total=Decimal("0.1")
    )
    # Python refuses to write such an int as text.
    refused = validate_report({"status": 10**5000})
    assert isinstance(refused, tuple)
    assert refused[0].field == "status"


@pytest.mark.parametrize("field", [*NUMBER_FIELDS, *MAP_FIELDS, *TEXT_FIELDS, *LIST_FIELDS])
def test_a_wrong_field_on_either_side_makes_the_pair_not_comparable(field: str) -> None:
    whole, wrong = clean_report("/bot/a"), {**clean_report("/bot/b"), field: True}
    for ours, theirs, side in ((whole, wrong, "treatment"), (wrong, whole, "baseline")):
        result = judged(ours, theirs)
        assert result.verdict == "not_comparable"
        assert result.reasons[0].startswith(f"{side}: {field} ")
