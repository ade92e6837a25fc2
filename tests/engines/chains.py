"""Chains of operations that tempt an optimiser: drawn at random, always the same from one seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import concatenate, pad, reshape, slice_axis, transpose
from kameleon.graph.primitives.reduce import mean, reduce_max, reduce_min, reduce_prod, reduce_sum
from kameleon.graph.primitives.sizes import dims_of, sizes_product
from kameleon.testing.cases.case import pool

Array = np.ndarray[Any, Any]
Random = np.random.Generator
Link = Callable[[Node, Random], Node]

NUMBERS = (0.1, 0.93, 3.0, -1.0, 1.0, 0.0, 0.5, 1e-3)
FLOATS = ("float64", "float32", "float16")
INTEGERS = ("int8", "int32", "int64", "uint8", "uint32", "uint64")


def number(x: Node, random: Random) -> Node:
    """A constant of the type of x."""
    value = random.choice(NUMBERS)
    return full_like(x, float(value) if x.dtype.is_float else abs(int(value * 2)))


def weights(random: Random, *shape: int, dtype: Any) -> Node:
    return ew.constant((random.normal(size=shape) * 2).astype(dtype), dtype)


def with_number(name: str) -> Link:
    def link(x: Node, random: Random) -> Node:
        pair = [x, number(x, random)]
        return REGISTRY[name](*(pair if name == "div" or random.integers(2) else pair[::-1]))

    return link


def unary(name: str) -> Link:
    return lambda x, random: REGISTRY[name](x)


def same(x: Node, random: Random) -> Node:
    return x


def bias(x: Node, random: Random) -> Node:
    if not x.shape or x.shape[-1] is None:
        return x
    vector = weights(random, x.shape[-1], dtype=x.dtype)
    return ew.add(x, REGISTRY["broadcast_to"](vector, *_sizes(x), shape=x.shape))


def _sizes(x: Node) -> list[Node]:
    return [d for d in dims_of(x) if isinstance(d, Node)]


def product(x: Node, random: Random) -> Node:
    """The product of x and a matrix, on either side, transposed or not."""
    if len(x.shape) < 2 or x.shape[-1] is None:
        return x
    depth, flipped = x.shape[-1], bool(random.integers(2))
    w = weights(random, *((3, depth) if flipped else (depth, 3)), dtype=x.dtype)
    over = ((len(x.shape) - 1,), (int(flipped),))
    return contract(x, w, over) if random.integers(2) else contract(w, x, over[::-1])


def gram(x: Node, random: Random) -> Node:
    """The product of each matrix with itself, in batches."""
    if len(x.shape) != 3:
        return x
    axis = int(random.integers(1, 3))
    return contract(x, x, ((axis,), (axis,)), ((0,), (0,)))


def turned(x: Node, random: Random) -> Node:
    return transpose(x, [int(i) for i in random.permutation(len(x.shape))])


def flat(x: Node, random: Random) -> Node:
    dims = dims_of(x)
    return reshape(x, [*dims[:-2], sizes_product(dims[-2:])]) if len(dims) > 1 else x


def cut(x: Node, random: Random) -> Node:
    return slice_axis(x, 0, int(random.integers(0, 2)), None) if x.shape else x


def wider(x: Node, random: Random) -> Node:
    return pad(x, [(0, 1)] * len(x.shape), 0)


def doubled(x: Node, random: Random) -> Node:
    return concatenate([x, x], len(x.shape) - 1) if x.shape else x


def reduced(reduce: Any) -> Link:
    def link(x: Node, random: Random) -> Node:
        return reduce(x, (int(random.integers(len(x.shape))),)) if x.shape else x

    return link


def along(name: str) -> Link:
    def link(x: Node, random: Random) -> Node:
        return REGISTRY[name](x, axis=len(x.shape) - 1) if x.shape else x

    return link


def gate(x: Node, random: Random) -> Node:
    """x * sigmoid(c x)"""
    return ew.mul(x, REGISTRY["sigmoid"](ew.mul(x, full_like(x, 1.702))))


def bell(x: Node, random: Random) -> Node:
    """x * (1 + tanh(a (x + b x**3))) / 2"""
    cube = ew.mul(ew.mul(x, x), ew.mul(x, full_like(x, 0.044715)))
    inner = ew.mul(ew.add(x, cube), full_like(x, 0.7978845608))
    outer = ew.add(REGISTRY["tanh"](inner), full_like(x, 1.0))
    return ew.mul(ew.mul(x, full_like(x, 0.5)), outer)


def normalised(x: Node, random: Random) -> Node:
    """(x - mean) / sqrt(var + eps)"""
    if not x.shape:
        return x
    axis = len(x.shape) - 1
    centred = ew.sub(x, _stretched(mean(x, (axis,)), x))
    spread = mean(ew.mul(centred, centred), (axis,))
    root = REGISTRY["sqrt"](ew.add(spread, full_like(spread, 1e-3)))
    return ew.div(centred, _stretched(root, x))


def _stretched(total: Node, x: Node) -> Node:
    column = reshape(total, [*dims_of(total), 1])
    return REGISTRY["broadcast_to"](column, *_sizes(x), shape=x.shape)


def chosen(x: Node, random: Random) -> Node:
    other = number(x, random)
    return ew.select(ew.gt(x, other), x, ew.add(x, other))


def there_and_back(x: Node, random: Random) -> Node:
    """Through another dtype that holds every number of this one, or half as many digits."""
    wide = {"float16": "float32", "float32": "float64", "float64": "float32"}
    via = wide.get(x.dtype, "int64" if x.dtype.kind == "signed" else "uint64")
    return ew.cast(ew.cast(x, via), x.dtype)


# Results of the first table are the same to the last bit on every engine that rounds each result,
# so operations that jump may follow them.
EXACT: dict[str, Link] = {
    **{name: with_number(name) for name in ("add", "sub", "mul", "maximum", "minimum")},
    **{name: unary(name) for name in ("neg", "abs", "square", "sign")},
    "same": same,
    "turned": turned,
    "flat": flat,
    "cut": cut,
    "wider": wider,
    "doubled": doubled,
    "chosen": chosen,
    "there_and_back": there_and_back,
    "largest": lambda x, random: reduced(reduce_max)(wider(x, random), random),
    "least": lambda x, random: reduced(reduce_min)(wider(x, random), random),
}
EXACT_FLOATS: dict[str, Link] = {
    "div": with_number("div"),
    **{name: unary(name) for name in ("floor", "ceil", "round", "relu")},
}
ROUGH: dict[str, Link] = {
    "bias": bias,
    "product": product,
    "gram": gram,
    "sum": reduced(reduce_sum),
    "prod": reduced(reduce_prod),
    "cumsum": along("cumsum"),
}
ROUGH_FLOATS: dict[str, Link] = {
    **{name: along(name) for name in ("softmax", "log_softmax")},
    **{name: unary(name) for name in ("tanh", "sigmoid", "softplus", "sin", "elu", "exp")},
    "mean": reduced(mean),
    "gate": gate,
    "bell": bell,
    "normalised": normalised,
}
JUMPS = {"floor", "ceil", "round", "sign", "chosen"}


class Chain:
    """Operations one behind the other.

    Attributes:
        seed: what the operations were drawn from.
        dtype: of the input.
        input: what it begins with; sizes are known or not.
        value: of the input.
        links: the input, then a node for each operation; the last is the result.
        names: of the operations.
    """

    def __init__(self, seed: int, dtype: str | None = None):
        self.seed, random = seed, np.random.default_rng(seed)
        kind = str(random.choice(FLOATS + INTEGERS, p=[0.3, 0.15, 0.15] + [0.4 / 6] * 6))
        self.dtype = dtype or kind
        shape = tuple(int(d) for d in random.choice((0, 1, 2, 3, 4), random.integers(1, 4),
                                                    p=(0.08, 0.2, 0.3, 0.3, 0.12)))  # fmt: skip
        known = tuple(d if random.integers(2) else None for d in shape)
        self.input = input_node(TensorType(known, as_dtype(self.dtype)))
        self.names, self.links = list[str](), [self.input]
        is_float = self.input.dtype.is_float
        exact = {**EXACT, **(EXACT_FLOATS if is_float else {})}
        table = {**exact, **ROUGH, **(ROUGH_FLOATS if is_float else {})}
        smooth = True
        for _ in range(random.integers(2, 6)):
            names = [n for n in table if smooth or n not in JUMPS]
            name = str(random.choice(names))
            node = table[name](self.links[-1], random)
            smooth = smooth and name in exact
            self.links.append(node)
            self.names.append(name)
        self.value = self._value(random, shape)

    def _value(self, random: Random, shape: tuple[int, ...]) -> Array:
        dtype = np.dtype(self.dtype)
        if random.integers(3) or {"product", "gram", "prod", "bell"} & set(self.names):
            return (random.normal(size=shape) * 3).astype(dtype)
        return random.choice(np.array(pool(self.dtype), dtype), shape)

    def __str__(self) -> str:
        return f"{self.input.type} {' '.join(self.names)}"
