"""A small engine of another package: the core primitives in plain NumPy, one at a time.

It has no rule for any composite (softmax, convolutions, pooling, random numbers …): these reach
it expanded into simpler ones. What it doesn't do at all, it declines, and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kameleon.engines import Engine, Executable, Lowering
from kameleon.errors import EvaluationError, ShapeError
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import DType, TensorType, as_dtype
from kameleon.graph.primitives.filling import greatest, least

Array = Any
Rule = Callable[..., Any]  # (walk, node, values of its operands) -> its value, or a tuple


class Plain:
    """An array of this engine. Any class will do that the engine itself can tell apart."""

    __slots__ = ("array",)

    def __init__(self, array: Array):
        self.array = np.asarray(array)


class Walk(Lowering):
    """Goes through a graph once and computes each node: values are NumPy arrays.

    `Lowering` visits the nodes in order, leaves broadcasts to NumPy where it stretches operands
    itself, and asks `agree` about sizes that were taken as equal.
    """

    title = "Plain"

    def __init__(self, graph: Graph, arguments: Sequence[Array], rules: Mapping[str, Rule]):
        super().__init__(graph, arguments)
        self.rules = rules

    def constant(self, array: Array) -> Array:
        return array

    def size(self, value: Array, axis: int) -> int:
        return int(value.shape[axis])

    def agree(self, node: Node, sizes: list[Any]) -> None:
        equal(*map(int, sizes))

    def inner(self, graph: Graph, arguments: Sequence[Array]) -> list[Array]:
        return Walk(graph, arguments, self.rules).run()

    def shape(self, node: Node) -> tuple[int, ...]:
        """The attribute `shape`, with the values of size operands in place of each None."""
        return tuple(int(d) for d in self.dims(node))


def equal(*sizes: Any) -> None:
    """Raise, where sizes or shapes differ that were taken as equal."""
    if len(set(sizes)) > 1:
        raise ShapeError(f"sizes {' and '.join(map(str, sizes))} differ; they were taken as equal")


# The table: each rule gets the walk, the node, and the values of its operands ---------------


def plain(function: Callable[..., Array]) -> Rule:
    """A rule that needs the values alone."""
    return lambda walk, node, *values: function(*values)


def along(function: Callable[..., Array]) -> Rule:
    """A rule of the values and the attribute `axis`."""
    return lambda walk, node, *values: function(*values, node.attrs["axis"])


def reduced(function: Callable[..., Array]) -> Rule:
    """A rule of the value and the attribute `axes`."""
    return lambda walk, node, x: function(x, axis=node.attrs["axes"])


def extremum(function: Callable[..., Array], of_nothing: Callable[[DType], float]) -> Rule:
    """A reduction that gives a value where there's nothing to reduce, too."""
    return lambda walk, node, x: function(
        x, axis=node.attrs["axes"], initial=of_nothing(node.dtype)
    )


def summed(function: Callable[..., Array]) -> Rule:
    """A reduction that must say its dtype, or NumPy takes a wider one for integers."""
    return lambda walk, node, x: function(x, axis=node.attrs["axes"], dtype=node.dtype)


def running(function: Callable[..., Array]) -> Rule:
    """A cumulative reduction."""
    return lambda walk, node, x: function(x, axis=node.attrs["axis"], dtype=node.dtype)


def iota(walk: Walk, node: Node, *sizes: Array) -> Array:
    return np.indices(walk.shape(node), node.dtype)[node.attrs["axis"]]


def reverse(walk: Walk, node: Node, x: Array) -> Array:
    return np.flip(x, node.attrs["axes"])


def windows(node: Node) -> tuple[slice, ...]:
    return tuple(slice(*window) for window in node.attrs["windows"])


def unslice(walk: Walk, node: Node, g: Array, *sizes: Array) -> Array:
    result = np.zeros(walk.shape(node), g.dtype)
    equal(g.shape, result[windows(node)].shape)
    result[windows(node)] = g
    return result


