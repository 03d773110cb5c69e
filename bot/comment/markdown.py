"""GitHub Markdown in which nothing from outside can act.

Paths, stage names, job ids, errors and logins in text come from the pull request or the cluster. However they are
made, they must not mention anyone, cross-reference an issue, link, inject HTML, reorder the text, or break the table
they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

# A zero-width space keeps GitHub from seeing a mention, an issue number or an address; escapes do not (`\@user` pings).
_BREAK = "\N{ZERO WIDTH SPACE}"
# Characters that nobody sees or that reorder what is seen: controls, zero-width, bidirectional marks, line separators.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPECIAL = re.compile(r"[\\`*\[\]~$]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"})
# Where GitHub makes a link, a mention or a picture of plain text: the end of each match is broken off its beginning.
# A line number between colons is no emoji.
_REFERENCES = re.compile(
    r"(@)(?=\w)|(#)(?=\w)|(gh-)(?=\d)|(:)(?=//)|(ww)(?=w\.)|(:)(?=(?:[\w+-]*[a-z][\w+-]*|[+-]1|100|1234):)",
    re.IGNORECASE,
)
# A commit's hash in text is linked too, where it stands alone; in a code span it is not. A plain number may be one.
_HASH = re.compile(r"(?<![\w./-])(?=\d*[a-f])([0-9a-f])(?=[0-9a-f]{6,39}(?![\w./-]))")
_LINE_STARTS = re.compile(r"^(?:[#+=-]|\d+(?=[.)]))")


def plain(value: str, limit: int = 300) -> str:
    """One line of visible characters, shortened in the middle: the beginning of a path and its file name both tell."""
    flat = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", " ".join(_INVISIBLE.sub(" ", value).split()))
    if len(flat) <= limit:
        return flat
    head = (limit - 1) // 2
    return f"{flat[:head]}…{flat[len(flat) - (limit - 1 - head) :]}"


def text(value: str, limit: int = 300) -> str:
    """Running text: everything in it shows as itself and does nothing."""
    return _harmless(plain(value, limit))


def title(value: str, limit: int = 300) -> str:
    """Running text inside an HTML tag of ours, where Markdown's escapes would be seen."""
    return _broken(plain(value, limit).translate(_ENTITIES))


def code(value: str, limit: int = 160) -> str:
    """A code span, in which GitHub looks for no mentions. Never breaks a table cell."""
    flat = plain(value, limit)
    if not flat:
        return "—"
    if re.search(r"[`|\\]", flat):
        # No spelling of these three inside backticks means the same in a table and outside of it.
        return f"<code>{_harmless(flat)}</code>"
    return f"`{flat}`"


def block(value: str, language: str = "") -> str:
    """A fenced block; the fence is longer than any run of backticks in it. Line breaks stay."""
    shown = "\n".join(_visible(line) for line in re.split(r"\r\n|[\r\n]", value))
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def run_link(number: int, url: str) -> str:
    """`[#123](url)`, in whose label GitHub looks for no issue; where that is no address of the run, just the number."""
    if re.fullmatch(rf"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/actions/runs/{number}", url):
        return f"[#{number}]({url})"
    return str(number)


def details(summary: str, body: str) -> str:
    """A folded section. `summary` is HTML text (see `title`), `body` Markdown."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    budget: int = 12_000,
    more: str = "rows",
    foremost: Collection[int] = (),
    unlisted: int = 0,
) -> str:
    """A table of finished cells. Rows beyond `budget` characters are counted instead of shown, `foremost` ones last;
    so are `unlisted` ones, which nobody made."""
    lines = {index: _row(row) for index, row in enumerate(rows)}
    shown: set[int] = set()
    for index in sorted(lines, key=lambda index: index not in foremost):
        budget -= length(lines[index]) + 1
        if budget < 0:
            break
        shown.add(index)
    kept = [_row(header), "|" + "---|" * len(header), *(line for index, line in lines.items() if index in shown)]
    if left_out := len(lines) - len(shown) + unlisted:
        kept.append(_row([f"… and {left_out} more {more}", *[""] * (len(header) - 1)]))
    return "\n".join(kept)


def bullets(items: Sequence[str], most: int = 20) -> str:
    """A list of finished items."""
    shown = [f"- {item}" for item in items[:most]]
    return "\n".join([*shown, f"- … and {len(items) - most} more"] if len(items) > most else shown)


def length(value: str) -> int:
    """Characters as GitHub may count them: UTF-16 units, never fewer than code points and at most three bytes each."""
    return len(value) + sum(char > "\uffff" for char in value)


def _harmless(flat: str) -> str:
    escaped = _SPECIAL.sub(r"\\\g<0>", flat.translate(_ENTITIES))
    escaped = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\_", escaped)
    broken = _broken(escaped)
    return _LINE_STARTS.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", broken)


def _broken(escaped: str) -> str:
    """Text in which nothing is a reference any more."""
    # An entity of ours holds "#124;", which is no reference: only the text between entities is searched.
    parts = re.split(r"(&(?:amp|lt|gt|#124);)", escaped)
    parts[::2] = [_REFERENCES.sub(rf"\g<0>{_BREAK}", _HASH.sub(rf"\1{_BREAK}", part)) for part in parts[::2]]
    return "".join(parts)


def _visible(line: str) -> str:
    """A line of a block: tabs and spaces stay, what cannot be seen is written as its escape.

    An HTML comment is broken, so that no line reads as one of the bot's own markers, by which its comments are found.
    """
    return re.sub(
        _INVISIBLE.pattern.removesuffix("+") + "|" + _SURROGATE.pattern,
        lambda match: match[0] if match[0] == "\t" else f"\\u{ord(match[0]):04x}",
        line,
    ).replace("<!--", f"<!{_BREAK}--")


def _row(cells: Sequence[str]) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
