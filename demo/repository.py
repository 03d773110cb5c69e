"""A real git repository for the demo and the tests: real Zephyr, a miniature ferry, tier workflows, a perf-gate config.

`demo/files` is copied as it is; zephyr's source is copied from the package installed beside Iris when the repository is
made, so nothing of it is kept here. Pull requests are small textual edits of that source, each anchored on a line that
must be there. Authorship and dates are fixed: the same zephyr gives the same SHAs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

FILES = Path(__file__).resolve().parent / "files"
PACKAGE = "lib/zephyr/src/zephyr"
SHUFFLE = f"{PACKAGE}/shuffle.py"
FIRST_COMMIT_AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)


class RepositoryFailed(RuntimeError):
    """A git command failed, or the installed zephyr lacks a line that an edit needs."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the one occurrence of `old` in `path`."""

    path: str
    old: str
    new: str


# A comment and a local simplification: no behaviour changes, yet no parser can prove the diff trivial.
PLAIN = (
    Edit(
        SHUFFLE,
        """    stem, _ = os.path.splitext(data_path)
    return stem + _SCATTER_META_SUFFIX
""",
        """    # The sidecar lies beside its data file, so that one listing finds both.
    return os.path.splitext(data_path)[0] + _SCATTER_META_SUFFIX
""",
    ),
)
# What a well-meant fix may look like: bursts of scatter writes trip an object store's rate limit, so somebody paces
# them per record instead of per flush. Only group_by scatters, so only normalize pays: 2000 records a shard, 6 ms each.
PACED_SCATTER = (
    Edit(SHUFFLE, "import pickle\nfrom collections", "import pickle\nimport time\nfrom collections"),
    Edit(
        SHUFFLE,
        "_PROGRESS_LOG_INTERVAL_SECONDS = 60.0\n",
        """_PROGRESS_LOG_INTERVAL_SECONDS = 60.0
# Least time between two records of one writer, so that a burst of shards stays below the object store's request limit.
_SCATTER_PACE_SECONDS = 0.006
""",
    ),
    Edit(
        SHUFFLE,
        """        key = self._key_fn(item)
        target = deterministic_hash(key) % self._num_output_shards
""",
        """        time.sleep(_SCATTER_PACE_SECONDS)
        key = self._key_fn(item)
        target = deterministic_hash(key) % self._num_output_shards
""",
    ),
)
# A validation that is too strict: the first record that is scattered fails its shard.
STRICT_KEYS = (
    Edit(
        SHUFFLE,
        """        key = self._key_fn(item)
        target = deterministic_hash(key) % self._num_output_shards
""",
        """        key = self._key_fn(item)
        if not isinstance(key, int):
            raise TypeError(f"scatter key must be an integer, got {type(key).__name__}")
        target = deterministic_hash(key) % self._num_output_shards
""",
    ),
)
SLOW: Mapping[str, tuple[Edit, ...]] = {"normalize": PACED_SCATTER}
BROKEN: Mapping[str, tuple[Edit, ...]] = {"normalize": STRICT_KEYS}


def zephyr_digest(sources: Mapping[str, bytes]) -> str:
    """The ferry's digest of a zephyr tree, from its files by path relative to the package."""
    digest = hashlib.sha256()
    for path in sorted(sources, key=lambda path: path.split("/")):
        digest.update(path.encode() + b"\0" + sources[path] + b"\0")
    return digest.hexdigest()


