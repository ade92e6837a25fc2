"""The PyTorch engine's table: how each primitive is written as a line of PyTorch."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.ir.node import Node
from ...graph.primitives.constants import is_zero
from ...graph.primitives.division import divides_safely
from ...graph.primitives.linalg import is_of_matrices
from ...graph.primitives.windows import has_margins
from .._codegen import rules as shared
from .._codegen.code import LOOSE, VIEW, may_be_large
from .._codegen.emitter import Rule
from .._codegen.literal import literal, word
from .._codegen.rules import (
    along,
    axis_text,
    broadcast,
    dims_text,
    extremum,
    holes,
    unary,
)
from .._windows import has_neighbours, is_trusted
from .emitter import TorchEmitter as Emitter
from .namespace import FUNCTIONS
from .tensors import STORAGE

# Elementwise -------------------------------------------------------------------------------

# PyTorch leaves these to MKL row by row where there are gaps between rows, and MKL shares each row
# among its threads: copying the operand first takes half the time.
ROW_BY_ROW = {"exp", "log", "sqrt", "sin", "cos", "tanh"}


def _elementwise(e: Emitter, node: Node) -> None:
    if e.fused(node):
        return
    name = node.primitive.name
    args, full = e.stretched(node)
    given = holes(0, len(args))
    if name in ROW_BY_ROW and e.several_threads and _has_gaps(node.operands[0]):
        given = "{0}.contiguous()"
    e.emit(node, f"{FUNCTIONS[name]}({given}{{out}})", args, reusable=full, full=full)


def _has_gaps(node: Node) -> bool:
    """Whether a node is part of each row of another tensor: there are gaps between its rows."""
    return node.primitive.name == "slice" and node.shape[1:] != node.operands[0].shape[1:]


def _mod(e: Emitter, node: Node) -> None:
    args, _ = e.stretched(node)
    e.emit(node, "mod({0}, {1})" if node.dtype.is_float else "remainder({0}, {1})", args)


def _select(e: Emitter, node: Node) -> None:
    if e.fused(node):
        return
    args, full = e.stretched(node)
    if not node.dtype.is_bool and node.shape:
        zero = [is_zero(x) for x in node.operands]
        if zero[2] or zero[1]:
            name, x = ("keep_where", args[1]) if zero[2] else ("keep_unless", args[2])
            e.emit(node, f"{name}({{0}}, {{1}})", [args[0], x])
        else:
            e.emit(node, "choose({0}, {1}, {2})", args)
        return
    text = "where({0}, {1}, {2}{out})"
    e.emit(node, text, args, reusable=[i for i in full if i], full=full)


# Sizes and movement ------------------------------------------------------------------------


def _iota(e: Emitter, node: Node) -> None:
    axis, dtype, hole = axis_text(node), word(node.dtype), len(node.operands)
    text = f"iota({dims_text(node)}, {axis}, {dtype}, {{{hole}}})"
    e.emit(node, text, [*e.operands(node), e.constant(e.device)], LOOSE)


def _pad(e: Emitter, node: Node) -> None:
    margins = [m for pair in reversed(node.attrs["margins"]) for m in pair]
    value = node.attrs["value"]
    name = "constant_pad_nd" if all(node.shape) and not may_be_large(node) else "pad"
    e.emit(node, f"{name}({{0}}, {literal(margins)}, {{1}})", [*node.operands, e.constant(value)])


def _slice(e: Emitter, node: Node) -> None:
    if not e.split(node):
        shared.slice_(e, node)


# Reductions --------------------------------------------------------------------------------


def _axes_text(node: Node) -> str:
    axes = node.attrs["axes"]
    return "" if len(axes) == len(node.operands[0].shape) else f", {literal(axes)}"


def _sum(e: Emitter, node: Node) -> None:
    dtype = "" if node.dtype.is_float else f", dtype={word(node.dtype)}"
    e.emit(node, f"sum({{0}}{_axes_text(node)}{dtype})", node.operands)


def _reduce(function: str) -> Rule:
    return lambda e, node: e.emit(node, f"{function}({{0}}{_axes_text(node)})", node.operands)


def _position(function: str, more: str = "") -> Rule:
    """The positions of extrema; or of all elements, in sorted order."""

    def rule(e: Emitter, node: Node) -> None:
        operand = "{0}.view(uint8)" if node.operands[0].dtype.is_bool else "{0}"
        e.emit(node, f"{function}({operand}, dim={axis_text(node)}{more})", node.operands)

    return rule


# Pooling -----------------------------------------------------------------------------------


def _flat(name: str, text: str) -> Rule:
    """A rule over places in space, for nodes of `flat_pools`; others take the one over cells."""
    flat, by_cells = along(text), shared.RULES[name]
    return lambda e, node: (flat if node in e.flat_pools else by_cells)(e, node)


# Dtypes ------------------------------------------------------------------------------------


def _cast(e: Emitter, node: Node) -> None:
    """Out of range, accelerators have other integers than the processor."""
    whole = node.dtype.is_integer and node.operands[0].dtype.is_float
    text = "to_integers({0}, DTYPE)" if whole and e.device.type != "cpu" else "{0}.to(DTYPE)"
    along(text)(e, node)


# Functions of Python -----------------------------------------------------------------------


def _call(e: Emitter, node: Node) -> None:
    fixed = e.constant(node.attrs["callee"]), e.constant(e.device)
    text = f"called({holes(0, 2 + len(node.operands))})"
    e.emit(node, text, [*fixed, *node.operands], LOOSE)


RULES: dict[str, Rule] = {
    **shared.RULES,
    **dict.fromkeys(FUNCTIONS, _elementwise),
    "sign": along("sign({0})"),
    "square": unary("mul({0}, {0}{out})"),
    "is_nan": unary("isnan({0})"),
    "relu": unary("threshold({0}, 0, 0{out})"),
    # PyTorch gives x itself above a threshold; above this one log(1 + exp(x)) is x.
    "softplus": along("softplus({0}, 1.0, 80.0)"),
    "softmax": along("softmax({0}, AXIS{out})"),
    "log_softmax": along("log_softmax({0}, AXIS{out})"),
    "mod": _mod,
    "select": _select,
    "cast": _cast,
    "bitcast": along("{0}.view(DTYPE)", VIEW),
    "size": lambda e, node: e.slot(node),
    "broadcast_to": broadcast("{0}.expand(DIMS)", "expanded({0}, DIMS)"),
    "iota": _iota,
    "reverse": along("flip({0}, AXES)"),
    "pad": _pad,
    "slice": _slice,
    "reduce_sum": _sum,
    "reduce_prod": along("prod({0}, AXES, DTYPE)"),
    "reduce_max": extremum("extremum(amax, {0}, AXES, {1})"),
    "reduce_min": extremum("extremum(amin, {0}, AXES, {1})"),
    "reduce_any": _reduce("any"),
    "reduce_all": _reduce("all"),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "argsort": _position("argsort", ", stable=True"),
    "cumsum": along("cumsum({0}, AXIS, dtype=DTYPE)"),
    "cumprod": along("cumprod({0}, AXIS, dtype=DTYPE)"),
    "depthwise_conv": along("conv({0}, {1}, WINDOW, True)"),
    "depthwise_input": along("conv_input({0}, {1}, DIMS, WINDOW, True)"),
    "depthwise_kernel": along("conv_kernel({0}, {1}, WINDOW, True)"),
    "call": _call,
    "max_pool": _flat("max_pool", "flat_max_pool({0}, WINDOW, USED)"),
    "unpool": _flat("unpool", "flat_unpool({0}, {1}, DIMS)"),
    "pool_pick": _flat("pool_pick", "flat_pick({0}, {1})"),
}


def _is_even(node: Node) -> bool:
    """Whether windows are over floats, with equal margins on both sides, as PyTorch's all are."""
    even = all(low == high >= 0 for low, high in node.attrs["window"].padding)
    return bool(node.dtype.is_float) and even


