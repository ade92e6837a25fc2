"""Windows over space: the NumPy engine's kernels against the expansions into core primitives.

Both are written independently of each other; `patches` is also held against the definition by
loops. Derivatives to second order are held against finite differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from _support.common import native_in

from kameleon.engines.numpy.engine import engine
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.passes.pipeline import prepared
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.primitives import conv, pool, windows
from kameleon.graph.primitives.elementwise import constant, mul
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.graph.primitives.sizes import Size
from kameleon.graph.primitives.windows import Window

Array = np.ndarray[Any, Any]

COMPOSITES = {
    "patches",
    "fold",
    "conv",
    "conv_input",
    "conv_kernel",
    "depthwise_conv",
    "depthwise_input",
    "depthwise_kernel",
    "max_pool",
    "unpool",
    "pool_pick",
    "sum_pool",
    "sum_unpool",
}
KERNELS = frozenset(engine.rules)
BATCH, CHANNELS, FILTERS, MULTIPLIER = 2, 2, 3, 2
STEP = 1e-6


@dataclass(frozen=True)
class Setting:
    """A window and the sizes of the space that it moves over."""

    space: tuple[int, ...]
    window: Window

    @property
    def id(self) -> str:
        w = self.window
        return f"{self.space}-{w.sizes}-s{w.strides}-p{w.padding}-d{w.dilation}".replace(" ", "")

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(int(d or 0) for d in self.window.outputs(self.space))


def setting(
    space: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Sequence[tuple[int, int]] | None = None,
    dilation: Sequence[int] | None = None,
) -> Setting:
    ones = (1,) * len(space)
    return Setting(
        tuple(space),
        Window(
            tuple(sizes),
            tuple(strides or ones),
            tuple(padding or ((0, 0),) * len(space)),
            tuple(dilation or ones),
        ),
    )


PLAIN = [
    setting((5,), (3,)),
    setting((6,), (2,), strides=(2,)),
    setting((7,), (2,), strides=(3,), padding=((1, 1),)),
    setting((4, 5), (2, 3), padding=((0, 1), (1, 1))),
    setting((5, 4), (3, 2), strides=(2, 3), padding=((1, 1), (0, 1))),
    setting((4, 3), (1, 1), strides=(2, 1)),
    setting((4, 5), (1, 3), strides=(3, 3)),
    setting((4, 3), (2, 3), strides=(1, 2), padding=((0, 0), (1, 0))),
    setting((2, 3), (3, 4), padding=((1, 1), (1, 2))),
    setting((3, 2, 3), (2, 1, 2), strides=(1, 1, 2), padding=((0, 1), (0, 0), (1, 0))),
]
DILATED = [
    setting((6,), (3,), dilation=(2,), padding=((2, 2),)),
    setting((7,), (2,), strides=(2,), dilation=(3,), padding=((1, 2),)),
    setting((5, 6), (2, 3), strides=(1, 2), dilation=(3, 2), padding=((1, 1), (2, 2))),
    setting((3, 4, 3), (2, 2, 1), dilation=(1, 2, 1), padding=((1, 0), (1, 1), (0, 0))),
]


# What is built -----------------------------------------------------------------------------


def numbers(*shape: int, seed: int) -> Array:
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def distinct(*shape: int, seed: int) -> Array:
    """Numbers further apart than a step of finite differences."""
    count = int(np.prod(shape))
    return np.random.default_rng((seed, *shape)).permutation(count).reshape(shape) * 0.1


def chosen(s: Setting) -> Node:
    """For each place and channel a cell of its window that isn't padding, as max_pool has it."""
    x = constant(distinct(BATCH, *s.space, CHANNELS, seed=9))
    return constant(run([x], [pool.max_pool(x, window=s.window).results[1]], KERNELS, [])[0])


def image(s: Setting) -> tuple[int, ...]:
    return (BATCH, *s.space, CHANNELS)


def result(s: Setting, depth: int) -> tuple[int, ...]:
    return (BATCH, *s.places, depth)


def kernel(s: Setting, last: int) -> tuple[int, ...]:
    return (*s.window.sizes, CHANNELS, last)


@dataclass(frozen=True)
class Use:
    """How a primitive is applied: shapes of its float operands, and how it's built of them."""

    shapes: Callable[[Setting], list[tuple[int, ...]]]
    build: Callable[..., Node]
    values: Callable[..., Array] = numbers
    settings: tuple[Setting, ...] = (*PLAIN, *DILATED)


