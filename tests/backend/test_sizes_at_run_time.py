"""Sizes that are known only at run time: the same values and gradients as with known ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import EvaluationError

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Array = np.ndarray[Any, Any]
Build = Callable[..., Any]


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype("float32")


def checked(inputs: list[Any], outputs: list[Any], engine: Any = None) -> Callable[..., Any]:
    """A function whose values have the shapes that its outputs promise."""
    function = K.function(inputs, outputs, engine=engine)

    def call(*given: Any) -> list[Array]:
        values: list[Array] = function(list(given))
        for tensor, value in zip(outputs, values, strict=True):
            static = K.int_shape(tensor)
            assert len(static) == value.ndim
            assert all(s in (None, d) for s, d in zip(static, value.shape, strict=True))
        return values

    return call


def evaluated(outputs: list[Any], feeds: list[tuple[Any, Any]]) -> list[Array]:
    return list(checked([p for p, _ in feeds], outputs)(*(v for _, v in feeds)))


def close(got: list[Array], want: list[Array]) -> None:
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-4)


def with_gradient(y: Any, x: Any) -> list[Any]:
    return [y, *K.gradients(K.sum(y * y), [x])]


# Windows -----------------------------------------------------------------------------------


EXTENTS = list(itertools.product(range(1, 6), (1, 2)))  # windows, dilations


def sizes(engine: Engine, window: int, dilation: int, padding: str) -> list[int]:
    """Sizes of a space into which the window fits; two of them, one large, where each is compiled
    for."""
    fit = [n for n in range(1, 9) if padding == "same" or n > (window - 1) * dilation]
    return fit[(window + dilation) % 3 :: 3][-2:] if engine.static_shapes else fit


def over_windows(x: Any, window: int, stride: int, dilation: int, padding: str) -> list[Any]:
    full, deep = K.constant(numbers(window, 2, 2, 3)), K.constant(numbers(window, 2, 2, 2))
    how = {"strides": (stride, 2), "padding": padding, "dilation_rate": (dilation, 1)}
    made = [K.conv2d(x, full, **how), K.depthwise_conv2d(x, deep, **how)]
    if dilation == 1:
        pool = {"pool_size": (window, 2), "strides": (stride, 2), "padding": padding}
        made += [K.pool2d(x, **pool), K.pool2d(x, pool_mode="avg", **pool)]
    return [tensor for y in made for tensor in with_gradient(y, x)]


@pytest.mark.dealt
@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_windows_over_a_space_of_unknown_size(engine: Engine, stride: int, padding: str) -> None:
    for window, dilation in EXTENTS:
        free = K.placeholder((None, None, None, 2))
        call = checked([free], over_windows(free, window, stride, dilation, padding))
        for size in sizes(engine, window, dilation, padding):
            value = numbers(2, size, 6, 2)
            known = K.placeholder(value.shape)
            outputs = over_windows(known, window, stride, dilation, padding)
            close(call(value), checked([known], outputs, "numpy")(value))


@pytest.mark.dealt
@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_transposed_convolution_onto_sizes_from_a_tensor(
    engine: Engine, stride: int, padding: str
) -> None:
    for window, dilation in EXTENTS[:-2]:
        kernel, by, wide = K.constant(numbers(window, window, 2, 3)), (stride,) * 2, (dilation,) * 2
        how = {"strides": by, "padding": padding, "dilation_rate": wide}
        free, fed = K.placeholder((None, None, None, 3)), K.placeholder((), dtype="int32")
        side, shape = (None, fed, fed, 2), K.placeholder((4,), dtype="int32")
        by_side, by_shape = (
            checked([free, size], with_gradient(K.conv2d_transpose(free, kernel, to, **how), free))
            for size, to in ((fed, side), (shape, shape))
        )
        span = (window - 1) * dilation + 1
        for size in sizes(engine, window, dilation, padding):
            places = -(-size // stride) if padding == "same" else (size - span) // stride + 1
            value, target = numbers(2, places, places, 3), (2, size, size, 2)
            known = K.placeholder(value.shape)
            y = K.conv2d_transpose(known, kernel, target, **how)
            want = checked([known], with_gradient(y, known), "numpy")(value)
            close(by_side(value, np.int32(size)), want)
            close(by_shape(value, np.array(target, np.int32)), want)


@pytest.mark.parametrize("padding", ["same", "valid"])
def test_a_transposed_convolution_that_does_not_fit_fails_when_run(padding: str) -> None:
    x, side = K.placeholder((None, None, 4, 1)), K.placeholder((), dtype="int32")
    target = (None, side, 8 if padding == "same" else 9, 1)
    y = K.conv2d_transpose(x, K.ones((3, 3, 1, 1)), target, (2, 2), padding)
    evaluated([y], [(x, numbers(1, 3, 4, 1)), (side, np.int32(6 if padding == "same" else 7))])
    with pytest.raises(EvaluationError, match="conv2d_transpose: with padding"):
        evaluated([y], [(x, numbers(1, 5, 4, 1)), (side, np.int32(7))])


# Shapes ------------------------------------------------------------------------------------

COUNT, TRIPLE = 2, np.array([2, 1, 3], np.int32)
STARTS, SIZES = np.array([0, 1, 2], np.int32), np.array([2, -1, 2], np.int32)

# Tensor x, scalar n and triple v, whose values are known when it runs -> what NumPy makes of them.
SHAPES: dict[str, tuple[Build, Callable[[Array], Array], Any]] = {
    "tile by a scalar": (lambda x, n, v: K.tile(x, n), lambda x: np.tile(x, COUNT), TRIPLE),
    "tile by a vector": (lambda x, n, v: K.tile(x, v), lambda x: np.tile(x, (2, 1, 3)), TRIPLE),
    "tile by sizes": (
        lambda x, n, v: K.tile(x, (n, K.shape(x)[0], 1)),
        lambda x: np.tile(x, (2, 3, 1)),
        TRIPLE,
    ),
    "repeat_elements": (
        lambda x, n, v: K.repeat_elements(x, n, -2),
        lambda x: np.repeat(x, COUNT, 1),
        TRIPLE,
    ),
    "slice of known extent": (
        lambda x, n, v: K.slice(x, [0, 1, 2], [2, -1, 2]),
        lambda x: x[:2, 1:, 2:4],
        TRIPLE,
    ),
    "slice from a tensor": (
        lambda x, n, v: K.slice(x, v, [2, -1, 2]),
        lambda x: x[:2, 1:, 2:4],
        STARTS,
    ),
    "slice of a tensor's extent": (
        lambda x, n, v: K.slice(x, [0, 1, 2], v),
        lambda x: x[:2, 1:, 2:4],
        SIZES,
    ),
    "reshape": (
        lambda x, n, v: K.reshape(x, (K.shape(x)[0] * n, -1)),
        lambda x: x.reshape(6, -1),
        TRIPLE,
    ),
    "batch_flatten": (lambda x, n, v: K.batch_flatten(x), lambda x: x.reshape(3, -1), TRIPLE),
    "expand and squeeze": (
        lambda x, n, v: K.squeeze(K.reshape(x, (n - 1, 12, -1)), 0),
        lambda x: x.reshape(12, 5),
        TRIPLE,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_from_tensors(name: str) -> None:
    build, oracle, triple = SHAPES[name]
    x, n = K.placeholder((None, None, None)), K.placeholder((), dtype="int32")
    v, value = K.placeholder((3,), dtype="int32"), numbers(3, 4, 5)
    y = build(x, n, v)
    feeds = [(x, value), (n, np.int32(COUNT)), (v, triple)]
    got, gradient = evaluated(with_gradient(y, x), feeds)
    np.testing.assert_array_equal(got, oracle(value))
    times = oracle(np.arange(60).reshape(3, 4, 5)).ravel()
    count = np.bincount(times, minlength=60).reshape(3, 4, 5)
    np.testing.assert_allclose(gradient, 2 * value * count, rtol=1e-5)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("layout", ["channels_last", "channels_first"])
def test_images_of_unknown_size(layout: str, interpolation: str) -> None:
    value = numbers(2, 3, 4, 2)
    known, free = K.placeholder(value.shape), K.placeholder((None, None, None, None))
    want, got = (
        evaluated(with_gradient(K.resize_images(x, 2, 3, layout, interpolation), x), [(x, value)])
        for x in (known, free)
    )
    close(got, want)


@pytest.mark.parametrize("bounds", [(5,), (-2,), (2, 12, 3), (12, 2, -3), (0.0, 1.1, 0.25)])
def test_ranges_with_bounds_from_tensors(bounds: tuple[float, ...]) -> None:
    dtype = "float32" if isinstance(bounds[0], float) else "int32"
    inputs = [K.placeholder((), dtype=dtype) for _ in bounds]
    feeds = [(p, np.array(b, dtype)) for p, b in zip(inputs, bounds, strict=True)]
    (got,) = evaluated([K.arange(*inputs)], feeds)
    np.testing.assert_allclose(got, np.arange(*bounds), rtol=1e-6)
    assert got.dtype == dtype


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda x: K.slice(x, [2, 0], [2, -1]), (3, 2)),
        (lambda x: K.slice(x, [0, 0], [4, 1]), (3, 2)),
        (lambda x: K.squeeze(x, 0), (3, 2)),
        (lambda x: K.gather(x, [3]), (3, 2)),
        (lambda x: K.slice(x, K.shape(x) - 1, [1, 2]), (3, 2)),
        # Python would cut these short.
        (lambda x: K.slice(x, [4, 0], [-1, -1]), (3, 2)),
        (lambda x: K.slice(x, [0, 3], [-1, 0]), (3, 2)),
        (lambda x: K.slice(x, K.shape(x) + 1, [-1, -1]), (3, 2)),
        (lambda x: K.slice(x, -K.shape(x), [0, 0]), (3, 2)),
        # Nor do missing elements matter less where there are none.
        (lambda x: K.slice(x, [0, 1], [0, 3]), (3, 2)),
        (lambda x: K.slice(x, [0, 0], [-1, 3]), (0, 2)),
        (lambda x: K.slice(x, [0, 0], K.shape(x) + 1), (0, 2)),
        (lambda x: K.squeeze(x, 1), (3, 2)),
        (lambda x: K.squeeze(x, -1), (0, 2)),
        (lambda x: K.squeeze(x, 0), (0, 0)),
    ],
)
def test_what_does_not_fit_fails_when_run(build: Build, shape: tuple[int, ...]) -> None:
    x = K.placeholder((None, None))
    y = build(x)
    with pytest.raises(EvaluationError):
        evaluated([y], [(x, numbers(*shape))])


@pytest.mark.parametrize("rows", [(1, 4), (0, 2), (5, 2), (3, 1)])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_scalar_chooses_tensors_as_they_are(rows: tuple[int, int], is_first: bool) -> None:
    condition = K.placeholder((), dtype="bool")
    a, b = K.placeholder((None, 3)), K.placeholder((None, 3))
    y = K.switch(condition, 2 * a, b)
    given = [numbers(size, 3) for size in rows]
    feeds = [(condition, np.array(is_first)), *zip((a, b), given, strict=True)]
    got = evaluated([y, *K.gradients(K.sum(y * y), [a, b])], feeds)
    wanted = [2 * given[0] if is_first else given[1], 8 * given[0], 2 * given[1]]
    wanted[2 if is_first else 1] *= 0
    close(got, wanted)


# Sizes that are known after all --------------------------------------------------------------


@pytest.mark.parametrize(
    ("dims", "static"),
    [
        (lambda s: (s[0], s[1] * s[2]), (None, 28)),
        (lambda s: (-1, s[2] + 10), (None, 14)),
        (lambda s: (s[0], s[1] // 3, -1), (None, 2, None)),
        (lambda s: (s[0], K.maximum(s[1] - 5, 0), K.minimum(s[2], 2), 7), (None, 2, 2, 7)),
        (lambda s: (s[0], s[-1] % 3 + 3, s[1]), (None, 4, 7)),
        (lambda s: K.concatenate([s[:1], s[2:], s[1:2]], 0), (None, 4, 7)),
    ],
)
def test_arithmetic_with_known_sizes_gives_static_shapes(dims: Build, static: Any) -> None:
    x = K.placeholder((None, 7, 4))
    y = K.reshape(x, dims(K.shape(x)))
    assert K.int_shape(y) == static
    evaluated([y], [(x, numbers(3, 7, 4))])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_narrow_indices_count_to_every_class(dtype: str) -> None:
    indices = K.placeholder((None,), dtype=dtype)
    values = np.array([0, 44, 127]).astype(dtype)
    (got,) = evaluated([K.one_hot(indices, 300)], [(indices, values)])
    np.testing.assert_array_equal(got.argmax(1), values)
    assert got.sum() == 3


# Loops whose states are known in part --------------------------------------------------------

Shape = tuple[int | None, ...]


def summed(x: Any, state: Any, mask: Any = None) -> list[Any]:
    def step(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        y = K.tanh(x + states[0])
        return y, [y]

    last, outputs, states = K.rnn(step, x, [state], mask=mask)
    return [last, outputs, *states]


def swapped(a: Any, b: Any) -> list[Any]:
    """Two states that change places, so that neither keeps what is known of it."""
    start = [K.constant(0.0), a, b]
    again = {"cond": lambda i, a, b: i < 3.0, "body": lambda i, a, b: [i + 1.0, b, a * 2.0]}
    return [*K.while_loop(**again, loop_vars=start), *bounded(again, start)]


def bounded(again: dict[str, Any], start: list[Any]) -> list[Any]:
    result: list[Any] = K.while_loop(**again, loop_vars=start, maximum_iterations=5)
    return result


def one_text(scores: Any, length: Any) -> list[Any]:
    text = K.constant([[1, 2, 1, 0]], dtype="int32")
    cost = K.ctc_batch_cost(text, K.softmax(scores), K.constant([[6]], dtype="int32"), length)
    return [cost, *K.gradients(K.sum(cost), [scores])]


LOOPS: dict[str, tuple[Build, list[tuple[Shape, Array]]]] = {
    "one sample": (
        lambda x: with_gradient(summed(x, K.ones((1, 3)))[1], x),
        [((None, 4, 3), numbers(1, 4, 3))],
    ),
    "state of some samples": (
        lambda x: with_gradient(summed(x, K.ones((2, 3)))[1], x),
        [((None, 4, 3), numbers(2, 4, 3))],
    ),
    "mask of unknown samples": (
        lambda x, m: summed(x, K.ones((2, 3)), m),
        [((2, 4, 3), numbers(2, 4, 3)), ((None, 4), np.array([[1, 1, 0, 1], [0, 1, 0, 0]]))],
    ),
    "unknown times": (
        summed,
        [((None, None, 3), numbers(2, 4, 3)), ((2, None), numbers(2, 3))],
    ),
    "states that change places": (
        swapped,
        [((None, 3), numbers(2, 3)), ((2, None), numbers(2, 3, seed=1))],
    ),
    "one text": (one_text, [((None, 6, 5), numbers(1, 6, 5)), ((None, 1), np.array([[3]]))]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_whose_states_are_known_in_part(name: str) -> None:
    build, fed = LOOPS[name]
    values = [v.astype("float32") for _, v in fed]
    static = [K.placeholder(v.shape) for _, v in fed]
    free = [K.placeholder(shape) for shape, _ in fed]
    want = checked(static, build(*static), engine="numpy")(*values)
    close(checked(free, build(*free))(*values), want)


def test_sizes_of_either_integer_dtype_make_one_shape() -> None:
    x, rows = K.placeholder((None, None)), K.placeholder((), dtype="int64")
    mixed = K.permute_dimensions(K.reshape(x, [K.shape(x)[0] * 2, rows]), (1, 0))
    told, inferred = checked([x, rows], [K.shape(mixed), K.shape(K.reshape(x, [rows, -1]))])(
        numbers(3, 4), 6
    )
    assert told.dtype == np.int32 and told.tolist() == [6, 6] and inferred.tolist() == [6, 2]


@pytest.mark.parametrize(
    ("shape", "sizes", "found"),
    [
        ((0, 2), (0, -1), (0, 2)),
        ((3, 0, 4), (0, -1), (0, 12)),
        ((3, 0, 4), (-1, 2, 0), (6, 2, 0)),
        ((0, 0), (-1, 0), (1, 0)),
        ((0, 2), (3, -1), (3, 0)),
    ],
)
def test_what_is_inferred_for_nothing(
    shape: tuple[int, ...], sizes: tuple[int, ...], found: tuple[int, ...]
) -> None:
    """As TensorFlow 1.15: beside a size of 0, those that are 0 don't count."""
    x, given = K.placeholder((None,) * len(shape)), K.placeholder((len(sizes),), dtype="int32")
    told = [K.reshape(x, given), K.reshape(x, sizes), K.reshape(K.zeros(shape), sizes)]
    assert [r.shape for r in checked([x, given], told)(np.zeros(shape), sizes)] == [found] * 3


@pytest.mark.parametrize(
    "build",
    [
        lambda n: K.one_hot(K.constant([0, 1], dtype="int32"), n),
        lambda n: K.one_hot(K.constant([], dtype="int32"), n),
        lambda n: K.repeat(K.constant([[1.0, 2.0]]), n),
        lambda n: K.tile(K.constant([1.0, 2.0]), n),
        lambda n: K.zeros((2, n)),
        *(lambda n, draw=draw: draw((2, n)) for draw in (K.random_normal, K.random_binomial)),
    ],
)
@pytest.mark.parametrize("size", [-1, -3])
def test_negative_sizes(build: Build, size: int) -> None:
    n = K.placeholder((), dtype="int32")
    with pytest.raises(EvaluationError):
        checked([n], [build(n)])(size)


@pytest.mark.parametrize("sizes", [(-2, 3), (-1, -1), (-3, -2), (4, 2), (-1, 4)])
def test_sizes_that_are_fed_and_are_none(sizes: tuple[int, int]) -> None:
    given = K.placeholder((2,), dtype="int32")
    with pytest.raises(EvaluationError):
        checked([given], [K.reshape(K.arange(6), given)])(np.array(sizes, "int32"))
