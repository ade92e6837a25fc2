"""The table of ONNX for files: ONNX Runtime's, with what older versions of ONNX have, too.

An engine builds models for the ONNX Runtime beside it. A file is for others as well: it's written
for an older set of operators, unless the program needs a newer one or that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...engines._lowering import Rule
from ...engines.onnxruntime import movement
from ...engines.onnxruntime.dtypes import CARRIERS
from ...engines.onnxruntime.engine import OnnxRuntimeEngine
from ...engines.onnxruntime.lowering import OnnxLowering
from ...engines.onnxruntime.model import Writer, typed
from ...engines.onnxruntime.rules import RULES as OF_ENGINE
from ...engines.onnxruntime.rules import WHERE
from ...graph.ir.node import Node
from ...graph.ir.types import TensorType, as_dtype
from ...graph.primitives.sizes import stated_dims

L = OnnxLowering

# Sizes that may turn out to be 1 -----------------------------------------------------------------


def _sum_to(lo: L, node: Node, g: str, *sizes: str) -> Any:
    """The sum over the axes whose sizes differ from those asked for, which are 1 then."""
    wanted = lo.joined(stated_dims(node))
    differ = lo.op("Not", lo.op("Equal", lo.op("Shape", g), wanted))
    axes = lo.op("Reshape", lo.op("NonZero", differ), lo.ints(-1))
    return lo.op("ReduceSum", g, axes, keepdims=1, noop_with_empty_axes=1)


# In place of operators that older versions lack --------------------------------------------------


def _products(lo: L, x: str, dtype: str, dims: Sequence[Any]) -> tuple[str, str]:
    """The product along the first axis, and the running products, which begin with 1: there's
    always a step, which loops need.

    Args:
        lo: the walk.
        x: of dtype `dtype`.
        dims: its sizes but the first.
    """
    rank = len(dims)
    x = movement.padded(lo, x, dtype, [1, *[0] * (2 * rank + 1)], 1)
    inner, names = Writer(lo.writer), [lo.writer.shared.name() for _ in range(2)]
    product = inner.op("Mul", *names)
    step = TensorType((None,) * rank, as_dtype(dtype))
    body = inner.body([typed(n, dtype, None) for n in names], [product] * 2, [step] * 2)
    first = lo.filled(1, dtype, dims)
    last, running = lo.writer.ops("Scan", first, x, outputs=2, body=body, num_scan_inputs=1)
    lo.writer.declare([last, running], [step, TensorType((None, *step.shape), step.dtype)])
    return last, running


def _cumprod(lo: L, node: Node, x: str) -> Any:
    (operand,), axis = node.operands, node.attrs["axis"]
    others = [i for i in range(len(operand.shape)) if i != axis]
    x = lo.transpose(x, [axis, *others])
    running = _products(lo, x, operand.dtype, lo.dims_of(operand, others))[1]
    running = movement.sliced(lo, running, [0], [1], [movement.END], [1])
    return lo.transpose(running, [*range(1, axis + 1), 0, *range(axis + 1, len(operand.shape))])


def _reduce_prod(lo: L, node: Node, x: str) -> Any:
    """Of integers the operator goes through floats."""
    if node.dtype in movement.FLOATS:
        return OF_ENGINE["reduce_prod"](lo, node, x)
    (operand,), axes = node.operands, node.attrs["axes"]
    others = [i for i in range(len(operand.shape)) if i not in axes]
    dims = lo.dims_of(operand, others)
    x = lo.transpose(x, [*axes, *others])
    x = lo.reshape(x, [lo.product(lo.dims_of(operand, axes)), *dims])
    return _products(lo, x, node.dtype, dims)[0]


def _argsort(lo: L, node: Node, x: str) -> Any:
    """The order of numbers, with the NaNs behind: `TopK` puts these anywhere, and orders what is
    equal by its place."""
    operand, axis = node.operands[0], node.attrs["axis"]
    if not operand.dtype.is_float:
        return OF_ENGINE["argsort"](lo, node, x)
    x = lo.cast(x, "float32") if operand.dtype.itemsize < 4 else x
    dtype = "float64" if operand.dtype == "float64" else "float32"
    count = lo.joined([lo.dim(operand, axis)])

    def order(keys: str) -> str:
        ways = {"axis": axis, "largest": 0, "sorted": 1}
        return lo.writer.ops("TopK", keys, count, outputs=2, **ways)[1]

    missing = lo.op("IsNaN", x)
    found = order(lo.op("Where", missing, lo.scalar(float("inf"), dtype), x))
    behind = order(lo.op("GatherElements", lo.cast(missing, "int32"), found, axis=axis))
    return lo.op("GatherElements", found, behind, axis=axis)


NEWEST: Mapping[str, Rule] = {
    **OF_ENGINE,
    "stretch": OF_ENGINE["broadcast_to"],
    "sum_to": _sum_to,
}
PORTABLE: Mapping[str, Rule] = {
    **NEWEST,
    "relu": lambda lo, node, x: lo.op("Relu", x),  # the sign of a zero is the library's own
    "argsort": _argsort,
    "cumprod": _cumprod,
    "reduce_prod": _reduce_prod,
}


# Where rules hold: everywhere, in place of those that passes rewrite in bits.
OLDER = {name: holds for name, holds in WHERE.items() if name not in ("select", "argsort")}


# Kernels that ONNX Runtime lacks before 1.31, and so in its latest build for browsers.
OLDER_CARRIERS = {**CARRIERS, "select": {**CARRIERS["select"], "int8": "int32"}}


class Lowered(OnnxLowering):
    """The walk, with all operators of the newest version."""

    title = "ONNX"
    rules: Mapping[str, Rule] = NEWEST


class Portable(Lowered):
    """The walk, without operators that older versions lack."""

    rules = PORTABLE
    has_bitcast = reduces_bools = False


class ModelEngine(OnnxRuntimeEngine):
    """What models in files can hold. It runs none itself."""

    name = "onnx"
    title = "ONNX"
    emulated: Mapping[str, str] = {}
    bits: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {"bfloat16": "hardly any runtime has operators for it"}
    rules: Mapping[str, Rule] = NEWEST
    lowering: type[Lowered] = Lowered
    declined: Mapping[str, str] = dict.fromkeys(
        OnnxRuntimeEngine.declined, "there is no such operator"
    )


class PortableEngine(ModelEngine):
    """The same without operators that older versions lack."""

    rules = PORTABLE
    lowering = Portable
    where = OLDER
    carriers = OLDER_CARRIERS
