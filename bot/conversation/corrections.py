"""`answer PATH question=yes|no [because …]`: a path has underscores, which Markdown takes for
emphasis, so the line is read as it was written.

The words that command stand in running text; the path may stand in backticks, as people write paths.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

import msgspec

QUESTIONS = ("trivial", "shuffle", "memory", "cpu", "design")
_FORM = re.compile(
    r"""answer[:,]?\s+(?:`+\s*(?P<code>[^`\n]+?)\s*`+|"(?P<quoted>[^"\n]+)"|(?P<bare>[^\s`"]+))
    \s+(?P<question>[A-Za-z]+)\s*=\s*(?P<value>[A-Za-z]+)(?P<rest>.*)""",
    re.IGNORECASE | re.VERBOSE,
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MOST_PATH = 500
_USAGE = "`answer` takes a path and one answer, such as `answer lib/zephyr/src/zephyr/plan.py cpu=no because …`"


class Corrected(msgspec.Struct, frozen=True):
    """What is to be answered, and the text after it, which can only be a reason."""

    path: str
    question: str
    yes: bool
    rest: str


def read(words: str) -> Corrected | str:
    """`words` begin with `answer`; a sentence for the reply where they say nothing that can be done."""
    match = _FORM.match(words)
    if match is None:
        return _USAGE
    question, value = match["question"].lower(), match["value"].lower()
    if question not in QUESTIONS:
        close = get_close_matches(question, QUESTIONS, n=1)
        hint = f"; did you mean `{close[0]}`?" if close else f": there are {', '.join(QUESTIONS)}"
        return f"`{question[:30]}` is none of the five questions{hint}"
    if value not in ("yes", "no"):
        return f"`{question}` is answered with yes or no"
    path = match["code"] or match["quoted"] or _ESCAPED.sub(r"\1", match["bare"])
    if len(path) > _MOST_PATH:
        return "no file has such a name"
    return Corrected(path.strip(), question, value == "yes", match["rest"])