def pad(walk: Walk, node: Node, x: Array) -> Array:
    return np.pad(x, node.attrs["margins"], constant_values=node.attrs["value"])


def concatenate(walk: Walk, node: Node, *parts: Array) -> Array:
    return np.concatenate(parts, node.attrs["axis"])


def checked(index: Array, size: int) -> Array:
    """The index, if it's in range."""
    if index.size and not 0 <= index.min() <= index.max() < size:
        raise EvaluationError(f"an index is out of range for an axis of size {size}")
    return index


def gather(walk: Walk, node: Node, x: Array, index: Array) -> Array:
    axis = node.attrs["axis"]
    return np.take(x, checked(index, x.shape[axis]), axis)


def scatter_add(walk: Walk, node: Node, g: Array, index: Array, *sizes: Array) -> Array:
    axis, size = node.attrs["axis"], node.attrs["size"]
    size = int(sizes[0]) if size is None else size
    result = np.zeros((*g.shape[:axis], size, *g.shape[axis + index.ndim :]), g.dtype)
    np.add.at(result, (slice(None),) * axis + (checked(index, size),), g)
    return result


def contract(walk: Walk, node: Node, a: Array, b: Array) -> Array:
    over, batch = node.attrs["over"], node.attrs["batch"]
    letters = iter(range(a.ndim + b.ndim))
    names_a, names_b = [-1] * a.ndim, [-1] * b.ndim
    for i, j in (*zip(*batch, strict=True), *zip(*over, strict=True)):
        equal(a.shape[i], b.shape[j])
        names_a[i] = names_b[j] = next(letters)
    for names in (names_a, names_b):
        names[:] = [next(letters) if n < 0 else n for n in names]
    free_a = [n for i, n in enumerate(names_a) if i not in (*over[0], *batch[0])]
    free_b = [n for j, n in enumerate(names_b) if j not in (*over[1], *batch[1])]
    shared = [names_a[i] for i in batch[0]]
    return np.einsum(a, names_a, b, names_b, [*shared, *free_a, *free_b])


def check(walk: Walk, node: Node, x: Array, holds: Array) -> Array:
    if not np.all(holds):
        raise EvaluationError(node.attrs["message"])
    return x


def cond(walk: Walk, node: Node, condition: Array, *operands: Array) -> tuple[Array, ...]:
    return tuple(walk.inner(node.attrs["then" if condition else "otherwise"], operands))


def while_(walk: Walk, node: Node, *operands: Array) -> tuple[Array, ...]:
    consts, carry = operands[: node.attrs["consts"]], operands[node.attrs["consts"] :]
    while walk.inner(node.attrs["condition"], [*consts, *carry])[0]:
        carry = tuple(walk.inner(node.attrs["body"], [*consts, *carry]))
    return carry


def scan(walk: Walk, node: Node, *operands: Array) -> tuple[Array, ...]:
    body, c, k = node.attrs["body"], node.attrs["consts"], node.attrs["carry"]
    consts, carry, sequences = operands[:c], operands[c : c + k], operands[c + k :]
    equal(*map(len, sequences))
    steps = list(zip(*sequences, strict=True))
    rows: list[list[Array]] = []
    for slices in reversed(steps) if node.attrs["backwards"] else steps:
        results = walk.inner(body, [*consts, *carry, *slices])
        for old, new in zip(carry, results, strict=False):
            equal(np.shape(old), np.shape(new))
        carry = tuple(results[:k])
        rows.append(results[k:])
    if node.attrs["backwards"]:
        rows.reverse()
    if not rows:  # a step over zeros tells the shapes
        blank = [np.zeros(x.shape[1:], x.dtype) for x in sequences]
        outputs = walk.inner(body, [*consts, *carry, *blank])[k:]
        return (*carry, *(np.zeros((0, *np.shape(y)), y.dtype) for y in outputs))
    return (*carry, *(np.array(column) for column in zip(*rows, strict=True)))


