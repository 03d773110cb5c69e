"""A miniature datakit ferry: download, normalize and tokenize, each a real Zephyr pipeline with workers of its own.

Reads SMOKE_RUN_ID (names the output; a step whose output is there is skipped), MARIN_PREFIX (where output goes) and
FERRY_STATUS_PATH (where the end of the run is told, as JSON).
"""

import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import zephyr
from fray import ResourceConfig
from rigging.filesystem import open_url
from rigging.log_setup import configure_logging
from zephyr import Dataset, ZephyrContext
from zephyr.runners import InlineRunner

logger = logging.getLogger(__name__)

SHARDS = 2
DOCUMENTS_PER_SHARD = 2000
# Each step waits this long for each document, as reading from an object store would: about six seconds a step that do not
# depend on how busy the machine is, beside the seconds that starting and stopping its jobs take.
READ_LATENCY_SECONDS = 0.0015


def zephyr_digest() -> str:
    """One digest of the zephyr sources this process imported: which code ran, whatever the paths are called."""
    root = Path(zephyr.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def context(name: str, prefix: str) -> ZephyrContext:
    """One worker: two of them on a small machine make the wall time of a stage depend on who starts first."""
    return ZephyrContext(
        name=name,
        max_workers=1,
        resources=ResourceConfig(cpu=1, ram="512m", disk="1g"),
        coordinator_resources=ResourceConfig(cpu=0.1, ram="512m", disk="1g", preemptible=False),
        chunk_storage_prefix=f"{prefix}/tmp/zephyr",
        max_execution_retries=0,
        stage_runner_factory=lambda workers: InlineRunner(num_workers=workers),
    )


def documents(shard: int, witness: str) -> Iterator[dict]:
    """The synthetic corpus; a worker leaves the digest of the zephyr it imported beside it."""
    Path(witness).mkdir(parents=True, exist_ok=True)
    (Path(witness) / f"worker-{shard}").write_text(zephyr_digest())
    for index in range(DOCUMENTS_PER_SHARD):
        number = shard * DOCUMENTS_PER_SHARD + index
        time.sleep(READ_LATENCY_SECONDS)
        words = hashlib.sha256(str(number).encode()).hexdigest()
        yield {"id": number, "text": "  ".join(words[at : at + 4] for at in range(0, 64, 4)) * 8}


def normalized(document: dict) -> dict:
    time.sleep(READ_LATENCY_SECONDS)
    text = re.sub(r"\s+", " ", document["text"]).strip()
    return {"id": hashlib.sha1(str(document["id"]).encode()).hexdigest(), "text": text}


def tokenized(document: dict) -> dict:
    time.sleep(READ_LATENCY_SECONDS)
    tokens = [int.from_bytes(hashlib.blake2b(t.encode(), digest_size=2).digest()) for t in document["text"].split()]
    return {"id": document["id"], "tokens": tokens}


def download(base: str, prefix: str) -> None:
    source = Dataset.from_list(list(range(SHARDS))).flat_map(lambda shard: documents(shard, f"{base}/witness"))
    context("download-hf", prefix).execute(source.write_parquet(f"{base}/download/part-{{shard:05d}}.parquet"))


def normalize(base: str, prefix: str) -> None:
    source = Dataset.from_files(f"{base}/download/*.parquet").load_parquet().map(normalized)
    unique = source.group_by(lambda d: d["id"], reducer=lambda _, same: next(iter(same)), num_output_shards=SHARDS)
    context("normalize", prefix).execute(unique.write_parquet(f"{base}/normalize/part-{{shard:05d}}.parquet"))


def tokenize(base: str, prefix: str) -> None:
    source = Dataset.from_files(f"{base}/normalize/*.parquet").load_parquet().map(tokenized)
    context("tokenize-train", prefix).execute(source.write_parquet(f"{base}/tokenize/part-{{shard:05d}}.parquet"))


STEPS: dict[str, Callable[[str, str], None]] = {"download": download, "normalize": normalize, "tokenize": tokenize}


def write_status(status: str, prefix: str, base: str) -> None:
    """Tell how the run ended; `status` and `marin_prefix` are the contract, the rest shows which zephyr ran."""
    path = os.environ.get("FERRY_STATUS_PATH")
    if not path:
        return
    if "://" not in path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    witnesses = sorted({path.read_text() for path in Path(base, "witness").glob("worker-*")})
    with open_url(path, "w") as file:
        json.dump(
            {
                "status": status,
                "marin_prefix": prefix,
                "zephyr_file": zephyr.__file__,
                "zephyr_digest": zephyr_digest(),
                "worker_zephyr_digests": witnesses,
            },
            file,
        )


def main() -> None:
    configure_logging()
    prefix = os.environ["MARIN_PREFIX"]
    base = f"{prefix}/datakit-smoke/{os.environ['SMOKE_RUN_ID']}"
    try:
        for name, step in STEPS.items():
            done = Path(base, name, ".success")
            if done.exists():
                logger.info("step %s: output exists, skipped", name)
                continue
            step(base, prefix)
            done.touch()
    except BaseException:
        write_status("failed", prefix, base)
        raise
    write_status("succeeded", prefix, base)


if __name__ == "__main__":
    main()
