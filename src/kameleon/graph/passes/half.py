"""float16 by way of float32: for engines that have no arithmetic in half precision, or whose
compilers round less often than a program says.

    f(x, y) -> float16(f(float32(x), float32(y)))

for every node that computes with float16. A node that only moves elements stays in float16. The
rounding is a node of its own, so that an engine can't skip the rounding between two nodes.

Sums, products, quotients and roots of float16 are thereby exact to half a unit in the last place,
also where a compiler divides by multiplying with the reciprocal of a constant. The exceptions are
subnormal quotients that lie midway between two numbers of float16.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from ..ir.node import Primitive
from ..ir.program import Graph
from ..ir.types import FLOAT16, FLOAT32
from ..primitives.precision import has_dtype
from .carriers import in_carriers

_SINGLE: Mapping[str, str] = {FLOAT16: FLOAT32}


def half_in_single(graph: Graph, kept: Container[str] = ()) -> Graph:
    """The graph with float16 computed in float32, and each node's result rounded.

    Args:
        graph: a simplified graph. Its inputs and the dtypes of its outputs stay.
        kept: names of primitives that the engine computes in float16 itself.
    """
    if not has_dtype(graph, (FLOAT16,)):
        return graph

    def stays(primitive: Primitive) -> bool:
        return primitive.accuracy == "moved" or primitive.name in kept

    return in_carriers(graph, lambda node: {} if stays(node.primitive) else _SINGLE)
