"""Identities: rules that replace one node, whose operands are final, by an equal node.

Each rule is a function of the node that gives an equal node, or None; its docstring is its
equation, and says when the equation holds. Values change in the last bits at most (and in the sign
of a zero).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.node import Node
from ..ir.program import Graph
from ..ir.rewrite import substitute
from ..primitives.constants import known_array, known_number
from ..primitives.elementwise import (
    cast,
    constant,
    eq,
    logical_and,
    logical_or,
    mul,
    ne,
    neg,
    select,
    sub,
)
from ..primitives.filling import full_like, zeros
from ..primitives.movement import (
    WHOLE,
    broadcast_to,
    concatenate,
    kept_axes,
    reshape,
    slice_,
    transpose,
)
from ..primitives.sizes import are_one_size, dims_of, merged, size_of
from . import windows
from .extrema import EXTREMES
from .hoisting import hoisted, vectorised
from .scans import stacked_whole

Rule = Callable[[Node], Node | None]

# Sums of more terms than this aren't searched for slices that lie side by side.
LONGEST_SUM = 32


# Looking at nodes --------------------------------------------------------------------------


def fills(node: Node, other: Node) -> bool:
    """Whether `other` has the type of `node`, and so can replace `node`."""
    return other.type == node.type


# Rules -------------------------------------------------------------------------------------


def _forward(node: Node) -> Node | None:
    """f(x) -> x: identity-like annotations are erased."""
    return node.operands[0]


def _size(node: Node) -> Node | None:
    """size(x, axis) -> the constant, or the size of what x was made from."""
    size = size_of(node.operands[0], node.attrs["axis"])
    if isinstance(size, int):
        return constant(size, node.dtype)
    return None if are_one_size(size, node) else cast(size, node.dtype)


def _long_dims(node: Node) -> list[Any]:
    """The dims of a reshape or a broadcast, without those of size 1."""
    sizes = iter(node.operands[1:])
    return [next(sizes) if d is None else d for d in node.attrs["shape"] if d != 1]


def _has_own_shape(node: Node) -> bool:
    """Whether a reshape or a broadcast asks, provably, for the shape of its operand."""
    x, *sizes = node.operands
    if node.attrs["shape"] != x.shape:
        return False
    unknown = [size_of(x, i) for i, d in enumerate(x.shape) if d is None]
    return all(are_one_size(n, m) for n, m in zip(sizes, unknown, strict=True))


def _reshape(node: Node) -> Node | None:
    """reshape(reshape(x)) -> reshape(x); reshape(x) -> x where the shape is provably equal;
    reshape(broadcast(scalar)) -> broadcast(scalar) where axes of size 1 come or go."""
    (x, *sizes) = node.operands
    if _has_own_shape(node):
        return x
    if x.primitive.name == "reshape":
        return node.primitive(x.operands[0], *sizes, **node.attrs)
    scalar = x.primitive.name == "broadcast_to" and x.operands[0].shape == ()
    if scalar and _long_dims(node) == _long_dims(x):
        return x.primitive(x.operands[0], *sizes, **node.attrs)
    return None


def _broadcast(node: Node) -> Node | None:
    """broadcast(x) -> x where the shape is provably equal; broadcast(broadcast(x)) -> broadcast(x)
    where the outer one says nothing new of sizes; broadcast(reshape(scalar)) -> broadcast(scalar).
    """
    (x, *sizes) = node.operands
    if x.primitive.name == "reshape" and x.operands[0].shape == ():
        return node.primitive(x.operands[0], *sizes, **node.attrs)
    if _has_own_shape(node):
        return x
    if x.primitive.name != "broadcast_to":
        return None
    inner, dims = x.operands[0], dims_of(x)
    kept = {i: asked for i, _, asked in kept_axes(node)}
    # Without the inner broadcast, the outer one stretches an axis only if `inner` itself is known
    # to have size 1 there.
    known = inner.shape == () or (
        len(inner.shape) == len(x.shape)
        and all(d == 1 for i, d in enumerate(inner.shape) if i not in kept)
    )
    if known and all(are_one_size(dims[i], asked) for i, asked in kept.items()):
        return node.primitive(inner, *sizes, **node.attrs)
    return None


def _stretch(node: Node) -> Node | None:
    """stretch(x) -> broadcast(x), where no unknown size of x may be another than that asked for;
    stretch(x) -> x where the shape is provably equal."""
    (x, *sizes) = node.operands
    if _has_own_shape(node):
        return x
    dims = merged(node.attrs["shape"], sizes)
    own = zip(dims_of(x), dims[len(dims) - len(x.shape) :], strict=True)
    certain = all(isinstance(a, int) or are_one_size(a, b) for a, b in own)
    return broadcast_to(x, dims) if certain else None


def _sum_to(node: Node) -> Node | None:
    """sum_to(x) -> x where the shape is provably equal."""
    return node.operands[0] if _has_own_shape(node) else None


def _transpose(node: Node) -> Node | None:
    """transpose(transpose(x, p), q) -> transpose(x, p[q]); the identity is dropped."""
    (x,) = node.operands
    if x.primitive.name == "transpose":
        inner = x.attrs["perm"]
        return transpose(x.operands[0], [inner[i] for i in node.attrs["perm"]])
    return None


def _neutral(position: int, value: float) -> Rule:
    """x op e -> x, where e, the operand at `position`, is `value` (of two zeros, the same one)."""

    def rule(node: Node) -> Node | None:
        number = known_number(node.operands[position])
        if number == value and math.copysign(1, number) == math.copysign(1, value):
            other = node.operands[1 - position]
            return other if fills(node, other) else None
        return None

    return rule


def _integer_zero(node: Node) -> Node | None:
    """x + 0 -> x: integers only (of floats, -0.0 + 0 is 0.0)."""
    if node.dtype.is_integer:
        found = _neutral(1, 0)(node)
        return _neutral(0, 0)(node) if found is None else found
    return None


def _cast_again(node: Node) -> Node | None:
    """cast(cast(x, w), d) -> cast(x, d), where w holds all numbers of x's dtype"""
    (x,) = node.operands
    if x.primitive.name != "cast":
        return None
    (start,) = x.operands
    given, wide = start.dtype, x.dtype
    if given.is_float:
        holds = wide.is_float and wide.itemsize > given.itemsize
    else:
        holds = not wide.is_float and np.can_cast(given, wide, "safe")
    return cast(start, node.dtype) if holds else None


