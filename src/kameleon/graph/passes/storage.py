"""Storage dtypes: numbers kept in integers of the same size, bit by bit.

    f(x, y) -> bitcast(f'(bitcast(x), bitcast(y)))

Unsigned integers are kept in signed ones: a primitive that adds, multiplies, moves or picks
elements is the same for both dtypes; where the sign matters a rule says what f' is. bfloat16 is
kept in uint16, where nothing but conversions reads the numbers. Inputs and outputs of the graph
keep their dtypes. No divisor is 0 (`graph.passes.arithmetic` sees to that).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ir.leaves import CONSTANT, input_node
from ..ir.node import ITEM, Node
from ..ir.program import Graph, bodies
from ..ir.rewrite import substitute
from ..ir.types import BFLOAT16, FLOAT32, INT64, UINT16, UINT32, DType, TensorType, as_dtype
from ..primitives import elementwise as ew
from ..primitives.constants import known_number
from ..primitives.filling import full_like
from ..primitives.precision import has_dtype

Storage = Mapping[str, str]

# How dtypes are kept that NumPy, and libraries that take its arrays, haven't got.
BITS: Storage = {BFLOAT16: UINT16}


def in_storage(graph: Graph, storage: Storage) -> Graph:
    """The graph with numbers kept in other dtypes.

    Args:
        graph: a simplified graph.
        storage: by name of a dtype, that of the integers that its values are kept in.
    """
    if not storage or not has_dtype(graph, storage):
        return graph
    change = _Change(storage)
    given = {x: _as(x, change.dtype(x)) for x in graph.inputs}
    outputs = substitute(graph.outputs, given, change)
    pairs = zip(graph.outputs, outputs, strict=True)
    return graph.to([_as(new, old.dtype) for old, new in pairs])


def _as(x: Node, dtype: DType) -> Node:
    return x if x.dtype == dtype else ew.bitcast(x, dtype=dtype)


class _Change:
    """Gives what takes a node's place, given the node and its operands as they are kept."""

    def __init__(self, storage: Storage):
        self.storage = storage

    def dtype(self, x: Node) -> DType:
        """The dtype that the value of a node is kept in."""
        return as_dtype(self.storage.get(x.dtype, x.dtype))

    def __call__(self, node: Node, operands: tuple[Node, ...]) -> Node | None:
        """The new node; None where nothing but the operands changes."""
        name = node.primitive.name
        if node.primitive is ITEM:
            return self._item(node, *operands)
        if not any(x.dtype in self.storage for x in (*node.operands, *node.results)):
            return self.same(node, operands) if bodies(node) else None
        if node.primitive is CONSTANT:
            return ew.constant(node.attrs["value"].array.view(self.dtype(node)))
        if name == "cast" and BFLOAT16 in self.storage:
            number = _number(*operands) if node.operands[0].dtype == BFLOAT16 else operands[0]
            return _bits_of(number) if node.dtype == BFLOAT16 else ew.cast(number, node.dtype)
        if node.primitive.index is not None:
            operands = self._indexed(node, operands, node.primitive.index)
        elif name == "call" or (name in AS_THEY_ARE and not _is_small(node.operands[0])):
            given = (_as(new, old.dtype) for old, new in zip(node.operands, operands, strict=True))
            made = node.primitive(*given, **node.attrs)
            return made if name == "call" else _as(made, self.dtype(node))
        if name in RULES and node.operands[0].dtype in self.storage:
            return RULES[name](node, *operands)
        return self.same(node, operands)

    def same(self, node: Node, operands: tuple[Node, ...]) -> Node:
        """The primitive over operands as they are kept."""
        return node.primitive(*operands, **{k: self._attr(v) for k, v in node.attrs.items()})

    def _attr(self, value: Any) -> Any:
        if isinstance(value, Graph):
            kept = {x: input_node(TensorType(x.shape, self.dtype(x))) for x in value.inputs}
            return Graph(kept.values(), substitute(value.outputs, kept, self))
        return as_dtype(self.storage[value]) if value in self.storage else value

    def _item(self, node: Node, producer: Node) -> Node:
        found = producer.results[node.attrs["index"]]
        is_maximum = producer.primitive.name == "max_pool" and node.dtype in self.storage
        return _turned(found) if is_maximum else _as(found, self.dtype(node))

    def _indexed(self, node: Node, operands: tuple[Node, ...], position: int) -> tuple[Node, ...]:
        index = node.operands[position]
        if index.dtype not in self.storage:
            return operands
        wide = ew.cast(_as(operands[position], index.dtype), INT64)
        return (*operands[:position], wide, *operands[position + 1 :])


# bfloat16 --------------------------------------------------------------------------------------


