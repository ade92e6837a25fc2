"""The NumPy engine's table: how each primitive is written as a line of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir.node import Node
from .code import FRESH, LOOSE, VIEW
from .contraction import contract

if TYPE_CHECKING:
    from .engine import Emitter

Rule = Callable[["Emitter", Node], None]

# Elementwise -------------------------------------------------------------------------------

UFUNCS = {
    "neg": "negative",
    "abs": "abs",
    "sign": "sign",
    "exp": "exp",
    "expm1": "expm1",
    "log": "log",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tanh": "tanh",
    "square": "square",
    "floor": "floor",
    "ceil": "ceil",
    "round": "rint",
    "is_nan": "isnan",
    "logical_not": "logical_not",
    "bit_not": "invert",
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "floor_div": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "maximum": "maximum",
    "minimum": "minimum",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "bit_and": "bitwise_and",
    "bit_or": "bitwise_or",
    "bit_xor": "bitwise_xor",
    "shift_left": "left_shift",
    "shift_right": "right_shift",
}


ZEROS = ("0", "0.0")


def _ufunc(function: str) -> Rule:
    def rule(e: Emitter, node: Node) -> None:
        args, full = e.stretched(node)
        if all(isinstance(a, str) for a in args):
            args[0] = e.slot(node.operands[0])
        holes = ", ".join(f"{{{i}}}" for i in range(len(args)))
        same = node.operands[0].dtype == node.dtype
        dims = f"{{{full[0]}}}.shape" if full and not node.type.is_static else None
        text = f"{function}({holes}{{out}})"
        e.emit(node, text, args, reusable=full if same else (), dims=dims)

    return rule


def _function(text: str) -> Rule:
    """A unary function that may take a buffer for its result."""

    def rule(e: Emitter, node: Node) -> None:
        e.emit(node, text, node.operands, reusable=(0,) if node.shape else ())

    return rule


def _relu(e: Emitter, node: Node) -> None:
    zero = "0" if node.shape else "{0}.dtype.type(0)"  # a scalar's dtype stays, in NumPy 1, too
    _function(f"maximum({{0}}, {zero}{{out}})")(e, node)


def _minus_one_hot(e: Emitter, node: Node) -> None:
    text = f"minus_one_hot({{0}}, {{1}}, {node.attrs['axis']}{{out}})"
    e.emit(node, text, node.operands, reusable=(0,))


def _select(e: Emitter, node: Node) -> None:
    if not node.shape:
        e.emit(node, "({1} if {0} else {2})", node.operands, LOOSE)
        return
    args, _ = e.stretched(node)
    if isinstance(args[1], str) and isinstance(args[2], str):
        args[1] = e.slot(node.operands[1])
    if isinstance(args[0], int) and args[2] in ZEROS:
        e.emit(node, "keep_where({0}, {1})", args[:2])
    elif isinstance(args[0], int) and args[1] in ZEROS:
        e.emit(node, "keep_unless({0}, {1})", [args[0], args[2]])
    else:
        e.emit(node, "where({0}, {1}, {2})", args)


def _cast(e: Emitter, node: Node) -> None:
    (x,) = node.operands
    e.emit(node, f"{{0}}.astype('{node.dtype}')", [x])


# Sizes and movement ------------------------------------------------------------------------


def _runtime_dims(e: Emitter, node: Node, first: int) -> tuple[str, list[Node]]:
    """The text of an attribute `shape` whose Nones are operands from number `first` on."""
    sizes = node.operands[first:]
    texts = iter(range(first, len(node.operands)))
    shape = node.attrs["shape"]
    parts = [f"{{{next(texts)}}}" if d is None else str(d) for d in shape]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})", list(sizes)


def _size(e: Emitter, node: Node) -> None:
    e.emit(node, f"int32({{0}}.shape[{node.attrs['axis']}])", node.operands)


def _reshape(e: Emitter, node: Node) -> None:
    text, _ = _runtime_dims(e, node, 1)
    e.emit(node, f"{{0}}.reshape({text})", node.operands, VIEW)


def _broadcast(e: Emitter, node: Node) -> None:
    text, _ = _runtime_dims(e, node, 1)
    e.emit(node, f"broadcast_to({{0}}, {text})", node.operands, LOOSE)


def _iota(e: Emitter, node: Node) -> None:
    text, _ = _runtime_dims(e, node, 0)
    e.emit(node, f"iota({text}, {node.attrs['axis']}, '{node.dtype}')", node.operands)


def _transpose(e: Emitter, node: Node) -> None:
    perm = node.attrs["perm"]
    text = "{0}.T" if perm == (1, 0) else f"{{0}}.transpose({perm})"
    e.emit(node, text, node.operands, VIEW)


def _index_text(windows: Any) -> str:
    parts = [
        f"{'' if a is None else a}:{'' if b is None else b}{'' if s == 1 else f':{s}'}"
        for a, b, s in windows
    ]
    while len(parts) > 1 and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts)


def _slice(e: Emitter, node: Node) -> None:
    e.emit(node, f"{{0}}[{_index_text(node.attrs['windows'])}]", node.operands, VIEW)


def _unslice(e: Emitter, node: Node) -> None:
    text, _ = _runtime_dims(e, node, 1)
    index = e.constant(tuple(slice(*w) for w in node.attrs["windows"]))
    hole = len(node.operands)
    e.emit(node, f"unslice({{0}}, {text}, {{{hole}}})", [*node.operands, index])


def _reverse(e: Emitter, node: Node) -> None:
    axes = node.attrs["axes"]
    index = ", ".join("::-1" if i in axes else ":" for i in range(len(node.shape))) or "()"
    e.emit(node, f"{{0}}[{index}]", node.operands, VIEW)


def _pad(e: Emitter, node: Node) -> None:
    value = e.constant(node.attrs["value"])
    e.emit(node, f"pad({{0}}, {node.attrs['margins']}, {{1}})", [*node.operands, value])


def _concatenate(e: Emitter, node: Node) -> None:
    holes = ", ".join(f"{{{i}}}" for i in range(len(node.operands)))
    e.emit(node, f"concatenate(({holes}), {node.attrs['axis']}{{out}})", node.operands)


# Reductions --------------------------------------------------------------------------------


def _axes_text(node: Node) -> str:
    axes, rank = node.attrs["axes"], len(node.operands[0].shape)
    if len(axes) == rank:
        return "None"
    return str(axes[0]) if len(axes) == 1 else str(axes)


def _reduce(ufunc: str, dtype: bool) -> Rule:
    def rule(e: Emitter, node: Node) -> None:
        tail = f", '{node.dtype}'" if dtype else ""
        e.emit(node, f"{ufunc}.reduce({{0}}, {_axes_text(node)}{tail})", node.operands)

    return rule


def _along(text: str) -> Rule:
    """A function of the operands and the attribute `axis`."""

    def rule(e: Emitter, node: Node) -> None:
        axis, dtype = node.attrs.get("axis"), node.dtype
        e.emit(node, text.replace("AXIS", str(axis)).replace("DTYPE", dtype), node.operands)

    return rule


def _sized(name: str) -> Rule:
    """Adjoints of indexing: the size is an attribute or the third operand."""

    def rule(e: Emitter, node: Node) -> None:
        size = "{2}" if node.attrs["size"] is None else str(node.attrs["size"])
        e.emit(node, f"{name}({{0}}, {{1}}, {size}, {node.attrs['axis']})", node.operands)

    return rule


# Control -----------------------------------------------------------------------------------


def _holes(first: int, count: int) -> str:
    return ", ".join(f"{{{i}}}" for i in range(first, first + count))


def _item(e: Emitter, node: Node) -> None:
    """A scan's stacked outputs are its own; other results may share memory with operands."""
    (producer,), index = node.operands, node.attrs["index"]
    stacked = producer.primitive.name == "scan" and index >= producer.attrs["carry"]
    e.emit(node, f"{{0}}[{index}]", node.operands, FRESH if stacked else VIEW)


