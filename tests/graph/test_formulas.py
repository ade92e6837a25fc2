"""Sizes as formulas: what they say is so, and no program stretches where sizes are equal."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from distributed.networks import NETWORKS
from hypothesis import given
from hypothesis import strategies as st

from kameleon import backend as K
from kameleon.graph.ir import forms
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph, bodies
from kameleon.graph.passes.equal_sizes import NAMES
from kameleon.graph.primitives.formulas import Formulas
from kameleon.graph.primitives.sizes import size_origin
from kameleon.runtime.compiler import compiled_anew
from kameleon.runtime.engines import embedded
from kameleon.runtime.pure import pure_graph

LAST: dict[str, Any] = {"data_format": "channels_last"}
Shape = tuple[int | None, ...]

# Formulas ----------------------------------------------------------------------------------------

# By name: a function of roots, the same of numbers.
OF_TWO: dict[str, tuple[Callable[..., Any], Callable[[int, int], int]]] = {
    "plus": (forms.plus, lambda a, b: a + b),
    "minus": (forms.minus, lambda a, b: a - b),
    "times": (forms.times, lambda a, b: a * b),
    "most": (forms.most, max),
    "least": (forms.least, min),
    "negative": (lambda a, b: forms.negative(forms.minus(a, b)), lambda a, b: int(a < b)),
}
NUMBERS = st.integers(-3, 3)
# Roots as pairs of a formula and its number for three sizes.
SIZES = [("x", 0), ("x", 1), ("y", 0)]
SMALL = st.lists(st.integers(0, 4), min_size=3, max_size=3)


def tree() -> st.SearchStrategy[Any]:
    leaves = NUMBERS | st.sampled_from(SIZES)
    divided = lambda inner: st.tuples(st.just("floor_div"), inner, st.integers(1, 4))  # noqa: E731
    chosen = lambda inner: st.tuples(st.just("either"), inner, inner, inner)  # noqa: E731
    of_two = lambda inner: st.tuples(st.sampled_from(sorted(OF_TWO)), inner, inner)  # noqa: E731
    return st.recursive(leaves, lambda x: of_two(x) | divided(x) | chosen(x), max_leaves=8)


def built(made: Any, values: dict[Any, int]) -> tuple[Any, int]:
    """The root that a tree describes, and its number."""
    if isinstance(made, int) or made in SIZES:
        return made, values.get(made, made)
    name, *operands = made
    roots, numbers = zip(*(built(x, values) for x in operands), strict=True)
    if name == "floor_div":
        return forms.floor_div(*roots), numbers[0] // numbers[1]
    if name == "either":
        return forms.either(*roots), numbers[1] if numbers[0] else numbers[2]
    of_roots, of_numbers = OF_TWO[name]
    return of_roots(*roots), of_numbers(*numbers)


@given(tree(), SMALL)
def test_formulas_give_the_numbers(made: Any, numbers: list[int]) -> None:
    values = dict(zip(SIZES, numbers, strict=True))
    root, number = built(made, values)
    assert forms.substituted(root, values.__getitem__) == number
    assert forms.bound(root) <= number
    assert forms.is_counted(root)
    names = {f"{x}{axis}": values[x, axis] for x, axis in SIZES}
    assert eval(forms.text(root, lambda at: f"{at[0]}{at[1]}"), names) == number


@given(tree(), tree())
def test_products_are_divided_by_their_factors(a: Any, b: Any) -> None:
    one, other = (built(made, dict.fromkeys(SIZES, 1))[0] for made in (a, b))
    product = forms.times(one, other)
    if other != 0 and not isinstance(product, forms.Applied):
        assert forms.quotient(product, other) == one


def test_a_size_that_is_said_to_be_a_power_of_itself_doesnt_grow_for_ever() -> None:
    x, y = K.placeholder((None,)), K.placeholder((None,))
    known = Formulas(lambda node, axis: None)
    one, other = known.of(x, 0), known.of(y, 0)
    known.state(one, forms.times(other, other))
    known.state(other, forms.times(forms.times(one, one), 3))
    assert forms.is_long(known.of(x, 0))


@given(st.lists(st.tuples(tree(), tree()), min_size=1, max_size=5), tree(), SMALL)
def test_what_is_stated_is_known(pairs: list[Any], other: Any, numbers: list[int]) -> None:
    values = dict(zip(SIZES, numbers, strict=True))
    known = Formulas(lambda node, axis: None)
    for pair in pairs:
        (a, first), (b, second) = (built(made, values) for made in pair)
        known.state(a, forms.plus(b, first - second))
        same = map(known.representative, (a, forms.plus(b, first - second)))
        assert len({*same}) == 1 or pair is not pairs[0]
        root, number = built(other, values)
        for x, n in ((a, first), (b, second), (root, number)):
            assert forms.substituted(known.representative(x), values.__getitem__) == n


# Sizes of single operations ----------------------------------------------------------------------

X = (None, None, 2)  # (batch, time, channels)
SPACE = (None, None, None, 2)


class Operation(NamedTuple):
    """A tensor of tensors with these shapes; `least`: below this size it fails."""

    build: Callable[..., Any]
    shapes: tuple[Shape, ...] = (X,)
    least: int = 0


def kernel(*shape: int) -> Any:
    return K.variable(np.ones(shape))


def conv(**how: Any) -> Operation:
    return Operation(lambda x: K.conv2d(x, kernel(3, 2, 2, 4), **LAST, **how), (SPACE,))


def pool(size: int, strides: int, mode: str = "max", padding: str = "valid") -> Operation:
    return Operation(
        lambda x: K.pool2d(x, (size,) * 2, (strides,) * 2, padding, pool_mode=mode, **LAST),
        (SPACE,),
    )


CUTS = [
    slice(start, stop, step)
    for start in (None, 0, 2, -2)
    for stop in (None, 3, 1, -1, -4)
    for step in (1, 2, 3)
]

OPERATIONS: dict[str, Operation] = {
    **{f"x[{c.start}:{c.stop}:{c.step}]": Operation(lambda x, c=c: x[:, c]) for c in CUTS},
    "cut twice": Operation(lambda x: x[:, 1:][:, :-1]),
    "cut at a size": Operation(lambda x: x[:, : K.shape(x)[0]]),
    "cut behind a size": Operation(lambda x: x[:, K.shape(x)[1] // 2 :]),
    "padded": Operation(lambda x: K.temporal_padding(x, (2, 1))),
    "joined": Operation(lambda x, y: K.concatenate([x, y, x], 1), (X, (None, None, 2))),
    "flat": Operation(K.flatten),
    "rows": Operation(lambda x: K.reshape(x, (-1, 2))),
    "rows and back": Operation(
        lambda x: K.reshape(K.reshape(x, (-1, 2)), (-1, K.shape(x)[1], 2)), least=1
    ),
    "told sizes": Operation(lambda x: K.reshape(x, (K.shape(x)[1] * 2, K.shape(x)[0]))),
    "repeated": Operation(lambda x: K.repeat_elements(x, 3, 1)),
    "tiled": Operation(lambda x: K.tile(x, (1, K.shape(x)[0], 2))),
    "a range": Operation(lambda x: K.arange(K.shape(x)[1] * 2 - 1), least=1),
    "conv": conv(),
    "same conv": conv(padding="same"),
    "strided conv": conv(strides=(2, 3)),
    "same strided conv": conv(strides=(2, 3), padding="same"),
    "dilated conv": conv(dilation_rate=(2, 1)),
    "causal conv": Operation(lambda x: K.conv1d(x, kernel(3, 2, 4), padding="causal", **LAST)),
    "depthwise conv": Operation(
        lambda x: K.depthwise_conv2d(x, kernel(2, 2, 2, 3), **LAST), (SPACE,)
    ),
    "transposed conv": Operation(
        lambda x: K.conv2d_transpose(
            x, kernel(2, 2, 3, 2), (K.shape(x)[0], K.shape(x)[1] * 2, K.shape(x)[2] * 2, 3),
            strides=(2, 2), padding="same", **LAST
        ),
        (SPACE,), least=1,
    ),
    "pool": pool(2, 2),
    "pools in turn": Operation(
        lambda x: K.pool2d(K.pool2d(x, (2, 2), (2, 2), **LAST), (3, 3), (1, 1), **LAST), (SPACE,)
    ),
    "mean pool": pool(3, 2, "avg", "same"),
    "resized": Operation(lambda x: K.resize_images(x, 2, 3, "channels_last"), (SPACE,)),
    "in turn": Operation(lambda x: K.map_fn(lambda row: row[1:], x), least=1),
    "branch": Operation(
        lambda x: K.switch(K.sum(x) > 0.0, lambda: x[:, 1:] * 2.0, lambda: x[:, :-1]), least=1
    ),
    "common": Operation(lambda x, y: x * y, (X, (None, None, 2))),
}  # fmt: skip


def actual(root: Any, inputs: dict[Node, tuple[int, ...]]) -> Any:
    return forms.substituted(root, lambda at: inputs[at[0]][at[1]])


@pytest.mark.parametrize("name", OPERATIONS)
def test_sizes_are_what_formulas_say(name: str) -> None:
    case = OPERATIONS[name]
    inputs = [K.placeholder(shape) for shape in case.shapes]
    y = case.build(*inputs)
    function, sizes = K.function(inputs, [y]), Formulas(size_origin)
    formulas = [sizes.of(y, axis) for axis in range(len(y.shape))]
    for size in range(case.least, 9):
        shapes = [[size if d is None else d for d in shape] for shape in case.shapes]
        (value,) = function([np.ones(shape) for shape in shapes])
        given = dict(zip(inputs, map(tuple, shapes), strict=True))
        known = [x for x in formulas if all(is_of(a, given) for a in forms.atoms_of(x))]
        assert len(known) == len(formulas) or name in ("in turn", "branch")
        assert all(
            actual(x, given) == n for x, n in zip(formulas, value.shape, strict=True) if x in known
        )


def is_of(atom: Any, inputs: dict[Node, Any]) -> bool:
    return isinstance(atom, forms.Applied) or (isinstance(atom, tuple) and atom[0] in inputs)


# Whole programs ----------------------------------------------------------------------------------


class Program(NamedTuple):
    """A tensor of tensors with these shapes, and the sizes with which it's computed."""

    build: Callable[..., Any]
    shapes: tuple[Shape, ...]
    sizes: tuple[tuple[int, ...], ...]


