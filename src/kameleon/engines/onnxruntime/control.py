"""Rules of conditions and loops, and of what only says something about a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.node import Node
from ...ir.types import BOOL, TensorType
from ...prims.control import scan_parts
from .._lowering import Rule
from .lowering import OnnxLowering
from .model import Body, Writer, typed

L = OnnxLowering


def _same(lo: L, node: Node, x: str, *rest: str) -> str:
    return x


def several(
    lo: L, types: Sequence[TensorType], kind: str, *inputs: str, **attrs: Any
) -> tuple[str, ...]:
    """An operator with results of these types."""
    result = lo.op(kind, *inputs, outputs=len(types), **attrs)
    names = (result,) if len(types) == 1 else result
    lo.writer.declare(names, types)
    return names


def _types(node: Node) -> list[TensorType]:
    return [y.type for y in node.results]


def _cond(lo: L, node: Node, condition: str, *operands: str) -> tuple[str, ...]:
    if not node.results:
        return ()
    branches = {
        name: lo.body(node.attrs[ours], operands)
        for name, ours in (("then_branch", "then"), ("else_branch", "otherwise"))
    }
    return several(lo, _types(node), "If", condition, **branches)


def _while(lo: L, node: Node, *operands: str) -> tuple[str, ...]:
    count = node.attrs["consts"]
    consts, carry = operands[:count], operands[count:]
    test, body = node.attrs["condition"], node.attrs["body"]
    # Before the first step the condition is asked outside of the loop.
    first = type(lo)(test, operands, lo.writer).run()[0]
    step, names, params = lo.opened(body, [*consts, *[None] * len(carry)])
    new = step.run()
    again = type(lo)(test, [*consts, *new], step.writer).run()[0]
    names = [step.writer.shared.name() for _ in range(2)]
    lead = [typed(names[0], "int64", ()), typed(names[1], "bool", ())]
    types = [TensorType((), BOOL), *_types(node)]
    proto = step.writer.body([*lead, *params], [again, *new], types)
    return several(lo, _types(node), "Loop", "", first, *carry, body=proto)


# Scans -------------------------------------------------------------------------------------


def _scan(lo: L, node: Node, *operands: str) -> tuple[str, ...]:
    """ONNX Runtime's own fails where there are no steps: then nothing is run."""
    consts, carry, sequences = scan_parts(node)
    length = sequences[0].shape[0]
    if length is None:
        length = next((x.shape[0] for x in sequences if x.shape[0] is not None), None)
    if length is not None and length > 0:
        return _steps(lo, node, operands)
    some = _positive(lo, operands[len(consts) + len(carry)], 0)
    branches = {"then_branch": branch(lo, node, operands, _steps)}
    branches["else_branch"] = branch(lo, node, operands, _nothing)
    return several(lo, _types(node), "If", some, **branches)


def branch(lo: L, node: Node, operands: Sequence[str], rule: Any) -> Body:
    """What a rule makes of the node, as a branch of a condition."""
    inner = lo.beside(Writer(lo.writer))
    return inner.writer.body([], rule(inner, node, operands), _types(node))


def _steps(lo: L, node: Node, operands: Sequence[str]) -> tuple[str, ...]:
    first, states = node.attrs["consts"], node.attrs["carry"]
    consts, rest = operands[:first], operands[first:]
    body = lo.body(node.attrs["body"], [*consts, *[None] * len(rest)])
    sequences, types = len(rest) - states, _types(node)
    stacked = [TensorType((None, *t.shape[1:]), t.dtype) for t in types[states:]]
    way = int(node.attrs["backwards"])
    ways = {"scan_input_directions": [way] * sequences}
    if stacked:
        ways["scan_output_directions"] = [way] * len(stacked)
    types = [*types[:states], *stacked]
    return several(lo, types, "Scan", *rest, body=body, num_scan_inputs=sequences, **ways)


def _nothing(lo: L, node: Node, operands: Sequence[str]) -> tuple[str, ...]:
    """The initial states, and outputs of no steps."""
    first, states = node.attrs["consts"], node.attrs["carry"]
    carry = operands[first : first + states]
    outputs = node.results[states:]
    if all(_dims(lo, y) is not None for y in outputs):
        empty = [lo.filled(0, y.dtype, [0, *(_dims(lo, y) or ())]) for y in outputs]
        return (*carry, *empty)
    return (*carry, *_tried(lo, node, operands))


def _dims(lo: L, y: Node) -> list[Any] | None:
    """The sizes of an output's slices, if they are those of something outside of the scan."""
    dims: list[Any] = []
    for axis, size in enumerate(y.shape[1:], 1):
        root = size if size is not None else lo.sizes.of(y, axis)
        if isinstance(root, tuple):
            x, at = root
            if x.primitive.name == "item" and x.operands[0] is y.operands[0]:
                return None
            root = lo.dim(x, at)
        dims.append(root)
    return dims


def _tried(lo: L, node: Node, operands: Sequence[str]) -> list[str]:
    """What one step over zeros gives, cut to none."""
    first = node.attrs["consts"] + node.attrs["carry"]
    blanks = []
    for sequence in node.operands[first:]:
        dims = [1, *lo.dims_of(sequence, range(1, len(sequence.shape)))]
        blanks.append(lo.filled(0, sequence.dtype, dims))
    tried = _steps(lo, node, [*operands[:first], *blanks])[node.attrs["carry"] :]
    zero, one = lo.ints(0), lo.ints(1)
    return [lo.op("Slice", y, zero, zero, zero, one) for y in tried]


def _positive(lo: L, x: str, axis: int) -> Any:
    """Whether a size isn't 0."""
    size = lo.op("Reshape", lo.axis(x, axis), lo.ints())
    return lo.op("Greater", size, lo.scalar(0, "int64"))


RULES: dict[str, Rule] = {
    **dict.fromkeys(("identity", "stop_gradient", "with_gradient", "check"), _same),
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}
