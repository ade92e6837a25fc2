"""How CNTK does each primitive on static dense tensors. This module runs in the worker.

A rule is given the builder of the segment, the node, and its operands: variables or functions of
CNTK; `Index` where integers say which elements are meant; numbers of Python where they are sizes.
Bools are 0 and 1 in one of the types of floats. Where CNTK's own function isn't what IEEE 754 says,
the rule is a form of it that is; or it states a guard: for which operands it isn't, and in a call
that has such ones the segment is computed by NumPy.
"""

from __future__ import annotations

from typing import Any

import cntk as C
import numpy as np

from ...errors import ShapeError
from .._kernels.arrays import inferred
from .._names import names

# Logarithms are clamped below this, reciprocals are 0: in both types.
LEAST = 1e-37
# Reciprocals of larger numbers lose digits.
LARGEST = 1e37
# Integers below this are floats of either type.
EXACT = 2**24
# From so many on rows are added by a product.
MANY_ROWS = 64


class Stretched:
    """What `broadcast_to` gives, while it isn't known whether its consumer stretches by itself."""

    def __init__(self, base: Any, shape: tuple[int, ...]):
        self.base, self.shape, self.dtype = base, shape, base.dtype


class Index:
    """Integers that choose elements: the segment's input of this number."""

    def __init__(self, number: int, variable: Any):
        self.number, self.variable = number, variable
        self.shape = tuple(variable.shape)


class UnfitError(Exception):
    """CNTK can't do a segment with these sizes."""


def require_exact(size: int) -> None:
    """Leave indices below a size to NumPy, where floats don't hold them."""
    if size > EXACT:
        raise UnfitError("floats don't hold such indices")


def shape_of(x: Any) -> tuple[int, ...]:
    """The sizes of a value."""
    return tuple(x.shape)


def number(value: float, like: Any) -> Any:
    """A scalar of the type of another value."""
    return C.constant(np.array(value, like.dtype))


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    """A value with other sizes."""
    return x if shape_of(x) == tuple(shape) else C.reshape(x, tuple(shape))


def dims(stated: Any, sizes: Any) -> tuple[int, ...]:
    """A shape whose unknown sizes are given."""
    rest = iter(sizes)
    return tuple(next(rest) if d is None else d for d in stated)


def full(x: Any) -> Any:
    """A value of its whole size."""
    if not isinstance(x, Stretched):
        return x
    return C.element_times(x.base, C.constant(np.ones(x.shape, x.dtype)))


# Elementwise --------------------------------------------------------------------------------------


def of_values(function: Any) -> Any:
    """A rule that is a function of CNTK as it is."""
    return lambda b, node, *values: function(*values)


def nothing(x: Any) -> Any:
    """NaN for comparisons that nothing meets."""
    return number(np.nan, x)


def _sqrt(b: Any, node: Any, x: Any) -> Any:
    b.guard(C.element_not(C.greater_equal(x, number(0, x))))
    return C.sqrt(x)


def _sign(b: Any, node: Any, x: Any) -> Any:
    zero, one = number(0, x), number(1, x)
    below = C.element_select(C.less(x, zero), C.negate(one), C.plus(x, zero))  # -0 + 0 is 0
    return C.element_select(C.greater(x, zero), one, below)


def _chosen(b: Any, condition: Any, x: Any) -> Any:
    """A value where a condition is 1, and 0 elsewhere. CNTK chooses slowly, for it branches at each
    element. A product is quicker; where x isn't chosen, it's NaN if x is infinite, and -0 if x is
    negative: so 0 is added, which takes the sign of a chosen -0, too.
    """
    found = C.element_times(condition, x)
    b.guard_nan(found)
    return C.plus(found, number(0, x))


def _relu(b: Any, node: Any, x: Any) -> Any:
    return _chosen(b, C.greater(x, number(0, x)), x)


def _select(b: Any, node: Any, condition: Any, x: Any, y: Any) -> Any:
    if b.is_zero(y):
        return _chosen(b, condition, x)
    if b.is_zero(x):
        return _chosen(b, C.element_not(condition), y)
    return C.element_select(condition, x, y)


def _maximum(b: Any, node: Any, x: Any, y: Any) -> Any:
    rest = C.element_select(C.less(x, y), y, C.plus(x, y))  # the sum is NaN where either one is
    return C.element_select(C.greater_equal(x, y), x, rest)


