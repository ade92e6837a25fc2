"""What `inspect` says of functions of TensorFlow 1's names: TensorFlow's own parameters.

Libraries compare them (`inspect.getfullargspec(tf.cast)`), or call a function by what they find.
`calling` and `conventions` make functions that take anything and sort it out themselves; these
are given a signature that is read when someone asks, since few programs do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from types import MappingProxyType
from typing import Any

from ..ir.types import DTYPES
from .other_types import TYPES

# How parameters are marked in the record that take what others don't.
KINDS = {"**": inspect.Parameter.VAR_KEYWORD, "*": inspect.Parameter.VAR_POSITIONAL}

Rows = Sequence[Sequence[Any]]


class Late(inspect.Signature):
    """A signature whose parameters are found when someone asks for them.

    Args:
        find: gives the parameters.
    """

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[], Iterable[inspect.Parameter]]):
        super().__init__()
        self._find = find

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        """The parameters, by name."""
        return MappingProxyType({p.name: p for p in self._find()})

    def __reduce__(self) -> Any:
        return inspect.Signature, (list(self._find()),)


def recorded(rows: Rows) -> list[inspect.Parameter]:
    """Parameters as they are recorded: names, with or without a default.

    >>> inspect.Signature(recorded([["x"], ["dtype", "float32"], ["**options"]]))
    <Signature (x, dtype='float32', **options)>
    """
    return [_parameter(*row) for row in rows]


def _parameter(word: str, *default: Any) -> inspect.Parameter:
    name = word.lstrip("*")
    kind = KINDS.get(word[: len(word) - len(name)], inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Parameter(
        name, kind, default=value_of(default[0]) if default else inspect.Parameter.empty
    )


def value_of(default: Any) -> Any:
    """A default of the record as it is in a call: numbers that JSON hasn't got, and dtypes."""
    if not isinstance(default, str):
        return default
    if default in ("inf", "-inf"):
        return float(default)
    return DTYPES.get(default) or TYPES.get(default, default)


def signed(function: Callable[..., Any], find: Callable[[], Iterable[inspect.Parameter]]) -> None:
    """Give a function the signature of these parameters."""
    function.__signature__ = Late(find)  # type: ignore[attr-defined]
