"""Commands and words of a shell script, read without running anything (POSIX.1, "Shell Command Language", and bash)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

# What parts commands, in runs as it is written: `);`, `&&`.
_PUNCTUATION = frozenset("();<>|&")
_QUOTED = r"""'[^']*'|"(?:\\.|[^"\\])*"|\\."""
# A number leads a redirection only where it is a word's beginning, and `#` a comment; `>(…)` is a command by itself.
_PIECE = re.compile(
    rf"""(?P<quoted>{_QUOTED})
    |(?P<comment>(?<![^\s;&|()])\#.*)
    |(?P<redirection>
        (?:(?<![^\s;&|()])\d+|&)?
        (?P<operator>>>|>&|>\||<>|<&|<<<|<<-?|>|<)(?!\()[ \t]*
        (?P<target>(?:{_QUOTED}|\$\([^)]*\)|[^\s;&|()<>'"])*)
     )
    |.""",
    re.VERBOSE | re.DOTALL,
)


def commands(script: str) -> Iterator[list[str]]:
    """The words of each simple command, in order, without redirections; what the shell rejects is left out.

    Line by line, because one line that is no shell by itself (text in quotes over several) must not hide the others.
    """
    lines = script.splitlines()
    begun, position = "", 0
    while position < len(lines):
        line, here = _bare(begun + lines[position])
        position += 1
        if line.endswith("\\") and not line.endswith("\\\\"):
            begun = line[:-1]
            continue
        begun = ""
        if here is not None:
            # Its text is no command; one without its end is none.
            ends = [at for at in range(position, len(lines)) if lines[at].strip() == here]
            position = ends[0] + 1 if ends else position
        yield from _parted(_words(line))
    yield from _parted(_words(begun))


def _bare(line: str) -> tuple[str, str | None]:
    """The line without comments and redirections, and the word that ends a here-document, where one begins."""
    kept, here = [], None
    for piece in _PIECE.finditer(line):
        operator = piece["operator"]
        if operator in ("<<", "<<-"):
            here = piece["target"].strip("'\"\\")
        if piece["comment"] is None:
            kept.append(" " if operator else piece[0])
    return "".join(kept), here


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    # Comments are gone by now; a `#` within a word would be taken for one.
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