ELEMENTWISE: dict[str, Callable[..., Array]] = {
    "neg": np.negative,
    "abs": np.abs,
    "floor_div": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "round": np.rint,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "is_nan": np.isnan,
    "bit_not": np.invert,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "select": np.where,
    **{
        name: getattr(np, name)
        for name in (
            "add sign exp expm1 log log1p sqrt sin cos tanh floor ceil maximum minimum "
            "logical_not logical_and logical_or"
        ).split()
    },
}

RULES: dict[str, Rule] = {
    **{name: plain(function) for name, function in ELEMENTWISE.items()},
    **{
        name: lambda walk, node, x, *rest: x
        for name in ("identity", "stop_gradient", "with_gradient")
    },
    "cast": lambda walk, node, x: np.asarray(x).astype(node.dtype),
    "bitcast": lambda walk, node, x: np.asarray(x).view(node.dtype),
    "size": lambda walk, node, x: np.int32(x.shape[node.attrs["axis"]]),
    "reshape": lambda walk, node, x, *sizes: np.reshape(x, walk.shape(node)),
    "broadcast_to": lambda walk, node, x, *sizes: np.broadcast_to(x, walk.shape(node)),
    "transpose": lambda walk, node, x: np.transpose(x, node.attrs["perm"]),
    "slice": lambda walk, node, x: x[windows(node)],
    "iota": iota,
    "reverse": reverse,
    "unslice": unslice,
    "pad": pad,
    "concatenate": concatenate,
    "gather": gather,
    "scatter_add": scatter_add,
    "nonzero": plain(np.argwhere),
    "contract": contract,
    "reduce_sum": summed(np.sum),
    "reduce_prod": summed(np.prod),
    "reduce_max": extremum(np.max, least),
    "reduce_min": extremum(np.min, greatest),
    "reduce_any": reduced(np.any),
    "reduce_all": reduced(np.all),
    "argmax": along(np.argmax),
    "argmin": along(np.argmin),
    "argsort": lambda walk, node, x: np.argsort(x, node.attrs["axis"], kind="stable"),
    "cumsum": running(np.cumsum),
    "cumprod": running(np.cumprod),
    "check": check,
    "cond": cond,
    "while": while_,
    "scan": scan,
}


# The engine ---------------------------------------------------------------------------------


class Interpreted(Executable):
    """A graph that is walked through at each call: nothing is compiled."""

    def __init__(self, graph: Graph, rules: Mapping[str, Rule]):
        self.graph, self.rules = graph, rules

    def __call__(self, arguments: Sequence[Any]) -> list[Plain]:
        values = [np.asarray(x.array if isinstance(x, Plain) else x) for x in arguments]
        with np.errstate(all="ignore"):
            results = Walk(self.graph, values, self.rules).run()
        return [Plain(np.array(x)) for x in results]  # copies: some share memory with arguments


class PlainEngine(Engine):
    """See `kameleon.engines.Engine` for what each attribute and method is."""

    name = "plain"
    title = "Plain"
    rules: Mapping[str, Rule] = RULES
    lacks: Mapping[str, str] = {"bfloat16": "NumPy's functions don't take it"}
    declined = dict.fromkeys(("ctc_greedy", "ctc_beam_search"), "it has no decoder of sequences")

    def compile(self, graph: Graph) -> Interpreted:
        return Interpreted(graph, self.rules)

    def from_numpy(self, array: Array) -> Plain:
        return Plain(np.array(array))

    def to_numpy(self, array: Plain, copy: bool = True) -> Array:
        return np.array(array.array) if copy else array.array

    def type_of(self, value: Any) -> TensorType | None:
        if not isinstance(value, Plain):
            return None
        return TensorType(value.array.shape, as_dtype(value.array.dtype))

    def version(self) -> str:
        return np.__version__


engine = PlainEngine()
