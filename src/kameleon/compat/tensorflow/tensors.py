"""Values as tensors of K's, whose sizes are known: all, or those that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.ir.node import Tensor
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.sizes import Size, dims_of


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
    """The sizes of a value; scalars of K's for those that aren't known."""
    return dims_of(value) if isinstance(value, Tensor) else list(np.shape(value))
