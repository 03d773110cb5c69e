"""The proposal as a reviewer reads it."""

from __future__ import annotations

from bot.assessment.assess import assess
from bot.assessment.model import Assessment, FileChange
from bot.config.load import builtin_config
from bot.config.schema import Scope

ROOT = "lib/zephyr/src/zephyr"
CODE = b"""'Doc.'
CHUNK_SIZE = 4

def scatter(rows):
    return rows

class Writer:
    def flush(self):
        pass
"""
COMMENTED = CODE.replace(b"CHUNK_SIZE = 4", b"CHUNK_SIZE = 4  # rows")


def of(*changes: FileChange) -> Assessment:
    return assess(changes, Scope(), builtin_config().modules)


def changed(name: str, head: bytes, base: bytes = CODE) -> FileChange:
    return FileChange(f"{ROOT}/{name}", "modified", None, base, head)


def test_only_comments_proposes_skip() -> None:
    result = of(changed("shuffle.py", COMMENTED), changed("plan.py", COMMENTED))
    assert (result.in_scope, result.max_gate) == (True, "skip")
    assert result.rationale == "proven trivial in 2 files: only formatting and comments"
    answers = result.per_file[f"{ROOT}/shuffle.py"]
    assert answers.trivial
    assert answers.climbs == ()
    assert answers.summary == "only formatting and comments"
    assert answers.evidence == ("equal syntax trees without comments and formatting",)


def test_one_changed_line_of_code_proposes_gate_3_and_names_what_changed() -> None:
    head = CODE.replace(b"SIZE = 4", b"SIZE = 8").replace(b"        pass", b"        return 1") + b"def merge(): ...\n"
    result = of(changed("stats.py", COMMENTED), changed("shuffle.py", head))
    assert result.max_gate == "3"
    assert result.rationale == "shuffle.py: CHUNK_SIZE 4 → 8: sizes what is held in memory (memory)"
    answers = result.per_file[f"{ROOT}/shuffle.py"]
    assert not answers.trivial
    assert answers.climbs == ("memory",)
    assert answers.evidence == ("shuffle.py:2 — CHUNK_SIZE 4 → 8 — sizes what is held in memory — once per import",)
    assert result.per_file[f"{ROOT}/stats.py"].trivial


def test_the_rationale_names_the_file_with_the_highest_prior() -> None:
    head = CODE.replace(b"return rows", b"return list(rows)")
    result = of(changed("counters.py", head), changed("readers.py", head), changed("spill.py", head))
    assert result.rationale == (
        "spill.py: scatter now holds all of rows: what was streamed or viewed is held at once (memory), "
        "and 2 more files"
    )


def test_many_changed_names_are_cut_short() -> None:
    base = b"".join(b"def f%d(): return None\n" % n for n in range(9))
    result = of(changed("stats.py", base.replace(b"None", b"()"), base))
    assert (result.max_gate, result.rationale) == (
        "1",
        "stats.py: reworks f0, f1, f2 and 6 more; no hot path, size or rule changes",
    )


def test_new_deleted_and_binary_files_say_so() -> None:
    result = of(
        FileChange(f"{ROOT}/new.py", "added", None, None, CODE),
        FileChange(f"{ROOT}/old.py", "deleted", None, CODE, None),
        FileChange(f"{ROOT}/native.so", "modified", None, b"\0", b"\0\0"),
    )
    assert {path.rsplit("/")[-1]: answers.summary for path, answers in result.per_file.items()} == {
        "new.py": "new file; moves in CHUNK_SIZE, scatter, Writer from old.py; no hot path, size or rule changes",
        "old.py": "deleted file; moves out CHUNK_SIZE, scatter, Writer to new.py; no hot path, size or rule changes",
        "native.so": "binary in the base",
    }
    assert result.max_gate == "3"


def test_a_diff_outside_the_gate_is_out_of_scope_and_never_a_skip() -> None:
    result = of(
        FileChange("lib/zephyr/tests/test_plan.py", "modified"),
        FileChange("lib/zephyr/AGENTS.md", "modified"),
    )
    assert (result.in_scope, result.max_gate, result.per_file) == (False, "1", {})
    assert set(result.out_of_scope) == {"lib/zephyr/tests/test_plan.py", "lib/zephyr/AGENTS.md"}
    assert result.rationale == "no changed file is in the gate's scope"


def test_fray_alone_is_flagged_for_the_reviewer() -> None:
    result = of(FileChange("lib/fray/src/fray/actor.py", "modified"), FileChange("README.md", "modified"))
    assert (result.in_scope, result.max_gate) == (False, "1")
    assert set(result.flagged) == {"lib/fray/src/fray/actor.py"}
    assert result.rationale.startswith("lib/fray/src/fray/actor.py: flagged")


def test_fray_beside_a_gated_file_stays_visible_in_the_rationale() -> None:
    result = of(changed("plan.py", COMMENTED), FileChange("lib/fray/src/fray/actor.py", "modified"))
    assert (result.in_scope, result.max_gate) == (True, "skip")
    assert result.rationale.endswith("1 flagged file not judged, the reviewer decides")


def test_nothing_changed_is_not_a_skip_either() -> None:
    assert (of().in_scope, of().max_gate) == (False, "1")


def test_a_file_moved_out_of_the_package_is_gated_by_its_old_name() -> None:
    result = of(FileChange("lib/marin/src/marin/sort.py", "renamed", f"{ROOT}/sort.py", CODE, CODE))
    assert result.max_gate == "3"
    assert set(result.per_file) == {f"{ROOT}/sort.py"}
    assert set(result.out_of_scope) == {"lib/marin/src/marin/sort.py"}


def test_a_file_moved_into_the_package_is_gated_by_its_new_name() -> None:
    result = of(FileChange(f"{ROOT}/sort.py", "renamed", "lib/marin/src/marin/sort.py", CODE, CODE))
    assert set(result.per_file) == {f"{ROOT}/sort.py"}
    assert result.out_of_scope == {}
    assert "moved from lib/marin/src/marin/sort.py" in result.rationale


def test_a_file_moved_from_fray_is_flagged_even_when_it_leaves_the_scope() -> None:
    result = of(FileChange("docs/actor.py", "renamed", "lib/fray/src/fray/actor.py"))
    assert set(result.flagged) == {"lib/fray/src/fray/actor.py"}
    assert set(result.out_of_scope) == {"docs/actor.py"}


def test_two_names_that_print_alike_answer_as_the_serious_one() -> None:
    harmful = changed("plan.py", CODE.replace(b"4", b"5"))
    harmless = changed("plan.py", COMMENTED)
    for order in ((harmful, harmless), (harmless, harmful)):
        assert of(*order).max_gate == "3"
