"""The NumPy engine's table: how each primitive is written as a line of NumPy."""

from __future__ import annotations

from ...graph.ir.node import Node
from .._codegen import rules as shared
from .._codegen.code import LOOSE, VIEW
from .._codegen.emitter import Emitter, Rule
from .._codegen.literal import literal
from .._codegen.rules import along, broadcast, extremum, holes, unary
from .namespace import UFUNCS

# Elementwise -------------------------------------------------------------------------------

# NumPy 2.4 gives wrong numbers where these functions write to elements that don't lie one behind
# another, as those of a part of an array.
NOT_IN_PLACE = frozenset(("negative",))


def _ufunc(function: str) -> Rule:
    def rule(e: Emitter, node: Node) -> None:
        args, full = e.stretched(node)
        if all(isinstance(a, str) for a in args):
            args[0] = e.slot(node.operands[0])
        fits = node.operands[0].dtype == node.dtype and function not in NOT_IN_PLACE
        text = f"{function}({holes(0, len(args))}{{out}})"
        e.emit(node, text, args, reusable=full if fits else (), full=full)

    return rule


def _relu(e: Emitter, node: Node) -> None:
    # Of -0 and 0 NumPy takes the second one, but of half precision the first.
    zero = "0" if node.shape else "{0}.dtype.type(0)"  # for NumPy 1, in CNTK's process
    given = f"{zero}, {{0}}" if node.dtype == "float16" else f"{{0}}, {zero}"
    unary(f"maximum({given}{{out}})")(e, node)


def _select(e: Emitter, node: Node) -> None:
    if not node.shape:
        e.emit(node, "({1} if {0} else {2})", node.operands, LOOSE)
        return
    args, _ = e.stretched(node)
    if isinstance(args[1], str) and isinstance(args[2], str):
        args[1] = e.slot(node.operands[1])
    e.emit(node, "where({0}, {1}, {2})", args)


# Movement ------------------------------------------------------------------------


def _reverse(e: Emitter, node: Node) -> None:
    axes = node.attrs["axes"]
    index = ", ".join("::-1" if i in axes else ":" for i in range(len(node.shape))) or "()"
    e.emit(node, f"{{0}}[{index}]", node.operands, VIEW)


def _pad(e: Emitter, node: Node) -> None:
    value = e.constant(node.attrs["value"])
    e.emit(node, f"pad({{0}}, {literal(node.attrs['margins'])}, {{1}})", [*node.operands, value])


# Functions of Python -------------------------------------------------------------------


def _call(e: Emitter, node: Node) -> None:
    """A function of Python, over NumPy arrays."""
    count = len(node.operands)
    function = e.constant(node.attrs["callee"].on_host)
    e.emit(node, f"{{{count}}}({holes(0, count)})", [*node.operands, function])


RULES: dict[str, Rule] = {
    **shared.RULES,
    **{name: _ufunc(function) for name, function in UFUNCS.items()},
    "relu": _relu,
    "sigmoid": unary("sigmoid({0}{out})"),
    "softplus": unary("softplus({0})"),
    "softmax": along("softmax({0}, AXIS)"),
    "log_softmax": along("log_softmax({0}, AXIS)"),
    "select": _select,
    "cast": along("{0}.astype('DTYPE')"),
    "bitcast": along("{0}.view('DTYPE')", VIEW),
    "size": along("int32({0}.shape[AXIS])"),
    "broadcast_to": broadcast("broadcast_to({0}, DIMS)"),
    "iota": along("iota(DIMS, AXIS, 'DTYPE')"),
    "product_of_others": along("product_of_others({0}, AXES)"),
    "cumprod_slope": along("cumprod_slope({0}, {1}, AXIS)"),
    "reverse": _reverse,
    "pad": _pad,
    "reduce_sum": along("add.reduce({0}, AXES, 'DTYPE')"),
    "reduce_prod": along("multiply.reduce({0}, AXES, 'DTYPE')"),
    "reduce_max": extremum("maximum.reduce({0}, AXES, initial={1})"),
    "reduce_min": extremum("minimum.reduce({0}, AXES, initial={1})"),
    "reduce_any": along("logical_or.reduce({0}, AXES)"),
    "reduce_all": along("logical_and.reduce({0}, AXES)"),
    "argmax": along("argmax({0}, AXIS)"),
    "argmin": along("argmin({0}, AXIS)"),
    "argsort": along("argsort({0}, AXIS, kind='stable')"),
    "cumsum": along("cumsum({0}, AXIS, 'DTYPE')"),
    "cumprod": along("cumprod({0}, AXIS, 'DTYPE')"),
    "depthwise_conv": along("depthwise_conv({0}, {1}, WINDOW)"),
    "depthwise_input": along("depthwise_input({0}, {1}, DIMS, WINDOW)"),
    "depthwise_kernel": along("depthwise_kernel({0}, {1}, WINDOW)"),
    "sparse_to_dense": along("sparse_to_dense({0}, {1}, DIMS)"),
    "call": _call,
}
