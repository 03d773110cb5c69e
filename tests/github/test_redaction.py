"""Canaries: each kind of credential is put where a log line could pick it up, and must not come out."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.logs import json_lines, readable
from bot.redaction import REDACTED, RedactingFilter, redact

CANARY = "c4n4ryC4N4RY00c4n4ryC4N4RY00c4n4ry"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n{CANARY}\n-----END RSA PRIVATE KEY-----"

LEAKS = [
    f"ghs_{CANARY}",
    f"ghp_{CANARY}",
    f"github_pat_{CANARY}",
    f"ghs_7_eyJhbGciOi.{CANARY}.{CANARY}-_",
    f"token is ghs_{CANARY}, keep it",
    f"Authorization: Bearer {CANARY}",
    f"authorization: token {CANARY}",
    f"{{'Authorization': 'Basic {CANARY}'}}",
    f'{{"authorization": "{CANARY}"}}',
    f"bearer {CANARY}",
    f"https://x-access-token:{CANARY}@github.com/acme/widgets.git",
    f"https://store.test/zip?sv=1&sig={CANARY}&se=2",
    f"https://store.test/zip?X-Amz-Signature={CANARY}",
    PEM,
    PEM.replace("\n", "\\n"),
    PEM[:70],
    f"eyJhbGciOiJSUzI1NiJ9.{CANARY}.{CANARY}",
    f"hf_{CANARY}",
    f"ya29.{CANARY}",
    # A letter outside ASCII that a pattern takes for an s when it does not look at the case.
    f"ba\u017fic {CANARY}",
]


@pytest.mark.parametrize("leak", LEAKS)
def test_credential_does_not_survive(leak: str) -> None:
    out = redact(f"before {leak} after")
    assert CANARY[:8] not in out
    assert REDACTED in out
    assert out.startswith("before ")


def test_what_follows_a_credential_is_kept() -> None:
    assert redact("used ghs_abcdefgh1234 for acme/widgets") == f"used ghs_{REDACTED} for acme/widgets"
    assert redact(f"{PEM} and more").endswith(" and more")


@pytest.mark.parametrize(
    "innocent",
    [
        "GET /repos/acme/widgets/pulls/7 answered 502",
        "sha 4c95648f0c0e5b6a9d1d1d8f0a7f7b9c3f2e1d0c",
        "https://github.com/acme/widgets/actions/runs/12",
        "the high_water mark, ghost_user and a basic test",
        "job /ann/perf-gate-7-abc at 10:31:07",
    ],
)
def test_plain_lines_stay_as_they_are(innocent: str) -> None:
    assert redact(innocent) == innocent


def test_secret_without_a_shape_is_taken_out_by_name() -> None:
    assert redact("signed with correct horse battery", ["correct horse battery"]) == f"signed with {REDACTED}"
    assert redact("a short one", ["a"]) == "a short one"


@given(st.text(), st.sampled_from(LEAKS), st.text())
def test_no_surroundings_help_a_token_out(before: str, leak: str, after: str) -> None:
    assert CANARY not in redact(f"{before} {leak} {after}")


@given(st.text())
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.fixture
def sink() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(sink: io.StringIO) -> logging.Logger:
    handler = logging.StreamHandler(sink)
    handler.setFormatter(logging.Formatter("%(message)s %(where)s", defaults={"where": "-"}))
    handler.addFilter(RedactingFilter(["a webhook secret"]))
    logger = logging.getLogger("tests.redaction")
    logger.handlers, logger.propagate = [handler], False
    return logger


def test_log_line_loses_it_in_message_arguments_and_fields(log: logging.Logger, sink: io.StringIO) -> None:
    log.error("ghs_%s and %s and a webhook secret", CANARY, f"Bearer {CANARY}", extra={"where": f"sig ghp_{CANARY}"})
    assert CANARY not in sink.getvalue()
    assert "webhook" not in sink.getvalue()
    assert sink.getvalue().count(REDACTED) == 4


@pytest.mark.parametrize(
    "field",
    [
        f"ghs_{CANARY}".encode(),
        {"header": f"Bearer {CANARY}"},
        [f"ghs_{CANARY}", ("a webhook secret",)],
        ValueError(f"ghs_{CANARY}"),
    ],
)
def test_field_that_becomes_text_only_later_loses_it_too(log: logging.Logger, sink: io.StringIO, field: object) -> None:
    log.error("look", extra={"where": field})
    assert CANARY not in sink.getvalue()
    assert "a webhook secret" not in sink.getvalue()
    assert REDACTED in sink.getvalue()


def test_fields_that_hold_no_text_keep_their_type(log: logging.Logger, sink: io.StringIO) -> None:
    log.error("look", extra={"where": 12})
    assert sink.getvalue() == "look 12\n"


def test_line_whose_arguments_do_not_fit_is_logged_all_the_same(log: logging.Logger, sink: io.StringIO) -> None:
    log.error("%d and no more", f"ghs_{CANARY}")
    assert "and no more" in sink.getvalue()
    assert CANARY not in sink.getvalue()


def test_log_line_loses_it_in_a_traceback(log: logging.Logger, sink: io.StringIO) -> None:
    try:
        raise ValueError(f"ghs_{CANARY}")
    except ValueError:
        log.exception("it failed")
    assert "ValueError" in sink.getvalue()
    assert CANARY not in sink.getvalue()


@pytest.mark.parametrize("formatter", [json_lines(), readable()])
def test_formatters_of_the_bot_show_the_traceback_without_it(
    log: logging.Logger, sink: io.StringIO, formatter: logging.Formatter
) -> None:
    log.handlers[0].setFormatter(formatter)
    try:
        raise ValueError(f"ghs_{CANARY}")
    except ValueError:
        log.exception("it failed", extra={"effect": "e-1"})
    assert "Traceback" in sink.getvalue()
    assert "e-1" in sink.getvalue()
    assert CANARY not in sink.getvalue()
