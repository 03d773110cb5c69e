"""What is typed after `perf-gate` and is no command."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bot.cli import main


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("asess", "No such command 'asess'. Did you mean 'assess'?"),
        ("reanalyze", "No such command 'reanalyze'. Did you mean 'reanalyse'?"),
        ("run", "Did you mean 'runs'?"),
        ("wibble", "No such command 'wibble'.\n"),
    ],
)
def test_a_misspelt_command_is_told_what_may_have_been_meant(typed: str, told: str) -> None:
    result = CliRunner().invoke(main, [typed])
    assert result.exit_code == 2
    assert told in result.output
