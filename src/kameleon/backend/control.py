"""Loops over time and over elements, choices, and gradients of one's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..graph.ir.node import Node
from ..graph.primitives.control import check, with_gradient
from ..graph.primitives.elementwise import cast, constant, gt, logical_and, select
from ..graph.primitives.filling import full_like
from ..graph.primitives.indexing import gather
from ..graph.primitives.movement import iota, reshape, slice_axis
from ..graph.primitives.sizes import as_node, dims_of, plus, roots_of, size_of
from ..graph.primitives.stretching import stretch
from ._bodies import traced_cond, traced_scan, traced_while
from ._tensors import (
    Tensor,
    TensorLike,
    as_tensor,
    broadcast_together,
    named,
    promoted,
    size_or_node,
)
from .session import learning_phase

__all__ = [
    "switch",
    "in_train_phase",
    "in_test_phase",
    "map_fn",
    "foldl",
    "foldr",
    "while_loop",
    "custom_gradient",
]


# Choices -----------------------------------------------------------------------------------


def switch(condition: TensorLike, then_expression: Any, else_expression: Any) -> Tensor:
    """Choose between two tensors.

    Args:
        condition: a scalar, or a tensor whose axes are the first ones of the expressions;
            numbers other than 0 count as true.
        then_expression: a tensor, or a function without arguments that gives one; with a
            scalar condition only the chosen function's tensors are computed.
        else_expression: likewise, of the same shape. With a scalar condition another shape will
            do, such as a zero in place of rows: it comes out as it is (with as many axes).

    Raises:
        ShapeError: the condition has more axes than the expressions.

    >>> from kameleon import backend as K
    >>> K.eval(K.switch(K.constant([1., 0.]), K.constant([1., 2.]), K.constant([3., 4.])))
    array([1., 4.], dtype=float32)
    """
    condition = cast(as_tensor(condition, "switch"), "bool")
    lazy = callable(then_expression) or callable(else_expression)
    if not condition.shape and lazy:
        return _branch(condition, then_expression, else_expression)
    a, b = promoted((_called(then_expression), _called(else_expression)), "switch")
    if not condition.shape and _differ(a, b):
        return _branch(condition, a, b)
    if condition.type.rank > a.type.rank:
        raise ShapeError(
            f"switch: the condition has {condition.type.rank} axes (shape {condition.shape}), the"
            f" expressions {a.type.rank} (shape {a.shape}); it must not have more"
        )
    a, b = broadcast_together([a, b], "switch")
    for c, d in zip(condition.shape, a.shape, strict=False):
        if c is not None and d is not None and c not in (d, 1):
            raise ShapeError(
                f"switch: condition {condition.shape} doesn't fit expressions {a.shape}"
            )
    wide = [*dims_of(condition), *([1] * (a.type.rank - condition.type.rank))]
    return select(stretch(reshape(condition, wide), dims_of(a)), a, b)


def _differ(a: Node, b: Node) -> bool:
    """Whether two tensors may turn out to have different shapes."""
    return len(a.shape) != len(b.shape) or any(
        c != d or (c is None and roots_of(a, axis) != roots_of(b, axis))
        for axis, (c, d) in enumerate(zip(a.shape, b.shape, strict=True))
    )


def _called(expression: Any) -> Any:
    return expression() if callable(expression) else expression


def _branch(condition: Node, then: Any, otherwise: Any) -> Node:
    def run(expression: Any) -> list[Node]:
        return [as_tensor(_called(expression), "switch")]

    (result,) = traced_cond("switch", condition, lambda: run(then), lambda: run(otherwise))
    return result


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Tensor:
    """In the training phase `x`, otherwise `alt`.

    Args:
        x: a tensor, or a function without arguments that gives one.
        alt: likewise, of the same shape.
        training: the phase (a scalar tensor, bool or int); `K.learning_phase()`, if None.

    >>> from kameleon import backend as K
    >>> float(K.eval(K.in_train_phase(K.constant(1.), K.constant(2.), training=True)))
    1.0
    """
    from_phase = training is None
    if from_phase:
        training = learning_phase()
    if isinstance(training, (bool, int, float, np.bool_, np.integer)):
        return _called(x if training else alt)  # type: ignore[no-any-return]
    result = switch(training, x, alt)
    if from_phase:
        result._uses_learning_phase = True
    return result


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Tensor:
    """In the test phase `x`, otherwise `alt`.

    Args:
        x: a tensor, or a function without arguments that gives one.
        alt: likewise, of the same shape.
        training: the phase (a scalar tensor, bool or int); `K.learning_phase()`, if None.

    >>> from kameleon import backend as K
    >>> float(K.eval(K.in_test_phase(K.constant(1.), K.constant(2.), training=True)))
    2.0
    """
    return in_train_phase(alt, x, training=training)


# Over elements -----------------------------------------------------------------------------


def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """Apply a function to each slice along the first axis, and stack the results.

    Args:
        fn: gets one slice (or a list or tuple of slices) and gives a tensor, or several.
        elems: a tensor, or a list or tuple of tensors of equal length.
        name: the result's name.
        dtype: the result's element type; that of what `fn` gives, if None.

    >>> from kameleon import backend as K
    >>> K.eval(K.map_fn(lambda x: x * x, K.constant([1., 2., 3.])))
    array([1., 4., 9.], dtype=float32)
    """
    several = isinstance(elems, (list, tuple)) and any(isinstance(e, Node) for e in elems)
    sequences = [as_tensor(e, "map_fn") for e in (elems if several else [elems])]
    made: list[Any] = []

    def body(_: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
        given = type(elems)(slices) if several else slices[0]
        made.append(fn(given))
        results = made[0] if isinstance(made[0], (list, tuple)) else [made[0]]
        kinds = dtype if isinstance(dtype, (list, tuple)) else [dtype] * len(results)
        return [], [
            as_tensor(r, "map_fn") if k is None else cast(as_tensor(r, "map_fn"), k)
            for r, k in zip(results, kinds, strict=True)
        ]

    _, outputs = traced_scan("map_fn", body, [], sequences)
    if isinstance(made[0], (list, tuple)):
        return type(made[0])(outputs)
    return named(outputs[0], name)


def _fold(what: str, fn: Callable[..., Any], elems: Any, initializer: Any, backwards: bool) -> Node:
    elems = as_tensor(elems, what)
    if not elems.shape:
        raise ShapeError(f"{what}: elems must have an axis to run along, got a scalar")
    if initializer is None:
        elems = _some(what, elems)
        last = plus(size_of(elems, 0), -1)
        start = gather(elems, as_node(last if backwards else 0), 0)
        elems = slice_axis(elems, 0, None, -1) if backwards else slice_axis(elems, 0, 1, None)
    else:
        start = as_tensor(initializer, what)

    def body(carry: list[Node], slices: list[Node]) -> tuple[list[Node], list[Node]]:
        return [as_tensor(fn(carry[0], slices[0]), what)], []

    (last,), _ = traced_scan(what, body, [start], [elems], backwards)
    return last


def _some(what: str, elems: Node) -> Node:
    """`elems`, with an error, at once or at run time, where it's empty."""
    message = f"{what}: there are no elements and there's no initializer; give one"
    count = size_of(elems, 0)
    if isinstance(count, Node):
        return check(elems, gt(count, full_like(count, 0)), message=message)
    if count == 0:
        raise ShapeError(message)
    return elems


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Tensor:
    """Combine the slices along the first axis, from the first to the last.

    Args:
        fn: `(accumulated, slice) -> accumulated`.
        elems: a tensor.
        initializer: what to begin with; the first slice, if None: then elems mustn't be empty.
        name: the result's name.

    >>> from kameleon import backend as K
    >>> float(K.eval(K.foldl(lambda a, x: a - x, K.constant([1., 2., 3.]))))
    -4.0
    """
    return named(_fold("foldl", fn, elems, initializer, False), name)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Tensor:
    """Combine the slices along the first axis, from the last to the first.

    Args:
        fn: `(accumulated, slice) -> accumulated`.
        elems: a tensor.
        initializer: what to begin with; the last slice, if None: then elems mustn't be empty.
        name: the result's name.

    >>> from kameleon import backend as K
    >>> float(K.eval(K.foldr(lambda a, x: a - x, K.constant([1., 2., 3.]))))
    0.0
    """
    return named(_fold("foldr", fn, elems, initializer, True), name)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    maximum_iterations: Any = None,
) -> list[Tensor]:
    """Repeat a function of some tensors as long as a condition of them holds.

    Args:
        cond: `(*loop_vars) -> bool scalar`.
        body: `(*loop_vars) -> new loop_vars`, of the same types.
        loop_vars: the tensors to begin with.
        maximum_iterations: stop after so many steps.

    Returns:
        The last values, a list. A gradient runs the loop once more, as a scan that remembers the
        states of all steps; with `maximum_iterations` the loop is such a scan from the beginning.

    >>> from kameleon import backend as K
    >>> i, x = K.while_loop(lambda i, x: i < 5, lambda i, x: [i + 1, x * 2.],
    ...                     [K.constant(0, 'int32'), K.constant(1.)])
    >>> float(K.eval(x))
    32.0
    """
    what = "while_loop"
    carry = [as_tensor(x, what) for x in loop_vars]

    def test(states: list[Node]) -> Node:
        holds = as_tensor(cond(*states), what)
        return cast(reshape(holds, ()), "bool")

    def run(states: Sequence[Node]) -> list[Node]:
        new = body(*states)
        new = new if isinstance(new, (list, tuple)) else [new]
        return [as_tensor(x, what, s.dtype) for x, s in zip(new, states, strict=True)]

    if maximum_iterations is None:
        return traced_while(what, test, run, carry)
    steps = iota([size_or_node(maximum_iterations, what)])
    going = constant(True, "bool")

    def bounded(states: list[Node], _: list[Node]) -> tuple[list[Node], list[Node]]:
        active = logical_and(states[0], test(states[1:]))
        new = traced_cond(what, active, lambda: run(states[1:]), lambda: states[1:])
        return [active, *new], []

    last, _ = traced_scan(what, bounded, [going, *carry], [steps])
    return last[1:]


