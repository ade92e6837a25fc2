"""What moves elements: shapes, permutations, parts and margins."""

from __future__ import annotations

from typing import Any

import pytensor.tensor as pt

from ....graph.ir.node import Node
from ....graph.primitives.movement import computed_sizes
from ..._kernels.arrays import TOO_SMALL
from ..._lowering import Rule
from ..ops import stretchable
from .lowering import (
    NativeLowering,
    Value,
    asserted,
    at_rank,
    counted,
    dims_of,
    filled,
    of_sizes,
)

L = NativeLowering


def _size(low: L, node: Node, x: Value) -> Value:
    return pt.cast(x.shape[node.attrs["axis"]], "int32")


def _reshape(low: L, node: Node, x: Value, *sizes: Value) -> Value:
    shape = low.dims(node)
    y = pt.reshape(x, shape, ndim=len(shape))
    fit = [pt.ge(low.extent(size), -1) for size in computed_sizes(node)]
    return asserted(y, TOO_SMALL, *fit) if fit else y


def _broadcast(low: L, node: Node, x: Value, *sizes: Value) -> Value:
    return pt.alloc(at_rank(x, len(node.shape)), *low.dims(node))


def _iota(low: L, node: Node, *sizes: Value) -> Value:
    shape, axis, dtype = low.dims(node), node.attrs["axis"], str(node.dtype)
    line = counted(shape[axis], dtype)
    if len(shape) == 1:
        return line
    order = ["x"] * len(shape)
    order[axis] = 0  # type: ignore[call-overload]
    return pt.alloc(line.dimshuffle(*order), *shape)


def _transpose(low: L, node: Node, x: Value) -> Value:
    return pt.transpose(x, node.attrs["perm"])


def _reverse(low: L, node: Node, x: Value) -> Value:
    axes = node.attrs["axes"]
    if not axes:
        return x
    return x[tuple(slice(None, None, -1 if i in axes else None) for i in range(x.type.ndim))]


def _cut(node: Node) -> tuple[slice, ...]:
    """The attribute `windows` as slices of Python; a step of 1 is left out."""
    return tuple(
        slice(start, stop, None if step == 1 else step)
        for start, stop, step in node.attrs["windows"]
    )


def _slice(low: L, node: Node, x: Value) -> Value:
    """One element along an axis is picked by its number: of x[::-1][0:1], whose axis is dropped,
    PyTensor's rewrites make x[0].
    """
    cut: list[Any] = list(_cut(node))
    single = [i for i, d in enumerate(node.operands[0].shape) if _picks_one(cut[i], d)]
    for i in single:
        cut[i] = cut[i].indices(node.operands[0].shape[i])[0]
    return pt.expand_dims(x[tuple(cut)], single) if single else x[tuple(cut)]


def _picks_one(window: slice, dim: int | None) -> bool:
    return dim is not None and dim > 1 and len(range(*window.indices(dim))) == 1


def _unslice(low: L, node: Node, g: Value, *sizes: Value) -> Value:
    part = filled(0, g.type.dtype, low.dims(node))[_cut(node)]
    agree = [pt.eq(a, b) for a, b in zip(dims_of(part), dims_of(g), strict=True)
             if not (isinstance(a, int) and a == b)]  # fmt: skip
    if agree:  # PyTensor stretches what it writes
        g = asserted(g, "what is written to a slice has another size", *agree)
    return pt.set_subtensor(part, g)


def _pad(low: L, node: Node, x: Value) -> Value:
    margins = node.attrs["margins"]
    pairs = zip(dims_of(x), margins, strict=True)
    shape = [of_sizes("add", d, before + behind) for d, (before, behind) in pairs]
    # Counted from the end: in JAX a slice may not depend on the size.
    cut = tuple(slice(before or None, -behind or None) for before, behind in margins)
    full = filled(node.attrs["value"], x.type.dtype, shape)
    return pt.set_subtensor(full[cut], x)


def _concatenate(low: L, node: Node, *parts: Value) -> Value:
    axis = node.attrs["axis"]
    rest = [i for i in range(len(node.shape)) if i != axis]
    first = node.operands[0]
    for other in node.operands[1:]:
        for i in rest:
            if 1 in (first.shape[i], other.shape[i]):
                low.equal_axes(first, i, other, i)
    # Where one part is known to have size 1 along another axis, all parts have.
    known = [1 if node.shape[i] == 1 and i != axis else None for i in range(len(node.shape))]
    return pt.concatenate([stretchable(x, tuple(known)) for x in parts], axis)


RULES: dict[str, Rule] = {
    "size": _size,
    "reshape": _reshape,
    "broadcast_to": _broadcast,
    "iota": _iota,
    "transpose": _transpose,
    "reverse": _reverse,
    "slice": _slice,
    "unslice": _unslice,
    "pad": _pad,
    "concatenate": _concatenate,
}
