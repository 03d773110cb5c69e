"""What buffers, orders, routes, waits, retries or is written against comes out as the highest gate, with its reason."""

from __future__ import annotations

import pytest

from tests.assessment.evidence.package_of_zephyr import ROOT, edited


@pytest.mark.parametrize(
    ("file", "old", "new", "question", "said"),
    [
        ("shuffle.py", "SIZE = 1024", "SIZE = 1025", "memory", "_SUB_BATCH_SIZE 1024 → 1025"),
        ("writers.py", "SIZE = 8", "SIZE = 9", "memory", "_MICRO_BATCH_SIZE 8 → 9"),
        ("external_sort.py", "fan_in=500", "fan_in=64", "memory", "default of fan_in"),
        ("external_sort.py", "max(4, fan_in)", "max(5, fan_in)", "memory", "4 → 5"),
        (
            "external_sort.py",
            "list(islice(chunk_iterators, fan_in))",
            "list(chunk_iterators)",
            "memory",
            "holds all of",
        ),
        ("external_sort.py", "key=merge_key", "key=None", "shuffle", "merge(key="),
        (
            "shuffle.py",
            "num_output_shards\n        self._buf",
            "num_output_shards - 1\n        self._buf",
            "shuffle",
            "",
        ),
        ("shuffle.py", "deterministic_hash(key)", "hash(key)", "shuffle", "now calls hash"),
        ("shuffle.py", "> self._buffer_limit", ">= self._buffer_limit", "memory", ""),
        ("shuffle.py", "key=self._sort_key", "key=self._key_fn", "shuffle", "sort(key="),
        ("shuffle.py", "buf.sort(key=self._sort_key)", "buf = sorted(buf, key=self._sort_key)", "memory", "all of"),
        (
            "shuffle.py",
            "        self._rows += 1\n",
            '        self._rows += 1\n        logger.debug("x")\n',
            "cpu",
            "debug",
        ),
        ("plan.py", "in stream:", "in list(stream):", "memory", "all of"),
        ("plan.py", "if predicate(item)", "if not predicate(item)", "design", "not predicate(item)"),
        ("plan.py", "isinstance(result, Iterator)", "is_gen", "design", "now asks is_gen"),
        ("writers.py", "encoder.encode(record)", "json.dumps(record)", "cpu", "dumps"),
        ("execution.py", "maximum=5.0", "maximum=60.0", "cpu", "5.0 → 60.0"),
        ("execution.py", "except OSError", "except Exception", "design", "now catches Exception"),
        ("execution.py", "TypeError)", "TypeError, OSError)", "design", "_NON_RETRYABLE_ERRORS"),
        ("execution.py", "FAILURES = 3", "FAILURES = 4", "design", "MAX_SHARD_FAILURES 3 → 4"),
        ("execution.py", "refresh.remote(self._id).result()", "refresh.remote(self._id)", "design", "once less"),
        (
            "execution.py",
            "        with self._lock:\n            return self",
            "        if True:\n            return self",
            "cpu",
            "lock",
        ),
        ("execution.py", "worker_id, result):", "worker_id, result, stage=None):", "design", "+stage"),
        ("stats.py", '"zephyr/item_count"', '"zephyr/items"', "design", "ITEM_COUNT_KEY"),
        (
            "dataset.py",
            "    def map",
            "    def sample(self, k):\n        return self\n\n    def map",
            "design",
            "new public",
        ),
        ("dataset.py", "map(self, fn)", "map(self, fn, *, name=None)", "design", "+name"),
    ],
)
def test_an_effect_is_gate_3_and_says_what_it_is(file: str, old: str, new: str, question: str, said: str) -> None:
    result = edited((file, old, new))
    assert result.max_gate == "3", result.rationale
    answers = result.per_file[f"{ROOT}/{file}"]
    assert getattr(answers, question), answers
    assert any(said in item for item in answers.evidence), answers.evidence
    assert result.rationale.startswith(f"{file}: ")
    for item in answers.evidence:
        where, what, why, often = item.split(" — ")
        assert where.startswith(f"{file}:")
        assert len(what) > 3
        assert len(why) > 3
        assert often.startswith(("once per ", "at planning"))


def test_the_frequency_follows_the_calls() -> None:
    result = edited(
        ("shuffle.py", "class ScatterWriter", "def _route(key):\n    return key\n\n\nclass ScatterWriter"),
        ("shuffle.py", "= deterministic_hash(key)", "= _route(crc32(key))"),
    )
    evidence = result.per_file[f"{ROOT}/shuffle.py"].evidence
    assert any("crc32" in item and item.endswith("once per record") for item in evidence)


def test_the_same_addition_in_two_files_is_told_in_both() -> None:
    result = edited(
        ("external_sort.py", "*runs, key", "*list(runs), key"),
        ("writers.py", "in records:", "in list(records):"),
    )
    assert all(answers.memory for answers in result.per_file.values())