# Gradients of one's own --------------------------------------------------------------------


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function of tensors a gradient of its own.

    Args:
        f: `(*tensors) -> (result, grad)`: the result is a tensor or a list of them, and
            `grad(*cotangents)` gives the cotangents of the arguments, in order. Whatever else
            `f` uses gets no gradient.

    Returns:
        The function without the second result.

    >>> from kameleon import backend as K
    >>> @K.custom_gradient
    ... def clipped(x):
    ...     return x * 1., lambda g: K.clip(g, -1., 1.)
    >>> x = K.variable([3.])
    >>> K.eval(K.gradients(K.sum(5. * clipped(x)), [x])[0])
    array([1.], dtype=float32)
    """

    @functools.wraps(f)
    def wrapped(*args: Any) -> Any:
        xs = [as_tensor(a, "custom_gradient") for a in args]
        result, grad = f(*xs)
        several = isinstance(result, (list, tuple))
        results = [as_tensor(r, "custom_gradient") for r in (result if several else [result])]
        outputs = [
            with_gradient(r, *xs, rule=_rule(grad, results, i, xs)) for i, r in enumerate(results)
        ]
        return type(result)(outputs) if several else outputs[0]

    return wrapped


def _rule(
    grad: Callable[..., Any], results: list[Node], i: int, xs: list[Node]
) -> Callable[[Node], list[Node | None]]:
    """The rule for result `i`: its share in the arguments' cotangents, which is what `grad` gives
    where the cotangents of all other results are 0.
    """

    def rule(g: Node) -> list[Node | None]:
        gs = [g if j == i else full_like(r, 0) for j, r in enumerate(results)]
        parts = grad(*gs)
        parts = parts if isinstance(parts, (list, tuple)) else [parts]
        if len(parts) != len(xs):
            raise ArgumentError(
                f"custom_gradient: the gradient gave {len(parts)} results for {len(xs)} arguments"
            )
        return [
            None if p is None else as_tensor(p, "custom_gradient", x.dtype)
            for p, x in zip(parts, xs, strict=True)
        ]

    return rule
