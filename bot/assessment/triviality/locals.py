"""Names of local variables."""

from __future__ import annotations

import ast

from bot.assessment.triviality.pair import Pair, Side
from bot.assessment.triviality.rule import Rule, on_each_side
from bot.assessment.triviality.scopes import Resolver

# Whoever can read a local variable by its name. One such word anywhere in the file, and names stay as they are.
_READERS = (
    *("locals", "vars(", "eval(", "exec(", "dir(", "globals", "_getframe", "currentframe", "f_locals", "inspect.stack"),
    *("duckdb", "numexpr", "tb_frame", "__code__", "co_varnames", "import *", "SQLContext", ".sql("),
)
# A data frame's query reads a local where its text says `@name`.
_FRAME_QUERY = (".query(",)
# Anybody in the package may look into the frames of its callers.
_READERS_IN_PACKAGE = ("f_locals", "capture_locals", "getargvalues", "getclosurevars", "co_varnames", "co_freevars")


def _number_locals(side: Side, pair: Pair) -> list[str]:
    framed = pair.mentions(_FRAME_QUERY) and any(_names_a_local(each.tree) for each in pair.sides)
    if framed or pair.mentions(_READERS) or pair.around.mentions(_READERS_IN_PACKAGE):
        return []
    taken = []
    for number, statement in enumerate(side.touched):
        for depth, scope in enumerate(Resolver().resolve(statement)):
            if scope.kind == "class":
                continue
            renamed = 0
            for name, places in scope.places.items():
                # A name that begins with two underscores is spelled differently inside a class: like `_Class__name`.
                mangled = name.startswith("_") and "__" in name
                if name not in scope.bound or name in scope.fixed or mangled:
                    continue
                # No identifier holds a dot, so a numbered name can never meet another one.
                for node, where in places:
                    setattr(node, where, f"{depth}.{renamed}")
                taken.append(f"{number}.{depth}.{renamed} {name}")
                renamed += 1
    return taken


def _names_a_local(tree: ast.Module) -> bool:
    texts = (one.value for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return any("@" in text for text in texts)


LOCAL_NAMES = Rule(
    "local names",
    "a local variable is found by its place in the frame; only its binding function's own code can name it",
    on_each_side(_number_locals),
)