def _double_negation(node: Node) -> Node | None:
    """-(-x) -> x"""
    (x,) = node.operands
    return x.operands[0] if x.primitive.name == "neg" else None


def _add_negated(node: Node) -> Node | None:
    """a + (-b) -> a - b"""
    a, b = node.operands
    return sub(a, b.operands[0]) if b.primitive.name == "neg" else None


def _of_bools(logic: Callable[[Node, Node], Node]) -> Rule:
    """a + b -> a or b; a * b -> a and b, of bools; bitwise operations of bools likewise"""
    return lambda node: logic(*node.operands) if node.dtype.is_bool else None


def _sum_of_slices(node: Node) -> Node | None:
    """unslice(a) + unslice(b) + … -> concatenate(a, b, …), where a, b, … lie side by side."""
    terms: list[Node] = []
    pending = list(node.operands)
    while pending and len(terms) < LONGEST_SUM:
        term = pending.pop()
        if term.primitive.name == "add":
            pending.extend(term.operands)
        elif term.primitive.name == "unslice":
            terms.append(term)
        else:
            return None
    cut = {i for t in terms for i, w in enumerate(t.attrs["windows"]) if w != WHOLE}
    if pending or len(cut) != 1:
        return None
    (axis,) = cut
    parts = sorted(terms, key=lambda t: t.attrs["windows"][axis][0] or 0)
    at = 0
    for part in parts:
        start, stop, step = part.attrs["windows"][axis]
        if start != at or step != 1 or stop is None:
            return None
        at = stop
    return concatenate([p.operands[0] for p in parts], axis) if at == node.shape[axis] else None


