"""What is no longer let go: a merge of many runs whose intermediate files stay, and ways to delete them as well."""

from __future__ import annotations

import pytest

from bot.assessment.assess import assess
from bot.assessment.model import Assessment, FileChange
from bot.assessment.package import PackageView
from bot.config.load import builtin_config
from bot.config.schema import Scope

PATH = "lib/zephyr/src/zephyr/shuffle.py"
BETWEEN = """            for prior in before:
                prior.rm()
                runs.remove(prior)
"""
AT_THE_END = """        for run in sorted(runs):
            run.rm()
"""
SHUFFLE = f"""
def _merge_passes(frames, sort_key, folder, fan_in):
    runs, before = set(), []
    try:
        while len(frames) > fan_in:
            written = [_spill(folder, group, sort_key) for group in _groups(frames, fan_in)]
            runs.update(written)
{BETWEEN}
            frames, before = [scan(run) for run in written], written
        yield from merge_sorted(frames, key=sort_key).collect_batches()
    finally:
{AT_THE_END}

def _delete_all(files):
    for file in files:
        file.rm()


def reduce_shard(shard, sort_key):
    yield from _merge_passes(shard.frames, sort_key, shard.folder, shard.fan_in)
"""


def changed(base: str, *edits: tuple[str, str]) -> Assessment:
    """Assess edits (old text, new text) of this one file; every old text must be there once."""
    head = base
    for old, new in edits:
        assert head.count(old) == 1, old
        head = head.replace(old, new)
    before, after = base.encode(), head.encode()
    view = PackageView({PATH: before}, {PATH: after})
    return assess([FileChange(PATH, "modified", None, before, after)], Scope(), builtin_config().modules, view)


def ending(*lines: str) -> str:
    """The text of the file where the last runs are deleted in this way."""
    return SHUFFLE.replace(AT_THE_END, "".join(f"        {line}\n" for line in lines))


@pytest.mark.parametrize(
    ("base", "old", "new"),
    [
        pytest.param(SHUFFLE, BETWEEN, "", id="the runs of the pass before, until the end"),
        pytest.param(
            SHUFFLE.replace("rm()", "delete()"), BETWEEN.replace("rm()", "delete()"), "", id="the same by another name"
        ),
        pytest.param(ending("for run in runs:", "    os.remove(run)"), "os.remove(run)", "pass", id="files"),
        pytest.param(ending("_delete_all(runs)"), "_delete_all(runs)", "pass", id="a helper of the package"),
        pytest.param(ending("store.cleanup()"), "store.cleanup()", "pass", id="all that a store holds"),
    ],
)
def test_intermediate_files_that_stay_are_held(base: str, old: str, new: str) -> None:
    found = changed(base, (old, new))
    answers = found.per_file[PATH]
    assert (found.max_gate, answers.memory) == ("3", True), answers
    assert any("held" in line and "calls" in line for line in answers.evidence), answers.evidence


@pytest.mark.parametrize(
    ("base", "edits"),
    [
        pytest.param(
            SHUFFLE,
            [
                (
                    BETWEEN,
                    BETWEEN.replace("                prior.rm()\n", "") + "            _delete_all(before)\n",
                )
            ],
            id="by a helper that was there",
        ),
        pytest.param(
            SHUFFLE,
            [
                (BETWEEN, "            _forget(runs, before)\n"),
                (
                    "\ndef _delete_all",
                    "\ndef _forget(runs, gone):\n    for prior in gone:\n        prior.rm()\n"
                    "        runs.remove(prior)\n\n\ndef _delete_all",
                ),
            ],
            id="by a new helper",
        ),
        pytest.param(
            SHUFFLE,
            [(BETWEEN, BETWEEN.replace("prior", "old"))],
            id="under another name of the loop's",
        ),
        pytest.param(
            ending("if len(runs) > 1:", "    _delete_all(sorted(runs))", "else:", "    _delete_all(runs)"),
            [
                ("        if len(runs) > 1:\n            _delete_all(sorted(runs))\n        else:\n    ", ""),
                ("        _delete_all(runs)\n", "        _delete_all(sorted(runs) if len(runs) > 1 else runs)\n"),
            ],
            id="in one branch instead of two",
        ),
    ],
)
def test_files_that_are_deleted_in_another_way_are_let_go_all_the_same(base: str, edits: list[tuple[str, str]]) -> None:
    found = changed(base, *edits)
    assert not [line for line in found.per_file[PATH].evidence if "rm" in line or "delete" in line]
    assert not found.per_file[PATH].memory
