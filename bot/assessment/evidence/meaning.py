"""From a difference to the questions it touches, by the configured vocabularies and how often it runs."""

from __future__ import annotations

from collections.abc import Iterable

from bot.assessment.evidence.differences import Difference
from bot.assessment.evidence.facts import Fact
from bot.assessment.evidence.model import Evidence
from bot.assessment.vocabulary import Vocabulary, rank
from bot.config.modules import CallRule, NameRule, Question

# Kind → what the head does with the fact.
_DOES = {
    "call": "calls {}",
    "argument": "passes {}",
    "condition": "asks {}",
    "compute": "computes {}",
    "hold": "holds {}",
    "sort": "orders by {}",
    "lock": "locks: {}",
    "except": "catches {}",
    "raise": "raises {}",
    "yield": "has {}",
    "state": "sets {}",
}
_VERB = {
    "added": "now {}",
    "removed": "no longer {}",
    "more often": "more often {}",
    "repeated": "once more {}",
    "fewer": "once less {}",
}


def meaning(difference: Difference, vocabulary: Vocabulary) -> Evidence | None:
    """None where the difference is below what a ferry could measure and changes no rule."""
    fact = difference.fact
    judge = {
        "call": _call,
        "argument": _argument,
        "hold": _hold,
        "sort": _sort,
        "lock": _lock,
        "except": _error_class,
        "raise": _raised,
        "yield": _yield,
    }.get(fact.kind, _expression)
    found = judge(difference, vocabulary)
    if found is None:
        return None
    questions, why = found
    weight = len(questions) + 2 * rank(fact.frequency) + (2 if difference.side != "removed" else 0)
    return Evidence(fact.path, fact.line, said(difference), why, fact.frequency, questions, weight)


def said(difference: Difference) -> str:
    """The difference in a few words."""
    fact = difference.fact
    text = fact.shown.removeprefix("except ").removeprefix("raise ")
    text = text if len(text) <= 70 else text[:67] + "..."
    return f"{fact.owner} {_VERB[difference.side].format(_DOES[fact.kind].format(text))}"


_Judged = tuple[tuple[Question, ...], str] | None


def hot(fact: Fact, least: int) -> bool:
    """Does the fact run at least that often?"""
    return rank(fact.frequency) >= least


SHARD, CHUNK, RECORD = rank("shard"), rank("chunk"), rank("record")


def _call(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    fact = difference.fact
    if difference.side in ("removed", "fewer") and hot(fact, SHARD) and vocabulary.releases(fact.text):
        return ("memory",), "what it let go stays held: files, memory or disk"
    rule = vocabulary.call(fact.text)
    if rule is not None:
        # One flush or copy less is a merged branch; one wait less is another protocol.
        return None if difference.side == "fewer" and rule.questions != ("design",) else _by_call(rule, fact)
    if difference.side in ("repeated", "fewer") or vocabulary.cheap(fact.text) or fact.text == "_":
        return None
    if hot(fact, RECORD) and vocabulary.role(fact.path).questions:
        return ("cpu",), "work of the innermost loop"
    return None


def _by_call(rule: CallRule, fact: Fact) -> _Judged:
    if rule.questions and hot(fact, rank(rule.least)):
        return rule.questions, rule.why
    return None


def _argument(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    fact = difference.fact
    for name in fact.names:
        if (rule := vocabulary.name(name)) is not None:
            return (rule.questions, rule.why) if rule.questions else None
        if (call := vocabulary.call(name)) is not None and (judged := _by_call(call, fact)):
            return judged
    return _by_place(fact, vocabulary)


def _hold(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    fact = difference.fact
    if not hot(fact, SHARD) or (difference.side == "repeated" and not hot(fact, CHUNK)):
        return None
    if any(vocabulary.loop(name) == "import" for name in fact.names) and not hot(fact, RECORD):
        return None
    # What a mapping holds is in memory already.
    mapping = any(f".{view}()" in fact.text for view in ("items", "keys", "values"))
    if mapping and not hot(fact, CHUNK) and not named(fact.names, vocabulary):
        return None
    return ("memory",), "what was streamed or viewed is held at once"


def _sort(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    if "key=" not in difference.fact.text and difference.fact.text.startswith(("min(", "max(")):
        return None
    if not hot(difference.fact, SHARD):
        return None
    return ("shuffle", "cpu"), "the order in which rows are sorted and merged"


def _lock(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    if " under " in difference.fact.text:
        rule = vocabulary.call(difference.fact.names[0])
        judged = _by_call(rule, difference.fact) if rule else None
        return (("cpu",), "longer or shorter under a lock") if judged else None
    # Who reads a consistent state now and then waits for nobody long; who no longer locks may read half a state.
    if difference.side == "added" and not hot(difference.fact, SHARD):
        return None
    return ("cpu",), "lock contention"


def _error_class(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    return ("design",), "which errors are caught decides what is retried and what is fatal"


def _raised(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    if hot(difference.fact, SHARD) or vocabulary.rule(difference.fact.owner):
        return ("design",), "the class of an error decides whether its shard is retried"
    return None


def _yield(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    if vocabulary.rule(difference.fact.owner):
        return ("design",), "what a stage emits for one input"
    return None


def _expression(difference: Difference, vocabulary: Vocabulary) -> _Judged:
    """Conditions, computations and state: by what their names stand for, else by where they run."""
    fact = difference.fact
    if fact.kind == "state":
        return _by_place(fact, vocabulary) if hot(fact, CHUNK) else None
    if fact.kind == "compute" and vocabulary.rule(fact.owner):
        return ("design",), "a rule of stages, plans or retries"
    if rule := named(fact.names, vocabulary):
        sized = fact.kind == "compute" or any(sign in fact.text for sign in (" < ", " > ", " <= ", " >= ", " % "))
        if sized and rule.questions and hot(fact, rank("planning")):
            return rule.questions, rule.why
        if not rule.questions:
            return None
    # Counting from one, or from zero.
    if fact.text in ("_ + 1", "_ - 1") and not hot(fact, RECORD):
        return None
    return _by_place(fact, vocabulary)


def named(names: Iterable[str], vocabulary: Vocabulary) -> NameRule | None:
    """The first name that stands for something, silent rules last."""
    rules = [rule for rule in map(vocabulary.name, names) if rule is not None]
    return next((rule for rule in rules if rule.questions), rules[0] if rules else None)


def _by_place(fact: Fact, vocabulary: Vocabulary) -> _Judged:
    role = vocabulary.role(fact.path)
    if vocabulary.rule(fact.owner) and fact.kind in ("condition",):
        return ("design",), "a rule of stages, plans or retries"
    if hot(fact, CHUNK) and role.questions:
        return role.questions, f"part of {role.what}"
    return None