def _reduced_to_itself(node: Node) -> Node | None:
    """reduce(x) -> reshape(x), over axes of size 1"""
    (x,), axes = node.operands, node.attrs["axes"]
    if any(x.shape[axis] != 1 for axis in axes):
        return None
    return reshape(x, [dim for axis, dim in enumerate(dims_of(x)) if axis not in axes])


def _extremum_of_nothing(node: Node) -> Node | None:
    """max(x) -> the least value, over an axis of size 0; min(x) -> the greatest"""
    (x,), axes = node.operands, node.attrs["axes"]
    if all(x.shape[axis] != 0 for axis in axes):
        return None
    extreme = EXTREMES[node.primitive.name](x.dtype)
    return broadcast_to(constant(extreme, x.dtype), dims_of(node))


def _sum_over_nothing(node: Node) -> Node | None:
    """contract(a, b) -> 0, over an axis of size 0"""
    a, over = node.operands[0], node.attrs["over"][0]
    return zeros(dims_of(node), node.dtype) if any(a.shape[i] == 0 for i in over) else None


def _sum_of_negated(node: Node) -> Node | None:
    """sum(-x) -> -sum(x)"""
    (x,) = node.operands
    return neg(node.primitive(x.operands[0], **node.attrs)) if x.primitive.name == "neg" else None


def _magnitude(node: Node) -> Node | None:
    """|x| -> x, of unsigned integers"""
    return node.operands[0] if node.dtype.kind == "unsigned" else None


def _sign(node: Node) -> Node | None:
    """sign(x) -> x != 0, of unsigned integers"""
    (x,) = node.operands
    return cast(ne(x, full_like(x, 0)), x.dtype) if node.dtype.kind == "unsigned" else None


def _nonzero_number(node: Node) -> Node | None:
    """nonzero(x) -> the rows of nonzero([x]), without their elements, of a scalar x"""
    (x,) = node.operands
    if x.shape:
        return None
    return slice_(node.primitive(reshape(x, [1])), [WHOLE, (0, 0, 1)])


def _is_nan(x: Node) -> bool:
    """Whether all that a tensor holds is known to be NaN."""
    array = known_array(x)
    if array is None or not x.dtype.is_float or not array.size:
        return False
    first = array.flat[0]  # mostly there's no other, and NumPy is slow with one number
    return bool(first != first and np.isnan(array).all())


def _absorbed(node: Node) -> Node | None:
    """x + nan -> nan, and so with the other operations of two numbers.

    XLA computes with a NaN that it knows, and then gives any number for its exponential.
    """
    for x in node.operands:
        if _is_nan(x):
            return full_like(x, math.nan)
    return None


def _power(node: Node) -> Node | None:
    """x ** 1 -> x; x ** 2 -> x * x; x ** nan -> select(x = 1, 1, nan)"""
    x, a = node.operands
    if _is_nan(a):
        one, nan = full_like(x, 1), full_like(x, math.nan)
        return select(eq(x, one), one, nan)
    exponent = known_number(a)
    if exponent == 1 and fills(node, x):
        return x
    return mul(x, x) if exponent == 2 and fills(node, x) else None


def _select(node: Node) -> Node | None:
    """select(true, a, b) -> a; select(false, a, b) -> b; select(c, a, a) -> a"""
    condition, a, b = node.operands
    known = known_number(condition)
    chosen = a if a is b or known is True else b if known is False else None
    return chosen if chosen is not None and fills(node, chosen) else None


