"""Functions of TensorFlow, PyTorch and JAX as nodes: values and gradients, on every engine."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kameleon
from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.errors import ArgumentError
from kameleon.graph.ir.types import TensorType
from kameleon.runtime import engines
from kameleon.runtime.calls import Results, library_named

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


def _function(path: str) -> Callable[..., Any]:
    """A function by its path; the test is skipped where its library isn't installed."""
    library, *parts = path.split(".")
    if not engines.runs_here(library):
        pytest.skip(f"{library} isn't installed")
    found: Any = importlib.import_module(library)
    if library == "jax":
        importlib.import_module("jax.numpy")
    for part in parts:
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


# The function, and what K has for it.
SAME: dict[str, Callable[[Any], Any]] = {
    "tensorflow.math.tanh": K.tanh,
    "tensorflow.nn.softmax": K.softmax,
    "torch.tanh": K.tanh,
    "torch.cumsum": lambda x: K.cumsum(x, 1),
    "jax.numpy.tanh": K.tanh,
    "jax.nn.softplus": K.softplus,
}
ARGUMENTS: dict[str, tuple[Any, ...]] = {"torch.cumsum": (1,)}


@pytest.mark.parametrize("path", SAME)
def test_values_and_gradients_are_those_of_the_same_function(engine: Engine, path: str) -> None:
    function, more = _function(path), ARGUMENTS.get(path, ())
    x = K.placeholder((None, 3), dtype="float64")
    called = kameleon.call(lambda a: function(a, *more), x, path.partition(".")[0])
    found = []
    for y in (called, SAME[path](x)):
        first = K.gradients(K.sum(y * y), x)[0]
        second = K.gradients(K.sum(first * first), x)[0]
        assert K.int_shape(y) == (None, 3)
        found.append(K.function([x], [y, first, second])([X]))
    for mine, want in zip(*found, strict=True):
        assert_allclose(mine, want, rtol=1e-9, atol=1e-12)


FUNCTIONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "reduce_mean": ("tensorflow", lambda tf, x: tf.reduce_mean(x, axis=1)),
    "concat": ("tensorflow", lambda tf, x: tf.concat([x, x * 2.0], 0)),
    "softmax": ("tensorflow", lambda tf, x: tf.nn.softmax(x)),
    "a constant": ("tensorflow", lambda tf, x: tf.constant(1.0, "float64") + x),
    "erf": ("tensorflow", lambda tf, x: tf.math.erf(x)),
    "gather_nd": ("tensorflow", lambda tf, x: tf.gather_nd(x, [[0, 1], [1, 2]])),
    "gelu": ("torch", lambda torch, x: torch.nn.functional.gelu(x)),
    "cat": ("torch", lambda torch, x: torch.cat([x, x * 2.0])),
    "softmax of torch": ("torch", lambda torch, x: torch.softmax(x, -1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_the_library_take_tensors(engine: Engine, name: str) -> None:
    library, function = FUNCTIONS[name]
    if not engines.runs_here(library):
        pytest.skip(f"{library} isn't installed")
    module = importlib.import_module(library)
    if library == "tensorflow":
        kameleon.extend_tensorflow()
    x = K.placeholder((2, 3), dtype="float64")
    y = function(module, x)
    assert K.is_tensor(y)
    want = function(module, module.as_tensor(X) if library == "torch" else module.constant(X))
    assert_allclose(K.function([x], [y])([X])[0], want.numpy(), rtol=1e-9)
    assert K.function([x], K.gradients(K.sum(y), [x]))([X])[0].shape == X.shape


def test_what_a_function_gives_back_is_never_written_to() -> None:
    v = K.variable(X)
    with K.using_engine("torch") if engines.runs_here("torch") else pytest.skip("no PyTorch"):
        same = kameleon.call(lambda a: a, v, "torch")
        K.function([], [same * 2.0 + 1.0])([])
        assert_allclose(K.get_value(v), X)


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("name", ["tensorflow", "torch", "jax"])
def test_a_pure_function_is_given_memory_and_another_one_copies(name: str, pure: bool) -> None:
    if not engines.runs_here(name):
        pytest.skip(f"{name} isn't installed")
    size, alignment = 1 << 12, 64
    memory = np.zeros(4 * size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    given = memory[start : start + 4 * size].view(np.float32)
    seen = []

    def function(x: Any) -> Any:
        # An older TensorFlow has no `__dlpack__`, but is a buffer of Python's.
        found = np.from_dlpack(x) if hasattr(x, "__dlpack__") else np.asarray(memoryview(x))
        seen.append(found.ctypes.data)
        return x

    results = Results((TensorType((size,), "float32"),), several=False)
    [found] = library_named(name).run(function, [given], results, pure)
    assert (seen[0] == given.ctypes.data) is pure
    assert not np.shares_memory(found, given)


# Types of results where sizes aren't known -------------------------------------------------------


@pytest.mark.parametrize("path", ["torch.mul", "jax.numpy.multiply"])
def test_unknown_sizes_that_broadcasting_makes_equal(path: str) -> None:
    x, y, row = K.placeholder((None, None)), K.placeholder((None, None)), K.placeholder((1, None))
    for other, given in ((y, [X, X]), (row, [X, X[:1]]), (row, [X[:1], X[:1]])):
        product = kameleon.call(_function(path), [x, other])
        assert K.int_shape(product) == (None, None)
        [found] = K.function([x, other], [product], engine="numpy")(given)
        assert_allclose(found, given[0] * given[1])


@pytest.mark.parametrize("path", ["torch.linalg.det", "jax.numpy.linalg.det"])
def test_sizes_that_must_be_equal(
    path: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    x = K.placeholder((None, None))
    found = kameleon.call(_function(path), x)
    assert K.int_shape(found) == ()
    assert_allclose(K.function([x], [found], engine="numpy")([np.diag([2.0, 3.0])])[0], 6.0)
    assert not caplog.records and not capfd.readouterr().err


def test_sizes_that_nobody_can_guess() -> None:
    function = _function("jax.numpy.multiply")
    x = K.placeholder((None, None))
    with pytest.raises(ArgumentError, match=r"give the tensors the sizes .* or declare shapes="):
        kameleon.call(lambda a: function(a, np.ones((1, 3))[:, a.shape[1] :]), x, "jax")
    y = kameleon.call(lambda a: a * np.ones((2, 3), "float32"), x, "jax", shapes=(2, 3))
    assert_allclose(K.function([x], [y], engine="numpy")([X])[0], X)


@pytest.mark.parametrize("path", ["tensorflow.math.top_k", "torch.topk"])
def test_results_keep_the_names_that_the_library_gives_them(path: str) -> None:
    function = _function(path)
    if path.startswith("tensorflow"):
        kameleon.extend_tensorflow()
    x = K.placeholder((2, 3))
    found = function(x, 2)
    assert found.values is found[0] and found.indices is found[1]
    values = K.function([x], [found.values], engine="numpy")([X])[0]
    assert_allclose(values, -np.sort(-X, 1)[:, :2])
