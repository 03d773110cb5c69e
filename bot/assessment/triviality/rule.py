"""What a normalisation is: a name, why it is sound, and how it makes both sides alike."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from bot.assessment.triviality.pair import Pair, Side


class Rule(msgspec.Struct, frozen=True):
    """`apply` rewrites each side into a program that behaves the same, in place, and returns whether the sides
    differed in what it took away. Both rewritten sides equal means that both programs behave the same.
    """

    name: str
    sound: str
    apply: Callable[[Pair], bool]


def on_each_side(rewrite: Callable[[Side, Pair], list[str]]) -> Callable[[Pair], bool]:
    """A rule that looks at one side at a time; `rewrite` returns what it took away, in order."""

    def apply(pair: Pair) -> bool:
        taken = [rewrite(side, pair) for side in pair.sides]
        return taken[0] != taken[1]

    return apply
