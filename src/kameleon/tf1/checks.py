"""Assertions of TensorFlow 1 about what is known when a graph is built, and about NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_tensor, promoted
from ..errors import ArgumentError
from ..ir.node import Node
from ..prims.control import check
from ..prims.elementwise import logical_and, logical_not
from .assertions import failing_unless
from .calling import called
from .graph import effect, get_default_graph, group
from .operations import Operation


def assert_near(x: Any, y: Any, rtol: Any, atol: Any, message: str | None, what: str) -> Operation:
    a, b = promoted((x, y), what)
    eps = 10 * float(np.finfo(np.dtype(a.dtype)).eps)
    relative, absolute = (eps if t is None else t for t in (rtol, atol))
    holds = K.less_equal(K.abs(a - b), absolute + relative * K.abs(b))
    return failing_unless(
        holds, f"{message or ''} {what}: x and y not equal to tolerance", what[3:]
    )


def _ranks(x: Any, wanted: Any, holds: Callable[[int, Any], bool], message: Any, what: str) -> Any:
    rank = len(as_tensor(x, what).type.shape)
    if not holds(rank, wanted):
        raise ArgumentError(f"{message or ''} {what}: the rank is {rank}, not {wanted}")
    return effect("static_checks_determined_all_ok", [])


def assert_rank(x: Any, rank: Any, message: str | None, what: str) -> Operation:
    return _ranks(x, int(rank), int.__eq__, message, what)  # type: ignore[no-any-return]


def assert_rank_at_least(x: Any, rank: Any, message: str | None, what: str) -> Operation:
    return _ranks(x, int(rank), int.__ge__, message, what)  # type: ignore[no-any-return]


def assert_rank_in(x: Any, ranks: Any, message: str | None, what: str) -> Operation:
    within: Callable[[int, Any], bool] = lambda rank, known: rank in known  # noqa: E731
    return _ranks(x, tuple(ranks), within, message, what)  # type: ignore[no-any-return]


def assert_scalar(tensor: Any, what: str) -> Any:
    x = as_tensor(tensor, what)
    _ranks(x, 0, int.__eq__, None, what)
    return x


def assert_integer(x: Any, message: str | None, what: str) -> Operation:
    tensor = as_tensor(x, what)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{message or ''} {what}: expected an integer dtype, not {tensor!r}")
    return effect("statically_determined_was_integer", [])


def assert_type(tensor: Any, tf_type: Any, message: str | None, what: str) -> Operation:
    x = as_tensor(tensor, what)
    if x.dtype != tf_type:
        raise TypeError(f"{message or ''} {what}: {x!r} must be of type {tf_type!r}")
    return effect("statically_determined_correct_type", [])


def finite(x: Any, message: str) -> Any:
    """`x`; an error where it holds NaN or an infinity."""
    tensor = as_tensor(x, "tf.check_numerics")
    holds = logical_and(K.equal(tensor, tensor), logical_not(K.equal(K.abs(tensor), np.inf)))
    return check(tensor, holds, message=f"{message}: the tensor had NaN or Inf values")


def add_check_numerics_ops() -> Operation:
    """An operation that fails where a tensor of floats that the graph has now isn't finite."""
    graph = get_default_graph()
    found = [x for operation in graph.get_operations() for x in operation.outputs]
    floats = [x for x in found if isinstance(x, Node) and x.dtype.is_float]
    return group(*(finite(x, str(x.name)) for x in floats))


def is_numeric_tensor(tensor: Any) -> bool:
    return isinstance(tensor, Node) and not tensor.dtype.is_bool


PLAIN = called(
    {
        "assert_near": assert_near,
        "assert_rank": assert_rank,
        "assert_rank_at_least": assert_rank_at_least,
        "assert_rank_in": assert_rank_in,
        "assert_scalar": assert_scalar,
        "assert_integer": assert_integer,
        "assert_type": assert_type,
        "check_numerics": lambda tensor, message: finite(tensor, message),
        "verify_tensor_all_finite": lambda t, msg, x, message: finite(
            t if x is None else x, msg if message is None else message
        ),
        "is_numeric_tensor": is_numeric_tensor,
        "add_check_numerics_ops": add_check_numerics_ops,
        "is_tensor": lambda x: isinstance(x, Node),
    }
)
