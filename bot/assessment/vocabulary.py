"""What names and modules mean: the configured vocabularies, made ready to ask. No word of Zephyr stands in code."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from typing import get_args

from bot.config.modules import CallRule, Frequency, ModuleRole, Modules, NameRule

FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)
SAID: dict[Frequency, str] = {
    "import": "once per import",
    "planning": "at planning",
    "stage": "once per stage",
    "poll": "once per poll",
    "shard": "once per shard",
    "chunk": "once per chunk",
    "record": "once per record",
}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_UNKNOWN = ModuleRole(files=("*",), what="a module of the package")


def rank(frequency: Frequency) -> int:
    """Where a frequency stands, from once per import upwards."""
    return FREQUENCIES.index(frequency)


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """`_SUB_BATCH_SIZE`, `subBatchSize` and `sub batch size` are all (sub, batch, size)."""
    return tuple(word.lower() for word in _WORD.findall(name))


def says(name: str, phrase: str) -> bool:
    """Does a name hold every word of the phrase?"""
    held = set(words_of(name))
    return bool(held) and all(word in held for word in phrase.split())


class Vocabulary:
    """The `[modules]` table, asked by name. Every answer is remembered: a diff asks the same few thousand names."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._root = modules.package_root.rstrip("/") + "/"
        self._calls = [(frozenset(rule.calls), rule) for rule in modules.calls]
        self._cheap = frozenset(modules.cheap_calls)
        self._names: dict[tuple[str, bool], NameRule | None] = {}
        self._runs: dict[str, Frequency | None] = {}
        self._roles: dict[str, ModuleRole] = {}
        self._loops: dict[str, Frequency | None] = {}

    def file(self, path: str) -> str:
        """The path below the package root."""
        return path.removeprefix(self._root)

    def role(self, path: str) -> ModuleRole:
        """What the module is for."""
        if path not in self._roles:
            self._roles[path] = self._role(path)
        return self._roles[path]

    def _role(self, path: str) -> ModuleRole:
        below = self.file(path)
        tail = below.rsplit("/", 1)[-1]
        for role in self.modules.roles:
            if any(fnmatchcase(below, pattern) or fnmatchcase(tail, pattern) for pattern in role.files):
                return role
        return _UNKNOWN

    def high_prior(self, path: str) -> bool:
        """Is this one of the modules that matter most?"""
        return self.file(path) in self.modules.high_prior

    def name(self, name: str, *, text: bool = False) -> NameRule | None:
        """What a name stands for: the first rule of which a phrase is in it. `text`: its value is a text."""
        key = (name, text)
        if key not in self._names:
            rules = (rule for rule in self.modules.names if text or not rule.texts)
            self._names[key] = next((r for r in rules if any(says(name, phrase) for phrase in r.words)), None)
        return self._names[key]

    def call(self, callee: str) -> CallRule | None:
        """What a call costs, by the last part of the callee."""
        return next((rule for calls, rule in self._calls if callee in calls), None)

    def releases(self, callee: str) -> bool:
        """Does this call let go of what would stay held without it?"""
        return any(says(callee, phrase) for phrase in self.modules.releases)

    def cheap(self, callee: str) -> bool:
        """Is one more of this call per record below what can be measured?"""
        return callee in self._cheap

    def runs(self, qualified: str) -> Frequency | None:
        """How often a definition is known to run."""
        if qualified not in self._runs:
            self._runs[qualified] = self._matched(qualified)
        return self._runs[qualified]

    def _matched(self, qualified: str) -> Frequency | None:
        for frequency in reversed(FREQUENCIES):
            if matches(qualified, self.modules.runs.get(frequency, ())):
                return frequency
        return None

    def loop(self, text: str) -> Frequency | None:
        """What a loop goes over, by its words; "import" for the short loops that multiply nothing."""
        if text not in self._loops:
            tables = self.modules.loops
            found = (f for f in FREQUENCIES if any(says(text, phrase) for phrase in tables.get(f, ())))
            self._loops[text] = next(found, None)
        return self._loops[text]

    def actor(self, owner: str) -> bool:
        """Are the public methods of this class called from other processes?"""
        return matches(owner, self.modules.actors)

    def rule(self, qualified: str) -> bool:
        """Are the conditions of this definition rules that users rely on?"""
        return matches(qualified, self.modules.rules)


def matches(qualified: str, patterns: tuple[str, ...]) -> bool:
    """Glob patterns over qualified names; a pattern without a dot also matches a method's own name."""
    whole, tails = _compiled(patterns)
    return whole.match(qualified) is not None or tails.match(qualified.rsplit(".", 1)[-1]) is not None


@lru_cache(maxsize=256)
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """As one pattern each: for whole names, and for their last parts. None of none matches nothing."""
    every = [patterns, [pattern for pattern in patterns if "." not in pattern]]
    whole, tails = (re.compile("|".join(map(translate, some)) or r"(?!)") for some in every)
    return whole, tails
