"""Of a delivery, what is worth keeping on disk: most events nothing but their GUID, of the others what is read of them.

Pure, and cheap: it is done before GitHub has its answer, so it reads a payload once.
"""

from __future__ import annotations

import re

import msgspec

from bot.gating.envelope import ACTIONS, NEW, TOUCHED, Comment, Envelope, Review, Said, read

# Comments of this App that are kept true begin so.
_OWN = ("<!-- zephyr-perf-gate -->", "<!-- perf-gate:question ")
_MAY_BE_BARE = re.compile(r"\s*(go\b|max[_-]?gate\s*=)", re.IGNORECASE)

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_said = msgspec.json.Decoder(Said).decode
_write = msgspec.json.Encoder().encode


def kept(event: str, body: bytes, mention: str) -> bytes | None:
    """The same delivery with no more in it than is read, or None where it cannot matter. In doubt it is kept.

    A payload is mostly addresses and the pull request's description; what is left is a fortieth of it, and as much
    less to write. One of another shape than GitHub's documents stays as it came: so it fails, where it can be seen.
    Raises msgspec.DecodeError or RecursionError where the body is no JSON object.
    """
    try:
        envelope = read(body)
    except msgspec.ValidationError:
        return body if _doubtful(event, _members(body), mention) else None
    return _write(envelope) if _matters(event, envelope, mention) else None


def _matters(event: str, envelope: Envelope, mention: str) -> bool:
    if event in NEW:
        words = envelope.review if event == "pull_request_review" else envelope.comment
        if words is None:
            return False
        if event == "issue_comment" and _is_kept_true(words):
            return envelope.action in TOUCHED
        return _may_speak(words.body or "", mention)
    if event == "pull_request" and envelope.action == "edited":
        # Of what is edited only the base matters, never title or description.
        return envelope.changes is not None and envelope.changes.base is not None
    # Of every check run in the repository this App hears that it began and ended.
    return envelope.action in ACTIONS.get(event, frozenset())


def _is_kept_true(words: Comment | Review) -> bool:
    """A comment that this App keeps true. People quote such comments too, hidden marker and all, and are heard."""
    if words.user is None or words.user.type != "Bot":
        return False
    return any(marker in (words.body or "") for marker in _OWN)


def _may_speak(said: str, mention: str) -> bool:
    return f"@{mention.lower()}" in said.lower() or bool(_MAY_BE_BARE.match(said))


def _doubtful(event: str, members: dict[str, msgspec.Raw], mention: str) -> bool:
    """Whether a payload whose shape nobody knows may matter."""
    if event not in NEW:
        action = bytes(members.get("action", msgspec.Raw())).strip(b'"').decode("utf-8", "replace")
        return action in ACTIONS.get(event, frozenset()) or (event == "pull_request" and action == "edited")
    words = members.get("review" if event == "pull_request_review" else "comment")
    if words is None:
        return False
    try:
        return _may_speak(_decode_said(words).body or "", mention)
    except msgspec.ValidationError:
        return f"@{mention.lower()}".encode() in bytes(words).lower()
