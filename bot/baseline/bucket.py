"""The bucket into which the tier workflows copy their reports, read with google-cloud-storage. All of it blocks.

Layout, from the collector that upstream's workflows run (scripts/ci/collect_perf_metrics.py):
`PREFIX/report_<UTC timestamp, 20260506T071523Z>_tier<N>/perf_report.json`. Others may be able to write here, so names
are matched, never trusted, sizes are limits, and nothing is decompressed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from bot import google_storage
from bot.faults import Fault

if TYPE_CHECKING:
    from google.cloud.storage import Blob

# A report of tier 3 is some 20 kB.
LARGEST_REPORT = 1024 * 1024
# The three tiers in ten years; a listing that is longer was made so by somebody.
_MOST_LISTED = 20_000
_REQUEST_SECONDS = 15.0
# Dashes and colons too, as other spellings of the same moment have them.
_NAME = re.compile(r"report_(\d{4}-?\d\d-?\d\d[T_-]?[\d:-]{0,12}Z?)_tier(\d)/perf_report\.json")
_LONGEST_AGO = timedelta(days=400)
# What a clock may be wrong by. Names from later on would push the true ones out of what is read.
_NOT_YET = timedelta(hours=1)


class Entry(msgspec.Struct, frozen=True):
    """One report in the bucket, unread. `moment` is the timestamp of its name, `written` when the bucket got it."""

    name: str
    moment: datetime
    size: int
    generation: int
    written: datetime

    @property
    def shelf_name(self) -> str:
        """Sorts by the moment; the same for the same object name, whoever overwrites the object."""
        return f"{self.moment:%Y%m%dT%H%M%S}-{self.name.rpartition('/')[0].rpartition('/')[2]}"


class Bucket:
    """Made by `opened`. Every call raises Fault, retryable where it may pass another time; its public sentence
    completes "The GCS mirror of the reports …"."""

    def __init__(self, client: Any, url: str, ends: float) -> None:
        self._client = client
        self._bucket, _, self._folder = url.removeprefix("gs://").partition("/")
        self._ends = ends

    def entries(self, tier: int, now: datetime) -> list[Entry]:
        """The tier's reports, newest first by the timestamps in their names."""
        prefix = f"{self._folder}/" if self._folder else ""
        found, listed = [], 0
        with _speaking():
            blobs = self._client.list_blobs(
                self._bucket,
                prefix=f"{prefix}report_",
                # A year is the coarsest cut that every spelling of a timestamp shares.
                start_offset=f"{prefix}report_{(now - _LONGEST_AGO).year}",
                max_results=_MOST_LISTED,
                fields="items(name,size,generation,timeCreated),nextPageToken",
                timeout=_REQUEST_SECONDS,
                retry=self._retry(),
            )
            # Pages are asked for as the loop comes to them.
            for listed, blob in enumerate(blobs, start=1):  # noqa: B007  # counted
                self._in_time()
                if (entry := _entry(blob, prefix, tier)) is not None and entry.moment <= now + _NOT_YET:
                    found.append(entry)
        if listed == _MOST_LISTED:
            # In the order of names: the newest would be those that are left out.
            raise Fault("holds more objects than can be looked through", f"{listed} objects")
        return sorted(found, key=lambda entry: (entry.moment, entry.name), reverse=True)

    def text(self, entry: Entry) -> str | None:
        """The report's text; None where it is gone, was replaced since, is too large or no UTF-8."""
        from google.api_core.exceptions import NotFound, PreconditionFailed

        self._in_time()
        with _speaking():
            blob = self._client.bucket(self._bucket).blob(entry.name)
            try:
                # `raw_download`: an object that says it is compressed is not expanded, so none can be a bomb.
                data = blob.download_as_bytes(
                    start=0,
                    end=LARGEST_REPORT,
                    raw_download=True,
                    if_generation_match=entry.generation,
                    timeout=_REQUEST_SECONDS,
                    retry=self._retry(),
                )
                return None if len(data) > LARGEST_REPORT else bytes(data).decode("utf-8")
            except (NotFound, PreconditionFailed, UnicodeDecodeError):
                return None

    def _retry(self) -> Any:
        from google.cloud.storage.retry import DEFAULT_RETRY

        left = max(0.1, self._ends - time.monotonic())
        return DEFAULT_RETRY.with_delay(initial=0.2, maximum=5.0).with_timeout(left)

    def _in_time(self) -> None:
        if time.monotonic() >= self._ends:
            raise Fault("did not answer in time", f"gs://{self._bucket}", retryable=True)


@contextmanager
def opened(url: str, patience: float) -> Iterator[Bucket]:
    """The bucket of `url` (gs://bucket/folder). What is asked of it ends within `patience` seconds, and a request."""
    ends = time.monotonic() + patience
    with ExitStack() as stack:
        with _speaking():
            client = stack.enter_context(google_storage.opened())
        yield Bucket(client, url, ends)


@contextmanager
def _speaking() -> Iterator[None]:
    """The library's errors as faults. The bucket's name stays private: it is the operator's."""
    from google.api_core.exceptions import Forbidden, GoogleAPIError, NotFound, RetryError, Unauthorized
    from google.auth.exceptions import GoogleAuthError, TransportError
    from requests.exceptions import RequestException

    try:
        yield
    except (RetryError, TransportError, RequestException) as error:
        raise Fault("did not answer", str(error), retryable=True) from error
    except (Forbidden, Unauthorized) as error:
        raise Fault(f"refused perf-gate's access (HTTP {error.code})", str(error)) from error
    except NotFound as error:
        raise Fault("is not there (HTTP 404)", str(error)) from error
    except GoogleAPIError as error:
        raise Fault("had trouble of its own", str(error), retryable=True) from error
    except GoogleAuthError as error:
        public = "cannot be read with the Google credentials that perf-gate has, if any"
        raise Fault(public, str(error), retryable=bool(error.retryable)) from error


def _entry(blob: Blob, prefix: str, tier: int) -> Entry | None:
    """What the listing says of a report of this tier; None for every other object."""
    match = _NAME.fullmatch(str(blob.name).removeprefix(prefix))
    if match is None or match[2] != str(tier):
        return None
    try:
        digits = re.sub(r"\D", "", match[1])[:14]
        moment = datetime.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return Entry(blob.name, moment, int(blob.size), int(blob.generation), blob.time_created or moment)
    except (ValueError, TypeError):
        return None
