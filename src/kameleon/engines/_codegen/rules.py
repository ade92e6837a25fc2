"""Rules whose lines read the same in every library, and words of which rules are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...graph.ir.node import Node
from ...graph.passes.extrema import EXTREMES
from ...graph.primitives.linalg import lie_transposed
from ...graph.primitives.movement import computed_sizes, keeps_shape
from ...graph.primitives.sizes import stated_dims
from .code import FRESH, LOOSE, VIEW
from .emitter import Emitter, Rule
from .literal import literal, quoted, word

# Words -------------------------------------------------------------------------------------


def _size_texts(node: Node) -> list[str]:
    """The texts of the sizes that a node states (`stated_dims`): numbers, or operands."""
    dims = stated_dims(node)
    operands = iter(range(node.primitive.first_size or 0, len(node.operands)))
    return [literal(d) if isinstance(d, int) else f"{{{next(operands)}}}" for d in dims]


def dims_text(node: Node) -> str:
    """The text of these sizes, as a tuple."""
    parts = _size_texts(node)
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def axis_text(node: Node) -> str:
    """The text of the attribute `axis`."""
    return literal(node.attrs["axis"])


def index_text(windows: Any) -> str:
    """What stands in brackets for slices (start, stop, step) of all axes."""
    parts = [f"{_bound(a)}:{_bound(b)}{'' if s == 1 else f':{literal(s)}'}" for a, b, s in windows]
    while len(parts) > 1 and parts[-1] == ":":
        parts.pop()
    return ", ".join(parts)


def _bound(index: int | None) -> str:
    return "" if index is None else literal(index)


def holes(first: int, count: int) -> str:
    """`count` operands, from number `first` on."""
    return ", ".join(f"{{{i}}}" for i in range(first, first + count))


def _tuples(*counts: int) -> str:
    """All operands, as tuples of so many each."""
    texts, first = [], 0
    for count in counts:
        texts.append(f"({holes(first, count)}{',' if count == 1 else ''})")
        first += count
    return ", ".join(texts)


# Makers of rules ---------------------------------------------------------------------------


# What words in lines stand for.
WORDS: dict[str, Callable[[Emitter, Node], str]] = {
    "AXIS": lambda e, node: axis_text(node),
    "AXES": lambda e, node: literal(node.attrs["axes"]),
    "DTYPE": lambda e, node: word(node.dtype),
    "DIMS": lambda e, node: dims_text(node),
    "SIZE": lambda e, node: _size_texts(node)[0],
    "WIDTH": lambda e, node: literal(node.attrs["beam_width"]),
    "PATHS": lambda e, node: literal(node.attrs["top_paths"]),
    "WINDOW": lambda e, node: literal(tuple(node.attrs["window"])),
    "USED": lambda e, node: literal(e.is_used(node.results[1])),  # does anybody ask for it?
}


def along(text: str, kind: str = FRESH) -> Rule:
    """A function of the operands; `WORDS` stand for attributes."""
    words = [name for name in WORDS if name in text]

    def rule(e: Emitter, node: Node) -> None:
        line = text
        for name in words:
            line = line.replace(name, WORDS[name](e, node))
        e.emit(node, line, e.operands(node), kind)

    return rule


def extremum(text: str) -> Rule:
    """A maximum or minimum over AXES: {1} stands for what it's of no elements."""

    def rule(e: Emitter, node: Node) -> None:
        of_none = e.constant(EXTREMES[node.primitive.name](node.dtype))
        line = text.replace("AXES", literal(node.attrs["axes"]))
        e.emit(node, line, [*node.operands, of_none])

    return rule


def unary(text: str) -> Rule:
    """A function of one operand that may take its buffer for the result."""

    def rule(e: Emitter, node: Node) -> None:
        e.emit(node, text, node.operands, reusable=(0,) if node.shape else ())

    return rule


def guarded(plain: Rule, checked: Rule) -> Rule:
    """One of two rules: `checked` where sizes are computed, which may be none."""
    return lambda e, node: (checked if computed_sizes(node) else plain)(e, node)


def broadcast(text: str, checked: str = "") -> Rule:
    """A function of the operand and the sizes, DIMS; none is called where these are its own."""
    stretch = guarded(along(text, LOOSE), along(checked or text, LOOSE))
    return lambda e, node: (same if keeps_shape(node) else stretch)(e, node)


def minus_one_hot(e: Emitter, node: Node) -> None:
    text = f"minus_one_hot({{0}}, {{1}}, {axis_text(node)}{{out}})"
    e.emit(node, text, node.operands, reusable=(0,))


# Movement ----------------------------------------------------------------------------------


def concatenate(e: Emitter, node: Node) -> None:
    given = holes(0, len(node.operands))
    e.emit(node, f"concatenate(({given}), {axis_text(node)}{{out}})", node.operands)


