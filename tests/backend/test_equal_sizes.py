"""Unknown sizes that meet are equal at run time; or one of them is 1, and is stretched.

A size of 1 is stretched where the original's functions broadcast. Elsewhere a library's own
broadcasting would stretch it silently: there it's an error, forward and backward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.errors import EvaluationError, ShapeError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Shape = tuple[int | None, ...]


class Fed(NamedTuple):
    """A placeholder: its shape, one that fits what it meets, and one that doesn't."""

    shape: Shape
    good: tuple[int, ...]
    bad: tuple[int, ...]
    dtype: str = "float32"


class Case(NamedTuple):
    """Tensors of some placeholders; `bounded`: whether it has a gradient; `strict`: whether a size
    of 1 isn't stretched."""

    build: Callable[..., Any]
    fed: list[Fed]
    bounded: bool = True
    strict: bool = False


def rows(good: int, bad: int, *rest: int | None, fill: int = 3, dtype: str = "float32") -> Fed:
    """(None, *rest)"""
    known = tuple(fill if d is None else d for d in rest)
    return Fed((None, *rest), (good, *known), (bad, *known), dtype)


def same(fed: tuple[int, ...], *shape: int | None) -> Fed:
    """What it meets is at fault."""
    return Fed(shape, fed, fed)


ONE, TWO = rows(2, 1, 3), rows(2, 2, 3)


