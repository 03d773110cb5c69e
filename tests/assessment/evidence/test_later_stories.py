"""Stories of the months after the rules were first written, told with the package of that time."""

from __future__ import annotations

import pytest

from tests.assessment.evidence.package_of_later_zephyr import ROOT, edited

Edits = list[tuple[str, str, str]]


@pytest.mark.parametrize(
    ("edits", "question", "said"),
    [
        pytest.param([("memory_budget.py", "R_WRITE = 4.9", "R_WRITE = 4.1")], "memory", "R_WRITE", id="by its use"),
        pytest.param([("memory_budget.py", "SAFETY = 0.9", "SAFETY = 0.95")], "memory", "SAFETY", id="by its sibling"),
        pytest.param([("memory_budget.py", "rows=ROWS", "rows=ROWS // 2")], "memory", "rows", id="default in use"),
        pytest.param([("shuffle.py", '="deterministic"', '="sorted"')], "shuffle", "_encoder", id="order of key bytes"),
        pytest.param([("shuffle.py", "sort([_COL, _KEY])", "sort([_KEY, _COL])")], "shuffle", "", id="sort columns"),
        pytest.param([("shuffle.py", "getbuffer()", "getvalue()")], "memory", "getvalue", id="copy of the chunk"),
        pytest.param([("shuffle.py", "        del buffer\n", "")], "memory", "del", id="reference retained"),
        pytest.param([("shuffle.py", "rechunk=False", "rechunk=True")], "memory", "rechunk", id="frames copied"),
        pytest.param([("shuffle.py", 'compression="zstd"', 'compression="lz4"')], "cpu", "lz4", id="other codec"),
        pytest.param([("shuffle.py", "512", "1024")], "cpu", "512", id="literal in the flush"),
        pytest.param(
            [
                (
                    "shuffle.py",
                    "yield from pl.merge_sorted(frames[:fan_in], key=_KEY).collect_batches()",
                    "yield pl.merge_sorted(frames[:fan_in], key=_KEY).collect()",
                )
            ],
            "memory",
            "collect",
            id="streamed merge collected",
        ),
        pytest.param(
            [
                (
                    "shuffle.py",
                    "            futures = {pool.submit(cls.read, fs, path): index for index, path in "
                    "enumerate(paths)}\n            for future in as_completed(futures):\n"
                    "                found[futures[future]] = future.result()\n",
                    "            for index, path in enumerate(paths):\n"
                    "                found[index] = pool.submit(cls.read, fs, path).result()\n",
                )
            ],
            "design",
            "",
            id="one read after the other",
        ),
        pytest.param(
            [
                (
                    "shuffle.py",
                    "        self._flush()\n        Sidecar(self._path, self._rows).store()\n",
                    "        Sidecar(self._path, self._rows).store()\n        self._flush()\n",
                )
            ],
            "shuffle",
            "another order in ScatterWriter.close",
            id="sidecar before the last flush",
        ),
        pytest.param([("shuffle.py", "for item in items:", "for item in list(items):")], "memory", "", id="list"),
        pytest.param([("shuffle.py", "% num_output_shards\n", "% (num_output_shards - 1)\n")], "shuffle", "", id="mod"),
        pytest.param(
            [("coordinator.py", "active[(self._offset + i) % len(active)]", "active[i]")], "design", "", id="starved"
        ),
        pytest.param(
            [
                (
                    "coordinator.py",
                    "        run.attempts[shard] += 1\n        self._wake(run)\n",
                    "        self._wake(run)\n",
                ),
                (
                    "coordinator.py",
                    "        run.queue.append(shard)\n",
                    "        run.attempts[shard] += 1\n        run.queue.append(shard)\n",
                ),
            ],
            "design",
            "",
            id="attempt counted after the limit",
        ),
        pytest.param(
            [
                (
                    "coordinator.py",
                    "            if self._newer(worker_id, snapshot):\n                self._fold(snapshot)\n",
                    "        if self._newer(worker_id, snapshot):\n            self._fold(snapshot)\n",
                )
            ],
            "cpu",
            "out of the lock",
            id="shorter lock",
        ),
        pytest.param(
            [("coordinator.py", "    attempt: int\n", "    attempt: int\n    origin: str\n")],
            "design",
            "field",
            id="field of a message",
        ),
        pytest.param(
            [("coordinator.py", "queue.append(shard)", "queue.appendleft(shard)")], "design", "", id="retry now"
        ),
        pytest.param([("context.py", 'ram="1g"', 'ram="4g"')], "memory", "coordinator_resources", id="memory of a job"),
        pytest.param([("context.py", ", MemoryError", "")], "design", "NON_RETRYABLE", id="retried error"),
        pytest.param([("context.py", "dry_run=False", "dry_run=False, name=None")], "design", "+name", id="parameter"),
        pytest.param(
            [("context.py", "    client: object", "    pool: object | None = None\n    client: object")],
            "design",
            "public field",
            id="field of the context",
        ),
        pytest.param(
            [("context.py", "            except NON_RETRYABLE:\n                raise\n", "")],
            "design",
            "no longer catches NON_RETRYABLE",
            id="everything retried",
        ),
        pytest.param(
            [("reader.py", "        count(name, 1)\n", "        count(name, len(json.dumps(item)))\n")],
            "cpu",
            "dumps",
            id="a record serialised to be counted",
        ),
    ],
)
def test_an_effect_of_later_months_is_gate_3(edits: Edits, question: str, said: str) -> None:
    result = edited(*edits)
    assert result.max_gate == "3", result.rationale
    answers = result.per_file[f"{ROOT}/{edits[0][0]}"]
    assert getattr(answers, question), answers
    assert any(said in item for item in answers.evidence), answers.evidence


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param(
            [
                (
                    "shuffle.py",
                    "        groups = min(in_order[_COL].n_unique(), 512)\n"
                    "        size = max(1, math.ceil(len(in_order) / groups))\n",
                    "        size = _group_size(len(in_order), in_order[_COL].n_unique())\n",
                ),
                (
                    "shuffle.py",
                    "class ScatterWriter:",
                    "def _group_size(rows, targets):\n    groups = min(targets, 512)\n"
                    "    return max(1, math.ceil(rows / groups))\n\n\nclass ScatterWriter:",
                ),
            ],
            id="helper of the flush",
        ),
        pytest.param(
            [
                (
                    "shuffle.py",
                    "        if self.chunks == 0:\n            return\n        if self.payload_bytes == 0:\n",
                    "        if self.chunks == 0 or self.payload_bytes == 0:\n",
                )
            ],
            id="one condition",
        ),
        pytest.param(
            [
                ("shuffle.py", "        fan_in = fan_in_for(task_memory)\n        frames", "        frames"),
                ("shuffle.py", "frames[:fan_in]", "frames[: fan_in_for(task_memory)]"),
            ],
            id="a local inlined",
        ),
        pytest.param(
            [
                (
                    "shuffle.py",
                    "def __init__(self, files, target, payload_bytes=0):",
                    "def __init__(self, files, target, payload_bytes=0, rows=0):",
                ),
                (
                    "shuffle.py",
                    "        self.payload_bytes = payload_bytes\n",
                    "        self.payload_bytes = payload_bytes\n        self.rows = rows\n",
                ),
            ],
            id="a reader keeps one more total",
        ),
        pytest.param(
            [
                (
                    "shuffle.py",
                    "hash_encoded(encode_key(key_fn(item))) % num_output_shards",
                    "hash_encoded(_key_of(item, key_fn)) % num_output_shards",
                ),
                (
                    "shuffle.py",
                    "def _route(",
                    "def _key_of(item, key_fn):\n    return encode_key(key_fn(item))\n\n\ndef _route(",
                ),
            ],
            id="helper of the innermost loop",
        ),
        pytest.param(
            [
                (
                    "writers.py",
                    '    if path.endswith(".gz"):\n        with fs.open(path, "wb", block_size=_BLOCK, '
                    'compression="gzip") as f:\n            yield f\n    elif path.endswith(".xz"):\n        '
                    'with fs.open(path, "wb", block_size=_BLOCK, compression="xz") as f:\n            yield f\n'
                    '    else:\n        with fs.open(path, "wb", block_size=_BLOCK) as f:\n            yield f\n',
                    '    kind = {".gz": "gzip", ".xz": "xz"}.get(os.path.splitext(path)[1])\n    with fs.open(path, '
                    '"wb", block_size=_BLOCK, compression=kind) as f:\n        yield f\n',
                )
            ],
            id="three branches become one",
        ),
        pytest.param(
            [
                (
                    "writers.py",
                    "    for index, batch in enumerate(batchify(items, n=_CHUNK)):\n"
                    "        refs.append(store(path_of(index), batch))\n        written = index + 1\n",
                    "    for written, batch in enumerate(batchify(items, n=_CHUNK), start=1):\n"
                    "        refs.append(store(path_of(written - 1), batch))\n",
                )
            ],
            id="counted from one",
        ),
        pytest.param([("writers.py", "n=1024", "n=128")], id="a default that every caller overrides"),
        pytest.param(
            [
                ("memory_budget.py", "margin=2.0", "margin=3.0"),
                ("memory_budget.py", "baseline, fraction", "baseline, fraction"),
            ],
            id="a default that its only caller overrides",
        ),
        pytest.param([("memory_budget.py", "SHOWN = 12", "SHOWN = 40")], id="how much of a text is logged"),
        pytest.param(
            [
                (
                    "coordinator.py",
                    "    def _clear(self, worker_id, generation):",
                    "    def _clear(self, worker_id, generation=0):",
                ),
                ("coordinator.py", "self._clear(worker_id, 0)", "self._clear(worker_id)"),
            ],
            id="a private parameter gets a default",
        ),
        pytest.param(
            [
                (
                    "coordinator.py",
                    '        text = f"{done}/{total}"\n        return text\n',
                    '        return f"{done}/{total}"\n',
                )
            ],
            id="a local of the status",
        ),
        pytest.param(
            [("coordinator.py", "    stage: str\n", "    stage: str\n    shown: bool\n")],
            id="a field of the coordinator's own record",
        ),
        pytest.param(
            [
                (
                    "reader.py",
                    "for item in reader:\n        count(name, 1)\n        yield item",
                    "for record in reader:\n        count(name, 1)\n        yield record",
                ),
                (
                    "reader.py",
                    "def counted[T](reader: Reader[T], name: str)",
                    'def counted[T](reader: Reader[T], name: str = "")',
                ),
            ],
            id="typed reader, renamed local",
        ),
    ],
)
def test_the_same_work_of_later_months_is_gate_1(edits: Edits) -> None:
    result = edited(*edits)
    assert result.max_gate == "1", (result.rationale, [answers.evidence for answers in result.per_file.values()])


def test_a_file_of_a_newer_python_is_read_and_its_comments_are_trivial() -> None:
    assert edited(("reader.py", "        count(name, 1)\n", "        count(name, 1)  # once\n")).max_gate == "skip"


def test_other_type_parameters_are_another_program() -> None:
    result = edited(("reader.py", "class Reader[T](Iterator[T])", "class Reader[T: int](Iterator[T])"))
    assert result.max_gate == "1"
    assert not result.per_file[f"{ROOT}/reader.py"].trivial
