"""What people may say to the bot: Markdown in, one of a closed union out. Nobody downstream sees raw text.

A mention counts only in running text (`reading`), so code, quotes, headings, links and what is struck out never
command. The words after the mention, to the end of that line, are the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Literal

import msgspec

from bot.conversation import corrections, reading
from bot.conversation.grammar import GRAMMAR
from bot.conversation.reading import NO_TEXT

MaxGate = Literal["skip", "1", "2", "3"]
MAX_GATES: tuple[MaxGate, ...] = ("skip", "1", "2", "3")


class Assess(msgspec.Struct, frozen=True, tag="assess"):
    """A bare mention, or `assess`: read the diff, propose a max_gate, ask."""


class Help(msgspec.Struct, frozen=True, tag="help"):
    """Say what can be said."""


class Go(msgspec.Struct, frozen=True, tag="go"):
    """Run the gate, up to `max_gate` where one is named, else up to the proposed one."""

    max_gate: MaxGate | None = None
    reason: str = ""


class Skip(msgspec.Struct, frozen=True, tag="skip"):
    """Waive the gate."""

    reason: str = ""


class Continue(msgspec.Struct, frozen=True, tag="continue"):
    """Climb on after a warning."""


class Retry(msgspec.Struct, frozen=True, tag="retry"):
    """Begin a new run; on another than the usual cluster where one is named."""

    cluster: str = ""


class Stop(msgspec.Struct, frozen=True, tag="stop"):
    """End the run, and its ferry where one is out."""


class Status(msgspec.Struct, frozen=True, tag="status"):
    """Say where the run is."""


class Exclude(msgspec.Struct, frozen=True, tag="exclude"):
    """Leave a stage, or `total`, out of the verdict. `stage` is as written, `reason` verbatim."""

    stage: str
    reason: str = ""


class Include(msgspec.Struct, frozen=True, tag="include"):
    """Count an excluded stage, or `total`, again."""

    stage: str
    reason: str = ""


class Reanalyse(msgspec.Struct, frozen=True, tag="reanalyse"):
    """Judge the stored reports again, without the cluster."""


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """Correct one answer of the assessment. `path` is as written, `question` one of the five, `reason` verbatim."""

    path: str
    question: str
    yes: bool
    reason: str = ""


Command = Assess | Help | Go | Skip | Continue | Retry | Stop | Status | Answer | Exclude | Include | Reanalyse


class Misunderstood(msgspec.Struct, frozen=True, tag="misunderstood"):
    """Addressed to the bot, but not a command: `problem` is a sentence for the reply."""

    problem: str


Said = Command | Misunderstood


_REASON = re.compile(r"\s*(?:—|--|\bbecause\b|\breason\s*=)\s*", re.IGNORECASE)
# A sentence that only comes after one which ends with the name: only a marked reason makes a command of it.
_ANOTHER_SENTENCE = re.compile(
    r"[ \t:,]*[.;!?][ \t:,.;!?]*skip\s+(?!because\b|reason\s*=|—|--)(?=.*\w)", re.IGNORECASE | re.DOTALL
)
_MAX_GATE = re.compile(r"max[_-]?gate\s*=\s*([A-Za-z0-9]+)", re.IGNORECASE)
# A name with a blank stands in quotes, straight or as phones write them; an unquoted one ends at a blank or a dash.
_STAGE = re.compile(r"""stage\s*=\s*(?:"([^"]+)"|'([^']+)'|“([^”]+)”|‘([^’]+)’|([^\s"'“”‘’—￼]+))\s*""", re.IGNORECASE)
_CLUSTER = re.compile(r"cluster\s*=\s*([A-Za-z0-9][A-Za-z0-9._-]{0,60})", re.IGNORECASE)
_MOST_NAME = 300
# How far a line's Markdown is looked through for the reason: every try reads the rest of the line.
_MOST_SOURCE, _MOST_MARKERS = 4000, 20
# What GitHub makes a link of by itself: a name in it calls nobody.
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)


def parse_comment(body: str, mention: str = "perf-gate") -> Said | None:
    """What this comment says to the bot, or None where it is not addressed."""
    commands = [
        _with_its_own_words(_command(_as_written(words, source, mention)), source)
        for line, source in reading.lines(body)
        for words in _addressed(line, mention)
    ]
    if not commands:
        return None
    if len(commands) > 1 and len(set(commands)) > 1:
        return Misunderstood("one comment can hold one command, and this one holds several; nothing was done")
    return commands[0]


def parse_bare(body: str) -> Said | None:
    """`go` or `max_gate=N [reason]` as the whole comment: counts while the bot waits for that answer."""
    said = reading.whole(body)
    if said is None:
        return None
    text, source = said
    if text.lower().rstrip(".!") == "go":
        return Go()
    return _with_its_own_words(_command(text), source) if _MAX_GATE.match(text) else None


def _addressed(line: str, mention: str) -> Iterator[str]:
    links = [match.span() for match in _ADDRESS.finditer(line)]
    found = _mention(mention).finditer(line)
    starts = [match for match in found if not any(start < match.start() < end for start, end in links)]
    for index, match in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(line)
        yield _after_the_name(line[match.end() : end])


def _after_the_name(text: str) -> str:
    """`@perf-gate, go` and `@perf-gate! Go`: what stands between is no part of the command.

    `cc @perf-gate. Skip the tests when you review` goes on with another sentence, which waives nothing.
    """
    if _ANOTHER_SENTENCE.match(text):
        return text.strip(" \t:,")
    return text.rstrip(" \t:,").lstrip(" \t:,.;!?")


