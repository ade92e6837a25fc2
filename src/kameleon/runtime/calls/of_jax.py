"""Functions of JAX arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...engines.jax.arrays import X64
from ...graph.ir.types import TensorType, as_dtype
from .library import Function, Library, Values
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

    def pull(self, function: Function, xs: Values, gs: Values, held: Values) -> Values:
        """See `Library.pull`."""
        _, back = jax.vjp(function, *xs)
        return list(back(list(gs)))


library = JaxLibrary()
