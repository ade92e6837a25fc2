"""The JAX engine: graphs are traced and compiled by XLA, once for each combination of sizes.

JAX's own settings stay as they are: 64-bit numbers are switched on around each call alone, in
the calling thread.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

import jax
import numpy as np

from ...errors import DTypeError
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType, as_dtype
from ...graph.passes.indices import INDEXED
from ...graph.primitives.precision import CONTRACTIONS
from .._base import Engine
from .._exchange import numpy_view
from .._lowering import Rule
from .arrays import given_up, in_64_bits
from .executable import JaxExecutable
from .rules import CARRIERS, DECLINED, RULES, WHERE


class JaxEngine(Engine):
    """Runs graphs on JAX, on its default device."""

    name = "jax"
    title = "JAX"
    library = "jax"
    rules: Mapping[str, Rule] = RULES
    where = WHERE
    half = CONTRACTIONS
    carriers = CARRIERS
    declined: Mapping[str, str] = DECLINED
    shape_of = staticmethod(attrgetter("shape"))  # type: ignore[assignment]
    unchecked: Collection[str] = INDEXED
    static_shapes = compiles_each_size = True
    deepest = 24  # its tracing takes twenty of Python's frames for each
    quick = False

    def survives_fork(self) -> bool:
        """See `Engine.survives_fork`: JAX computes in threads, which a child lacks."""
        return False

    def compile(self, graph: Graph) -> JaxExecutable:
        """See `Engine.compile`."""
        return JaxExecutable(graph)

    def from_numpy(self, array: Any) -> Any:
        """See `Engine.from_numpy`. JAX takes the copy as it is, without compiling anything."""
        return in_64_bits(jax.device_put, np.array(array))

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """See `Engine.to_numpy`."""
        return np.array(array) if copy else given_up(array)

    def type_of(self, value: Any) -> TensorType | None:
        """See `Engine.type_of`."""
        if not isinstance(value, jax.Array) or isinstance(value, jax.core.Tracer):
            return None
        try:
            return TensorType(value.shape, as_dtype(value.dtype))
        except DTypeError:
            return None

    def adopt(self, array: Any) -> Any:
        """See `Engine.adopt`. JAX shares aligned memory, and copies any other."""
        found = numpy_view(array)
        return None if found is None else in_64_bits(jax.device_put, found)

    def devices(self) -> Sequence[str]:
        """See `Engine.devices`: JAX's default device comes first."""
        found = [f"{d.platform}:{d.id}" for d in jax.devices()]
        return (*found, *(["cpu:0"] if not found[0].startswith("cpu") else []))


engine = JaxEngine()
