"""The documented NumPy implementations as oracles: each K function gives the same values.

The oracles are written here from the documented meaning, without the slips of the documents
(names that NumPy and SciPy dropped, defaults that are missing, negative roots in integers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

Array = np.ndarray[Any, Any]
Oracle = Callable[..., Any]


def draw(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Array:
    """Numbers without ties between `low` and `high`."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


X = draw(2, 3, 4)
Y = draw(2, 3, 4, seed=1)
POSITIVE = draw(2, 3, 4, low=0.25)
# Integers as floats, so that comparisons meet equals.
LEFT = np.array([[0, 1, 2], [2, 1, 0]], "float32")
RIGHT = np.array([[0, 2, 1], [2, 0, 1]], "float32")
TRUTH = np.array([[[True, False], [True, True]], [[False, False], [True, True]]])
SQUARE = draw(2, 3, 3, 5, seed=2)


# --- oracles that are more than one call of NumPy -----------------------------------------------


def batch_dot(x: Array, y: Array, axes: Any = None) -> Array:
    """Contract one axis of each pair (x[i], y[i]); at least two axes remain."""
    if axes is None:
        axes = (x.ndim - 1, y.ndim - 1 if y.ndim == 2 else y.ndim - 2)
    first, second = (axes, axes) if isinstance(axes, int) else axes
    first, second = first % x.ndim - 1, second % y.ndim - 1
    pairs = zip(x, y, strict=True)
    result: Array = np.stack([np.tensordot(a, b, (first, second)) for a, b in pairs])
    return result[:, None] if result.ndim == 1 else result


def logsumexp(x: Array, axis: Any = None, keepdims: bool = False) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis, keepdims=keepdims))


def slice_(x: Array, start: Any, size: Any) -> Array:
    return x[tuple(slice(a, a + n) for a, n in zip(start, size, strict=True))]


def switch(condition: Array, then: Array, other: Array) -> Array:
    missing = then.ndim - np.ndim(condition)
    return np.where(np.reshape(condition, np.shape(condition) + (1,) * missing), then, other)


def relu(x: Array, alpha: float = 0.0, max_value: Any = None, threshold: float = 0.0) -> Array:
    ceiling = np.inf if max_value is None else max_value
    return np.where(x >= threshold, np.clip(x, 0.0, ceiling), alpha * (x - threshold))


def softmax(x: Array, axis: int = -1) -> Array:
    powers = np.exp(x)
    shares: Array = powers / powers.sum(axis, keepdims=True)
    return shares


def bias_add(x: Array, bias: Array, data_format: str = "channels_last") -> Array:
    if data_format == "channels_last":
        return x + bias.reshape((1,) * (x.ndim - bias.ndim) + bias.shape)
    if bias.ndim == 1:
        return x + bias.reshape((-1,) + (1,) * (x.ndim - 2))
    return x + bias.reshape(bias.shape[-1:] + bias.shape[:-1])


def rnn(
    step: Callable[..., Any],
    inputs: Array,
    initial_states: list[Array],
    go_backwards: bool = False,
    mask: Array | None = None,
    constants: list[Any] | None = None,
    unroll: bool = False,
    input_length: int | None = None,
) -> tuple[Any, ...]:
    """Step through time; a masked step repeats output and states of the one before."""
    del unroll, input_length  # they choose how it is done, not what comes out
    times = range(inputs.shape[1])
    outputs: list[Array] = []
    states = initial_states
    for t in reversed(times) if go_backwards else times:
        output, new = step(inputs[:, t], [*states, *(constants or [])])
        if mask is not None:
            before = outputs[-1] if outputs else np.zeros_like(output)
            on = mask[:, t].astype(bool).reshape((-1,) + (1,) * (output.ndim - 1))
            output = np.where(on, output, before)
            new = [np.where(on, s, old) for s, old in zip(new, states, strict=True)]
        outputs.append(output)
        states = new
    return outputs[-1], np.stack(outputs, axis=1), states


# --- the table ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    """A function, its oracle, and one call for both."""

    name: str
    oracle: Oracle
    args: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shapes = [
            f"{a.dtype}{list(a.shape)}" if isinstance(a, np.ndarray) else a for a in self.args
        ]
        options = [f"{key}={value}" for key, value in self.options.items()]
        return f"{self.name}({', '.join(map(str, [*shapes, *options]))})"


AXES: tuple[dict[str, Any], ...] = (
    {},
    {"axis": 0},
    {"axis": -1},
    {"axis": [0, 2]},
    {"axis": (1, 2)},
    {"axis": 1, "keepdims": True},
    {"keepdims": True},
)
REDUCTIONS: dict[str, tuple[Oracle, Array]] = {
    "max": (np.max, X),
    "min": (np.min, X),
    "sum": (np.sum, X),
    "prod": (np.prod, X),
    "var": (np.var, X),
    "std": (np.std, X),
    "mean": (np.mean, X),
    "any": (np.any, TRUTH),
    "all": (np.all, TRUTH),
    "logsumexp": (logsumexp, X),
}
ALONG: dict[str, Oracle] = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "softmax": softmax,
    "l2_normalize": lambda x, axis: x / np.sqrt(np.sum(x**2, axis, keepdims=True)),
}
PAIRS: dict[str, Oracle] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
ACTIVATIONS: dict[str, Oracle] = {
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
    "relu": relu,
    "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "softmax": softmax,
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "tanh": np.tanh,
}