def _same(e: Emitter, node: Node) -> None:
    e.emit(node, "{0}", [node.operands[0]], VIEW)


def _check(e: Emitter, node: Node) -> None:
    message = e.constant(node.attrs["message"])
    e.emit(node, "check({0}, {1}, {2})", [*node.operands, message], VIEW)


def _cond(e: Emitter, node: Node) -> None:
    count = len(node.operands) - 1
    branches = [e.body(node.attrs["then"]), e.body(node.attrs["otherwise"])]
    holes = _holes(1, count)
    text = f"({{{count + 1}}}({holes}) if {{0}} else {{{count + 2}}}({holes}))"
    e.emit(node, text, [*node.operands, *branches], LOOSE)


def _parts(node: Node, *counts: int) -> str:
    texts, first = [], 0
    for count in counts:
        holes = _holes(first, count)
        texts.append(f"({holes}{',' if count == 1 else ''})")
        first += count
    return ", ".join(texts)


def _scan(e: Emitter, node: Node) -> None:
    c, k, total = node.attrs["consts"], node.attrs["carry"], len(node.operands)
    step = e.body(node.attrs["body"])
    parts = _parts(node, c, k, total - c - k)
    outputs = [y.type for y in node.attrs["body"].outputs[k:]]
    made = [(t.shape, str(t.dtype)) for t in outputs] if all(t.is_static for t in outputs) else None
    text = f"scan({{{total}}}, {parts}, {node.attrs['backwards']}, {made})"
    e.emit(node, text, [*node.operands, step], LOOSE)