def recurrent(x: Any, state: Any, mask: Any = None) -> list[Any]:
    def step(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        y = K.tanh(x + states[0])
        return y, [y]

    last, outputs, states = K.rnn(step, x, [state], mask=mask)
    return [last, outputs, *states]


def looped(x: Any, start: Any, step: Callable[..., Any], **how: Any) -> list[Any]:
    return K.while_loop(
        lambda i, s: i < 2.0, lambda i, s: [i + 1.0, step(s, x)], [K.constant(0.0), start], **how
    )


def labels(x: Any, y: Any) -> Any:
    return K.sparse_categorical_crossentropy(x, K.softmax(y))


def normalized(x: Any, m: Any) -> Any:
    return K.batch_normalization(x, m, m, m, m, axis=-1)


# What tells mechanisms apart.
FEW: dict[str, Case] = {
    "sum": Case(lambda x, y: x + y, [ONE, TWO]),
    "sum with another rank": Case(lambda x, y: x + y, [ONE, same((1, 2, 3), 1, 2, 3)]),
    "computed sizes": Case(
        lambda x, y: K.sum(x, 1) * K.sum(y, 0), [ONE, same((3, 2), 3, None)]
    ),
    "where": Case(lambda x, y: K.switch(K.greater(x, 0.5), y, y * 2.0), [ONE, TWO]),
    "concatenate": Case(lambda x, y: K.concatenate([x, y], 1), [ONE, TWO], strict=True),
    "dot": Case(
        lambda x, y: K.dot(x, y), [Fed((2, None), (2, 3), (2, 1)), rows(3, 3, 4)], strict=True
    ),
    "bias": Case(lambda x, y: K.bias_add(x, y), [same((2, 4), 2, None), rows(4, 1)]),
    "sparse labels": Case(labels, [rows(2, 1, dtype="int32"), TWO], strict=True),
    "state of rnn": Case(
        lambda x: recurrent(x, K.ones((1, 3))), [rows(1, 2, 4, 3)],
        strict=True,
    ),
    "mask of rnn": Case(
        lambda m: recurrent(K.ones((2, 4, 3)) * K.sum(m), K.zeros((2, 3)), m), [rows(2, 1, 4)],
        strict=True,
    ),
    "grown state": Case(
        lambda x: looped(x, K.ones((1, 3)), lambda s, x: s + x), [rows(1, 2, 3)], bounded=False,
        strict=True,
    ),
    "channels of nothing": Case(
        lambda x: K.depthwise_conv2d(x, K.ones((2, 1, 3, 2)), data_format="channels_last"),
        [Fed((None, 4, 4, None), (0, 4, 4, 3), (0, 4, 4, 0))],
        strict=True,
    ),
    "channels of a kernel": Case(
        lambda x, k: K.conv1d(x, k), [rows(2, 2, 5, 3), Fed((2, None, 4), (2, 3, 4), (2, 1, 4))],
        strict=True,
    ),
    "branch": Case(
        lambda x, y: K.switch(K.sum(x) > 0.0, lambda: x * y, lambda: x), [ONE, TWO]
    ),
}  # fmt: skip

MANY: dict[str, Case] = {
    "product on the last axis": Case(
        lambda x, y: K.exp(x) * K.sqrt(y) + 1.0,
        [Fed((2, None), (2, 4), (2, 1)), same((2, 4), 2, None)]
    ),
    "product with another rank": Case(lambda x, y: x * y, [rows(5, 1), same((4, 5), 4, None)]),
    "none at all": Case(lambda x, y: x * y, [rows(0, 1, 3), rows(0, 0, 3)]),
    "three": Case(lambda x, y, z: x * y + z, [ONE, ONE, same((2, 3), 2, 3)]),
    "variable": Case(lambda x: K.variable(np.ones((2, 3))) * x, [ONE]),
    "dots": Case(
        lambda x, y: K.dot(x, K.ones((3, 3))) + K.dot(y, K.ones((3, 3))), [ONE, TWO]
    ),
    "maximum": Case(lambda x, y: K.maximum(x, y) - K.minimum(y, x), [ONE, TWO]),
    "comparison": Case(lambda x, y: K.cast(K.equal(x, y), "float32"), [ONE, TWO], bounded=False),
    "condition": Case(lambda x, y: K.switch(K.greater(y, 0.5), x, y), [ONE, TWO]),
    "clip": Case(lambda x, y: K.clip(x, y, y + 1.0), [TWO, ONE]),
    "slopes": Case(lambda x, y: K.relu(x, alpha=y), [TWO, ONE]),
    "stack": Case(lambda x, y: K.stack([x, y], 1), [ONE, TWO], strict=True),
    "reshaped": Case(
        lambda x, y: K.reshape(x, (-1, 1)) + K.reshape(y, (-1, 1)), [ONE, TWO],
        strict=True,
    ),
    "sums of rows": Case(lambda x, y: x / K.sum(y, 1, keepdims=True), [TWO, ONE]),
    "gathered": Case(
        lambda i, y: K.gather(K.ones((4, 3)), i) * y, [rows(2, 1, dtype="int32"), TWO]
    ),
    "classes": Case(lambda i, y: K.one_hot(i, 3) * y, [rows(2, 1, dtype="int32"), TWO]),
    "batches of products": Case(
        lambda x, y: K.batch_dot(x, y), [rows(5, 1, 2, 3), rows(5, 5, 3, 4)]
    ),
    "products in a batch": Case(
        lambda x, y: K.batch_dot(x, y),
        [Fed((None, 2, None), (5, 2, 3), (5, 2, 1)), same((5, 3, 4), None, None, 4)],
        strict=True,
    ),
    "batches of vectors": Case(lambda x, y: K.batch_dot(x, y, 1), [ONE, TWO]),
    "crossentropy": Case(lambda x, y: K.categorical_crossentropy(x, K.softmax(y)), [ONE, TWO]),
    "binary crossentropy": Case(lambda x, y: K.binary_crossentropy(x, K.sigmoid(y)), [ONE, TWO]),
    "mean square": Case(lambda x, y: K.mean(K.square(x - y), -1), [ONE, TWO]),
    "normalization": Case(normalized, [same((4, 3), 4, None), rows(3, 1)]),
    "channels": Case(
        lambda x, k: K.separable_conv2d(x, k, K.ones((1, 1, 6, 2)), data_format="channels_last"),
        [Fed((2, 4, 4, None), (2, 4, 4, 3), (2, 4, 4, 1)), same((2, 1, 3, 2), 2, 1, 3, 2)],
        strict=True,
    ),
    "channels of transposed convolutions": Case(
        lambda x: K.conv2d_transpose(
            x, K.ones((2, 2, 3, 4)), (None, 4, 4, 3), padding="same", data_format="channels_last"
        ),
        [Fed((2, 4, 4, None), (2, 4, 4, 4), (2, 4, 4, 1))],
        strict=True,
    ),
    "convolution": Case(
        lambda x, y: K.conv1d(x, K.ones((2, 3, 2))) + y, [rows(6, 1, 5, 3), rows(6, 6, 4, 2)]
    ),
    "unknown state of rnn": Case(recurrent, [rows(2, 2, 4, 3), ONE]),
    "known state of rnn": Case(lambda x: recurrent(x, K.ones((2, 3))), [rows(2, 1, 4, 3)]),
    "times of rnn": Case(
        lambda x, m: recurrent(x, K.ones((2, 3)), m),
        [same((2, 4, 3), 2, None, 3), Fed((2, None), (2, 4), (2, 1))],
        strict=True,
    ),
    "replaced state": Case(
        lambda x: looped(x, K.ones((2, 3)), lambda s, x: x * 2.0), [ONE], bounded=False,
        strict=True,
    ),
    "bounded loop": Case(
        lambda x: looped(x, K.ones((2, 3)), lambda s, x: x * 2.0, maximum_iterations=4), [ONE],
        strict=True,
    ),
    "fold": Case(
        lambda x: K.foldl(lambda a, b: a * b, x, initializer=K.ones((3,))),
        [Fed((4, None), (4, 3), (4, 1))],
    ),
    "map": Case(
        lambda x, y: K.map_fn(lambda a: a * y, x), [Fed((4, None), (4, 3), (4, 1)), rows(3, 3)]
    ),
}  # fmt: skip


def arrays(case: Case, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Numbers between 0.5 and 1; zeros, of integers."""
    some = np.random.default_rng(3)
    return [
        some.uniform(0.5, 1.0, shape).astype(f.dtype)
        for shape, f in zip(shapes, case.fed, strict=True)
    ]


def unequal(case: Case) -> list[tuple[int, ...]]:
    """Sizes that nothing stretches: they differ, and none is 1."""
    return [
        f.bad
        if case.strict
        else tuple(7 if b != g else g for g, b in zip(f.good, f.bad, strict=True))
        for f in case.fed
    ]


def repeated(x: Any, shape: tuple[int, ...]) -> Any:
    return (
        np.broadcast_to(x, shape)
        if 0 in shape
        else np.tile(x, np.divide(shape, x.shape).astype(int))
    )


def compare(case: Case) -> None:
    inputs = [K.placeholder(f.shape, dtype=f.dtype) for f in case.fed]
    made = case.build(*inputs)
    outputs = made if isinstance(made, list) else [made]
    floats = [i for i, x in enumerate(inputs) if x.dtype.is_float]
    loss = sum((K.sum(K.cast(y, "float32") * 0.5) for y in outputs[1:]), K.sum(outputs[0]))
    found = K.gradients(loss, [inputs[i] for i in floats]) if case.bounded else []
    slopes = {i: g for i, g in zip(floats, found, strict=False) if g is not None}
    both = [K.function(inputs, wanted) for wanted in (outputs, [*slopes.values()]) if wanted]
    for function in both:
        with pytest.raises((EvaluationError, ShapeError), match="test_equal_sizes"):
            function(arrays(case, unequal(case)))
    good, bad = (arrays(case, [f[1 + k] for f in case.fed]) for k in range(2))
    values = [function(good) for function in both]
    if slopes:
        assert [g.shape for g in values[1]] == [good[i].shape for i in slopes]
    if case.strict:
        return
    long = [repeated(x, f.good) for x, f in zip(bad, case.fed, strict=True)]
    expected = [function(long) for function in both]
    if slopes:
        expected[1] = [summed(g, bad[i]) for g, i in zip(expected[1], slopes, strict=True)]
    for function, wanted in zip(both, expected, strict=True):
        for got, value in zip(function(bad), wanted, strict=True):
            np.testing.assert_allclose(got, value, rtol=2e-5, atol=1e-5)


def summed(g: Any, x: Any) -> Any:
    """What flows back to x, if x was repeated."""
    axes = tuple(i for i, (a, b) in enumerate(zip(g.shape, x.shape, strict=True)) if a != b)
    return g.sum(axes, keepdims=True)


@pytest.mark.parametrize("name", FEW)
def test_equal_sizes(name: str) -> None:
    compare(FEW[name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", MANY)
def test_equal_sizes_everywhere(name: str) -> None:
    compare(MANY[name])


def test_a_known_size_of_one_is_stretched() -> None:
    x, y = K.placeholder((1, 3)), K.placeholder((None, 3))
    both = K.function([x, y], [x + y, *K.gradients(K.sum(x * y), [x, y])])
    values = both([np.ones((1, 3)), np.ones((4, 3))])
    assert [v.shape for v in values] == [(4, 3), (1, 3), (4, 3)]
