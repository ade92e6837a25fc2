"""ONNX Runtime's optimisers keep the numbers: every node is computed in its own dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

if "onnxruntime" not in engines_under_test():
    pytest.skip("needs the package onnxruntime", allow_module_level=True)

from kameleon import backend as K
from kameleon.engines.onnxruntime.engine import faulty_optimizers
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives.elementwise import mul
from kameleon.graph.primitives.filling import full_like
from kameleon.graph.primitives.linalg import contract
from kameleon.runtime import engines
from kameleon.runtime.compiler import compiled_anew

Array = np.ndarray[Any, Any]
Build = Callable[..., Any]


def normal(*shape: int, dtype: str = "float64") -> Array:
    return np.random.default_rng(shape).normal(size=shape).astype(dtype)


def on(engine: str, inputs: list[Any], outputs: list[Any], arrays: list[Array]) -> list[Array]:
    with K.using_engine(engine):
        results: list[Array] = K.function(inputs, outputs)(arrays)
    return results


def both(build: Build, arrays: list[Array], known: bool = False) -> tuple[list[Array], list[Array]]:
    """What ONNX Runtime makes of the arrays, and what NumPy does."""
    shapes = [a.shape if known else (None,) * a.ndim for a in arrays]
    inputs = [K.placeholder(s, dtype=a.dtype.name) for s, a in zip(shapes, arrays, strict=True)]
    made = build(*inputs)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    return on("onnxruntime", inputs, outputs, arrays), on("numpy", inputs, outputs, arrays)


# float64 -----------------------------------------------------------------------------------------

BATCHES = [normal(3, 4, 5), normal(3, 5, 6)]
SCALED: dict[str, tuple[Build, list[Array]]] = {
    "a product of batches": (lambda x, y: K.batch_dot(x, y) * 0.1, BATCHES),
    "before it": (lambda x, y: K.batch_dot(0.93 * x, y / 0.3), BATCHES),
    "divided": (lambda x, y: -(K.batch_dot(x, y) / 0.93), BATCHES),
    "transposed": (
        lambda x, y: 0.1 * K.batch_dot(K.permute_dimensions(y, (0, 2, 1)), x, axes=(2, 2)),
        BATCHES,
    ),
    "a product of matrices": (lambda x, y: 0.1 * K.dot(x, y[0]), BATCHES),
    "a step down": (lambda x, y: x[0] - 0.1 * K.dot(x[1], y[0][:, :5]), BATCHES),
    "a convolution": (
        lambda x, w: K.sin(K.conv1d(x, K.reshape(w, (2, 3, 4))) * 0.93),
        [normal(2, 8, 3), normal(2, 3, 4)],
    ),
    "normalised rows": (
        lambda x, y: (x - K.mean(x, -1, True)) / K.sqrt(K.var(x, -1, True) + 1e-5),
        BATCHES,
    ),
    "a gate": (lambda x, y: x * K.sigmoid(1.702 * x), BATCHES),
}


@pytest.mark.parametrize("name", SCALED)
def test_float64_is_computed_in_float64(name: str) -> None:
    build, arrays = SCALED[name]
    got, expected = both(build, arrays)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-13, atol=1e-14)


def test_faulty_optimisers_are_those_of_old_versions() -> None:
    assert "MatMulScaleFusion" in faulty_optimizers("1.31.1")
    assert faulty_optimizers("1.32.0") == faulty_optimizers("2.0.0") == ["MatmulTransposeFusion"]


# Sums of no terms --------------------------------------------------------------------------------

# Sizes, what is summed over, and what goes along: each had garbage or a failure where sizes are 0.
EMPTY: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any, Any]] = {
    "matrices": ((20, 0), (0, 30), ((1,), (0,)), ((), ())),
    "a row and a column": ((1, 0), (0, 1), ((1,), (0,)), ((), ())),
    "a vector": ((20, 0), (0,), ((1,), (0,)), ((), ())),
    "no rows": ((0, 3, 20), (3, 3, 1), ((1,), (0,)), ((), ())),
    "batches of numbers": ((20, 0, 3), (0, 20, 3), ((0, 1), (1, 0)), ((2,), (2,))),
    "no batches": ((0, 4, 5), (0, 5, 3), ((2,), (1,)), ((0,), (0,))),
    "all axes": ((0, 3), (0, 3), ((0, 1), (0, 1)), ((), ())),
}
FLOATS_AND_INTEGERS = ["float16", "float32", "float64", "int32", "uint32", "uint64"]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("dtype", FLOATS_AND_INTEGERS)
@pytest.mark.parametrize("name", EMPTY)
def test_sums_of_no_terms_are_zero(name: str, dtype: str, known: bool) -> None:
    *shapes, over, batch = EMPTY[name]
    inputs = [
        input_node(TensorType(s if known else (None,) * len(s), as_dtype(dtype))) for s in shapes
    ]
    product = contract(*inputs, over, batch)
    scaled = mul(product, full_like(product, 2))
    given = [np.ones(s, dtype) for s in shapes]
    with engines.using("onnxruntime") as engine:
        run = compiled_anew(Graph(inputs, [product, scaled]), engine)
    for _ in range(3):
        results = run(given)
        for found in results:
            assert found.size == 0 or not found.any()
            found[...] = 7  # whoever gets this memory next must write to it


# Loops -------------------------------------------------------------------------------------------


def test_loops_take_what_other_loops_give() -> None:
    def steps(x: Any) -> list[Any]:
        doubled = K.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2.0), [0, x])[1]
        summed = K.foldl(lambda a, b: a + b, doubled)
        return [K.map_fn(lambda row: row + 1.0, doubled), summed, K.map_fn(K.exp, summed)]

    for known in (True, False):
        got, expected = both(steps, [normal(2, 3)], known)
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)
