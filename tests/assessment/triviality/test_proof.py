"""What counts as proven trivial, and the many things that only look it."""

from __future__ import annotations

import dis
from types import CodeType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.assessment.model import FileChange, Status
from bot.assessment.triviality.proof import prove

PATH = "lib/zephyr/src/zephyr/shuffle.py"

BASE = b'''"""Scatter."""
import math

CHUNK = 1024


class Writer:
    """Writes."""

    def flush(self, rows):
        """Flush them."""
        return [row for row in rows if row]  # keep
'''


def python(base: bytes, head: bytes, path: str = PATH) -> bool:
    return prove(FileChange(path, "modified", None, base, head)).trivial


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"# keep", b"# drop the empty ones"),
        (b'    """Writes."""\n', b""),
        (b'"""Scatter."""', b'"""Scatter.\n\nLonger.\n"""'),
        (b"1024", b"1_024"),
        (b"import math\n", b"import math  # noqa\n\n\n"),
        (
            b"[row for row in rows if row]",
            b"[\n            row\n            for row in rows\n            if row\n        ]",
        ),
    ],
)
def test_comments_docstrings_and_formatting_are_trivial(old: bytes, new: bytes) -> None:
    assert old in BASE
    assert python(BASE, BASE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"1024", b"1025"),
        (b"1024", b"1024.0"),
        (b"if row]", b"if not row]"),
        (b"[row for row in rows if row]", b"list(row for row in rows if row)"),
        (b"import math\n", b""),
        (b"def flush", b"async def flush"),
        (b"rows):", b"rows: compute()):"),
        (b'"""Flush them."""', b'f"""Flush them."""'),
        (b'"""Flush them."""', b'"""Flush them."""; self.n = 1'),
    ],
)
def test_anything_that_runs_is_not(old: bytes, new: bytes) -> None:
    assert old in BASE
    assert not python(BASE, BASE.replace(old, new))


@pytest.mark.parametrize(
    ("status", "base", "head"),
    [
        ("added", None, b""),
        ("added", None, b"# only a comment\n"),
        ("deleted", b"", None),
        ("deleted", BASE, None),
        ("special", b"shuffle.py", b"shuffle.py#"),
        ("modified", None, BASE),
        ("modified", BASE, None),
        ("modified", BASE, BASE + b"\0"),
        ("modified", BASE, BASE + b"# \xff\n"),
        ("modified", BASE, BASE + b"def broken(:\n"),
        ("modified", b"def broken(:\n", b"def broken(:\n"),
        ("modified", BASE, b"(" * 100_000),
        ("modified", BASE, b"x = " + b"1+" * 100_000 + b"1"),
        ("modified", BASE, b"# coding: no-such-codec\n" + BASE),
    ],
)
def test_what_cannot_be_compared_is_never_trivial(status: Status, base: bytes | None, head: bytes | None) -> None:
    assert not prove(FileChange(PATH, status, None, base, head)).trivial


def test_a_moved_file_is_never_trivial_even_with_equal_contents() -> None:
    proof = prove(FileChange(PATH, "renamed", "lib/zephyr/src/zephyr/scatter.py", BASE, BASE))
    assert not proof.trivial
    assert proof.why == "moved from lib/zephyr/src/zephyr/scatter.py"


@pytest.mark.parametrize("reader", [b"print(Writer.__doc__)", b"import click", b"inspect.getdoc(Writer)"])
def test_docstrings_that_may_be_read_at_run_time_are_kept(reader: bytes) -> None:
    base = BASE + reader + b"\n"
    assert not python(base, base.replace(b"Writes.", b"Writes all."))
    assert python(base, base.replace(b"# keep", b"# drop"))


def test_a_body_of_only_a_docstring_equals_pass() -> None:
    assert python(b'def f():\n    """Nothing."""\n', b"def f():\n    pass\n")


def test_a_coding_line_that_changes_what_strings_mean_is_not_a_comment() -> None:
    text = "NAME = 'é'\n".encode()
    assert not python(text, b"# -*- coding: latin-1 -*-\n" + text)


def test_toml_is_compared_by_value_and_type() -> None:
    def toml(base: bytes, head: bytes) -> bool:
        return python(base, head, "lib/zephyr/pyproject.toml")

    assert toml(b'a = 1 # one\n[b]\nc = "x"\n', b'a = 1\n\n[b]\nc = "x" # same\n')
    assert not toml(b"a = 1\n", b"a = 1.0\n")
    assert not toml(b"a = 1\n", b"a = true\n")
    assert not toml(b"a = 1\n", b"a = \n")


def test_other_kinds_of_files_are_never_trivial() -> None:
    assert not python(b"x\n", b"x \n", "lib/zephyr/src/zephyr/kernel.c")


@given(st.binary(), st.binary())
def test_any_bytes_are_answered(base: bytes, head: bytes) -> None:
    assert prove(FileChange(PATH, "modified", None, base, head)).why


def meaning(code: CodeType) -> object:
    """What the interpreter would run, without line numbers and the NOP that marks a dropped docstring's line."""
    steps = [(step.opname, step.argrepr) for step in dis.get_instructions(code) if step.opname != "NOP"]
    consts = tuple(meaning(c) if isinstance(c, CodeType) else (type(c), c) for c in code.co_consts)
    return [step for step in steps if "code object" not in step[1]], code.co_varnames, consts


@settings(max_examples=400)
@given(
    st.integers(0, len(BASE) - 1),
    st.integers(0, 3),
    st.sampled_from([b"", b" ", b"#", b"\n", b"1", b"not ", b'"', b"x"]),
)
def test_whatever_is_called_trivial_compiles_to_the_same_program(at: int, cut: int, insert: bytes) -> None:
    head = BASE[:at] + insert + BASE[at + cut :]
    if python(BASE, head):
        # optimize=2 is the interpreter's own way to drop docstrings.
        base_code, head_code = (compile(side, "m", "exec", dont_inherit=True, optimize=2) for side in (BASE, head))
        assert meaning(base_code) == meaning(head_code)


def test_a_number_too_long_to_be_written_out_is_answered() -> None:
    base, head = (f"X = 0x{digit * 6000}\n".encode() for digit in "ef")
    assert not prove(FileChange(PATH, "modified", None, base, head)).trivial
