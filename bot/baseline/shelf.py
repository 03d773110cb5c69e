"""Reports that were read before, as files by name. Trouble with the disk costs another download and nothing else."""

from __future__ import annotations

import logging
import re
import secrets
from contextlib import suppress
from pathlib import Path

_log = logging.getLogger(__name__)

# Twice the history that is asked for: a tier's older reports are no longer wanted.
MOST = 40
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,100}")


class Shelf:
    """One tier's reports in one folder. Names that sort later are newer; only the newest `most` are kept."""

    def __init__(self, folder: Path, most: int = MOST) -> None:
        self._folder = folder
        self._most = most

    def get(self, name: str) -> str | None:
        """The text that was put under `name`; None where there is none any more."""
        try:
            text = self._path(name).read_text("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("kept report not readable", extra={"report": name, "error": str(error)})
            return None
        # A machine that lost power can leave a file whose name was written and whose content was not.
        return text or None

    def newest(self, most: int) -> list[str]:
        """The last texts by name, newest first; what cannot be read is left out."""
        try:
            names = sorted((path.name for path in self._folder.iterdir() if _NAME.fullmatch(path.name)), reverse=True)
        except OSError:
            return []
        return [text for name in names[:most] if (text := self.get(name)) is not None]

    def put(self, name: str, text: str) -> None:
        partial = self._folder / f".{secrets.token_hex(8)}.new"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            partial.write_text(text, "utf-8")
            partial.replace(self._path(name))
            self._drop_the_oldest()
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            _log.warning("report not kept", extra={"report": name, "error": str(error)})

    def _drop_the_oldest(self) -> None:
        kept = sorted(path for path in self._folder.iterdir() if not path.name.startswith("."))
        for path in kept[: -self._most]:
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"no name of a report: {name!r}")
        return self._folder / name
