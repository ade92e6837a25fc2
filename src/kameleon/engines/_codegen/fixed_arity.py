"""Fixed-arity code generation: functions of a known number of values, without a loop in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from types import CodeType
from typing import Any

from ...graph.ir.program import Graph
from .literal import compiled_text

# Names that every emitted function may use.
BUILT_IN = frozenset({"written", "len", "type", "TypeError", "ValueError"})
# The code of at most this many functions is kept; functions of one text share it.
KEPT = 512


def numbered(letter: str, count: int) -> list[str]:
    """The names of values: arguments are x0, x1 …."""
    return [f"{letter}{i}" for i in range(count)]


def written(rows: Iterable[str], **names: Any) -> Callable[..., Any]:
    """The function called `written` that the rows define.

    Args:
        rows: lines of Python.
        names: the values that the rows may use, by name.
    """
    space = {"__name__": __name__, **names}  # warnings look for a line's text by `__name__`
    exec(_code("\n".join(rows), frozenset(names)), space)
    function: Callable[..., Any] = space["written"]
    return function


@lru_cache(KEPT)
def _code(text: str, names: frozenset[str]) -> CodeType:
    return compiled_text(text, "<kameleon written>", "exec", names | BUILT_IN)


def between_arrays(
    graph: Graph,
    call: str,
    given: str = "{}",
    made: str = "{}",
    refusals: tuple[type[Exception], ...] = (),
    **names: Any,
) -> Callable[..., list[Any] | None]:
    """A function that may serve as `Executable.fast_path`.

    Args:
        graph: its inputs and outputs are the function's.
        call: a line that sets `{made}`, a list of names, by a call with `{given}`.
        given: how an argument, `{}`, is handed to that call.
        made: what becomes of a result, `{}`.
        refusals: errors that `given` raises for arrays that can't be taken: the function gives
            None then.
        names: the values that these texts may use, by name.
    """
    assert not any(re.fullmatch(r"[axy]\d+", name) for name in names), "values are called so"
    arguments = numbered("x", len(graph.inputs))
    results = numbered("y", len(graph.outputs))
    taken = [given.replace("{}", x) for x in arguments]
    first = []
    if refusals and arguments:
        names_of_taken = numbered("a", len(arguments))
        pairs = zip(names_of_taken, taken, strict=True)
        first = [
            f" try: {'; '.join(f'{a} = {text}' for a, text in pairs)}",
            " except refusals: return None",
        ]
        taken = names_of_taken
    there = ", ".join(taken)
    rows = [
        f"def written({', '.join(arguments)}):",
        *first,
        " " + call.format(given=there, made=f"[{', '.join(results)}]"),
        f" return [{', '.join(made.replace('{}', y) for y in results)}]",
    ]
    return written(rows, refusals=refusals, **names)