def _slice_of_parts(node: Node) -> Node | None:
    """slice(concatenate(…, x, …)) -> slice(x), where static sizes say that the slice lies in x."""
    (joined,) = node.operands
    if joined.primitive.name != "concatenate":
        return None
    axis = joined.attrs["axis"]
    start, stop, step = node.attrs["windows"][axis]
    offset = 0
    for part in joined.operands:
        size = part.shape[axis]
        if size is None or start is None or start < 0 or stop is None or stop < 0:
            return None
        if offset <= start and stop <= offset + size:
            windows = list(node.attrs["windows"])
            windows[axis] = (start - offset, stop - offset, step)
            return slice_(part, windows)
        offset += size
    return None


def outer_broadcast(node: Node) -> Node | None:
    """f(broadcast(a), broadcast(b)) -> broadcast(f(a, b)), where a and b have one shape or one
    of them is a scalar."""
    wide = node.operands
    for x in wide:
        if x.primitive.name != "broadcast_to":
            return None
    bare = [x.operands[0] for x in wide]
    inner = max(bare, key=lambda x: len(x.shape))
    if any(x.shape not in ((), inner.shape) for x in bare) or inner.shape == node.shape:
        return None
    if not inner.type.is_static and len(bare) > 1:
        return None
    operands = [x if x.shape == inner.shape else broadcast_to(x, dims_of(inner)) for x in bare]
    small = node.primitive(*operands, **node.attrs)
    model = next(x for x in wide if x.operands[0] is inner)
    return model.primitive(small, *model.operands[1:], **model.attrs)


def _one_branch(node: Node) -> tuple[Node, ...] | None:
    """cond(true, …) -> the outputs of `then`; cond(false, …) -> those of `otherwise`."""
    condition, *operands = node.operands
    known = known_number(condition)
    if known is None:
        return None
    branch: Graph = node.attrs["then" if known else "otherwise"]
    given = dict(zip(branch.inputs, operands, strict=True))
    return tuple(substitute(branch.outputs, given))


RULES: dict[str, tuple[Rule, ...]] = {
    "identity": (_forward,),
    "stop_gradient": (_forward,),
    "with_gradient": (_forward,),
    "size": (_size,),
    "reshape": (_reshape,),
    "broadcast_to": (_broadcast,),
    "stretch": (_stretch,),
    "sum_to": (_sum_to,),
    "transpose": (_transpose,),
    "add": (_absorbed, _integer_zero, _add_negated, _sum_of_slices, _of_bools(logical_or)),
    "sub": (_absorbed, _neutral(1, 0)),
    "mul": (_absorbed, _neutral(1, 1), _neutral(0, 1), _of_bools(logical_and)),
    "bit_and": (_of_bools(logical_and),),
    "bit_or": (_of_bools(logical_or),),
    "bit_xor": (_of_bools(ne),),
    "div": (_absorbed, _neutral(1, 1)),
    **dict.fromkeys(("floor_div", "mod", "maximum", "minimum"), (_absorbed,)),
    "pow": (_power,),
    "neg": (_double_negation,),
    "cast": (_cast_again,),
    "abs": (_magnitude,),
    "sign": (_sign,),
    **dict.fromkeys(("reduce_prod", "reduce_any", "reduce_all"), (_reduced_to_itself,)),
    **dict.fromkeys(EXTREMES, (_extremum_of_nothing, _reduced_to_itself)),
    "contract": (_sum_over_nothing,),
    "reduce_sum": (_reduced_to_itself, _sum_of_negated),
    "select": (_select,),
    "nonzero": (_nonzero_number,),
    "slice": (_slice_of_parts,),
    **windows.RULES,
}
# Rules for primitives with several results.
TUPLE_RULES: dict[str, Callable[[Node], tuple[Node, ...] | None]] = {
    "cond": _one_branch,
    "max_pool": windows.pool_of_nothing,
    "scan": lambda node: vectorised(node) or hoisted(node) or stacked_whole(node),
}
