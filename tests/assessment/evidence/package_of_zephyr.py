"""A small package with the shapes of the real one: a scatter writer, a sort, a planner, a coordinator, writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.assessment.assess import assess
from bot.assessment.model import Assessment, FileChange
from bot.config.load import builtin_config
from bot.config.schema import Scope

ROOT = "lib/zephyr/src/zephyr"
FILES = {
    "shuffle.py": """
_SUB_BATCH_SIZE = 1024
_PROGRESS_LOG_INTERVAL_SECONDS = 60.0


class ScatterWriter:
    def __init__(self, path, key_fn, sort_key, num_output_shards, buffer_limit_bytes=256):
        self._out = open_url(path, "wb")
        self._num_output_shards = num_output_shards

    def write(self, item):
        key = self._key_fn(item)
        target = deterministic_hash(key) % self._num_output_shards
        self._buffers[target].append(item)
        self._rows += 1
        if self._rows * self._item_bytes > self._buffer_limit_bytes:
            largest = max(self._buffers, key=lambda t: len(self._buffers[t]))
            self._flush(largest, self._buffers[largest])

    def _flush(self, target, buf):
        if self._combiner_fn is not None:
            buf = _apply_combiner(buf, self._key_fn, self._combiner_fn)
        buf.sort(key=self._sort_key)
        self._out.write(pickle.dumps(buf))

    def close(self):
        for target, buf in sorted(self._buffers.items()):
            self._flush(target, buf)
        self._out.close()
        logger.info("closed %d", self._rows)
""",
    "external_sort.py": """
_WRITE_BATCH_SIZE = 10_000


def compute_fan_in(per_iterator_bytes, memory_limit, fraction=0.5):
    budget = int(memory_limit * fraction)
    fan_in = budget // per_iterator_bytes
    return max(4, fan_in)


def external_sort_merge(chunk_iterators, merge_key, fan_in=500):
    runs = []
    while True:
        batch = list(islice(chunk_iterators, fan_in))
        if not batch:
            break
        runs.append(spill(batch))
    yield from heapq.merge(*runs, key=merge_key)
""",
    "plan.py": """
def _filter_gen(stream, predicate):
    for item in stream:
        if predicate(item):
            yield item


def _reduce_gen(shard, key_fn, reducer_fn):
    for key, items in _merge_sorted_chunks(shard, key_fn):
        result = reducer_fn(key, items)
        if isinstance(result, Iterator):
            yield from result
        else:
            yield result


def compute_plan(dataset, paths):
    sources = []
    for path in paths:
        if path.endswith(".parquet"):
            sources.append(SourceItem(len(sources), path, rows=splits(path)))
        else:
            sources.append(SourceItem(len(sources), path, rows=None))
    if not sources:
        raise ValueError("nothing to read")
    return PhysicalPlan(sources)
""",
    "execution.py": """
MAX_SHARD_FAILURES = 3
_NON_RETRYABLE_ERRORS = (ValueError, TypeError)


class ZephyrCoordinator:
    def report_result(self, worker_id, result):
        with self._lock:
            self._results[worker_id] = result

    def get_status(self):
        with self._lock:
            return self._status

    def run_pipeline(self, plan):
        coordinator.set_group.remote(plan).result()
        futures = [worker.start.remote(plan) for worker in self._workers]
        return [future.result(timeout=10.0) for future in futures]


class ZephyrWorker:
    def _heartbeat_loop(self, coordinator):
        backoff = ExponentialBackoff(initial=0.1, maximum=5.0)
        while not self._shutdown.is_set():
            try:
                coordinator.heartbeat.remote(self._id).result()
                coordinator.refresh.remote(self._id).result()
            except OSError:
                logger.warning("heartbeat failed")
            self._shutdown.wait(timeout=backoff.next_interval())
""",
    "writers.py": """
_MICRO_BATCH_SIZE = 8


def ensure_parent_dir(path):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)


def write_jsonl_file(records, output_path):
    ensure_parent_dir(output_path)
    encoder = msgspec.json.Encoder()
    with open_url(output_path, "wb") as f:
        for record in records:
            f.write(encoder.encode(record))
""",
    "stats.py": """
ITEM_COUNT_KEY = "zephyr/item_count"
MAX_STATUS_TEXT_LENGTH = 200


def emit(items, size, elapsed):
    item_rate = items / elapsed if elapsed > 0 else 0.0
    byte_rate = size / elapsed if elapsed > 0 else 0.0
    return item_rate, byte_rate
""",
    "dataset.py": """
class Dataset:
    def map(self, fn):
        return Dataset(self.source, [*self.operations, MapOp(fn)])
""",
}


def edited(*edits: tuple[str, str, str], base: Sequence[tuple[str, str, str]] = ()) -> Assessment:
    """Assess edits (file, old text, new text); every old text must be there. `base`: edits that both sides have."""
    bases = _with(FILES, base)
    heads = _with(bases, edits)
    changes = [
        FileChange(f"{ROOT}/{file}", "modified", None, bases[file].encode(), heads[file].encode())
        for file in dict.fromkeys(file for file, _, _ in edits)
    ]
    return assess(changes, Scope(), builtin_config().modules)


def _with(files: Mapping[str, str], edits: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    changed = dict(files)
    for file, old, new in edits:
        assert old in changed[file], old
        changed[file] = changed[file].replace(old, new, 1)
    return changed
