"""`tf.nn.raw_rnn`: a cell run on inputs that a function makes of its outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...prims.filling import zeros
from ...prims.sizes import dims_of, size_of
from ..control import TensorArray, while_loop
from ..nests import flatten, map_structure, pack
from ..scopes import variable_scope
from .cells import sizes_of
from .loops import check_cell, kept


def raw_rnn(
    cell: Any, loop_fn: Callable[..., Any], parallel_iterations: int | None = None,
    swap_memory: bool = False, scope: Any = None,
) -> Any:  # fmt: skip
    """Run a cell on inputs that a function gives, step by step, till all samples are finished.

    Args:
        cell: an `RNNCell`.
        loop_fn: `(time, output, state, loop_state)` -> which samples are finished, the next
            input, the next state, what's emitted, and the next loop state. The first call gets
            None but for the time; what it emits are zeros like those of one sample, or None for
            the cell's output, and what it gives as loop state may be None.

    Returns:
        An array of what was emitted, the last state, and the last loop state.
    """
    check_cell(cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn"):
        zero = K.constant(0, "int32")
        finished, first, state, like, loop_state = loop_fn(zero, None, None, None)
        if like is None:
            dtype = flatten(first)[0].dtype
            like = map_structure(lambda n: zeros(sizes_of(n), dtype), cell.output_size)
        batch = size_of(as_tensor(flatten(first)[0], "tf.nn.raw_rnn"), 0)
        ones = [as_tensor(x, "tf.nn.raw_rnn") for x in flatten(like)]
        blanks = [zeros([batch, *dims_of(x)], x.dtype) for x in ones]
        stateless = loop_state is None

        def step(
            time: Any, done: Any, x: Any, arrays: Any, state: Any, before: Any
        ) -> tuple[Any, ...]:
            output, new = cell(x, state)
            ended, x, new, emitted, after = loop_fn(
                time + 1, output, new, None if stateless else before
            )
            going = K.equal(done, K.constant(False, "bool"))
            emitted = output if emitted is None else emitted
            rows = [kept(going, y, z) for y, z in zip(flatten(emitted), blanks, strict=True)]
            new = map_structure(lambda n, s: kept(going, n, s), new, state)
            arrays = [a.write(time, y) for a, y in zip(arrays, rows, strict=True)]
            either = K.any(K.stack([done, as_tensor(ended, "tf.nn.raw_rnn")]), axis=0)
            return time + 1, either, x, arrays, new, before if after is None else after

        arrays = [TensorArray(x.dtype, size=0, dynamic_size=True) for x in blanks]
        found = while_loop(
            lambda time, done, *rest: K.equal(K.all(done), K.constant(False, "bool")),
            step,
            [zero, as_tensor(finished, "tf.nn.raw_rnn"), first, arrays, state,
             zero if stateless else loop_state],
        )  # fmt: skip
    _, _, _, emitted, last, end = found
    return pack(like, emitted), last, None if stateless else end


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {"nn.raw_rnn": raw_rnn}