def _minimum(b: Any, node: Any, x: Any, y: Any) -> Any:
    rest = C.element_select(C.greater(x, y), y, C.plus(x, y))
    return C.element_select(C.less_equal(x, y), x, rest)


def _log(b: Any, node: Any, x: Any) -> Any:
    b.guard(C.less(x, number(LEAST, x)))
    return C.log(x)


def _round(b: Any, node: Any, x: Any) -> Any:
    """Halves go away from zero, not to the even number; and what becomes 0 loses its sign."""
    half = number(0.5, x)
    b.guard(C.equal(C.minus(x, C.floor(x)), half))
    return C.element_select(C.less(C.abs(x), half), C.element_times(x, number(0, x)), C.round(x))


def _div(b: Any, node: Any, x: Any, y: Any) -> Any:
    size = C.abs(y)
    within = C.element_times(C.greater(size, number(LEAST, y)), C.less(size, number(LARGEST, y)))
    b.guard(C.element_not(within))
    return C.element_divide(x, y)


def _pow(b: Any, node: Any, x: Any, y: Any) -> Any:
    positive = C.element_times(C.greater(x, number(0, x)), C.less(x, number(LARGEST, x)))
    b.guard(C.element_not(positive))
    return C.pow(x, y)


def _cast(b: Any, node: Any, x: Any) -> Any:
    return C.not_equal(x, number(0, x)) if node.dtype == "bool" else x


# Movement -----------------------------------------------------------------------------------------


def _reshape(b: Any, node: Any, x: Any, *sizes: int) -> Any:
    shape = inferred(dims(node.attrs["shape"], sizes), shape_of(x))
    if _product(shape) != _product(shape_of(x)):
        raise ShapeError(f"{shape_of(x)} can't be reshaped to {shape}")
    return reshaped(x, shape)


def _broadcast_to(b: Any, node: Any, x: Any, *sizes: int) -> Any:
    """Only a size that was known to be 1 is stretched."""
    shape = dims(node.attrs["shape"], sizes)
    kept = [i for i, d in enumerate(node.known) if d != 1]
    added = len(shape) - len(x.shape)
    b.same([shape_of(x)[i] for i in kept], [shape[i + added] for i in kept])
    base = x.base if isinstance(x, Stretched) else x
    return base if shape_of(base) == shape else Stretched(base, shape)


def transposed(x: Any, perm: Any) -> Any:
    """A value with its axes in another order."""
    return x if list(perm) == list(range(len(perm))) else C.transpose(x, tuple(perm))


def _cuts(windows: Any, shape: tuple[int, ...]) -> list[tuple[int, int, int]]:
    return [slice(*w).indices(d) for w, d in zip(windows, shape, strict=True)]


def sliced(x: Any, cuts: Any) -> Any:
    """The elements of a value between two places along each axis, every so many."""
    if any(step < 1 or stop <= start for start, stop, step in cuts):
        raise UnfitError("nothing is left")
    changed = [i for i, d in enumerate(shape_of(x)) if tuple(cuts[i]) != (0, d, 1)]
    if not changed:
        return x
    starts, stops, steps = zip(*(cuts[i] for i in changed), strict=True)
    return C.slice(x, changed, list(starts), list(stops), list(steps))


def padded(x: Any, margins: Any, value: float = 0.0) -> Any:
    """A value with margins around it."""
    margins = [tuple(m) for m in margins]
    return C.pad(x, margins, constant_value=value) if any(map(any, margins)) else x


