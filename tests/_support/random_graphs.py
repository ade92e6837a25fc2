"""Random graphs: a recipe of numbers becomes a graph, always the same one.

While a graph is built, every node is evaluated on its own, by a program of that node alone. So
operations can be fitted to the sizes that unknown axes have, and each node's value is known
without any planning of buffers, sharing or rewriting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kameleon.engines.numpy.engine import engine
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import ITEM, REGISTRY, Node, walk
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.rewrite import closed, rebuilt
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.contraction import of_matrices
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.control import cond, run_scan
from kameleon.graph.primitives.filling import full_like, scaled
from kameleon.graph.primitives.indexing import gather, scatter_add, take_along
from kameleon.graph.primitives.linalg import contract
from kameleon.graph.primitives.movement import (
    broadcast_like,
    broadcast_to,
    concatenate,
    expand_dims,
    move_axis,
    pad,
    reshape,
    slice_axis,
    transpose,
    unslice,
)
from kameleon.graph.primitives.reduce import mean, reduce_max, reduce_prod, reduce_sum, spread
from kameleon.graph.primitives.sizes import dims_of, size_of, sizes_product

Array = np.ndarray[Any, Any]
LARGEST = 300  # elements of a tensor
DEEPEST = 4  # axes


@dataclass(frozen=True)
class Recipe:
    """What a graph is made from.

    Attributes:
        shapes: of the inputs.
        unknown: for each input, the axes whose size the graph doesn't know, as bits.
        steps: names of operations, each with numbers that choose operands and details.
        seed: of the inputs' values.
    """

    shapes: tuple[tuple[int, ...], ...]
    unknown: tuple[int, ...]
    steps: tuple[tuple[str, int, int, int], ...]
    seed: int


class Trial:
    """A graph in the making, with the value of each node."""

    def __init__(self, recipe: Recipe):
        self.seed = recipe.seed
        random = np.random.default_rng(recipe.seed)
        self.values: dict[Node, Any] = {}
        self.inputs: list[Node] = []
        for shape, bits in zip(recipe.shapes, recipe.unknown, strict=True):
            dims = tuple(None if bits >> i & 1 else d for i, d in enumerate(shape))
            x = input_node(TensorType(dims, as_dtype("float64")))
            self.values[x] = random.normal(size=shape)
            self.inputs.append(x)
        self.pool: list[Node] = list(self.inputs)
        for name, *numbers in recipe.steps:
            made = STEPS[name](self, self.pick(numbers[0]), *numbers[1:])
            if made is not None and self.value(made).size <= LARGEST and made.ndim <= DEEPEST:
                self.pool.append(made)
        if not self.made:  # no step fitted
            self.pool.append(ew.sin(self.pick(0)))

    @property
    def feeds(self) -> list[Array]:
        """The inputs' values."""
        return [self.values[x] for x in self.inputs]

    @property
    def made(self) -> list[Node]:
        """What was built from the inputs."""
        return self.pool[len(self.inputs) :]

    def pick(self, number: int) -> Node:
        """One of the tensors so far; 0 is the newest."""
        return self.pool[-1 - number % len(self.pool)]

    def value(self, node: Node) -> Array:
        """The value of a node, each node before it being evaluated on its own."""
        for n in walk([node], set(self.values)):
            if n not in self.values and n.primitive is not ITEM:
                results = alone(n, [self.values[x] for x in n.operands])
                self.values.update(zip(n.results, results, strict=True))
                self.values[n] = results[0]
        return np.asarray(self.values[node])

    def shape(self, node: Node) -> tuple[int, ...]:
        """The sizes at run time."""
        return tuple(self.value(node).shape)


def alone(node: Node, operands: Sequence[Any]) -> list[Any]:
    """The results of one node, by a program that has nothing else in it."""
    distinct = dict(zip(node.operands, operands, strict=True))
    graph = closed(list(distinct), node.results)
    return list(engine.compile(for_numpy(graph))(list(distinct.values())))


