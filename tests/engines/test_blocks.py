"""Elementwise operations on large arrays are computed block by block, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K
from kameleon.engines._codegen import blocks
from kameleon.errors import EvaluationError

ENGINES = [name for name in engines_under_test() if name in ("numpy", "torch")]
pytestmark = pytest.mark.parametrize("engine", ENGINES)

ROWS, COLUMNS = 700, 300
RNG = np.random.default_rng(0)


def bell(x: Any) -> Any:
    """A chain of one output."""
    return K.exp(-K.square(x) * 0.5) + K.tanh(x)


def with_rows(x: Any) -> list[Any]:
    """What is the same for all rows is given to each block; other dtypes come out, too."""
    y = bell(x * K.constant(np.linspace(0, 1, COLUMNS)))
    return [y, K.cast(K.greater(y, K.mean(x)), "float64") + y, K.greater(y * 2.0 - 1.0, x)]


def with_reduction(x: Any) -> list[Any]:
    """A sum parts two runs."""
    y = K.exp(K.sin(K.cos(x) * 2.0))
    return [y / K.sum(y, axis=1, keepdims=True) * K.tanh(x) - K.sin(x) * K.cos(x)]


PROGRAMS: list[Callable[[Any], Any]] = [lambda x: [bell(x)], with_rows, with_reduction]


def made_in(function: Any) -> int:
    """How many blocks the code of a function has."""
    return str(function.source).count("blocked(")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(ROWS, COLUMNS), (None, COLUMNS), (None, None)])
@pytest.mark.parametrize("program", PROGRAMS)
def test_blocks_change_last_bits_at_most(
    program: Callable[[Any], Any],
    shape: tuple[int | None, ...],
    dtype: str,
    engine: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    array = RNG.normal(size=(ROWS, COLUMNS)).astype(dtype)
    results = []
    for smallest, block in ((2**40, 2**10), (2**10, 2**16), (2**10, 2**40), (2**10, 7)):
        monkeypatch.setattr(blocks, "SMALLEST", smallest)
        monkeypatch.setattr(blocks, "BLOCK", block)
        K.clear_session()
        x = K.placeholder(shape, dtype=dtype)
        f = K.function([x], program(K.identity(x)), engine=engine)
        results.append([f([array]) for _ in range(3)][-1])
        assert made_in(f) >= (smallest < 2**40)
    for other in results[1:]:
        for x, y in zip(results[0], other, strict=True):
            assert x.dtype == y.dtype
            small = 0 if x.dtype == bool else 4 * np.finfo(x.dtype).eps
            np.testing.assert_allclose(x, y, rtol=small, atol=small)


def test_small_arrays_and_those_in_another_order_are_computed_whole(engine: str) -> None:
    x = K.placeholder((None, None))
    f = K.function([x], [bell(x)], engine=engine)
    large = RNG.normal(size=(2000, 1000)).astype("float32")
    for array in (large[:2, :3], large.T, large[:, ::2], large[:0]):
        for _ in range(3):
            (got,) = f([array])
            np.testing.assert_allclose(
                got, np.exp(-array * array / 2) + np.tanh(array), rtol=1e-5, atol=1e-6
            )
    assert made_in(f) == 1


def test_only_what_is_needed_is_in_memory_as_a_whole(engine: str) -> None:
    """The listing shows what a block computes; the program has its one result."""
    x = K.placeholder((4096, 1024))
    f = K.function([x], [bell(x)], engine=engine)
    array = RNG.normal(size=(4096, 1024)).astype("float32")
    f([array]), f([array])
    program, block = str(f.source).split("\n\n")
    assert program.count("blocked(") == 1
    assert "exp(" in block
    assert "exp(" not in program


def test_an_error_in_a_block_names_the_line(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SMALLEST", 1)
    x, y = K.placeholder((None, 3)), K.placeholder((None, 3))
    f = K.function([x, y], [K.exp(K.sin(K.cos(x + y) * 2.0) - 1.0)], engine=engine)
    with pytest.raises(EvaluationError, match="test_blocks"):
        f([np.ones((4, 3), "float32"), np.ones((5, 3), "float32")])