def tupled(options: dict[str, Any]) -> dict[str, Any]:
    """The options for NumPy, which takes no list of axes."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}


TABLE: list[Example] = [
    *(Example(n, f, (x,), axes) for n, (f, x) in REDUCTIONS.items() for axes in AXES),
    *(Example(n, f, (X,), {"axis": a}) for n, f in ALONG.items() for a in (0, 1, -1)),
    *(Example(n, f, (LEFT, RIGHT)) for n, f in PAIRS.items()),
    *(Example(n, f, (LEFT, RIGHT[0])) for n, f in PAIRS.items()),
    *(Example(n, f, (3 * X,)) for n, f in ACTIVATIONS.items()),
    Example("argmax", np.argmax, (X,), {"axis": -1}),
    Example("eval", lambda x: x, (X,)),
    Example("zeros_like", np.zeros_like, (X,)),
    Example("zeros_like", np.zeros_like, (X,), {"dtype": "int32"}),
    Example("ones_like", np.ones_like, (X,)),
    Example("ones_like", np.ones_like, (X,), {"dtype": "float64"}),
    Example("dot", np.dot, (X[0], Y[0].T)),
    Example("dot", np.dot, (X, draw(4, 5))),
    Example("dot", np.dot, (draw(2, 3), draw(4, 3, 5))),
    Example("batch_dot", batch_dot, (X, Y), {"axes": (2, 2)}),
    Example("batch_dot", batch_dot, (X, Y), {"axes": 1}),
    Example("batch_dot", batch_dot, (X, Y), {"axes": (-1, -1)}),
    Example("batch_dot", batch_dot, (X, draw(2, 4, 5))),
    Example("batch_dot", batch_dot, (draw(3, 4), draw(3, 4, seed=1))),
    Example("batch_dot", batch_dot, (draw(3, 4), draw(3, 6, 4)), {"axes": [1, 2]}),
    Example("transpose", np.transpose, (X,)),
    Example("transpose", np.transpose, (X[0],)),
    Example("gather", lambda x, i: x[i], (X[0], np.array([2, 0, 2], "int32"))),
    Example("gather", lambda x, i: x[i], (X, np.array([[1, 0], [0, 0]], "int32"))),
    Example("pow", np.power, (POSITIVE, 3)),
    Example("pow", np.power, (POSITIVE, 0.5)),
    Example("clip", np.clip, (X, -0.5, 1.0)),
    Example("stack", np.stack, ([X, Y],)),
    Example("stack", np.stack, ([X, Y],), {"axis": 1}),
    Example("stack", np.stack, ([X, Y],), {"axis": -1}),
    Example("reverse", np.flip, (X, 1)),
    Example("reverse", lambda x, axes: np.flip(x, tuple(axes)), (X, [0, 2])),
    Example("slice", slice_, (X, (0, 1, 2), (2, 2, 1))),
    Example("slice", slice_, (X, [1, 0, 0], [1, 3, 4])),
    Example("switch", switch, (np.array(True), X, Y)),
    Example("switch", switch, (np.array(False), X, Y)),
    Example("switch", switch, (np.array([True, False]), X, Y)),
    Example("switch", switch, (X > 0, X, Y)),
    Example("relu", relu, (X,), {"alpha": 0.25}),
    Example("relu", relu, (X,), {"max_value": 0.75}),
    Example("relu", relu, (X,), {"threshold": 0.5}),
    Example("relu", relu, (X,), {"alpha": 0.5, "max_value": 1.0, "threshold": 0.25}),
    Example("elu", lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x)), (X, 0.5)),
    Example("bias_add", bias_add, (X, draw(4))),
    Example("bias_add", bias_add, (X, draw(3), "channels_first")),
    Example("bias_add", bias_add, (X, draw(3, 4))),
    Example("bias_add", bias_add, (SQUARE, draw(5))),
    Example("bias_add", bias_add, (SQUARE, draw(3), "channels_first")),
    Example("bias_add", bias_add, (SQUARE, draw(3, 3, 5))),
    Example("bias_add", bias_add, (SQUARE, draw(3, 5, 3), "channels_first")),
    Example("bias_add", bias_add, (draw(1, 2, 2, 2, 3), draw(3))),
    Example("bias_add", bias_add, (draw(1, 3, 2, 2, 2), draw(3), "channels_first")),
]


def symbolic(value: Any) -> Any:
    """Arrays, and lists of them, as variables; all else as it is."""
    if isinstance(value, np.ndarray):
        return K.variable(value, dtype=str(value.dtype))
    if isinstance(value, list) and any(isinstance(item, np.ndarray) for item in value):
        return [symbolic(item) for item in value]
    return value


def assert_same(got: Any, expected: Any) -> None:
    """Equal shape and kind of dtype; floats agree as far as float32 can say."""
    expected = np.asarray(expected)
    assert np.shape(got) == expected.shape
    assert np.asarray(got).dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("example", TABLE, ids=map(str, TABLE))
def test_documented_implementation(example: Example) -> None:
    tensor = getattr(K, example.name)(*map(symbolic, example.args), **example.options)
    assert_same(K.eval(tensor), example.oracle(*example.args, **tupled(example.options)))


# --- functions of shapes and types --------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name, args", [("zeros", (2, 3)), ("ones", (4,)), ("eye", 3)])
def test_filled_variable(name: str, args: Any, dtype: str) -> None:
    expected = getattr(np, name)(args, dtype=dtype)
    for tensor in (getattr(K, name)(args, dtype=dtype), getattr(K, name)(args, dtype, "named")):
        got = K.eval(tensor)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["zeros", "ones", "eye"])
def test_filled_variable_has_the_default_float_type(name: str) -> None:
    K.set_floatx("float64")
    assert K.eval(getattr(K, name)(3 if name == "eye" else (3,))).dtype == "float64"


@pytest.mark.parametrize("array", [X, TRUTH, X.astype("float64"), np.zeros((0, 3), "int32")])
def test_static_properties(array: Array) -> None:
    x = symbolic(array)
    assert K.int_shape(x) == array.shape
    assert K.ndim(x) == array.ndim
    assert K.dtype(x) == array.dtype.name
    assert K.count_params(x) == array.size


# --- random values ------------------------------------------------------------------------------


def test_random_uniform_variable() -> None:
    value = K.eval(K.random_uniform_variable((100, 200), -1.0, 3.0, dtype="float64", seed=3))
    assert value.shape == (100, 200)
    assert value.dtype == "float64"
    assert value.min() >= -1.0
    assert value.max() < 3.0
    assert abs(value.mean() - 1.0) < 0.04
    assert abs(value.std() - 4 / 12**0.5) < 0.03


def test_random_normal_variable() -> None:
    value = K.eval(K.random_normal_variable((100, 200), 2.0, 0.5, dtype="float64", seed=3))
    assert value.shape == (100, 200)
    assert value.dtype == "float64"
    assert abs(value.mean() - 2.0) < 0.02
    assert abs(value.std() - 0.5) < 0.02


@pytest.mark.parametrize("noise_shape", [None, (100, 1), (1, 200)])
def test_dropout(noise_shape: Any) -> None:
    K.set_learning_phase(1)
    array = draw(100, 200, low=1.0)
    level = 0.25
    value = K.eval(K.dropout(K.constant(array), level, noise_shape, seed=5))
    kept = value != 0
    np.testing.assert_allclose(value[kept], (array / (1 - level))[kept], rtol=1e-6)
    assert 0.1 < 1 - kept.mean() < 0.4
    if noise_shape is not None:  # the same choice all along the axes of size 1
        axis = noise_shape.index(1)
        assert (kept.all(axis) | ~kept.any(axis)).all()


# --- recurrence ---------------------------------------------------------------------------------


def accumulate(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    """A step with one state; works on arrays and on tensors alike."""
    state = x * 0.5 + states[0]
    return state * 2.0, [state]


def entangle(x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    """A step with two states and a constant."""
    slow, fast, factor = states
    return slow + x, [slow + fast * factor, x - slow]


SERIES = draw(3, 4, 2)
STATE = draw(3, 2, seed=7)
HOLES = np.array([[1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]], "float32")
RNN: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": (accumulate, {}),
    "backwards": (accumulate, {"go_backwards": True}),
    "unrolled": (accumulate, {"unroll": True}),
    "of known length": (accumulate, {"input_length": 4}),
    "masked": (accumulate, {"mask": HOLES}),
    "masked, boolean": (accumulate, {"mask": HOLES.astype(bool)}),
    "masked, backwards": (accumulate, {"mask": HOLES, "go_backwards": True}),
    "masked, unrolled": (accumulate, {"mask": HOLES, "unroll": True}),
    "two states": (entangle, {"constants": [0.25]}),
    "two states, masked": (entangle, {"constants": [0.25], "mask": HOLES}),
}


@pytest.mark.parametrize("step, options", RNN.values(), ids=list(RNN))
def test_rnn(step: Callable[..., Any], options: dict[str, Any]) -> None:
    states = [STATE] if step is accumulate else [STATE, STATE + 1]
    tensors = {key: symbolic(value) for key, value in options.items()}
    last, outputs, new = K.rnn(step, symbolic(SERIES), [symbolic(s) for s in states], **tensors)
    got = K.function([], [last, outputs, *new])([])
    last, outputs, new = rnn(step, SERIES, states, **options)
    for mine, theirs in zip(got, [last, outputs, *new], strict=True):
        assert_same(mine, theirs)