def transpose(e: Emitter, node: Node) -> None:
    perm = node.attrs["perm"]
    text = "{0}.T" if perm == (1, 0) else f"{{0}}.{e.transpose}({literal(perm)})"
    e.emit(node, text, node.operands, VIEW)


def slice_(e: Emitter, node: Node) -> None:
    e.emit(node, f"{{0}}[{index_text(node.attrs['windows'])}]", node.operands, VIEW)


def unslice(e: Emitter, node: Node) -> None:
    index = e.constant(tuple(slice(*w) for w in node.attrs["windows"]))
    hole = len(node.operands)
    text = f"unslice({{0}}, {dims_text(node)}, {{{hole}}})"
    e.emit(node, text, [*e.operands(node), index])


# Products ----------------------------------------------------------------------------------


class Factors(NamedTuple):
    """The texts of the two factors of a product of matrices, or of batches of them, and of the
    shape of the product.
    """

    left: str
    right: str
    dims: str


def factors(e: Emitter, node: Node, hole: int = 0) -> Factors:
    """Those of a contraction `of_matrices`, whose operands are numbered from `hole` on."""
    lead, flips = len(node.attrs["batch"][0]), lie_transposed(node)
    turn = f".{e.transpose}({literal((*range(lead), lead + 1, lead))})" if lead else ".T"
    left, right = (f"{{{i}}}{turn if flip else ''}" for i, flip in enumerate(flips, hole))
    axes = [(hole, i) for i in (*range(lead), lead + flips[0])]
    axes.append((hole + 1, lead + (not flips[1])))
    sizes = [
        f"{{{x}}}.shape[{axis}]" if d is None else literal(d)
        for (x, axis), d in zip(axes, node.shape, strict=True)
    ]
    return Factors(left, right, f"({', '.join(sizes)})")


def contract(e: Emitter, node: Node) -> None:
    """By the function that `e.product` names."""
    made = factors(e, node)
    text = f"{e.product(node)}({made.left}, {made.right}{{out}})"
    e.emit(node, text, node.operands, dims=made.dims)


# Control -----------------------------------------------------------------------------------


def item(e: Emitter, node: Node) -> None:
    """A scan's stacked outputs share no memory, but for views of one stack, nor do the results of a
    function of Python; other results may share memory with operands."""
    (producer,), index = node.operands, node.attrs["index"]
    stacked = producer.primitive.name == "scan" and index >= producer.attrs["carry"]
    fresh = stacked or producer.primitive.name == "call"
    same = [n for n in stacking(producer).beside(index) if e.is_made(n)] if stacked else []
    if same:
        e.emit(node, f"{{1}}[{literal(index)}]", [same[0], producer], VIEW)
    else:
        e.emit(node, f"{{0}}[{literal(index)}]", node.operands, FRESH if fresh else VIEW)


def same(e: Emitter, node: Node) -> None:
    e.emit(node, "{0}", [node.operands[0]], VIEW)


def check(e: Emitter, node: Node) -> None:
    message = e.constant(node.attrs["message"])
    e.emit(node, "check({0}, {1}, {2})", [*node.operands, message], VIEW)


def cond(e: Emitter, node: Node) -> None:
    count = len(node.operands) - 1
    branches = [e.body(node.attrs["then"]), e.body(node.attrs["otherwise"])]
    given = holes(1, count)
    text = f"({{{count + 1}}}({given}) if {{0}} else {{{count + 2}}}({given}))"
    e.emit(node, text, [*node.operands, *branches], LOOSE)


class Stacking(NamedTuple):
    """What a scan stacks, and how its outputs are made of these stacks.

    The state before a step is the state that the step before gave: outputs with the states before
    and after each step are views of one stack, which has a row more, for the initial state.

    Attributes:
        node: the scan.
        given: nodes of the body that a step gives beside the carry; each has a stack.
        initial: for each stack the number of the state that its additional row has, or None.
        views: for each output the number of its stack, and whether it's the state before each step.
    """

    node: Node
    given: list[Node]
    initial: list[int | None]
    views: list[tuple[int, bool]]

    def beside(self, index: int) -> list[Node]:
        """The results of the scan that share memory with the one of this number."""
        k = self.node.attrs["carry"]
        stack = self.views[index - k][0]
        numbers = [i for i, view in enumerate(self.views, k) if view[0] == stack and i != index]
        return [self.node.results[i] for i in numbers]