def space_of(s: Setting) -> list[Size]:
    return list(s.space)


USES: dict[str, Use] = {
    "patches": Use(lambda s: [image(s)], lambda s, x: windows.patches(x, s.window)),
    "fold": Use(
        lambda s: [result(s, CHANNELS * s.window.cells)],
        lambda s, p: windows.fold(p, space_of(s), s.window),
    ),
    "conv": Use(
        lambda s: [image(s), kernel(s, FILTERS)],
        lambda s, x, k: conv.conv(x, k, window=s.window),
    ),
    "conv_input": Use(
        lambda s: [result(s, FILTERS), kernel(s, FILTERS)],
        lambda s, g, k: conv.conv_input(g, k, space_of(s), s.window),
    ),
    "conv_kernel": Use(
        lambda s: [image(s), result(s, FILTERS)],
        lambda s, x, g: conv.conv_kernel(x, g, window=s.window),
    ),
    "depthwise_conv": Use(
        lambda s: [image(s), kernel(s, MULTIPLIER)],
        lambda s, x, k: conv.depthwise_conv(x, k, window=s.window),
    ),
    "depthwise_input": Use(
        lambda s: [result(s, CHANNELS * MULTIPLIER), kernel(s, MULTIPLIER)],
        lambda s, g, k: conv.depthwise_input(g, k, space_of(s), s.window),
    ),
    "depthwise_kernel": Use(
        lambda s: [image(s), result(s, CHANNELS * MULTIPLIER)],
        lambda s, x, g: conv.depthwise_kernel(x, g, window=s.window, multiplier=MULTIPLIER),
    ),
    "max_pool": Use(
        lambda s: [image(s)],
        lambda s, x: pool.max_pool(x, window=s.window).results[0],
        distinct,
        tuple(PLAIN),
    ),
    "unpool": Use(
        lambda s: [result(s, CHANNELS)],
        lambda s, g: pool.unpool(g, chosen(s), space_of(s), s.window),
        settings=tuple(PLAIN),
    ),
    "pool_pick": Use(
        lambda s: [image(s)],
        lambda s, x: pool.pool_pick(x, chosen(s), window=s.window),
        settings=tuple(PLAIN),
    ),
    "sum_pool": Use(
        lambda s: [image(s)],
        lambda s, x: pool.sum_pool(x, window=s.window),
        settings=tuple(PLAIN),
    ),
    "sum_unpool": Use(
        lambda s: [result(s, CHANNELS)],
        lambda s, g: pool.sum_unpool(g, space_of(s), s.window),
        settings=tuple(PLAIN),
    ),
}
EACH = [
    pytest.param(name, s, id=f"{name}-{s.id}") for name, use in USES.items() for s in use.settings
]


# Running -----------------------------------------------------------------------------------


def run(
    inputs: Iterable[Node], outputs: Iterable[Node], native: Iterable[str], values: Sequence[Array]
) -> list[Array]:
    """The outputs, with the composites expanded that `native` doesn't name."""
    given = [n for n in inputs if n.primitive.name == "input"]
    graph = simplify(Graph(given, outputs), native_in(frozenset(native)))
    left = {n.primitive.name for n in graph.nodes if n.primitive.tier == "composite"}
    assert left <= set(native)
    return [np.asarray(y) for y in engine.compile(prepared(graph, engine))(values)]


def parameter(x: Array, batch: int | None = BATCH) -> Node:
    shape = (batch if x.shape[0] == BATCH else x.shape[0], *x.shape[1:])
    return input_node(TensorType(shape, as_dtype(x.dtype)))


def weighted(y: Node, seed: int) -> Node:
    """A smooth scalar of y whose derivatives don't vanish."""
    weights = constant(numbers(*(int(d or 0) for d in y.shape), seed=seed))
    return reduce_sum(mul(mul(y, y), weights), tuple(range(len(y.shape))))


def two_orders(y: Node, xs: Sequence[Node]) -> list[Node]:
    """A loss, its gradients, a scalar of those, its gradients."""
    loss = weighted(y, 1)
    first = [g for g in gradients(loss, xs) if g is not None]
    assert len(first) == len(xs)
    slope: Node | None = None
    for number, g in enumerate(first):
        part = weighted(g, 2 + number)
        slope = part if slope is None else REGISTRY["add"](slope, part)
    assert slope is not None
    second = [g for g in gradients(slope, xs) if g is not None]
    assert len(second) == len(xs)
    return [loss, *first, slope, *second]


