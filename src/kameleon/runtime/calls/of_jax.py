"""Functions of JAX arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...engines.jax.arrays import X64
from ...graph.ir.types import TensorType, as_dtype
from .library import Function, Library, listed
from .results import Results

_LIKE: Any = jax.ShapeDtypeStruct


class JaxLibrary(Library):
    """JAX: abstract evaluation by `eval_shape`, gradients by `vjp`."""

    name, title = "jax", "JAX"

    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """See `Library.run`. What can be traced is compiled, once for each combination of sizes."""
        with X64(True):
            given = [(jax.device_put if pure else jax.numpy.array)(x) for x in arrays]
            found = (jax.jit(function) if results.traced and pure else function)(*given)
            return results.arrays([np.asarray(x) for x in results.listed(found)])

    def evaluate(self, function: Function, given: Sequence[TensorType]) -> Any:
        """See `Library.evaluate`."""
        with X64(True):
            return jax.eval_shape(function, *(_LIKE(t.shape, np.dtype(t.dtype)) for t in given))

    def type_of(self, value: Any) -> TensorType | None:
        """See `Library.type_of`."""
        if not isinstance(value, (jax.Array, jax.ShapeDtypeStruct, np.ndarray, np.generic)):
            return None
        return TensorType(tuple(value.shape), as_dtype(value.dtype))

    def own(self, value: Any, type: TensorType) -> Any:
        """See `Library.own`."""
        return jax.numpy.asarray(value)

    def pull(
        self,
        function: Function,
        xs: Sequence[Any],
        gs: Sequence[tuple[int, Any]],
        wanted: Sequence[int],
    ) -> Sequence[Any]:
        """See `Library.pull`."""

        def part(*values: Any) -> list[Any]:
            given = list(xs)
            for i, value in zip(wanted, values, strict=True):
                given[i] = value
            found = listed(function(*given))
            return [found[i] for i, _ in gs]

        _, back = jax.vjp(part, *(xs[i] for i in wanted))
        return list(back([g for _, g in gs]))


library = JaxLibrary()
