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
from kameleon.calls import Results, library_named
from kameleon.engines import Engine
from kameleon.ir.types import TensorType
from kameleon.runtime import engines

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
        seen.append(np.from_dlpack(x).ctypes.data)
        return x

    results = Results((TensorType((size,), "float32"),), several=False)
    [found] = library_named(name).run(function, [given], results, pure)
    assert (seen[0] == given.ctypes.data) is pure
    assert not np.shares_memory(found, given)