def of(build: Callable[..., Any], *shapes: Shape) -> Program:
    """A program for 6 in place of each unknown size."""
    return Program(build, shapes, tuple(tuple(6 if d is None else d for d in s) for s in shapes))


def heads(x: Any) -> Any:
    """(samples * 4, steps, 4) of (samples, steps, 16)"""
    parts = K.reshape(K.dot(x, kernel(16, 16)), (-1, K.shape(x)[1], 4, 4))
    return K.reshape(K.permute_dimensions(parts, (0, 2, 1, 3)), (-1, K.shape(x)[1], 4))


def attending(x: Any, mask: Any) -> Any:
    scores = K.batch_dot(heads(x), heads(x), axes=[2, 2])
    shares = K.softmax(scores - K.expand_dims(K.repeat_elements(mask, 4, 0), 1) * 1e9)
    mixed = K.reshape(K.batch_dot(shares, heads(x), axes=[2, 1]), (-1, 4, K.shape(x)[1], 4))
    return K.reshape(K.permute_dimensions(mixed, (0, 2, 1, 3)), (-1, K.shape(x)[1], 16)) + x


def in_each_step(x: Any) -> Any:
    y = K.dot(K.reshape(x, (-1, 2)), kernel(2, 2))
    return K.reshape(y, (-1, K.shape(x)[1], 2)) - x


