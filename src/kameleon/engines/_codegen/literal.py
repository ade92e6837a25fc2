"""What may stand in source that engines emit: plain numbers, words, and names that are known.

All values go into source through `literal` and `word`, and all source is compiled by
`compiled_text`, which refuses code that names anything it wasn't given. So no text from a graph,
wherever the graph comes from, is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from ...errors import EngineError

_WORD = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_UNWRITTEN = {"nan", "inf", "-inf"}  # floats that have no literal

# Attributes of arrays that emitted source may use.
ATTRIBUTES = frozenset(
    "T astype bitwise_and_ bitwise_xor_ clone contiguous copy dtype expand flags ndim numpy permute"
    " reduce reshape shape sign to transpose type view writeable".split()
)


def literal(value: Any) -> str:
    """The Python text of a number, of None, or of a tuple or a list of such values.

    Raises:
        EngineError: the value is anything else.

    >>> literal((3, -1.5, None, (True,)))
    '(3, -1.5, None, (True,))'
    """
    kind = type(value)
    if kind is int or value is None or kind is bool:
        return repr(value)
    if kind is tuple or kind is list:
        parts = ", ".join(map(literal, value))
        return f"[{parts}]" if kind is list else f"({parts}{',' if len(value) == 1 else ''})"
    if kind is float and (text := repr(value)) not in _UNWRITTEN:
        return text
    if isinstance(value, np.integer):
        return repr(int(value))
    raise EngineError(f"{kind.__name__} {value!r:.60} can't stand in emitted source")


@lru_cache(1 << 12)
def shape_literal(shape: tuple[int, ...]) -> str:
    """The Python text of a shape: a graph has few of them."""
    return literal(shape)


def word(name: Any) -> str:
    """The name of a function or a dtype, as it stands in source.

    Raises:
        EngineError: the name is no plain lower-case word.
    """
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        raise EngineError(f"{name!r:.60} is no name that can stand in emitted source")
    return str(name)


def quoted(name: Any) -> str:
    """A word as a text in source."""
    return f"'{word(name)}'"


def compiled_text(text: str, filename: str, mode: str, known: Container[str]) -> CodeType:
    """Source as code that uses no names but known ones.

    Args:
        text: the source.
        filename: what tracebacks call it.
        mode: "exec" or "eval".
        known: the global names that the source may use, besides `ATTRIBUTES`.

    Raises:
        EngineError: the source names something else.
    """
    code = compile(text, filename, mode)
    for name in _names(code):
        if name not in known and name not in ATTRIBUTES:
            raise EngineError(f"emitted source names {name!r}, which isn't among what it may name")
    return code


def _names(code: CodeType) -> Iterator[str]:
    """The global names and attributes that code uses, those of its functions among them."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