def _has_kernel_adjoint(node: Node) -> bool:
    """Whether PyTorch gives the adjoint: along three axes PyTorch 2.13 leaves cells unwritten, or
    crashes, where a margin is as wide as a stride above 1, or wider.
    """
    w = node.attrs["window"]
    wide = any(low >= s > 1 for (low, _), s in zip(w.padding, w.strides, strict=True))
    return _is_even(node) and not (wide and w.rank == 3)


def _has_sums(node: Node) -> bool:
    """Whether PyTorch gives the sums: it pads by half a window at most, and a space of three axes
    must have room for the window without margins.
    """
    w, space = node.attrs["window"], node.attrs.get("space", node.operands[0].shape[1:-1])
    half = all(low <= size // 2 for size, (low, _) in zip(w.sizes, w.padding, strict=True))
    room = w.rank < 3 or all(d and d >= n for d, n in zip(space, w.sizes, strict=True))
    return _is_even(node) and ((half and room) or not has_margins(w))


HALF = ("float16", "bfloat16")
# Where the rules of some primitives hold. Older versions of PyTorch divide the least integer by -1
# as the processor does, which ends the process.
WHERE: dict[str, Callable[[Node], bool]] = {
    "call": lambda n: n.attrs["callee"].library.name == "torch",
    # Quotients of half precision are exact in single precision alone.
    "floor_div": lambda n: divides_safely(n) and n.dtype not in HALF,
    "mod": divides_safely,
    "pow": lambda n: n.dtype not in STORAGE,
    "contract": is_of_matrices,
    "conv": lambda n: _is_even(n) and is_trusted(n) and has_neighbours(n),
    "depthwise_conv": lambda n: _is_even(n) and is_trusted(n),
    **dict.fromkeys(("conv_input", "depthwise_input"), _is_even),
    "conv_kernel": lambda n: _has_kernel_adjoint(n) and has_neighbours(n),
    "depthwise_kernel": _has_kernel_adjoint,
    **dict.fromkeys(("sum_pool", "sum_unpool"), _has_sums),
}

# Dtypes that PyTorch has no kernels for (along three axes, of sums), and what carries them.
CARRIERS: dict[str, dict[str, str]] = {
    "contract": {"bool": "float32"},
    **dict.fromkeys(("sum_pool", "sum_unpool"), dict.fromkeys(HALF, "float32")),
}