def operands(use: Use, s: Setting) -> list[Array]:
    return [use.values(*shape, seed=i) for i, shape in enumerate(use.shapes(s))]


# Tests -------------------------------------------------------------------------------------


def test_every_composite_of_the_module_is_held() -> None:
    declared = {
        p.name
        for p in REGISTRY.values()
        if p.expand is not None
        and p.expand.__module__ in {m.__name__ for m in (windows, conv, pool)}
    }
    assert declared == COMPOSITES == set(USES)


@pytest.mark.parametrize(("name", "s"), EACH)
def test_kernel_and_expansion_agree(name: str, s: Setting) -> None:
    use = USES[name]
    values = operands(use, s)
    xs = [parameter(v) for v in values]
    y = use.build(s, *xs)
    outputs = [y, *two_orders(y, xs)]
    ours = run(xs, outputs, KERNELS, values)
    for native in (KERNELS - {name}, KERNELS - COMPOSITES):
        for kernels, expanded in zip(ours, run(xs, outputs, native, values), strict=True):
            np.testing.assert_allclose(kernels, expanded, rtol=1e-10, atol=1e-9)
    assert ours[0].shape == y.shape and np.abs(ours[0]).max() > 0


@pytest.mark.parametrize("native", [KERNELS, KERNELS - COMPOSITES], ids=["kernels", "expansions"])
@pytest.mark.parametrize(("name", "s"), EACH)
def test_derivatives_are_those_of_finite_differences(
    name: str, s: Setting, native: frozenset[str]
) -> None:
    use = USES[name]
    values = operands(use, s)
    xs = [parameter(v) for v in values]
    count = len(xs)
    outputs = two_orders(use.build(s, *xs), xs)
    graph = simplify(Graph(xs, outputs), native_in(native))
    code = engine.compile(prepared(graph, engine))
    loss, *rest = code(values)
    first, slope, second = rest[:count], rest[count], rest[count + 1 :]
    along = [numbers(*v.shape, seed=20 + i) for i, v in enumerate(values)]

    def difference(output: int) -> float:
        ends = [
            code([v + sign * STEP * d for v, d in zip(values, along, strict=True)])[output]
            for sign in (1, -1)
        ]
        return float((ends[0] - ends[1]) / (2 * STEP))

    for number, grads, scale in ((0, first, loss), (count + 1, second, slope)):
        exact = sum(float((g * d).sum()) for g, d in zip(grads, along, strict=True))
        assert exact == pytest.approx(difference(number), rel=1e-5, abs=1e-7 * abs(float(scale)))


def looped_patches(x: Array, w: Window) -> Array:
    """The definition: cell `at` of the window at `place` sees place * stride + at * dilation."""
    places = [int(d or 0) for d in w.outputs(x.shape[1:-1])]
    out = np.zeros((len(x), *places, *w.sizes, x.shape[-1]))
    for place in np.ndindex(*places):
        for at in np.ndindex(*w.sizes):
            cell = tuple(
                p * s + a * d - low
                for p, s, a, d, (low, _) in zip(
                    place, w.strides, at, w.dilation, w.padding, strict=True
                )
            )
            if all(0 <= c < n for c, n in zip(cell, x.shape[1:-1], strict=True)):
                out[(slice(None), *place, *at)] = x[(slice(None), *cell)]
    return out.reshape(len(x), *places, -1)


@pytest.mark.parametrize("native", [KERNELS, KERNELS - COMPOSITES], ids=["kernels", "expansions"])
@pytest.mark.parametrize("s", [*PLAIN, *DILATED], ids=lambda s: s.id)
def test_patches_are_what_the_definition_says(s: Setting, native: frozenset[str]) -> None:
    value = numbers(*image(s), seed=0)
    x = parameter(value)
    (got,) = run([x], [windows.patches(x, s.window)], native, [value])
    np.testing.assert_array_equal(got, looped_patches(value, s.window))


