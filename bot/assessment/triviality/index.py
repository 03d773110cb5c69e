"""The package around a change as the rules ask about it: each question to all of it is answered once.

A pull request may change thousands of files, and every one of them asks the same of the same package. Answered anew for
each, that is as many walks through the package as it has changed files.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from bot.assessment.triviality.facts import Facts, facts_of
from bot.assessment.triviality.source import parsed

T = TypeVar("T")
_WORD = re.compile(r"\w+")
_PATH = re.compile(r"\w+(?:[.:]\w+)+")


class Index:
    """Both sides' files by path. Nothing here changes, so every answer is kept."""

    def __init__(self, base: dict[str, bytes], head: dict[str, bytes]) -> None:
        self.base, self.head = base, head
        self._answers: dict[Hashable, Any] = {}

    @cached_property
    def files(self) -> list[tuple[str, bytes]]:
        """Every file of both sides; a file that both sides share comes once."""
        return [*self.base.items(), *((path, text) for path, text in self.head.items() if self.base.get(path) != text)]

    @cached_property
    def read(self) -> list[tuple[str, bytes, Facts | None]]:
        """The files with what they say; None where one does not parse."""
        return [(path, text, facts_of(text)) for path, text in self.files]

    @cached_property
    def facts(self) -> list[Facts] | None:
        """Of every file of both sides. None where one file does not parse: it may hold any reader."""
        facts = [one for _, _, one in self.read if one is not None]
        return facts if len(facts) == len(self.read) else None

    @cached_property
    def asked_of(self) -> dict[str, set[tuple[str, str]]]:
        """Module or other owner → (file, name) of everything that is imported or asked of it."""
        found: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for path, _, facts in self.read:
            for owner, name in (*facts.imported, *facts.asked) if facts is not None else ():
                found[owner].add((path, name))
        return found

    @cached_property
    def steps_of(self) -> dict[str, set[tuple[str, str]]]:
        """Step of a path in a string (`zephyr.shuffle:run`) → (file, step) of every step of it."""
        found: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for path, _, facts in self.read:
            for text in facts.dotted if facts is not None else ():
                for steps in map(_WORD.findall, _PATH.findall(text)):
                    for step in steps:
                        found[step].update((path, other) for other in steps)
        return found

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """The answer to a question about all of it, found when it is first asked."""
        if question not in self._answers:
            self._answers[question] = answer()
        kept: T = self._answers[question]
        return kept

    def mentions(self, words: tuple[str, ...]) -> bool:
        """Does any of these stand anywhere, in whatever role?"""
        return self.once(("mentions", words), lambda: any(stands(words, text) for _, text in self.files))

    def loading(self, modules: frozenset[str]) -> list[bytes]:
        """The files that import one of these modules."""
        return self.once(("loading", modules), lambda: [text for _, text in self.files if _loads(modules, text)])

    def where(self, name: str) -> Iterator[tuple[str, ast.Module]]:
        """The trees, not to be changed, of the files that write this name in any role or as a word of a string."""
        for path, text, facts in self.read:
            # Parsed one after the other: mostly the first one ends the question.
            tree = parsed(text) if facts is not None and name in facts.words else None
            if tree is not None:
                yield path, tree


@lru_cache(maxsize=16384)
def stands(words: tuple[str, ...], text: bytes) -> bool:
    """Does any of the words stand in the text, where no longer word begins: `dir(` is not in `makedir(`?"""
    # The plain search is many times faster than the pattern, and mostly it finds nothing.
    if not text.isascii():
        # The interpreter reads identifiers in this form.
        text = unicodedata.normalize("NFKC", text.decode("utf-8", "replace")).encode()
    return any(word.rstrip("(").encode() in text for word in words) and _any_of(words).search(text) is not None


def _loads(modules: frozenset[str], text: bytes) -> bool:
    return _import_of(modules).search(text) is not None


@lru_cache(maxsize=32)
def _import_of(modules: frozenset[str]) -> re.Pattern[bytes]:
    pattern = rf"^[ \t]*(?:import|from)[ \t]+(?:{'|'.join(sorted(modules))})\b"
    return re.compile(pattern.encode(), re.MULTILINE)


@lru_cache(maxsize=32)
def _any_of(words: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile("|".join(_pattern(word) for word in words).encode())


def _pattern(word: str) -> str:
    start = r"\b" if word[0].isalnum() else ""
    # Spaces may stand before the bracket.
    return start + (re.escape(word[:-1]) + r"\s*\(" if word.endswith("(") else re.escape(word))
