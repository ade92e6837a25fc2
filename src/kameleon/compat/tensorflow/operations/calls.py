"""What stands for functions that aren't put in the place of their calls, and for their branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from kameleon.graph.primitives import elementwise as E

from ..graph import Operation
from ..variables import Store
from .elementwise import zero
from .table import host, pure
from .values import is_text, sizes_of, tensor


@host("PartitionedCall StatefulPartitionedCall RemoteCall", references=True)
def _call(store: Store, operation: Operation, *given: Any) -> list[Any]:
    function = operation.attribute("f")
    values = given[1:] if operation.type == "RemoteCall" else given
    return store.function(operation.graph, function.name, function.attr)(values)


@pure("ToBool")
def _truth(operation: Operation, x: Any) -> Any:
    """A number but 0, a text that isn't empty, an array with elements."""
    if is_text(x):
        return np.array(np.ndim(x) > 0 or len(np.asarray(x, object).item()) > 0)
    node = tensor(x)
    if node.shape:
        return np.array(0 not in sizes_of(node))
    return E.ne(node, zero(node))


# What counts the turns of a loop.
pure("NextNumber")(lambda number: E.add(tensor(number), tensor(np.int32(1))))


@pure("IsBranch")
def _is_branch(operation: Operation, index: Any) -> Any:
    """Whether a branch is the one of a number; the last one stands for all others."""
    number, count = operation.known["number"], operation.known["count"]
    last = E.lt(tensor(index), tensor(np.int32(0))) | E.ge(tensor(index), tensor(np.int32(number)))
    return last if number == count - 1 else E.eq(tensor(index), tensor(np.int32(number)))