@pytest.mark.parametrize("s", [*PLAIN, *DILATED], ids=lambda s: s.id)
def test_convolutions_are_products_with_patches(s: Setting) -> None:
    x, k = numbers(*image(s), seed=0), numbers(*kernel(s, FILTERS), seed=1)
    seen = looped_patches(x, s.window)
    full = np.tensordot(seen, k.reshape(-1, FILTERS), 1)
    cells = seen.reshape(*seen.shape[:-1], -1, CHANNELS)
    deep = np.einsum("...wc,wcf->...cf", cells, k.reshape(-1, CHANNELS, FILTERS))
    xs = [parameter(x), parameter(k)]
    made = [f(*xs, window=s.window) for f in (conv.conv, conv.depthwise_conv)]
    for native in (KERNELS, KERNELS - COMPOSITES):
        got = run(xs, made, native, [x, k])
        np.testing.assert_allclose(got[0], full, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(got[1], deep.reshape(got[1].shape), rtol=1e-12, atol=1e-12)


TIES: list[list[float]] = [
    [1, 1, 0, 1],
    [-np.inf, -np.inf, 2, 2],
    [np.nan, 5, np.nan, 1],
    [np.inf, np.inf, -np.inf, 3],
]


@pytest.mark.parametrize("padding", [(0, 0), (1, 1)])
@pytest.mark.parametrize("row", TIES, ids=str)
def test_max_pool_picks_the_first_of_equals(row: list[float], padding: tuple[int, int]) -> None:
    s = setting((4,), (3,), padding=(padding,))
    x = np.array(row, np.float64).reshape(1, 4, 1)
    node = parameter(x)
    pooled = pool.max_pool(node, window=s.window)
    got = [run([node], pooled.results, native, [x]) for native in (KERNELS, KERNELS - {"max_pool"})]
    low = padding[0]
    padded = np.pad(x.ravel(), padding, constant_values=-np.inf)
    for y, index in got:
        for place in range(s.places[0]):
            cells = padded[place : place + 3]
            inside = [c for c in range(3) if 0 <= place + c - low < 4]
            best = cells.max()
            assert np.array_equal(y[0, place, 0], best, equal_nan=True)
            equal = [
                c for c in inside if cells[c] == best or (np.isnan(best) and cells[c] != cells[c])
            ]
            assert index[0, place, 0] == equal[0]


def test_integers_are_pooled_alike() -> None:
    s = setting((4, 3), (2, 2), padding=((0, 1), (0, 1)))
    x = np.random.default_rng(0).integers(-9, 0, (BATCH, 4, 3, CHANNELS)).astype(np.int32)
    node = parameter(x)
    made = [
        pool.max_pool(node, window=s.window).results[0],
        pool.sum_pool(node, window=s.window),
    ]
    ours, theirs = (run([node], made, n, [x]) for n in (KERNELS, KERNELS - COMPOSITES))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype == np.int32
    assert ours[0].max() < 0


# With the chosen cells as an operand, whose batch may be unknown, too.
INDEXED: dict[str, Callable[..., Node]] = {
    "unpool": lambda s, g, index: pool.unpool(g, index, space_of(s), s.window),
    "pool_pick": lambda s, x, index: pool.pool_pick(x, index, window=s.window),
}


@pytest.mark.parametrize("name", sorted(USES))
def test_an_unknown_batch_expands(name: str) -> None:
    use, s = USES[name], PLAIN[4]  # no other size here is that of the batch
    values, build = operands(use, s), INDEXED.get(name, use.build)
    if name in INDEXED:
        values.append(run([], [chosen(s)], KERNELS, [])[0])
    known, free = ([parameter(v, batch) for v in values] for batch in (BATCH, None))
    (want,) = run(known, [build(s, *known)], KERNELS, values)
    for native in (KERNELS, KERNELS - COMPOSITES):
        (got,) = run(free, [build(s, *free)], native, values)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["patches", "max_pool", "sum_pool"])
def test_an_unknown_space_expands(name: str) -> None:
    s = PLAIN[3]
    [value], build = operands(USES[name], s), USES[name].build
    known = parameter(value, BATCH)
    free = input_node(TensorType((BATCH, None, None, CHANNELS), as_dtype("float64")))
    (want,) = run([known], [build(s, known)], KERNELS, [value])
    for native in (KERNELS, KERNELS - COMPOSITES):
        (got,) = run([free], [build(s, free)], native, [value])
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
