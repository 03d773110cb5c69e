"""The `iris job run` of a tier's workflow file: YAML and shell words, read without running anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from bot.parity import options
from bot.parity.model import Shape, Unreadable

# The tier workflows have some 8,000 characters.
LARGEST_FILE = 256 * 1024
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_CONTINUED = re.compile(r"\\\r?\n")
# What parts commands, in runs as it is written: `);`, `&&`.
_PUNCTUATION = frozenset("();<>|&")


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
        for words in commands(script):
            if (arguments := _of_iris(words)) is not None:
                found.append(options.shape(arguments))
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


def commands(script: str) -> Iterator[list[str]]:
    """The words of each simple command of a shell script, in order; what the shell rejects is left out.

    Line by line, because one line that is no shell by itself (a here-document) must not hide the others.
    """
    for line in _CONTINUED.sub(" ", script).splitlines():
        if not line.lstrip().startswith("#"):
            yield from _parted(_words(line))


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    # A `#` within a word starts no comment; shlex would take it for one.
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return []


def _parted(words: Sequence[str]) -> Iterator[list[str]]:
    """The commands of a line, those within `$(…)` among them; in the one around it `$(…)` is a word nobody knows."""
    command: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        if set(word) <= {"("} and word and command and command[-1].endswith("$"):
            closing = _closing(words, position)
            yield from _parted(words[position + 1 : closing])
            command[-1] += "(…)"
            position = closing
        elif word and set(word) <= _PUNCTUATION:
            yield command
            command = []
        else:
            command.append(word)
        position += 1
    yield command


def _closing(words: Sequence[str], start: int) -> int:
    depth = 0
    for position in range(start, len(words)):
        if set(words[position]) <= _PUNCTUATION:
            depth += words[position].count("(") - words[position].count(")")
            if depth <= 0:
                return position
    return len(words)


def _of_iris(words: Sequence[str]) -> list[str] | None:
    """The words after `iris [OPTIONS] job run`, None for any other command."""
    for position, word in enumerate(words):
        if word.rpartition("/")[2] != "iris":
            continue
        for at in range(position + 1, len(words) - 1):
            if words[at] == "--":
                break
            if words[at] == "job" and words[at + 1] == "run":
                return list(words[at + 2 :])
    return None