def _while(e: Emitter, node: Node) -> None:
    c, total = node.attrs["consts"], len(node.operands)
    bodies = [e.body(node.attrs["condition"]), e.body(node.attrs["body"])]
    text = f"while_loop({{{total}}}, {{{total + 1}}}, {_parts(node, c, total - c)})"
    e.emit(node, text, [*node.operands, *bodies], LOOSE)


# Windows -----------------------------------------------------------------------------------


def _windowed(text: str) -> Rule:
    """A kernel of engines.numpy.windows: WINDOW, MOVES and SPACE stand for attributes."""

    def rule(e: Emitter, node: Node) -> None:
        w = node.attrs["window"]
        full = f"{w.strides}, {w.padding}, {w.dilation}"
        line = text.replace("WINDOW", f"{w.sizes}, {w.strides}, {w.padding}")
        line = line.replace("MOVES", full).replace("DILATION", str(w.dilation))
        line = line.replace("SIZES", str(w.sizes))
        if "space" in node.attrs:
            sizes = iter(range(len(node.operands)))
            known = len([d for d in node.attrs["space"] if d is None])
            sizes = iter(range(len(node.operands) - known, len(node.operands)))
            dims = [f"{{{next(sizes)}}}" if d is None else str(d) for d in node.attrs["space"]]
            line = line.replace("SPACE", f"({', '.join(dims)},)")
        e.emit(node, line, node.operands)

    return rule


def _max_pool(e: Emitter, node: Node) -> None:
    w = node.attrs["window"]
    need = e.is_used(node.results[1])
    text = f"max_pool({{0}}, {w.sizes}, {w.strides}, {w.padding}, {need})"
    e.emit(node, text, node.operands)


# Random numbers, decoding ------------------------------------------------------------------


def _random_bits(e: Emitter, node: Node) -> None:
    text, _ = _runtime_dims(e, node, 1)
    e.emit(node, f"random_bits({{0}}, int(prod({text}))).reshape({text})", node.operands)


def _sparse_to_dense(e: Emitter, node: Node) -> None:
    text, _ = _runtime_dims(e, node, 2)
    e.emit(node, f"sparse_to_dense({{0}}, {{1}}, {text})", node.operands)


def _sparse_dot(e: Emitter, node: Node) -> None:
    rows = node.attrs["rows"]
    size = "{3}" if rows is None else rows
    e.emit(node, f"sparse_dot({{0}}, {{1}}, {{2}}, {size})", node.operands)


def _greedy(e: Emitter, node: Node) -> None:
    e.emit(node, "greedy_decode({0}, {1})", node.operands)


