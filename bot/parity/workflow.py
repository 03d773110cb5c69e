"""The `iris job run` of a tier's workflow file: YAML, and the commands of its steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from bot.parity import options, shell
from bot.parity.model import Shape, Unreadable

# The tier workflows have some 8,000 characters.
LARGEST_FILE = 256 * 1024
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
# Options of `iris` itself that take a value, which may be any word (`iris --help`, June 2026).
_VALUED = frozenset({"--config", "--cluster", "--controller-url"})
_PRINTING = frozenset({"echo", "printf"})


def read(text: str) -> Shape | Unreadable:
    """The shape of the one ferry that this workflow launches."""
    import yaml  # Slow to import, and serve listens without it.

    if len(text) > LARGEST_FILE:
        return Unreadable("is too large to be a workflow")
    try:
        workflow = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return Unreadable("is not valid YAML")
    found: list[Shape | Unreadable] = []
    for script in _scripts(workflow):
        for words in shell.commands(script):
            if (submission := _of_iris(words)) is not None:
                opaque, arguments = submission
                shape = options.shape(arguments)
                if isinstance(shape, Shape):
                    shape = replace(shape, beside=tuple(opaque))
                found.append(shape)
    if not found:
        return Unreadable("has no step that runs `iris job run`")
    if len(found) > 1:
        return Unreadable(f"runs `iris job run` {len(found)} times, so which one is the ferry is not known")
    return found[0]


def _scripts(workflow: object) -> Iterator[str]:
    """The `run` of every step of every job, expressions replaced by a mark."""
    jobs = workflow.get("jobs") if isinstance(workflow, dict) else None
    for job in jobs.values() if isinstance(jobs, dict) else ():
        steps = job.get("steps") if isinstance(job, dict) else None
        for step in steps if isinstance(steps, list) else ():
            script = step.get("run") if isinstance(step, dict) else None
            if isinstance(script, str):
                yield _EXPRESSION.sub(options.EXPRESSION, script)


def _of_iris(words: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Of `iris [OPTIONS] job run …`: words among OPTIONS that stand for any, and those after. None for any other
    command."""
    if not words or words[0] in _PRINTING:
        return None
    for position, word in enumerate(words):
        if word.rpartition("/")[2] == "iris" and (found := _submission(list(words[position + 1 :]))) is not None:
            return found
    return None


def _submission(words: list[str]) -> tuple[list[str], list[str]] | None:
    opaque: list[str] = []
    while words and words[0] != "job":
        word = words.pop(0)
        if word in _VALUED:
            del words[:1]
        elif options.unread(word) and not word.startswith("-"):
            opaque.append(options.shown(word))
        elif not word.startswith("-"):
            return None
    return (opaque, words[2:]) if words[:2] == ["job", "run"] else None
