"""Assertions of TensorFlow 1: operations, for what comes after them or to be run by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor, promoted
from ..prims.control import check
from .graph import effect
from .operations import Operation


def assert_(
    condition: Any, data: Any = None, summarize: int | None = None, name: str | None = None
) -> Operation:
    """An operation that fails where the condition doesn't hold for all elements."""
    return failing_unless(as_tensor(condition, "tf.Assert"), "assertion failed", name or "Assert")


def failing_unless(condition: Any, message: str, name: str) -> Operation:
    """An operation that fails with a message where the condition doesn't hold for all elements."""
    holds = K.all(K.cast(condition, "bool"))
    run = check(K.constant(0, "int32"), holds, message=message)
    return effect(f"{name}/Assert", [run], checks=[(holds, message)])


def _of_two(name: str, compare: Callable[[Any, Any], Any], sign: str) -> Callable[..., Operation]:
    def call(
        x: Any, y: Any, data: Any = None, summarize: int | None = None,
        message: str | None = None, name: str | None = None,
    ) -> Operation:  # fmt: skip
        left, right = promoted((x, y), f"tf.{kind}")
        said = f"{message or ''} Condition x {sign} y did not hold".strip()
        return failing_unless(compare(left, right), said, name or kind)

    kind = name
    call.__name__ = call.__qualname__ = name
    return call


def _of_zero(name: str, compare: Callable[[Any, Any], Any], sign: str) -> Callable[..., Operation]:
    def call(
        x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
        name: str | None = None,
    ) -> Operation:  # fmt: skip
        said = f"{message or ''} Condition x {sign} 0 did not hold".strip()
        return failing_unless(compare(as_tensor(x, f"tf.{kind}"), 0), said, name or kind)

    kind = name
    call.__name__ = call.__qualname__ = name
    return call


TWO = {
    "assert_equal": (K.equal, "=="),
    "assert_none_equal": (K.not_equal, "!="),
    "assert_less": (K.less, "<"),
    "assert_less_equal": (K.less_equal, "<="),
    "assert_greater": (K.greater, ">"),
    "assert_greater_equal": (K.greater_equal, ">="),
}
ZERO = {
    "assert_positive": (K.greater, ">"),
    "assert_non_negative": (K.greater_equal, ">="),
    "assert_negative": (K.less, "<"),
    "assert_non_positive": (K.less_equal, "<="),
}
PLAIN: dict[str, Any] = {
    "Assert": assert_,
    **{name: _of_two(name, *rule) for name, rule in TWO.items()},
    **{name: _of_zero(name, *rule) for name, rule in ZERO.items()},
}
NAMES: dict[str, Any] = {}
