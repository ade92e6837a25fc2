"""Values as tensors of K's, whose sizes are known: all, or those that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.sizes import Size, dims_of, size_of


class UnknownSizeError(Exception):
    """A size that must be known isn't."""


def tensor(value: Any) -> Tensor:
    """The value as a tensor of K's."""
    return value if isinstance(value, Tensor) else constant(np.asarray(value))


def sizes_of(value: Any, start: int = 0, stop: int | None = None) -> tuple[int, ...]:
    """The sizes of a value from one axis to another, which are all known.

    Raises:
        UnknownSizeError: they aren't.
    """
    sizes = value.shape[start:stop]
    if None in sizes:
        raise UnknownSizeError(f"a tensor of shape {value.shape}")
    return tuple(int(size) for size in sizes)


def dims(value: Any) -> list[Size]:
    """The sizes of a value; scalars of K's for those that aren't known: of what a body is given
    around it, those are of what it stands for.
    """
    return [*map(_around, dims_of(value))] if isinstance(value, Tensor) else list(np.shape(value))


def _around(size: Size) -> Size:
    while isinstance(size, Tensor) and size.primitive.name == "size" and size.operands[0].given:
        given, more = size.operands[0].given
        size = size_of(given, size.attrs["axis"] + more)
    return size