def spread(x: Any, axis: int, step: int) -> Any:
    """So many elements less one of 0 between the elements along an axis."""
    shape = shape_of(x)
    if step == 1 or shape[axis] == 1:
        return x
    lone = C.reshape(x, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    zeros = C.constant(np.zeros((*shape[: axis + 1], step - 1, *shape[axis + 1 :]), x.dtype))
    joined = C.splice(lone, zeros, axis=axis + 1)
    wide = C.reshape(joined, (*shape[:axis], shape[axis] * step, *shape[axis + 1 :]))
    cuts = [(0, d, 1) for d in shape_of(wide)]
    cuts[axis] = (0, (shape[axis] - 1) * step + 1, 1)
    return sliced(wide, cuts)


def _unslice(b: Any, node: Any, x: Any, *sizes: int) -> Any:
    shape = dims(node.attrs["shape"], sizes)
    margins = []
    for axis, (start, stop, step) in enumerate(_cuts(node.attrs["windows"], shape)):
        count = len(range(start, stop, step))
        if count != shape_of(x)[axis]:
            b.mismatch(count, shape_of(x)[axis])
        x = spread(x, axis, step)
        margins.append((start, shape[axis] - start - shape_of(x)[axis]))
    return padded(x, margins)


def _slice(b: Any, node: Any, x: Any) -> Any:
    return sliced(x, _cuts(node.attrs["windows"], shape_of(x)))


def _pad(b: Any, node: Any, x: Any) -> Any:
    return padded(x, node.attrs["margins"], node.attrs["value"])


def _concatenate(b: Any, node: Any, *parts: Any) -> Any:
    axis = node.attrs["axis"]
    b.same(*(p[:axis] + p[axis + 1 :] for p in map(shape_of, parts)))
    return parts[0] if len(parts) == 1 else C.splice(*parts, axis=axis)


def _gather(b: Any, node: Any, x: Any, index: Any) -> Any:
    """CNTK chooses along the first axis, and reads whatever memory an index leads to."""
    axis, rank = node.attrs["axis"], len(x.shape)
    require_exact(shape_of(x)[axis])
    b.check_index(index, shape_of(x)[axis])
    found = C.gather(transposed(x, [axis, *(i for i in range(rank) if i != axis)]), index.variable)
    chosen, rest = len(index.shape), rank - 1
    order = list(range(chosen, chosen + axis)) + list(range(chosen))
    return transposed(found, order + list(range(chosen + axis, chosen + rest)))


# Reductions, products -----------------------------------------------------------------------------


def without(x: Any, axes: Any) -> Any:
    """A value without axes of size 1."""
    return reshaped(x, tuple(d for i, d in enumerate(shape_of(x)) if i not in axes))


def _reduce(function: Any) -> Any:
    def rule(b: Any, node: Any, x: Any) -> Any:
        axes = list(node.attrs["axes"])
        return without(function(x, axes), axes) if axes else x

    return rule


def _sum(x: Any, axes: Any) -> Any:
    """Sums of whole rows are a product with ones: CNTK's own are slow along leading axes."""
    shape = shape_of(x)
    rows, lead = _product(shape[: len(axes)]), list(range(len(axes)))
    if sorted(axes) != lead or len(axes) == len(shape) or rows < MANY_ROWS:
        return C.reduce_sum(x, axis=axes)
    flat = reshaped(x, (rows, _product(shape[len(axes) :])))
    total = C.times(C.constant(np.ones((1, rows), x.dtype)), flat)
    return reshaped(total, (1,) * len(axes) + shape[len(axes) :])


def _extremum(function: Any) -> Any:
    """NaN is passed over by CNTK."""

    def found(x: Any, axes: Any) -> Any:
        odd = C.reduce_max(C.not_equal(x, x), axis=axes)
        return C.element_select(odd, nothing(x), function(x, axis=axes))

    return _reduce(found)


def _along(function: Any) -> Any:
    return lambda b, node, x: function(x, axis=node.attrs["axis"])


def unpacked(x: Any, count: int) -> Any:
    """A value along a dynamic axis as one with an axis more, whose size CNTK has forgotten."""
    return C.reshape(C.unpack_batch(x), (count, *shape_of(x)))


def _product(sizes: Any) -> int:
    return int(np.prod(sizes, dtype=np.int64))


def _contract(b: Any, node: Any, x: Any, y: Any) -> Any:
    """A product of two matrices, or of batches of them. What lies in memory as the transposed right
    factor isn't copied.
    """
    (left,), (right,) = node.attrs["over"]
    lead = len(node.attrs["batch"][0])
    b.same([shape_of(x)[left]], [shape_of(y)[right]])
    b.same(shape_of(x)[:lead], shape_of(y)[:lead])
    if left == lead:
        x = transposed(x, [*range(lead), lead + 1, lead])
    product = C.times_transpose if right == lead + 1 else C.times
    if not lead:
        return product(x, y)
    batch = shape_of(x)[:lead]
    x, y = (reshaped(v, (_product(batch), *shape_of(v)[lead:])) for v in (x, y))
    found = unpacked(product(C.to_batch(x), C.to_batch(y)), _product(batch))
    return reshaped(found, (*batch, *shape_of(found)[1:]))


# Labels -------------------------------------------------------------------------------------------


def _lines(x: Any, axis: int) -> tuple[int, ...]:
    """The sizes beside an axis."""
    return shape_of(x)[:axis] + shape_of(x)[axis + 1 :]


def _hot(index: Any, size: int, axis: int) -> Any:
    """1 at each index along an axis, 0 elsewhere."""
    require_exact(size)
    shape = shape_of(index)
    lone = reshaped(index.variable, (*shape[:axis], 1, *shape[axis:]))
    line = np.arange(size, dtype=index.variable.dtype).reshape((size,) + (1,) * (len(shape) - axis))
    return C.equal(lone, C.constant(line))


def _one_hot(b: Any, node: Any, index: Any, *sizes: int) -> Any:
    """Nothing where an index is out of range."""
    size = sizes[0] if node.attrs["size"] is None else node.attrs["size"]
    return _hot(index, size, len(index.shape))


def _minus_one_hot(b: Any, node: Any, p: Any, labels: Any) -> Any:
    axis = node.attrs["axis"]
    b.check_index(labels, shape_of(p)[axis])
    b.same(shape_of(labels), _lines(p, axis))
    return C.minus(p, _hot(labels, shape_of(p)[axis], axis))


def _sparse_crossentropy(b: Any, node: Any, x: Any, p: Any, labels: Any) -> Any:
    axis = node.attrs["axis"]
    b.check_index(labels, shape_of(x)[axis])
    b.same(shape_of(labels), _lines(x, axis))
    hot = _hot(labels, shape_of(x)[axis], axis)
    picked = C.element_select(hot, C.log_softmax(x, axis=axis), number(0, x))
    return C.negate(without(C.reduce_sum(picked, axis=axis), [axis]))


def _crossentropy(b: Any, node: Any, x: Any, p: Any, t: Any) -> Any:
    axis = node.attrs["axis"]
    b.same(shape_of(x), shape_of(t))
    terms = C.element_times(t, C.log_softmax(x, axis=axis))
    return C.negate(without(C.reduce_sum(terms, axis=axis), [axis]))


ELEMENTWISE = {
    **{
        name: of_values(getattr(C, function))
        for name, function in names(
            "neg=negate abs exp sin cos tanh floor ceil square sigmoid softplus add=plus sub=minus"
            " mul=element_times gt=greater ge=greater_equal lt=less le=less_equal eq=equal"
            " ne=not_equal logical_not=element_not logical_and=element_times logical_or=element_max"
        ).items()
    },
    "is_nan": lambda b, node, x: C.not_equal(x, x),
    "sqrt": _sqrt,
    "sign": _sign,
    "relu": _relu,
    "maximum": _maximum,
    "minimum": _minimum,
    "log": _log,
    "round": _round,
    "div": _div,
    "pow": _pow,
    "select": _select,
    "cast": _cast,
}

FUNCTIONS = {
    **ELEMENTWISE,
    **dict.fromkeys(("identity", "stop_gradient"), lambda b, node, x: x),
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "transpose": lambda b, node, x: transposed(x, node.attrs["perm"]),
    "slice": _slice,
    "unslice": _unslice,
    "pad": _pad,
    "concatenate": _concatenate,
    "gather": _gather,
    "reduce_sum": _reduce(_sum),
    "reduce_prod": _reduce(lambda x, axes: C.reduce_prod(x, axis=axes)),
    "reduce_max": _extremum(C.reduce_max),
    "reduce_min": _extremum(C.reduce_min),
    "reduce_any": _reduce(lambda x, axes: C.reduce_max(x, axis=axes)),
    "reduce_all": _reduce(lambda x, axes: C.reduce_min(x, axis=axes)),
    "softmax": _along(C.softmax),
    "log_softmax": _along(C.log_softmax),
    "contract": _contract,
    "one_hot": _one_hot,
    "minus_one_hot": _minus_one_hot,
    "sparse_softmax_crossentropy": _sparse_crossentropy,
    "softmax_crossentropy": _crossentropy,
}
"""By name of a primitive; those over windows have a module of their own."""