@dataclass
class DemoRepository:
    """`bare` is what a server serves; `work` is where commits are made."""

    bare: Path
    work: Path
    main_sha: str = ""
    commits: int = 0

    def branch(
        self, name: str, slow: str | None = None, broken: str | None = None, edits: Sequence[Edit] = PLAIN
    ) -> str:
        """Push a branch from main's tip with one change and return its head SHA.

        Without `slow` and `broken` it is `edits`: a harmless one, where none are given. `slow="normalize"` slows that
        stage by about 25 s, `broken="normalize"` makes its shards fail. ValueError for a stage no edit exists for.
        """
        if slow is not None and slow not in SLOW:
            raise ValueError(f"no change slows {slow!r}; there is one for: {', '.join(SLOW)}")
        if broken is not None and broken not in BROKEN:
            raise ValueError(f"no change breaks {broken!r}; there is one for: {', '.join(BROKEN)}")
        message = "Find a shard's sidecar beside its data"
        if slow is not None:
            edits, message = SLOW[slow], "Pace scatter writes below the object store's request limit"
        elif broken is not None:
            edits, message = BROKEN[broken], "Validate scatter keys"
        self._git("checkout", "-q", "-B", name, "main")
        for edit in edits:
            self._apply(edit)
        head = self._commit(message)
        self._git("push", "-q", "--force", "origin", name)
        self._git("checkout", "-q", "main")
        return head

    def change_main(self, files: Mapping[str, str]) -> str:
        """Push these files to main, and return its SHA."""
        self._git("checkout", "-q", "main")
        for path, text in files.items():
            (self.work / path).write_text(text)
        self.main_sha = self._commit("Change what the gate reads of main")
        self._git("push", "-q", "origin", "main")
        return self.main_sha

    def advance_main(self) -> str:
        """Push one more commit to main, in zephyr's source too, and return its SHA."""
        self._git("checkout", "-q", "main")
        note = self.work / PACKAGE / "counters.py"
        note.write_text(note.read_text() + f"\n# Reviewed after change {self.commits}.\n")
        self.main_sha = self._commit("Note the review of the counters")
        self._git("push", "-q", "origin", "main")
        return self.main_sha

    def zephyr_sources(self, sha: str) -> dict[str, bytes]:
        """The zephyr package's files at a commit, read from git, by path relative to the package."""
        listing = self._git("ls-tree", "-r", "--name-only", sha, f"{PACKAGE}/").split()
        paths = [path for path in listing if path.endswith(".py")]
        return {path.removeprefix(f"{PACKAGE}/"): self._git_bytes("show", f"{sha}:{path}") for path in paths}

    def _apply(self, edit: Edit) -> None:
        path = self.work / edit.path
        text = path.read_text()
        if text.count(edit.old) != 1:
            raise RepositoryFailed(
                f"{edit.path} of the installed zephyr does not have the expected line once:\n{edit.old}"
            )
        path.write_text(text.replace(edit.old, edit.new))

    def _commit(self, message: str) -> str:
        at = (FIRST_COMMIT_AT + timedelta(hours=self.commits)).isoformat()
        self.commits += 1
        self._git("add", "--all")
        self._git("commit", "-q", "-m", message, at=at)
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str, at: str = "") -> str:
        return self._git_bytes(*arguments, at=at).decode()

    def _git_bytes(self, *arguments: str, at: str = "") -> bytes:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "Demo Author",
            "GIT_AUTHOR_EMAIL": "author@demo.invalid",
            "GIT_COMMITTER_NAME": "Demo Author",
            "GIT_COMMITTER_EMAIL": "author@demo.invalid",
        }
        if at:
            environment |= {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        done = subprocess.run(["git", *arguments], cwd=self.work, env=environment, capture_output=True, check=False)
        if done.returncode != 0:
            raise RepositoryFailed(f"git {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout


def create(root: Path, zephyr: Path) -> DemoRepository:
    """Make the repository under `root` (`origin.git` and `work`) with zephyr's source from the installed package."""
    bare, work = root / "origin.git", root / "work"
    shutil.copytree(FILES, work, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(zephyr, work / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    (work / ".gitignore").write_text("__pycache__/\n")
    repository = DemoRepository(bare=bare, work=work)
    repository._git("init", "-q", "--initial-branch=main", ".")
    repository._git("init", "-q", "--bare", "--initial-branch=main", str(bare))
    # A pull request's commits are fetched by SHA as well as by ref, as on GitHub.
    repository._git("-C", str(bare), "config", "uploadpack.allowAnySHA1InWant", "true")
    repository._git("remote", "add", "origin", str(bare))
    repository.main_sha = repository._commit("Take in zephyr and its ferry")
    repository._git("push", "-q", "origin", "main")
    return repository
