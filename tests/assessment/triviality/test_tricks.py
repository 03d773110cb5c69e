"""An attacker reads the proof: `something.txt` holds changes that look like nothing and are something, and another file
their harmless twins.

A case is a title after `===`, and after `---` lines the base, the head and other files of the package.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from bot.assessment.model import FileChange
from bot.assessment.package import PackageView
from bot.assessment.triviality.proof import prove

ROOT = "lib/zephyr/src/zephyr"
LOGGER = "import logging\nlogger = logging.getLogger(__name__)\n"


class Case(NamedTuple):
    title: str
    base: str
    head: str
    others: dict[str, str]


def cases(name: str) -> list[Case]:
    found = []
    for block in (Path(__file__).parent / name).read_text("utf-8").split("=== ")[1:]:
        title, *parts = re.split(r"^--- ", block, flags=re.MULTILINE)
        files = dict(part.split("\n", 1) for part in parts)
        found.append(Case(title.strip(), files.pop("base").rstrip("\n"), files.pop("head").rstrip("\n"), files))
    return found


def trivial(base: str, head: str, others: dict[str, str], name: str = "shuffle.py") -> bool:
    sides = [
        {f"{ROOT}/{path}": text.encode() for path, text in {"__init__.py": "", **others, name: side}.items()}
        for side in (base, head)
    ]
    change = FileChange(f"{ROOT}/{name}", "modified", None, base.encode(), head.encode())
    return prove(change, PackageView(sides[0], sides[1])).trivial


@pytest.mark.parametrize("case", cases("something.txt"), ids=lambda case: case.title)
def test_what_looks_like_nothing_and_is_something(case: Case) -> None:
    assert case.base != case.head
    assert not trivial(case.base, case.head, case.others)


@pytest.mark.parametrize("case", cases("nothing.txt"), ids=lambda case: case.title)
def test_its_harmless_twin_is_trivial(case: Case) -> None:
    assert case.base != case.head
    assert trivial(case.base, case.head, case.others)


def test_the_attacker_forgot_none_of_the_old_tricks() -> None:
    assert len(cases("something.txt")) >= 100


def test_a_message_of_thousands_of_characters_is_data() -> None:
    head = f"{LOGGER}logger.info('{'x' * 5000}')\n"
    assert not trivial(f"{LOGGER}logger.info('x')\n", head, {})


def test_an_import_in_the_packages_own_file_is_there_for_its_users() -> None:
    assert not trivial("import os\nx = 1\n", "x = 1\n", {}, "__init__.py")


def test_a_future_import_that_is_no_longer_first_breaks_the_module() -> None:
    first, late = "from __future__ import annotations\nimport os\n", "import os\nfrom __future__ import annotations\n"
    assert not trivial(first, late, {})