def stacking(node: Node) -> Stacking:
    """See `Stacking`; `node` is a scan."""
    c, k, body = node.attrs["consts"], node.attrs["carry"], node.attrs["body"]
    before = {x: i for i, x in enumerate(body.inputs[c : c + k])}
    outputs = body.outputs[k:]
    initial: list[int | None] = [before[y] for y in dict.fromkeys(outputs) if y in before]
    given = [body.outputs[i] for i in initial]
    stack = {y: n for n, y in enumerate(given)}
    for y in outputs:
        if y not in before and y not in stack:
            stack[y] = len(given)
            given.append(y)
            initial.append(None)
    views = [
        (initial.index(before[y]), True) if y in before else (stack[y], False) for y in outputs
    ]
    return Stacking(node, given, initial, views)


def scan(e: Emitter, node: Node) -> None:
    """A step may write what is stacked into its place. The last carry may share memory with the
    initial one (after no steps), and with what a step passes on as it is."""
    c, k, total = node.attrs["consts"], node.attrs["carry"], len(node.operands)
    body, stacks = node.attrs["body"], stacking(node)
    step = body.to([*body.outputs[:k], *stacks.given])
    code = e.inner(step, len(stacks.given)).run(own_outputs=False, into=k)
    states = [code.group(y) for y in code.outputs[:k]]
    shares = [i for i in range(total) if c <= i < c + k or code.group(i) in states]
    passed = [i for i, group in enumerate(states) if group in map(code.group, range(c, c + k))]
    outputs = [y.type for y in body.outputs[k:]]
    made = ", ".join(f"({literal(t.shape)}, {quoted(t.dtype)})" for t in outputs)
    made = f"[{made}]" if all(t.is_static for t in outputs) else "None"
    parts = _tuples(c, k, total - c - k)
    how = literal([node.attrs["backwards"], stacks.initial, stacks.views, passed])[1:-1]
    text = f"scan({{{total}}}, {parts}, {how}, {made})"
    consts = [e.held(x, p, body) for x, p in zip(node.operands[:c], body.inputs, strict=False)]
    function = e.constant(e.function(code))
    e.emit(node, text, [*consts, *node.operands[c:], function], LOOSE, shares=shares)


def while_(e: Emitter, node: Node) -> None:
    c, total = node.attrs["consts"], len(node.operands)
    bodies = [e.body(node.attrs["condition"]), e.body(node.attrs["body"])]
    text = f"while_loop({{{total}}}, {{{total + 1}}}, {_tuples(c, total - c)})"
    e.emit(node, text, [*node.operands, *bodies], LOOSE)


RULES: dict[str, Rule] = {
    "reshape": guarded(along("{0}.reshape(DIMS)", VIEW), along("reshaped({0}, DIMS)", VIEW)),
    "transpose": transpose,
    "concatenate": concatenate,
    "slice": slice_,
    "unslice": unslice,
    "linear_scan": along("linear_scan({0}, {1}, AXIS)"),
    "minus_one_hot": minus_one_hot,
    "sparse_softmax_crossentropy": along("sparse_softmax_crossentropy({0}, {1}, {2}, AXIS)"),
    "gather": along("gather({0}, {1}, AXIS)"),
    "take_along": along("take_along({0}, {1}, AXIS)"),
    "scatter_add": along("scatter_add({0}, {1}, SIZE, AXIS)"),
    "put_along": along("put_along({0}, {1}, SIZE, AXIS)"),
    "one_hot": along("one_hot({0}, SIZE, 'DTYPE')"),
    "sparse_dense_dot": along("sparse_dot({0}, {1}, {2}, SIZE)"),
    "nonzero": along("argwhere({0})"),
    "contract": contract,
    "item": item,
    "identity": same,
    "stop_gradient": same,
    "with_gradient": same,
    "check": check,
    "cond": cond,
    "scan": scan,
    "while": while_,
    "conv": along("conv({0}, {1}, WINDOW)"),
    "conv_input": along("conv_input({0}, {1}, DIMS, WINDOW)"),
    "conv_kernel": along("conv_kernel({0}, {1}, WINDOW)"),
    "patches": along("patches({0}, WINDOW)"),
    "fold": along("fold({0}, DIMS, WINDOW)"),
    "max_pool": along("max_pool({0}, WINDOW, USED)"),
    "unpool": along("unpool({0}, {1}, DIMS, WINDOW)"),
    "pool_pick": along("pool_pick({0}, {1}, WINDOW)"),
    "sum_pool": along("sum_pool({0}, WINDOW)"),
    "sum_unpool": along("sum_unpool({0}, DIMS, WINDOW)"),
    "random_bits": along("random_bits({0}, DIMS)"),
    "random_fold": along("fold_in({0}, {1})"),
    "ctc_greedy": along("greedy_decode({0}, {1})"),
    "ctc_beam_search": along("beam_search({0}, {1}, WIDTH, PATHS)"),
}
"""The rules that all tables share: engines differ in the functions that the lines name."""