def _number(bits: Node) -> Node:
    """The number of float32 whose upper half these bits are."""
    wide = ew.cast(bits, UINT32)
    return ew.bitcast(ew.shift_left(wide, full_like(wide, 16)), dtype=FLOAT32)


def _bits_of(x: Node) -> Node:
    """The bits of the nearest number of bfloat16, of two equally near ones the even one."""
    single = ew.cast(x, FLOAT32)
    bits = ew.bitcast(single, dtype=UINT32)
    half = full_like(bits, 16)
    odd = ew.bit_and(ew.shift_right(bits, half), full_like(bits, 1))
    near = ew.add(bits, ew.add(odd, full_like(bits, 0x7FFF)))
    kept = ew.select(ew.is_nan(single), full_like(bits, 0x7FC00000), near)
    return ew.cast(ew.shift_right(kept, half), UINT16)


# Unsigned integers -----------------------------------------------------------------------------

# Primitives that get unsigned operands as such: conversions, and those that depend on a dtype.
AS_THEY_ARE = frozenset(("cast", "random_bits", "random_fold"))


def _is_small(x: Node) -> bool:
    """Whether a number surely has no sign bit, as it's shifted to the right."""
    return x.primitive.name == "shift_right" and bool(known_number(x.operands[1]))


def _bits(x: Node) -> int:
    return 8 * x.dtype.itemsize


def _turned(x: Node) -> Node:
    """The sign bit flipped: signed numbers are then in the order of the unsigned ones."""
    return ew.bit_xor(x, full_like(x, -(1 << (_bits(x) - 1))))


def _below_sign(x: Node, count: int) -> Node:
    """x >> count, with zeros for what comes in from the left."""
    mask = full_like(x, (1 << (_bits(x) - count)) - 1)
    return ew.bit_and(ew.shift_right(x, full_like(x, count)), mask)


def _compared(node: Node, *operands: Node) -> Node:
    """x < y -> turned(x) < turned(y)"""
    return node.primitive(*map(_turned, operands), **node.attrs)


def _extreme(node: Node, *operands: Node) -> Node:
    """max(x, y) -> turned(max(turned(x), turned(y)))"""
    return _turned(_compared(node, *operands))


def _pad(node: Node, x: Node) -> Node:
    """The fill value becomes the signed number of the same bits."""
    value = int(node.attrs["value"])
    signed = value - (1 << _bits(x)) if value >> (_bits(x) - 1) else value
    return node.primitive(x, margins=node.attrs["margins"], value=signed)


def _shift_right(node: Node, x: Node, count: Node) -> Node:
    """x >> n -> x where n is 0, else ((x >> 1) without its sign) >> (n - 1)"""
    known = known_number(count)
    if known is not None and 0 < known < _bits(x):
        return _below_sign(x, known)
    zero = full_like(count, 0)
    rest = ew.maximum(ew.sub(count, full_like(count, 1)), zero)
    return ew.select(ew.eq(count, zero), x, ew.shift_right(_below_sign(x, 1), rest))


def _floor_div(node: Node, a: Node, b: Node) -> Node:
    """In wider integers where there are any."""
    if a.dtype != INT64:
        return ew.cast(ew.floor_div(_wide(a), _wide(b)), a.dtype)
    return _quotient(a, b)


def _mod(node: Node, a: Node, b: Node) -> Node:
    """a mod b -> a - b (a // b)"""
    return ew.sub(a, ew.mul(b, _floor_div(node, a, b)))


def _wide(x: Node) -> Node:
    wide = ew.cast(x, INT64)
    return ew.bit_and(wide, full_like(wide, (1 << _bits(x)) - 1))


def _quotient(a: Node, b: Node) -> Node:
    """a // b by way of floor(a / 2) // b, twice which is too small by at most 1. Where the sign bit
    of b is set, b is above every half, and fits into a once or not at all.
    """
    one, zero = full_like(b, 1), full_like(b, 0)
    small = ew.gt(b, zero)
    half = ew.floor_div(_below_sign(a, 1), ew.select(small, b, one))
    double = ew.shift_left(half, one)
    fits_again = ew.ge(_turned(ew.sub(a, ew.mul(double, b))), _turned(b))
    fits_once = ew.ge(_turned(a), _turned(b))
    more = ew.cast(ew.select(small, fits_again, fits_once), a.dtype)
    return ew.add(ew.select(small, double, zero), more)


RULES: dict[str, Callable[..., Node]] = {
    **dict.fromkeys("lt le gt ge argmax argmin argsort max_pool".split(), _compared),
    **dict.fromkeys("maximum minimum reduce_max reduce_min".split(), _extreme),
    "pad": _pad,
    "shift_right": _shift_right,
    "floor_div": _floor_div,
    "mod": _mod,
}