def for_numpy(graph: Graph) -> Graph:
    """The graph with contractions as NumPy has them, and with all else as it is."""

    def change(node: Node, operands: tuple[Node, ...]) -> Node | None:
        if node.primitive.name != "contract":
            return None
        return of_matrices(node.primitive(*operands, **node.attrs))

    return rebuilt(graph, change, for_numpy)


# Operations: (trial, operand, two numbers) -> a tensor, or None where they don't fit -------------

Step = Callable[[Trial, Node, int, int], Node | None]
SMOOTH: dict[str, Step] = {}
ROUGH: dict[str, Step] = {}  # with kinks, steps and ties: no differences


def step(table: dict[str, Step]) -> Callable[[Step], Step]:
    """Put an operation into a table under its name."""

    def add(f: Step) -> Step:
        table[f.__name__] = f
        return f

    return add


def constant_like(x: Node, number: int) -> Node:
    """A tensor filled with 0, 1 or another number that rewrite rules look for."""
    return full_like(x, (0.0, 1.0, -1.0, 2.0, 0.5)[number % 5])


def partner(t: Trial, x: Node, number: int) -> list[Node]:
    """`x` and another tensor, as elementwise operations need them: of one shape."""
    y = t.pick(number)
    if t.shape(y) != t.shape(x):
        fits = all(
            a == 1 or b == 1 or t.shape(x)[-i] == t.shape(y)[-i]
            for i, (a, b) in enumerate(zip(x.shape[::-1], y.shape[::-1], strict=False), 1)
        )
        if not fits:
            y = reduce_sum(y, range(y.ndim))
    shape = [*np.broadcast_shapes(t.shape(x), t.shape(y))]
    for i, d in enumerate(shape):
        dims = [n.shape[i - len(shape)] for n in (x, y) if n.ndim >= len(shape) - i]
        if all(m is None or m == 1 for m in dims):
            shape[i] = 1 if all(m == 1 for m in dims) else None
        elif d == 1 and None in dims:
            shape[i] = 1
    wide = tuple(shape)
    return [broadcast_like(n, wide, (x, y)) for n in (x, y)]


def unary(name: str) -> Step:
    return lambda t, x, a, b: REGISTRY[name](x)


def binary(name: str) -> Step:
    return lambda t, x, a, b: REGISTRY[name](*partner(t, x, a)[:: -1 if b % 2 else 1])


def comparing(name: str) -> Step:
    def compare(t: Trial, x: Node, a: int, b: int) -> Node:
        p, q = partner(t, x, a)
        return ew.cast(REGISTRY[name](p, q), "float64")

    return compare


for smooth in "neg sin cos tanh square sigmoid softplus identity".split():
    SMOOTH[smooth] = unary(smooth)
for smooth in "add sub mul".split():
    SMOOTH[smooth] = binary(smooth)
for rough in "abs sign floor ceil round relu stop_gradient".split():
    ROUGH[rough] = unary(rough)
for rough in "maximum minimum".split():
    ROUGH[rough] = binary(rough)
for rough in "lt ge eq".split():
    ROUGH[rough] = comparing(rough)


@step(SMOOTH)
def with_constant(t: Trial, x: Node, a: int, b: int) -> Node:
    """x or a constant on the left; nothing is divided by 0 or by x."""
    name = ("add", "sub", "mul", "div")[b % 4]
    if name == "div":
        return ew.div(x, constant_like(x, 1 + a % 4))
    pair = [x, constant_like(x, a)]
    return REGISTRY[name](*(pair if b < 4 else pair[::-1]))


@step(SMOOTH)
def power(t: Trial, x: Node, a: int, b: int) -> Node:
    return ew.pow(ew.exp(ew.sin(x)), constant_like(x, a))


@step(SMOOTH)
def quotient(t: Trial, x: Node, a: int, b: int) -> Node:
    p, q = partner(t, x, a)
    return ew.div(p, ew.add(ew.square(q), full_like(q, 1)))


