"""Google Cloud Storage as the bot uses it: one client a question, which leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.cloud import storage

# See google.cloud.storage._opentelemetry_tracing: else every first look at a bucket starts a thread that asks for the
# bucket itself, for the sake of traces that nobody collects, with a permission that a reader of objects does not have,
# and for two minutes where Google does not answer.
NO_LOOK_AT_THE_BUCKET = "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA"


@contextmanager
def opened() -> Iterator[storage.Client]:
    """A client with the surroundings' credentials. Raises GoogleAuthError, OSError; what is asked of it, its own."""
    from google.cloud import storage

    os.environ[NO_LOOK_AT_THE_BUCKET] = "true"
    # Without a project: reading needs none, and looking for one would ask the metadata server.
    client = storage.Client(project=None)
    try:
        yield client
    finally:
        client.close()
