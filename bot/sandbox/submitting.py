"""The cage of the submitting Iris client: the pinned tree at a neutral place, read-only, and what a submission takes.

The client bundles whatever it finds in its folder, so it sees no more than that folder, its own environment, the
cluster's config and credential, and the network. In there the tree's parent is an empty root: no `.git` above it can be
found.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.sandbox.bubblewrap import Bind, wrap
from bot.sandbox.tools import visible

BUNDLE = "/bundle"
# Google's client libraries find the credential's file by this name.
CREDENTIAL = "GOOGLE_APPLICATION_CREDENTIALS"


class SubmitCage:
    """`tools` are the folders of the client's environment, `files` what else it reads, such as the cluster's YAML."""

    def __init__(self, tools: Sequence[Path], files: Sequence[Path] = (), bwrap: str | None = None) -> None:
        self._tools = tuple(tools)
        self._files = tuple(files)
        self._bwrap = bwrap

    @classmethod
    def around(cls, command: Path, files: Sequence[Path] = ()) -> SubmitCage:
        """For a program in the `bin` of a virtual environment (or of any folder that has its own)."""
        found = Path(shutil.which(command) or command)
        return cls([found.parent.parent], files)

    def __call__(
        self, argv: Sequence[str], *, tree: Path, environment: Mapping[str, str], writable: Sequence[Path] = ()
    ) -> list[str]:
        """The command to start, with exactly `environment` as its own. Raises NotInstalled without bubblewrap.

        Nothing of `environment` stands in the arguments: it may hold secrets. Folders in `writable` must exist.
        """
        credential = [Path(environment[CREDENTIAL])] if environment.get(CREDENTIAL) else []
        read_only: list[Bind] = [*visible(self._tools), *self._files, *credential, (tree, BUNDLE)]
        return wrap(argv, read_only=read_only, read_write=list(writable), network=True, chdir=BUNDLE, bwrap=self._bwrap)