@step(SMOOTH)
def negated_sum(t: Trial, x: Node, a: int, b: int) -> Node:
    p, q = partner(t, x, a)
    return ew.add(p, ew.neg(q)) if b % 2 else ew.neg(ew.neg(ew.sub(p, q)))


@step(SMOOTH)
def total(t: Trial, x: Node, a: int, b: int) -> Node:
    axes = tuple(i for i in range(x.ndim) if a >> i & 1)
    summed = mean(x, axes) if b % 2 and 0 not in t.shape(x) else reduce_sum(x, axes)
    return spread(summed, x, axes) if b & 2 and axes else summed


@step(SMOOTH)
def product(t: Trial, x: Node, a: int, b: int) -> Node | None:
    return reduce_prod(ew.sin(x), (a % x.ndim,)) if x.ndim else None


@step(ROUGH)
def extremum(t: Trial, x: Node, a: int, b: int) -> Node | None:
    axis = a % max(1, x.ndim)
    return reduce_max(x, (axis,)) if x.ndim and t.shape(x)[axis] else None


@step(SMOOTH)
def permuted(t: Trial, x: Node, a: int, b: int) -> Node:
    order = np.random.default_rng(a).permutation(x.ndim)
    return transpose(x, [int(i) for i in order])


@step(SMOOTH)
def permuted_twice(t: Trial, x: Node, a: int, b: int) -> Node:
    orders = [np.random.default_rng(n).permutation(x.ndim).tolist() for n in (a, b)]
    return transpose(transpose(x, orders[0]), orders[1])


@step(SMOOTH)
def flattened(t: Trial, x: Node, a: int, b: int) -> Node:
    return reshape(x, [-1]) if t.value(x).size else reshape(x, dims_of(x))


@step(SMOOTH)
def folded(t: Trial, x: Node, a: int, b: int) -> Node | None:
    """Two axes become one."""
    if x.ndim < 2:
        return None
    axis, dims = a % (x.ndim - 1), dims_of(x)
    pair = dims[axis : axis + 2]
    return reshape(x, [*dims[:axis], sizes_product(pair), *dims[axis + 2 :]])


def _node(size: Any) -> Node:
    return size if isinstance(size, Node) else ew.constant(size, "int32")


@step(SMOOTH)
def new_axis(t: Trial, x: Node, a: int, b: int) -> Node | None:
    return expand_dims(x, a % (x.ndim + 1)) if x.ndim < DEEPEST else None


@step(SMOOTH)
def repeated(t: Trial, x: Node, a: int, b: int) -> Node:
    return broadcast_to(x, [1 + a % 3, *dims_of(x)])


@step(SMOOTH)
def cut(t: Trial, x: Node, a: int, b: int) -> Node | None:
    windows = ((None, None, 2), (1, None, 1), (None, -1, 1), (0, 2, 1), (-2, None, 1), (1, 3, 1))
    return slice_axis(x, a % x.ndim, *windows[b % 6]) if x.ndim else None


@step(SMOOTH)
def padded(t: Trial, x: Node, a: int, b: int) -> Node:
    return pad(x, [(a % 2, b % 2)] * x.ndim, (0.0, 1.0, -0.5)[(a + b) % 3])


@step(SMOOTH)
def reversed_(t: Trial, x: Node, a: int, b: int) -> Node:
    return REGISTRY["reverse"](x, axes=tuple(i for i in range(x.ndim) if a >> i & 1))


@step(SMOOTH)
def joined(t: Trial, x: Node, a: int, b: int) -> Node | None:
    if not x.ndim:
        return None
    other = t.pick(b)
    same = other.shape == x.shape and t.shape(other) == t.shape(x)
    return concatenate([x, other if same else ew.neg(x), x][: 2 + a % 2], a % x.ndim)


@step(SMOOTH)
def part_of_joined(t: Trial, x: Node, a: int, b: int) -> Node | None:
    """A slice of a concatenation, within a part or across."""
    if not x.ndim:
        return None
    axis = a % x.ndim
    size = t.shape(x)[axis]
    whole = concatenate([x, ew.sin(x)], axis)
    return slice_axis(whole, axis, b % (size + 1), min(b % (size + 1) + size, 2 * size))


