"""What ONNX Runtime's optimisers make of chains of operations, held against NumPy.

float64 is compared as float64, so that a fused operator that works in float32 shows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from engines.chains import Chain

if "onnxruntime" not in engines_under_test():
    pytest.skip("needs the package onnxruntime", allow_module_level=True)

from kameleon.graph.ir.program import Graph
from kameleon.runtime import engines
from kameleon.runtime.compiler import compiled_anew

Array = np.ndarray[Any, Any]
# How far results may be off, of the largest number on the way.
NEAR = {"float64": 1e-12, "float32": 1e-4, "float16": 3e-2}
WIDER = {"float16": "float32", "float32": "float64"}


def results(chain: Chain, engine: str, all_links: bool = False) -> list[Array]:
    outputs = chain.links if all_links else chain.links[-1:]
    with engines.using(engine) as found:
        run = compiled_anew(Graph([chain.input], outputs), found)
        return [np.asarray(found.to_numpy(y)) for y in run([found.from_numpy(chain.value)])]


def rounding(chain: Chain, expected: Array) -> Array:
    """How far off NumPy is from the same chain with more digits: so far may any engine be.

    A product of a large number and of one that is a difference of nearly equal ones, say.
    """
    if chain.dtype not in WIDER or expected.dtype.kind != "f":
        return np.zeros(expected.shape)
    wide = Chain(chain.seed, WIDER[chain.dtype])
    wide.value = chain.value.astype(wide.dtype)
    exact = results(wide, "numpy")[0].astype("float64")
    return np.nan_to_num(np.abs(expected - exact), nan=0, posinf=0)


def check(seed: int, dtype: str | None = None) -> None:
    chain = Chain(seed, dtype)
    with np.errstate(all="ignore"):
        on_the_way = results(chain, "numpy", all_links=True)
        unsure = rounding(chain, on_the_way[-1])
    expected, (got,) = on_the_way[-1], results(chain, "onnxruntime")
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), str(chain)
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected, err_msg=f"{seed}: {chain}")
        return
    finite = [np.abs(x[np.isfinite(x)]).max(initial=1) for x in on_the_way]
    near = NEAR[got.dtype.name] * float(max(finite))
    if not np.isfinite(near):
        near = float(np.finfo(got.dtype).max)
    a, b = got.astype("float64"), expected.astype("float64")
    with np.errstate(invalid="ignore"):  # isclose of NumPy 1 takes no array of tolerances
        close = np.abs(a - b) <= near + 2 * unsure + NEAR[got.dtype.name] * np.abs(b)
    close |= (a == b) | (np.isnan(a) & np.isnan(b))
    assert close.all(), f"{seed}: {chain}: {a} isn't {b}"


@pytest.mark.parametrize("seed", range(40))
def test_chains_mean_what_they_mean_on_numpy(seed: int) -> None:
    check(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("block", range(20))
def test_many_chains(block: int) -> None:
    for seed in range(1000 + 250 * block, 1250 + 250 * block):
        check(seed)
