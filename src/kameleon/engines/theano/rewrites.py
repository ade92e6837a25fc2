"""Kameleon's rewrites of PyTensor graphs: kernels for what is slower otherwise, and loops in C.

They're in a database of their own, which PyTensor's modes don't ask: what they do is done by
Kameleon's mode alone, behind which nothing is rewritten.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.basic import GraphRewriter, SequentialGraphRewriter
from pytensor.graph.rewriting.db import RewriteDatabaseQuery, SequenceDB
from pytensor.tensor.elemwise import Elemwise

from .ops import InlineOp, Loop

# Constants that are written into C code would be doubles there.
FUSION = RewriteDatabaseQuery(
    include=["fusion", "inplace_elemwise"], exclude=["local_inline_composite_constants"]
)


class Kernels(GraphRewriter):  # type: ignore[misc]
    """Puts a kernel in the place of each Op that has one."""

    def apply(self, fgraph: Any) -> None:
        """Replace them."""
        for node in fgraph.toposort():
            if isinstance(node.op, InlineOp):
                found = node.op.computed().make_node(*node.inputs).outputs
                fgraph.replace_all(list(zip(node.outputs, found, strict=True)), reason="kernels")


class Fused(GraphRewriter):  # type: ignore[misc]
    """PyTensor's own fusion of elementwise operations."""

    def apply(self, fgraph: Any) -> None:
        """Fuse them, and let them write to what is needed no longer."""
        _strict(optdb.query(FUSION)).rewrite(fgraph)


class Vectorised(GraphRewriter):  # type: ignore[misc]
    """Makes every elementwise operation of a graph a `Loop`."""

    def apply(self, fgraph: Any) -> None:
        """Replace the operations; those that write in place still do."""
        for node in fgraph.toposort():
            if type(node.op) is Elemwise:
                loop = Loop(node.op.scalar_op, dict(node.op.inplace_pattern), node.op.name)
                pairs = zip(node.outputs, loop(*node.inputs, return_list=True), strict=True)
                fgraph.replace_all_validate(list(pairs), reason="vectorised")


def _strict(rewriter: Any) -> Any:
    """A rewriter that lets errors through. PyTensor's own only log them, and go on with a graph
    that may be half rewritten.
    """
    made = copy(rewriter)
    if isinstance(made, SequentialGraphRewriter):
        made.data = list(map(_strict, made.data))
    if hasattr(made, "failure_callback"):
        made.failure_callback = None
    return made


REWRITES = SequenceDB(failure_callback=None)
REWRITES.register("kernels", Kernels(), "python", "c", position=0)
REWRITES.register("fused", Fused(), "c", position=1)
REWRITES.register("loops", Vectorised(), "vectorised", position=2)