def hourglass(x: Any) -> Any:
    y, sizes = K.pool2d(x, (2, 2), (2, 2), **LAST), K.shape(x)
    wide = (sizes[0], sizes[1], sizes[2], 2)
    up = {"strides": (2, 2), "padding": "same", **LAST}
    return K.conv2d_transpose(y, kernel(2, 2, 2, 2), wide, **up) + x


def in_groups(x: Any) -> Any:
    sizes = K.shape(x)
    y = K.reshape(x, K.stack([sizes[0], sizes[1], sizes[2], 2, 1]))
    return K.reshape(y - K.mean(y, [1, 2, 4], keepdims=True), sizes) + x


def shuffled(x: Any, y: Any) -> Any:
    n, rows, columns = (K.shape(x)[i] for i in range(3))
    parts = K.permute_dimensions(K.reshape(x, (n, rows, columns, 2, 1)), (0, 1, 3, 2, 4))
    return K.reshape(parts, (n, rows * 2, columns, 1)) - y


def same_conv(x: Any, **how: Any) -> Any:
    return K.conv2d(x, kernel(3, 3, 2, 2), padding="same", **LAST, **how)


WHOLE: dict[str, Program] = {
    "residual": of(lambda x: x + same_conv(x), SPACE),
    "strides": of(
        lambda x: same_conv(x, strides=(2, 2)) * K.pool2d(x, (1, 1), (2, 2), **LAST), SPACE
    ),
    "gates": of(
        lambda x: K.conv1d(x, kernel(3, 2, 2), **LAST)
        * K.sigmoid(K.conv1d(x, kernel(3, 2, 2), **LAST)),
        X,
    ),
    "causal": of(lambda x: x + K.conv1d(x, kernel(3, 2, 2), padding="causal", **LAST), X),
    "hourglass": of(hourglass, SPACE),
    "groups": of(in_groups, SPACE),
    "shuffled": Program(
        shuffled, (SPACE, (None, None, None, 1)), ((2, 3, 4, 2), (2, 6, 4, 1))
    ),
    "steps": of(lambda x: x[:, 1:] - x[:, :-1], X),
    "steps of two": of(lambda x, y: x[:, 1:] - y[:, :-1], X, X),
    "every other": of(lambda x: x[:, ::2] - x[:, 1::2], X),
    "halves": of(lambda x: x[: K.shape(x)[0] // 2] - x[K.shape(x)[0] // 2 :], X),
    "in each step": of(in_each_step, X),
    "rows": of(lambda x, y: K.reshape(x, (-1, 2)) - K.reshape(y, (-1, 2)), X, X),
    "elements": of(lambda x, y: K.flatten(x) * K.flatten(y), X, X),
    "products of sizes": of(
        lambda x, y: K.reshape(x, (K.shape(x)[0] * K.shape(x)[1], 2))
        - K.reshape(y, (K.shape(y)[1] * K.shape(y)[0], 2)),
        X, X,
    ),
    "told shape": of(lambda x, y: K.reshape(x * 2.0, K.shape(y)) - y, X, X),
    "joined": of(lambda x, y: K.concatenate([x, y], 1) * K.concatenate([y, x], 1), X, X),
    "tiled": of(
        lambda x, y: K.tile(K.expand_dims(x, 1), (1, K.shape(y)[1], 1)) + y, (None, 2), X
    ),
    "places": of(lambda x: x + K.gather(kernel(9, 2), K.arange(K.shape(x)[1])), X),
    "mapped": of(lambda x, y: K.map_fn(lambda p: p[0][1:] * p[1][:-1], (x, y), "float32"), X, X),
    "either branch": of(
        lambda x: x[:, 1:] + K.switch(x[0, 0, 0] > 0, lambda: x[:, 1:] * 2, lambda: x[:, :-1]), X
    ),
    "masked heads": of(attending, (None, None, 16), (None, None)),
}  # fmt: skip


def stretched(graph: Graph) -> list[str]:
    """What stretches unknown sizes in a graph and its bodies."""
    inner = (name for node in graph.nodes for body in bodies(node) for name in stretched(body))
    return [n.primitive.name for n in graph.nodes if n.primitive.name in NAMES] + [*inner]


def assert_unstretched(function: Any, values: list[Any]) -> None:
    """Where sizes are equal nothing is stretched, and values are those of the program as it is."""
    compiled = function.compiled
    program, graph = compiled.program, compiled.graph()
    assert not stretched(graph)
    given = [*values, *map(K.get_value, program.variables)]
    if not program.sources:
        plain = compiled_anew(pure_graph(program), embedded())(given)
        for x, y in zip(function(values), plain, strict=False):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", WHOLE)
def test_nothing_is_stretched_in_programs(name: str) -> None:
    build, shapes, sizes = WHOLE[name]
    inputs = [K.placeholder(shape) for shape in shapes]
    loss = K.mean(K.square(build(*inputs)))
    slopes = [g for g in K.gradients(loss, inputs) if g is not None]
    values = [np.random.default_rng(1).normal(size=s).astype("float32") for s in sizes]
    assert_unstretched(K.function(inputs, [loss, *slopes]), values)


@pytest.mark.parametrize("name", NETWORKS)
def test_nothing_is_stretched_in_networks(name: str) -> None:
    network = NETWORKS[name]("float64")
    rows = network.rows(np.random.default_rng(1), 5)
    dtypes = [x.dtype for x in network.step.compiled.inputs]
    assert_unstretched(network.step, [x.astype(d) for x, d in zip(rows, dtypes, strict=True)])


def test_nothing_is_stretched_in_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    attention = importlib.import_module("attention")
    function = attention.kameleon(attention.initial_weights())
    assert not stretched(function.compiled.graph())
