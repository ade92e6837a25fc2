"""What makes tensors of objects of a program's own classes, where functions take tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import DTypeError
from ..graph.ir.node import Node

# A package of TensorFlow 1.15's own files, and how its tensors and K's are of one kind.
TENSORFLOW_1 = "tensorflow_core"
TOGETHER = "kameleon run --keras-on tensorflow lets K and TensorFlow 1.15 share their tensors"


class Conversion(NamedTuple):
    """A function that makes tensors of objects of a class; it gives NotImplemented where not."""

    priority: int
    kind: type | tuple[type, ...]
    function: Callable[[Any, Any], Any]


_known: list[Conversion] = []


def register(conversion: Conversion) -> None:
    """From here on, objects of a class are tensors to functions that take some.

    Of several conversions that fit, the one with the least priority is asked first, then the one
    that was registered first.
    """
    _known[:] = sorted([*_known, conversion], key=lambda c: c.priority)


def is_convertible(x: Any) -> bool:
    """Whether there's a conversion for an object."""
    return bool(_known) and any(isinstance(x, c.kind) for c in _known)


def converted(x: Any, dtype: Any = None) -> Any:
    """The tensor that an object stands for; the object itself, where there's no conversion.

    Raises:
        DTypeError: a conversion gives something that is no tensor.
    """
    if isinstance(x, Node) or not is_convertible(x):
        return x
    for conversion in _known:
        if isinstance(x, conversion.kind):
            found = conversion.function(x, dtype)
            if isinstance(found, Node):
                return found
            if found is not NotImplemented:
                raise DTypeError(
                    f"the conversion registered for {type(x).__name__} must give a tensor, not"
                    f" {found!r}"
                )
    return x


def is_of_tensorflow_1(x: Any) -> bool:
    """Whether TensorFlow 1.15's own files made an object."""
    return type(x).__module__.startswith(f"{TENSORFLOW_1}.")


def described(x: Any) -> str:
    """An object that is no tensor of K's, as errors name it, with a remedy where there's one."""
    return f"{x!r} (of TensorFlow 1.15: {TOGETHER})" if is_of_tensorflow_1(x) else repr(x)