def _with_its_own_words(said: Said, source: str) -> Said:
    """The command with its reason as it was written, code and emphasis included, where the line's Markdown has it."""
    reason = getattr(said, "reason", "")
    if not reason or isinstance(said, Answer):
        return said
    for match in islice(_REASON.finditer(source[:_MOST_SOURCE]), _MOST_MARKERS):
        written = source[match.end() : _MOST_SOURCE].strip()
        if reading.running_text(written).split() == reason.split():
            return msgspec.structs.replace(said, reason=written)
    return msgspec.structs.replace(said, reason=" ".join(reason.replace(NO_TEXT, "…").split()))


def _as_written(words: str, source: str, mention: str) -> str:
    """An `answer` in the line's own Markdown, in which alone a path stands as it is; everything else as it reads."""
    if not words.lower().startswith("answer"):
        return words
    # In Markdown an underscore may stand before the mention, which opens emphasis and is no part of a name.
    mentions = re.finditer(rf"@{re.escape(mention)}(?:\[bot\])?", source[:_MOST_SOURCE], re.IGNORECASE)
    for match in islice(mentions, _MOST_MARKERS):
        after = _after_the_name(source[match.end() : _MOST_SOURCE])
        # Emphasis around the whole of it was opened before the mention.
        for written in (after, after.rstrip("*_~")):
            if _after_the_name(reading.running_text(written)) == words:
                return written
    return words


def _command(words: str) -> Said:
    first, *after = words.split(maxsplit=1)[:2] or [""]
    if (naming := first.lower().rstrip(".!?,:")) in ("exclude", "include"):
        return _of_a_stage(naming, after[0] if after else "")
    if naming == "answer":
        return _of_a_file(words)
    asked, *reasons = _REASON.split(words, maxsplit=1)
    reason = reasons[0].strip() if reasons else ""
    word = asked.split()[0].lower().rstrip(".!?,:") if asked.split() else ""
    if _MAX_GATE.match(asked):
        return _go(asked, "" if reason else _MAX_GATE.sub("", asked, count=1).strip(" ,"), reason)
    rest = asked[len(word) :].strip(" .!?,:")
    if word == "go":
        return _go(rest, _MAX_GATE.sub("", rest, count=1).strip(" ,"), reason)
    if word == "skip":
        return Skip(reason or rest)
    simple: dict[str, Command] = {
        "": Assess(),
        "assess": Assess(),
        "help": Help(),
        "continue": Continue(),
        "retry": Retry(),
        "stop": Stop(),
        "status": Status(),
        "reanalyse": Reanalyse(),
        "reanalyze": Reanalyse(),
    }
    if word == "retry" and (named := _CLUSTER.fullmatch(rest)):
        return Retry(named[1].lower())
    if word in simple and not rest:
        return simple[word]
    if word == "retry":
        return Misunderstood("after `retry` only `cluster=NAME` can stand")
    if word and word in simple:
        return Misunderstood(f"`{word}` takes nothing after it, so nothing was done")
    return _unknown(word)


def _go(text: str, trailing: str, reason: str) -> Said:
    match = _MAX_GATE.search(text)
    if match is None:
        return Go(None, reason) if not trailing else Misunderstood("after `go` only `max_gate=skip|1|2|3` can stand")
    value = match[1].lower()
    for gate in MAX_GATES:
        if gate == value:
            return Go(gate, reason or trailing)
    return Misunderstood("`max_gate` is skip, 1, 2 or 3")


def _of_a_stage(word: str, rest: str) -> Said:
    """`stage=NAME [reason]`. The name is read first: a quoted one may hold a dash or the word because."""
    match = _STAGE.match(rest)
    if match is None and re.match(rf"stage\s*=\s*{NO_TEXT}", rest, re.IGNORECASE):
        return Misunderstood(f"after `{word} stage=` the name stands without backticks, since code is never read")
    if match is None:
        return Misunderstood(
            f'`{word}` names a stage: `{word} stage=NAME`, or `{word} stage="A NAME"` where it has blanks'
        )
    name = (next((quoted for quoted in match.groups()[:4] if quoted), "") or match[5].rstrip(".,;:!?")).strip()
    left = rest[match.end() :].strip(" ,;:.!")
    reason = _REASON.match(left)
    if not name or len(name) > _MOST_NAME:
        return Misunderstood("no stage has such a name")
    if left and reason is None:
        return Misunderstood(
            f"`{word}` takes one name (in quotes where it has blanks), and after it only a reason: `because …`"
        )
    why = left[reason.end() :].strip() if reason else ""
    return Exclude(name, why) if word == "exclude" else Include(name, why)


def _of_a_file(words: str) -> Said:
    found = corrections.read(words)
    if isinstance(found, str):
        return Misunderstood(found)
    left = found.rest.strip(" ,;:.!")
    reason = _REASON.match(left)
    if NO_TEXT in found.path or (left and reason is None):
        return Misunderstood("after `answer PATH question=yes` only a reason can stand: `because …`")
    return Answer(found.path, found.question, found.yes, left[reason.end() :].strip() if reason else "")


def _unknown(word: str) -> Misunderstood:
    shown = re.sub(r"[^a-z0-9_=-]", "", word)[:30]
    close = get_close_matches(shown, [name for name in GRAMMAR if name], n=1)
    hint = f"; did you mean `{close[0]}`?" if close else ""
    return Misunderstood(f"`{shown}` is not a command{hint}" if shown else "this is not a command")


@cache
def _mention(name: str) -> re.Pattern[str]:
    # GitHub's names hold letters, digits and hyphens: `@perf-gate-bot` is someone else, and so is `me@perf-gate`.
    return re.compile(rf"(?<![\w@/.-])@{re.escape(name)}(?:\[bot\])?(?![\w/-]|\.\w)", re.IGNORECASE)
