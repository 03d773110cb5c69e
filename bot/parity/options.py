"""The options of `iris job run`, read from the words of a command.

Source: `iris job run --help` (June 2026). What is not read literally stays unread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from bot.parity.model import Shape, Unread, Unreadable, Value

# Option → the gate's key.
_VALUED = {
    "--cpu": "cpu",
    "--memory": "memory",
    "--disk": "disk",
    "--priority": "priority",
}
_REPEATED = {"--region": "region", "--extra": "extra"}
_SWITCHES: dict[str, tuple[str, bool]] = {
    "--enable-extra-resources": ("enable_extra_resources", True),
    "--preemptible": ("preemptible", True),
    "--no-preemptible": ("preemptible", False),
}
# They say nothing about the job's shape, or are the bot's own for every attempt.
_IRRELEVANT_SWITCHES = frozenset({"--no-wait", "--terminate-on-exit", "--no-terminate-on-exit"})
_IRRELEVANT = frozenset({"--job-name", "--user"})
_ENVIRONMENT = frozenset({"-e", "--env-vars"})
# Stands for `${{ … }}` while words are told apart: a blank in it would part them.
EXPRESSION = "\ue000"


def unread(word: str) -> bool:
    """Whether a shell or GitHub would still put something in its place."""
    return any(mark in word for mark in ("$", "`", EXPRESSION))


def value(word: str) -> str | Unread:
    return Unread(shown(word)) if unread(word) else word


def shown(word: str) -> str:
    return word.replace(EXPRESSION, "${{ … }}")


def shape(words: Sequence[str]) -> Shape | Unreadable:
    """The words after `job run`, to the end of the command."""
    if "--" not in words:
        return Unreadable("has an `iris job run` without `-- python -m MODULE`")
    split = words.index("--")
    options = _Options(words[:split])
    options.read()
    values = options.values | {key: _joined(found) for key, found in options.repeated.items()}
    values |= _command(words[split + 1 :])
    return Shape(values, options.environment, opaque=tuple(options.opaque), other=tuple(options.other))


class _Options:
    """Reads option by option; `values` and the rest grow on the way."""

    def __init__(self, words: Sequence[str]) -> None:
        self._left = deque(words)
        self.values: dict[str, Value] = {}
        self.repeated: dict[str, list[str | Unread]] = {}
        self.environment: dict[str, str | Unread] = {}
        self.opaque: list[str] = []
        self.other: list[str] = []

    def read(self) -> None:
        while self._left:
            word = self._left.popleft()
            if word.startswith("-"):
                self._option(*word.partition("="))
            else:
                # What `$FLAGS` becomes, nobody knows before it runs.
                self.opaque.append(shown(word))

    def _option(self, name: str, given: str, inline: str) -> None:
        if name in _ENVIRONMENT:
            self._variable(inline if given else self._next(), self._next())
        elif name in _SWITCHES:
            key, on = _SWITCHES[name]
            self.values[key] = on
        elif name in _VALUED:
            self.values[_VALUED[name]] = value(inline if given else self._next())
        elif name in _REPEATED:
            self.repeated.setdefault(_REPEATED[name], []).append(value(inline if given else self._next()))
        elif name not in _IRRELEVANT_SWITCHES:
            follows = bool(self._left) and not self._left[0].startswith("-")
            argument = inline if given else self._next() if follows else ""
            if name not in _IRRELEVANT:
                self.other.append(f"{shown(name)} {shown(argument)}".strip())

    def _variable(self, key: str, text: str) -> None:
        if unread(key):
            self.opaque.append(f"-e {shown(key)}")
        else:
            self.environment[key] = value(text)

    def _next(self) -> str:
        return self._left.popleft() if self._left else ""


def _joined(found: Sequence[str | Unread]) -> Value:
    written = [one.written if isinstance(one, Unread) else one for one in found]
    if any(isinstance(one, Unread) for one in found):
        return Unread(", ".join(written))
    return tuple(sorted(written))


def _command(words: Sequence[str]) -> dict[str, Value]:
    """`python -m MODULE [ARGUMENTS]`; anything else is unread."""
    if len(words) < 3 or not words[0].rpartition("/")[2].startswith("python") or words[1] != "-m":
        return {"ferry_module": Unread(shown(" ".join(words)) or "nothing")}
    values: dict[str, Value] = {"ferry_module": value(words[2])}
    if len(words) > 3:
        arguments = " ".join(words[3:])
        values["arguments"] = value(arguments)
    return values