@step(SMOOTH)
def put_in_zeros(t: Trial, x: Node, a: int, b: int) -> Node | None:
    """Two tensors in one of zeros: side by side, apart, or overlapping."""
    if not x.ndim or x.shape[0] is None:
        return None
    size, rest, whole = x.shape[0], dims_of(x)[1:], [(None, None, 1)] * (x.ndim - 1)
    first, second = (0, (size, size + 1, size // 2)[a % 3])
    parts = [
        unslice(part, [2 * size + b % 2, *rest], [(start, start + size, 1), *whole])
        for part, start in ((x, first), (ew.cos(x), second))
        if start + size <= 2 * size + b % 2
    ]
    return ew.add(*(parts if b < 4 else parts[::-1])) if len(parts) == 2 else parts[0]


@step(SMOOTH)
def weighted(t: Trial, x: Node, a: int, b: int) -> Node | None:
    if not x.ndim or max(t.shape(x)) > 30:  # larger constants are equal only to themselves
        return None
    axis = b % x.ndim
    weights = np.random.default_rng(a).normal(size=(t.shape(x)[axis], 2))
    return contract(x, ew.constant(weights), ((axis,), (0,)))


@step(SMOOTH)
def contracted(t: Trial, x: Node, a: int, b: int) -> Node | None:
    """Contracted with another tensor of its shape: over some axes, in step along others."""
    other = t.pick(b)
    if t.shape(other) != t.shape(x) or x.ndim > 3:
        other = ew.sin(x)
    over = tuple(i for i in range(x.ndim) if a >> i & 1)
    batch = tuple(i for i in range(x.ndim) if i not in over and b >> i & 1)
    return contract(x, other, (over, over), (batch, batch)) if x.ndim <= 3 else None


@step(SMOOTH)
def running(t: Trial, x: Node, a: int, b: int) -> Node | None:
    if not x.ndim:
        return None
    axis = a % x.ndim
    if b % 3 == 0:
        return REGISTRY["cumsum"](x, axis=axis)
    if b % 3 == 1:
        return REGISTRY["cumprod"](ew.sin(x), axis=axis)
    return REGISTRY["linear_scan"](ew.sin(x), x, axis=axis)


@step(SMOOTH)
def softmax(t: Trial, x: Node, a: int, b: int) -> Node | None:
    axis = a % max(1, x.ndim)
    name = ("softmax", "log_softmax")[b % 2]
    return REGISTRY[name](ew.tanh(x), axis=axis) if x.ndim and t.shape(x)[axis] else None


@step(SMOOTH)
def gathered(t: Trial, x: Node, a: int, b: int) -> Node | None:
    axis = a % max(1, x.ndim)
    if not x.ndim or not t.shape(x)[axis]:
        return None
    index = np.random.default_rng(b).integers(0, t.shape(x)[axis], (2, 2)[: 1 + b % 2])
    return gather(x, ew.constant(index), axis)


@step(SMOOTH)
def scattered(t: Trial, x: Node, a: int, b: int) -> Node | None:
    if not x.ndim:
        return None
    axis = a % x.ndim
    index = np.random.default_rng(b).integers(0, 3, t.shape(x)[axis])
    return scatter_add(x, ew.constant(index), 3, axis)


@step(ROUGH)
def ordered(t: Trial, x: Node, a: int, b: int) -> Node | None:
    if not x.ndim:
        return None
    axis = a % x.ndim
    index = REGISTRY["argsort"](x, axis=axis)
    return take_along(x, index, axis) if b % 2 else ew.cast(index, "float64")


@step(ROUGH)
def truncated(t: Trial, x: Node, a: int, b: int) -> Node:
    whole = ew.cast(ew.tanh(scaled(x, 0.5)), ("int32", "uint8", "int64")[a % 3])
    return ew.cast(ew.add(ew.mul(whole, whole), full_like(whole, b % 2)), "float64")


@step(ROUGH)
def chosen(t: Trial, x: Node, a: int, b: int) -> Node:
    p, q = partner(t, x, a)
    return ew.select(ew.gt(p, full_like(p, 0)), p if b % 2 else q, q)


@step(ROUGH)
def surely(t: Trial, x: Node, a: int, b: int) -> Node:
    """A choice by a condition that is known."""
    known = broadcast_to(ew.constant(bool(b % 2)), dims_of(x))
    return ew.select(known, *partner(t, x, a)) if t.shape(partner(t, x, a)[0]) == t.shape(x) else x


@step(SMOOTH)
def scaled_by_size(t: Trial, x: Node, a: int, b: int) -> Node | None:
    if not x.ndim:
        return None
    size = ew.cast(_node(size_of(x, a % x.ndim)), "float64")
    return ew.mul(x, broadcast_to(size, dims_of(x)))


def _body(types: Sequence[TensorType], outputs: Callable[..., Sequence[Node]]) -> Graph:
    params = [input_node(type) for type in types]
    return Graph(params, outputs(*params))


@step(SMOOTH)
def scanned(t: Trial, x: Node, a: int, b: int) -> Node | None:
    """h = sin(h * x + c): the last state, or the outputs; with a scan in the scan at times."""
    if x.ndim < 2:
        return None
    first = move_axis(x, a % x.ndim, 0)
    zero = full_like(reduce_sum(first, (0,)), 0.1)
    const = ew.constant(0.5)
    row = TensorType(first.shape[1:], x.dtype)

    def one(c: Node, h: Node, row: Node) -> list[Node]:
        new = ew.sin(ew.add(ew.mul(h, row), broadcast_to(c, dims_of(h))))
        if b & 4 and row.ndim:
            inner = TensorType(row.shape[1:], row.dtype)
            start = full_like(reduce_sum(row, (0,)), 0.2)
            body = _body([inner, inner], lambda s, r: [ew.tanh(ew.add(s, r))])
            (last,), _ = run_scan(body, [], [start], [row])
            new = ew.add(new, spread(last, row, (0,)))
        return [new, ew.mul(h, row)]

    body = _body([const.type, zero.type, row], one)
    (last,), (rows,) = run_scan(body, [const], [zero], [first], bool(b & 1))
    return last if b & 2 else rows


# What a random step of a loop does: (tensors of one shape, a square matrix, numbers) -> another.
INNER: list[Callable[..., Node]] = [
    lambda v, m, i, j: ew.add(v[i], v[j]),
    lambda v, m, i, j: ew.sub(v[i], v[j]),
    lambda v, m, i, j: ew.mul(v[i], v[j]),
    lambda v, m, i, j: ew.mul(REGISTRY["sigmoid"](v[i]), v[j]),
    lambda v, m, i, j: ew.sin(v[i]),
    lambda v, m, i, j: ew.neg(ew.tanh(v[i])),
    lambda v, m, i, j: contract(v[i], m, ((v[i].ndim - 1,), (0,))),
    lambda v, m, i, j: contract(ew.tanh(v[i]), m, ((v[i].ndim - 1,), (1,))),
    lambda v, m, i, j: spread(reduce_sum(v[i], (0,)), v[j], (0,)),
    lambda v, m, i, j: reshape(reshape(v[i], [1, *dims_of(v[i])]), dims_of(v[j])),
    lambda v, m, i, j: REGISTRY["cumsum"](v[i], axis=0),
    lambda v, m, i, j: slice_axis(concatenate([v[i], v[j]], 0), 0, None, None, 2),
    lambda v, m, i, j: ew.mul(full_like(v[i], 0.5), v[i]),
    lambda v, m, i, j: ew.select(ew.gt(v[i], full_like(v[i], -9.0)), v[i], v[j]),
]


def random_step(t: Trial, a: int, b: int) -> Callable[..., list[Node]]:
    """A step over a matrix, a tensor, two states and a slice: two states, three outputs."""
    numbers = np.random.default_rng((t.seed, len(t.pool), a, b)).integers(0, 1000, (12, 3))

    def one(matrix: Node, bias: Node, h: Node, c: Node, row: Node) -> list[Node]:
        found = [bias, h, c, row]
        for kind, i, j in numbers[:8].tolist():
            made = INNER[kind % len(INNER)](found, matrix, i % len(found), j % len(found))
            found.append(made)
        h, c, y, z = (found[-1 - k % 6] for k in numbers[8:, 0].tolist())
        return [ew.tanh(h), ew.sin(c), y, ew.mul(z, h), reduce_sum(y, range(y.ndim))]

    return one


@step(SMOOTH)
def looped(t: Trial, x: Node, a: int, b: int) -> Node | None:
    """A scan over a random step, whose constants come from the graph, too."""
    if x.ndim not in (2, 3) or 0 in t.shape(x)[1:]:
        return None
    row = reduce_sum(x, (0,))
    others = tuple(range(x.ndim - 1))
    matrix = ew.tanh(contract(ew.sin(x), x, (others, others)))
    operands = [matrix, ew.tanh(row), full_like(row, 0.1), ew.sin(row)]
    types = [*(n.type for n in operands), TensorType(x.shape[1:], x.dtype)]
    body = _body(types, random_step(t, a, b))
    last, rows = run_scan(body, operands[:2], operands[2:], [x], bool(b & 1))
    return [*last, *rows][a % 5]


@step(SMOOTH)
def decided(t: Trial, x: Node, a: int, b: int) -> Node:
    """A condition far from where it turns."""
    positive = ew.gt(reduce_sum(x, range(x.ndim)), ew.constant(0.05))
    if a > 3:
        positive = ew.gt(ew.constant(float(a)), ew.constant(5.0))  # known before it runs
    types = [x.type]
    then = _body(types, lambda x: [ew.sin(x), ew.mul(x, x)])
    otherwise = _body(types, lambda x: [ew.cos(x), x])
    node = cond(positive, x, then=then, otherwise=otherwise)
    return node.results[b % 2]


STEPS: dict[str, Step] = {**SMOOTH, **ROUGH}


def grown(names: Sequence[str], longest: int) -> st.SearchStrategy[Recipe]:
    """Recipes whose parts Hypothesis draws one by one."""
    number = st.integers(0, 7)
    size = st.sampled_from([3, 2, 1, 4, 0])
    return st.builds(
        Recipe,
        shapes=st.tuples(
            st.lists(size, max_size=3).map(tuple), st.lists(size, max_size=2).map(tuple)
        ),
        unknown=st.tuples(number, number),
        steps=st.lists(
            st.tuples(st.sampled_from(sorted(names)), number, number, number),
            min_size=1,
            max_size=longest,
        ).map(tuple),
        seed=st.integers(0, 10_000),
    )


def around_a_loop(seed: int) -> Recipe:
    """A recipe of one loop over a random step; some have no steps."""
    random = np.random.default_rng(seed)
    rest = random.integers(1, 4, random.integers(1, 3)).tolist()
    steps, a, b, unknown = random.integers(0, [5, 8, 8, 8]).tolist()
    return Recipe(((steps, *rest),), (unknown,), (("looped", 0, a, b),), seed)


def thrown(names: Sequence[str], longest: int, seed: int) -> Recipe:
    """A long recipe over tensors with axes, from one number."""
    random = np.random.default_rng(seed)
    sizes = [1, 2, 2, 3, 3, 3, 4, 4, 5, 0]
    shapes = [tuple(random.choice(sizes, rank).tolist()) for rank in random.integers(1, 4, 2)]
    numbers = random.integers(0, 8, (longest, 3)).tolist()
    steps = zip(random.choice(sorted(names), longest).tolist(), numbers, strict=True)
    first, second = random.integers(0, 8, 2).tolist()
    return Recipe(
        (shapes[0], shapes[1]),
        (first, second),
        tuple((name, a // 3, b, c) for name, (a, b, c) in steps),
        seed,
    )
