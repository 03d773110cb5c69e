"""What the workers of later months do: their statistics, the planned operations, the writers."""

from __future__ import annotations

WORKING = {
    "worker.py": """
POLL = 0.5


class ZephyrWorker:
    def __init__(self, coordinator, runner):
        self._coordinator = coordinator
        self._active = []
        self._active_count = 0
        self._stage = ""

    def _heartbeat_loop(self):
        while not self._stop.wait(timeout=POLL):
            self._coordinator.heartbeat.remote(self._id, self._snapshot()).result()
            self._report_status()

    def _snapshot(self):
        with self._lock:
            entries = list(self._active)
        current = {}
        for entry in entries:
            for name, value in entry.live_counters().items():
                if name not in current:
                    current[name] = CounterEntry(value, name)
                else:
                    current[name].merge(value)
        return current

    def _report_status(self):
        def build():
            values = {key: entry for key, entry in self._last.items() if entry.stage == self._stage}
            shown = throughput(values, 1.0) if self._stage else None
            if shown is not None:
                logger.info("throughput %s", shown)
            return status_text(self._active_count, self._stage)

        push_status(self._limiter, build)

    def _task_thread(self, task):
        self._active_count += 1
        self._stage = task.stage
        try:
            result = self._runner.execute(task)
            self._coordinator.report_result.remote(self._id, result).result()
        except Exception:
            logger.error("shard %d", task.shard, exc_info=True)
            self._coordinator.report_error.remote(self._id, "".join(traceback.format_exc())).result()
        finally:
            self._active_count = max(0, self._active_count - 1)
            self._finish(task, {})

    def _finish(self, task, counters):
        with self._lock:
            if not counters:
                counters = task.last
            task.last = dict(counters)
            self._writer.emit_worker_stat(task.stage, counters)
            self._active.remove(task)


def sample(at_start, proc):
    rss = proc.memory_info().rss
    stage_counters = counters.current_stage()
    stage_counters.set_counter(CPU_KEY, proc.cpu_percent())
    stage_counters.set_counter(MEM_KEY, rss)
    stage_counters.update_counter(PEAK_KEY, rss)


def periodic_sampler(stop, interval, at_start, proc):
    while not stop.wait(timeout=interval):
        sample(at_start, proc)


def start_sampler(stop, proc):
    threading.Thread(target=periodic_sampler, args=(stop, 5.0, 0.0, proc), daemon=True).start()
""",
    "stats.py": """
def throughput(counters, elapsed):
    items = int(counters.get(ITEMS, 0))
    size = int(counters.get(BYTES, 0))
    item_rate = per_second(items, elapsed)
    byte_rate = per_second(size, elapsed)
    return Throughput(items=items, bytes_processed=size, item_rate=item_rate, byte_rate=byte_rate)


def format_bytes(n):
    return humanfriendly.format_size(int(n), binary=True)


def emit_stage(run, table):
    totals = {name: entry.value for name, entry in run.merged().items() if entry.stage == run.stage}
    table.write([Stat(totals, run.elapsed)])
""",
    "plan.py": """
def glob_files(pattern):
    cleaned = re.sub(r"(?<!:)//+", "/", pattern)
    fs, _ = url_to_fs(cleaned)
    return [entry for part in braceexpand(cleaned) for entry in fs.glob(part)]


def run_stage(ctx, ops):
    stream = iter(ctx.shard)
    for op in ops:
        if isinstance(op, Write):
            path = op.pattern(ctx.index, ctx.total)
            if op.skip_existing:
                fs = url_to_fs(path)[0]
                if fs.exists(path):
                    counters.update_counter("zephyr/partitions_skipped", 1)
                    return
            op.write(stream, path)
        elif isinstance(op, Reduce):
            reader = ScatterReader(list(ctx.shard), ctx.index)
            stream = reduce_gen(reader, op.key_fn, op.reducer_fn)
    yield from stream
""",
    "writers.py": """
def open_write_stream(fs, path):
    if path.endswith(".gz"):
        with fs.open(path, "wb", block_size=_BLOCK, compression="gzip") as f:
            yield f
    elif path.endswith(".xz"):
        with fs.open(path, "wb", block_size=_BLOCK, compression="xz") as f:
            yield f
    else:
        with fs.open(path, "wb", block_size=_BLOCK) as f:
            yield f


def pickle_chunks(items, path_of):
    refs = []
    for index, batch in enumerate(batchify(items, n=_CHUNK)):
        refs.append(store(path_of(index), batch))
        written = index + 1
        if written % 10 == 0:
            logger.info("wrote %d", written)
    return refs


def batchify(items, n=1024):
    iterator = iter(items)
    while batch := tuple(islice(iterator, n)):
        yield batch
""",
}
