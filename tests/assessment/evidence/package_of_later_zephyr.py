"""The shapes of later months: frames instead of rows, a memory budget in a module of its own, a pool, typed readers."""

from __future__ import annotations

from bot.assessment.assess import assess
from bot.assessment.model import Assessment, FileChange
from bot.assessment.package import PackageView
from bot.config.load import builtin_config
from bot.config.schema import Scope
from tests.assessment.evidence.workers_of_later_zephyr import WORKING

ROOT = "lib/zephyr/src/zephyr"
FILES = {
    "__init__.py": "",
    "memory_budget.py": """
R_WRITE = 4.9
SAFETY = 0.9
ROWS = 10_000
SHOWN = 12


def flush_threshold_bytes(task_memory, baseline, fraction=0.5, margin=2.0):
    return int(task_memory * SAFETY * fraction / margin) - baseline


def fan_in_for(task_memory, rows=ROWS):
    return flush_threshold_bytes(task_memory, 0, margin=R_WRITE) // rows


def headline(text):
    logger.info("%s", text[:SHOWN])
""",
    "shuffle.py": """
_COL = "__shard__"
_KEY = "__key__"
_encoder = msgspec.msgpack.Encoder(order="deterministic")


def encode_key(key):
    return _encoder.encode(key)


def _route(item, key_fn, num_output_shards):
    return hash_encoded(encode_key(key_fn(item))) % num_output_shards


class ScatterWriter:
    def __init__(self, path, source):
        self._frames = []
        self._path = path

    def _flush(self):
        if not self._frames:
            return
        buffer = pl.concat(self._frames, how="vertical", rechunk=False)
        self._frames = []
        in_order = buffer.sort([_COL, _KEY])
        del buffer
        groups = min(in_order[_COL].n_unique(), 512)
        size = max(1, math.ceil(len(in_order) / groups))
        out = io.BytesIO()
        in_order.write_parquet(out, compression="zstd", row_group_size=size)
        with open_url(self._path, "wb") as f:
            f.write(out.getbuffer())

    def write(self, frame):
        self._frames.append(frame)
        self._bytes += frame.estimated_size()
        if self._bytes > self._threshold:
            self._flush()

    def close(self):
        self._flush()
        Sidecar(self._path, self._rows).store()
        return self._path


class ScatterReader:
    def __init__(self, files, target, payload_bytes=0):
        self.files = files
        self.target = target
        self.payload_bytes = payload_bytes

    @property
    def chunks(self):
        return len(self.files)

    def batches(self, task_memory):
        if self.chunks == 0:
            return
        if self.payload_bytes == 0:
            return
        fan_in = fan_in_for(task_memory)
        frames = [scan(path).filter(pl.col(_COL) == self.target) for path in self.files]
        yield from pl.merge_sorted(frames[:fan_in], key=_KEY).collect_batches()

    @classmethod
    def read_all(cls, paths, fs):
        found = [None] * len(paths)
        with ThreadPoolExecutor(max_workers=8) as pool:
            futures = {pool.submit(cls.read, fs, path): index for index, path in enumerate(paths)}
            for future in as_completed(futures):
                found[futures[future]] = future.result()
        return found


def write_scatter(items, key_fn, num_output_shards, path):
    writer = ScatterWriter(path, 0)
    rows = []
    for item in items:
        rows.append((_route(item, key_fn, num_output_shards), dumps(item)))
        if len(rows) >= 1000:
            writer.write(pl.DataFrame(rows))
            rows.clear()
    return writer.close()
""",
    "reader.py": """
class Reader[T](Iterator[T]):
    def __init__(self, read: Callable[["Reader[T]"], T], total: int | None = None) -> None:
        self.total = total
        self._items = read(self)

    def __next__(self) -> T:
        return next(self._items)


def counted[T](reader: Reader[T], name: str) -> Iterator[T]:
    for item in reader:
        count(name, 1)
        yield item
""",
    "coordinator.py": """
class PullTask:
    shard: int
    attempt: int


class Snapshot:
    counters: dict
    generation: int


class _Run:
    stage: str


class ZephyrCoordinator:
    def pull_task(self, worker_id: str) -> PullTask | None:
        with self._lock:
            self._seen[worker_id] = time.monotonic()
            active = [run for run in self._runs.values() if not run.done]
            for i in range(len(active)):
                run = active[(self._offset + i) % len(active)]
                if not run.queue:
                    continue
                self._offset = (self._offset + i + 1) % len(active)
                return run.queue.popleft()
            return None

    def heartbeat(self, worker_id: str, snapshot: Snapshot) -> None:
        with self._lock:
            self._seen[worker_id] = time.monotonic()
            if self._newer(worker_id, snapshot):
                self._fold(snapshot)

    def _record_shard_failure(self, run, shard, error):
        run.in_flight.pop(shard, None)
        run.attempts[shard] += 1
        self._wake(run)
        if run.attempts[shard] >= self._limit:
            run.fatal = error
            return
        run.queue.append(shard)

    def _clear(self, worker_id, generation):
        self._counters[worker_id] = Snapshot({}, generation)

    def report_result(self, worker_id: str, shard: int) -> None:
        with self._lock:
            self._clear(worker_id, 0)
            for name, value in self._totals.items():
                self._publish(name, value)

    def get_status(self) -> str:
        with self._lock:
            done = sum(1 for run in self._runs.values() if run.done)
            total = len(self._runs)
        text = f"{done}/{total}"
        return text
""",
    "context.py": """
NON_RETRYABLE = (ValueError, MemoryError)


@dataclass
class ZephyrContext:
    client: object | None = None
    coordinator_resources: ResourceConfig = field(default_factory=lambda: ResourceConfig(cpu=0.1, ram="1g"))

    def execute(self, dataset, dry_run=False):
        for attempt in range(self.retries):
            try:
                return self._run(dataset)
            except NON_RETRYABLE:
                raise
            except Exception as error:
                logger.warning("attempt %d failed: %s", attempt, error)
""",
    **WORKING,
}


def edited(*edits: tuple[str, str, str]) -> Assessment:
    """Assess edits (file, old text, new text) in the whole package; every old text must be there."""
    heads = dict(FILES)
    for file, old, new in edits:
        assert heads[file].count(old) == 1, (file, old)
        heads[file] = heads[file].replace(old, new)
    changes = [
        FileChange(f"{ROOT}/{file}", "modified", None, FILES[file].encode(), heads[file].encode())
        for file in dict.fromkeys(file for file, _, _ in edits)
    ]
    base, head = ({f"{ROOT}/{name}": text.encode() for name, text in side.items()} for side in (FILES, heads))
    return assess(changes, Scope(), builtin_config().modules, PackageView(base, head))
