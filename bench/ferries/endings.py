"""Pull requests whose ferries end in ways of their own: zephyr is changed harmlessly, and the ferry is replaced.

Nothing of the bot is pretended: the ferry's own code decides how it ends, as a pull request's may.
"""

from __future__ import annotations

from dataclasses import dataclass

from demo.repository import PLAIN, Edit

FERRY = "experiments/ferries/datakit_ferry.py"
_BEGINS = '    configure_logging()\n    prefix = os.environ["MARIN_PREFIX"]\n'


@dataclass(frozen=True, slots=True)
class Ending:
    """`wanted` has to stand in the last comment, `ferries` are the submissions that this takes."""

    name: str
    statement: str
    wanted: tuple[str, ...]
    ferries: int

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What the pull request changes."""
        return (*PLAIN, Edit(FERRY, _BEGINS, f"{_BEGINS}    {self.statement}\n"))


FAILS = Ending(
    "fails",
    'raise ValueError("bad shard payload 3")',
    ("❌ fail", "twice with the same application error", "bad shard payload"),
    2,
)
IS_KILLED = Ending("is killed", "time.sleep(600)", ("not comparable", "stopped from outside", "ended killed"), 2)
RUNS_OUT_OF_MEMORY = Ending(
    "runs out of memory",
    'logger.info("allocating more than there is"); os.kill(os.getpid(), 9)',
    ("❌ fail", "infra_failures.oom is 1", "out of memory", "exit code"),
    1,
)
HANGS = Ending("hangs", "time.sleep(600)", ("stopped by reviewer", "Trouble on the way that is over"), 1)
