"""Control: conditions, loops, scans, and identity-like annotations.

Bodies are closed graphs (`graph.ir.program.Graph`); whatever they need is an operand.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DTypeError, GraphError, ShapeError
from ..ir.node import Node, Primitive
from ..ir.program import Graph
from ..ir.types import BOOL, TensorType, join_shapes

identity = Primitive(
    "identity",
    lambda x: x.type,
    "x",
    title="Identity",
    accuracy="moved",
    passes=slice(1),
    may_alias=True,
)
stop_gradient = Primitive(
    "stop_gradient",
    lambda x: x.type,
    "x, taken as constant by gradients",
    accuracy="moved",
    passes=slice(1),
    may_alias=True,
)


def _infer_check(x: Node, holds: Node, *, message: str) -> TensorType:
    if not holds.dtype.is_bool:
        raise DTypeError(f"check: the condition must be bool, not {holds.dtype}")
    return x.type


check = Primitive(
    "check",
    _infer_check,
    "x; an error with `message` where not all of `holds` is true",
    accuracy="moved",
    may_alias=True,
)


with_gradient = Primitive(
    "with_gradient",
    lambda y, *xs, rule: y.type,
    "y; its cotangent goes to xs through `rule`, not to y",
    accuracy="moved",
    passes=slice(1),
    may_alias=True,
)


# Conditions --------------------------------------------------------------------------------


def joined_type(a: TensorType, b: TensorType, what: str) -> TensorType:
    """The most specific of two types that must be equal."""
    if a.dtype != b.dtype:
        raise DTypeError(f"{what}: dtypes {a.dtype} and {b.dtype} differ; K.cast one")
    return TensorType(join_shapes(a.shape, b.shape, what), a.dtype)


def loosened(a: TensorType, b: TensorType, what: str) -> TensorType:
    """What is true of both types: sizes that differ are unknown."""
    if a.dtype != b.dtype or len(a.shape) != len(b.shape):
        raise ShapeError(f"{what}: the branches give {a} and {b}; they must agree")
    dims = tuple(x if x == y else None for x, y in zip(a.shape, b.shape, strict=True))
    return TensorType(dims, a.dtype)


def check_body(what: str, body: Graph, given: Sequence[TensorType]) -> None:
    """Check that the parameters of a body have the types that it's given."""
    if len(body.inputs) != len(given):
        raise GraphError(f"{what}: a body of {len(body.inputs)} inputs is given {len(given)}")
    for x, type in zip(body.inputs, given, strict=True):
        joined_type(x.type, type, what)


def _infer_cond(
    condition: Node, *operands: Node, then: Graph, otherwise: Graph
) -> tuple[TensorType, ...]:
    if not condition.dtype.is_bool or condition.shape != ():
        raise ShapeError(f"cond: the condition must be a bool scalar, not {condition!r}")
    for branch in (then, otherwise):
        check_body("cond", branch, [x.type for x in operands])
    pairs = zip(then.outputs, otherwise.outputs, strict=True)
    return tuple(loosened(a.type, b.type, "cond") for a, b in pairs)


cond = Primitive(
    "cond",
    _infer_cond,
    "the outputs of `then` where the condition holds, else those of `otherwise`; one is run",
    title="cond",
    bodies=("then", "otherwise"),
    accuracy="moved",
    may_alias=True,
)


# Loops -------------------------------------------------------------------------------------


def _infer_while(
    *operands: Node, condition: Graph, body: Graph, consts: int
) -> tuple[TensorType, ...]:
    carry = operands[consts:]
    for graph in (condition, body):
        check_body("while_loop", graph, [x.type for x in operands])
    if [y.type for y in condition.outputs] != [TensorType((), BOOL)]:
        raise GraphError("while_loop: the condition must give one bool scalar")
    return tuple(
        joined_type(x.type, new.type, "while_loop")
        for x, new in zip(carry, body.outputs, strict=True)
    )


while_ = Primitive(
    "while",
    _infer_while,
    "runs `body` on the carry while `condition` holds; both get the first `consts` operands, too",
    title="while",
    bodies=("condition", "body"),
    accuracy="moved",
    may_alias=True,
)


def scan_parts(node: Node) -> tuple[Sequence[Node], Sequence[Node], Sequence[Node]]:
    """Operands of a scan: constants, initial carry, sequences."""
    c, k = node.attrs["consts"], node.attrs["carry"]
    operands = node.operands
    return operands[:c], operands[c : c + k], operands[c + k :]


def _infer_scan(
    *operands: Node, body: Graph, consts: int, carry: int, backwards: bool
) -> tuple[TensorType, ...]:
    initial, sequences = operands[consts : consts + carry], operands[consts + carry :]
    length = None
    if not sequences:
        raise GraphError("scan: without a sequence nothing tells the number of steps")
    for x in sequences:
        (length,) = join_shapes((length,), x.shape[:1], "scan: sequences")
    slices = [TensorType(x.shape[1:], x.dtype) for x in sequences]
    check_body("scan", body, [*(x.type for x in operands[: consts + carry]), *slices])
    states = [
        joined_type(x.type, new.type, "scan: the state before and after a step")
        for x, new in zip(initial, body.outputs[:carry], strict=True)
    ]
    stacked = [TensorType((length, *y.shape), y.dtype) for y in body.outputs[carry:]]
    return (*states, *stacked)


scan = Primitive(
    "scan",
    _infer_scan,
    "runs `body` (constants, carry, one slice of each sequence along axis 0) -> (new carry,"
    " outputs) in order, or `backwards`; gives the last carry and the stacked outputs",
    title="scan",
    bodies=("body",),
    accuracy="moved",
    may_alias=True,
)


def run_scan(
    body: Graph,
    consts: Sequence[Node],
    carry: Sequence[Node],
    sequences: Sequence[Node],
    backwards: bool = False,
) -> tuple[list[Node], list[Node]]:
    """A scan's last carry and its stacked outputs."""
    node = scan(
        *consts, *carry, *sequences,
        body=body, consts=len(consts), carry=len(carry), backwards=backwards,
    )  # fmt: skip
    results = list(node.results)
    return results[: len(carry)], results[len(carry) :]