def _beam_search(e: Emitter, node: Node) -> None:
    width, paths = node.attrs["beam_width"], node.attrs["top_paths"]
    text = f"(lambda r: (*r[0], r[1]))(beam_search({{0}}, {{1}}, {width}, {paths}))"
    e.emit(node, text, node.operands)


RULES: dict[str, Rule] = {
    **{name: _ufunc(function) for name, function in UFUNCS.items()},
    "relu": _relu,
    "sigmoid": _function("sigmoid({0}{out})"),
    "softplus": _function("softplus({0})"),
    "softmax": _along("softmax({0}, AXIS)"),
    "log_softmax": _along("log_softmax({0}, AXIS)"),
    "softmax_crossentropy": _along("softmax_crossentropy({0}, {1}, {2}, AXIS)"),
    "sparse_softmax_crossentropy": _along("sparse_softmax_crossentropy({0}, {1}, {2}, AXIS)"),
    "minus_one_hot": _minus_one_hot,
    "select": _select,
    "cast": _cast,
    "bitcast": _along("{0}.view('DTYPE')"),
    "size": _size,
    "reshape": _reshape,
    "broadcast_to": _broadcast,
    "iota": _iota,
    "transpose": _transpose,
    "slice": _slice,
    "unslice": _unslice,
    "reverse": _reverse,
    "pad": _pad,
    "concatenate": _concatenate,
    "reduce_sum": _reduce("add", dtype=True),
    "reduce_prod": _reduce("multiply", dtype=True),
    "reduce_max": _reduce("maximum", dtype=False),
    "reduce_min": _reduce("minimum", dtype=False),
    "reduce_any": _reduce("logical_or", dtype=False),
    "reduce_all": _reduce("logical_and", dtype=False),
    "argmax": _along("argmax({0}, AXIS)"),
    "argmin": _along("argmin({0}, AXIS)"),
    "argsort": _along("argsort({0}, AXIS, kind='stable')"),
    "cumsum": _along("cumsum({0}, AXIS, 'DTYPE')"),
    "cumprod": _along("cumprod({0}, AXIS, 'DTYPE')"),
    "linear_scan": _along("linear_scan({0}, {1}, AXIS)"),
    "gather": _along("gather({0}, {1}, AXIS)"),
    "take_along": _along("take_along({0}, {1}, AXIS)"),
    "scatter_add": _sized("scatter_add"),
    "put_along": _sized("put_along"),
    "nonzero": _along("argwhere({0})"),
    "contract": contract,
    "item": _item,
    "identity": _same,
    "stop_gradient": _same,
    "with_gradient": _same,
    "check": _check,
    "cond": _cond,
    "scan": _scan,
    "while": _while,
    "patches": _windowed("patches({0}, WINDOW, DILATION)"),
    "fold": _windowed("fold({0}, SPACE, WINDOW, DILATION)"),
    "conv_input": _windowed("conv_input({0}, {1}, SPACE, SIZES, MOVES)"),
    "max_pool": _max_pool,
    "unpool": _windowed("unpool({0}, {1}, SPACE, WINDOW)"),
    "pool_pick": _windowed("pool_pick({0}, {1}, WINDOW)"),
    "sum_pool": _windowed("sum_pool({0}, WINDOW)"),
    "sum_unpool": _windowed("sum_pool_grad({0}, SPACE, WINDOW)"),
    "depthwise_conv": _windowed("depthwise_conv({0}, {1}, MOVES)"),
    "depthwise_input": _windowed("depthwise_conv_input_grad({0}, {1}, SPACE, MOVES)"),
    "depthwise_kernel": _windowed("depthwise_conv_kernel_grad({0}, {1}, SIZES, MOVES)"),
    "random_bits": _random_bits,
    "random_fold": _along("fold_in({0}, {1})"),
    "normal_quantile": _function("normal_quantile({0})"),
    "sparse_to_dense": _sparse_to_dense,
    "sparse_dense_dot": _sparse_dot,
    "ctc_greedy": _greedy,
    "ctc_beam_search": _beam_search,
}
