"""Several elementwise nodes in one of PyTorch's functions: fewer passes over memory.

A pattern ends in a node, and says which function of which operands gives the value of that node.
The nodes between the operands and that node make no lines of their own: nothing else needs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import NamedTuple

from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.sizes import Sizes
from ...graph.primitives.constants import bare, is_zero, known_number
from .._codegen.literal import literal


class Fusion(NamedTuple):
    """How a node is computed: the text over these operands, without the nodes `between`."""

    text: str
    operands: tuple[Node, ...]
    between: tuple[Node, ...]
    # The operands whose buffer may take the result.
    reusable: tuple[int, ...] = ()


# In half precision a number that isn't rounded between two nodes may change later comparisons.
FUSED = ("float32", "float64")

Pattern = Callable[[Node], Iterator[Fusion]]


def _pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    """The operands in either order."""
    a, b = node.operands
    yield a, b
    yield b, a


def _is(node: Node, name: str) -> bool:
    return node.primitive.name == name


def _one_minus(node: Node) -> Node | None:
    """x, if the node is 1 - x."""
    if _is(node, "sub") and known_number(node.operands[0]) == 1:
        return node.operands[1]
    return None


def _slopes(node: Node) -> Iterator[Fusion]:
    """g * (1 - y * y) and g * (y * (1 - y)): gradients of tanh and of sigmoid."""
    for g, factor in _pairs(node):
        square = _one_minus(factor)
        if square is not None and _is(square, "mul") and square.operands[0] is square.operands[1]:
            text = "tanh_backward({0}, {1}{out})"
            yield Fusion(text, (g, square.operands[0]), (factor, square), (0, 1))
        if _is(factor, "mul"):
            for y, rest in _pairs(factor):
                if _one_minus(rest) is y:
                    yield Fusion("sigmoid_backward({0}, {1}{out})", (g, y), (factor, rest), (0, 1))


def _sums(node: Node) -> Iterator[Fusion]:
    """x + a * b, and x - a * b."""
    minus = _is(node, "sub")
    for x, product in [node.operands] if minus else _pairs(node):
        if _is(product, "mul") and all(known_number(y) is None for y in product.operands):
            text = f"addcmul({{0}}, {{1}}, {{2}}{', value=-1' if minus else ''}{{out}})"
            yield Fusion(text, (x, *product.operands), (product,), (0, 1, 2))


def _steps(node: Node) -> Iterator[Fusion]:
    """x + c * y, and x - c * y, with a number c.

    The product isn't rounded by itself then. So the pattern is for results alone, such as new
    weights: elsewhere `0.2 * x + 0.5` may be compared with 0, which it is at x = -2.5 if rounded.
    """
    sign = -1 if _is(node, "sub") else 1
    for x, product in [node.operands] if sign == -1 else _pairs(node):
        if _is(product, "mul"):
            for a, b in _pairs(product):
                c = known_number(a)
                if c is not None and isfinite(c):
                    text = f"add({{0}}, {{1}}, alpha={literal(sign * c)}{{out}})"
                    yield Fusion(text, (x, b), (product,), (0, 1))


def _relu_slope(node: Node) -> Iterator[Fusion]:
    """select(y > 0, g, 0): the gradient of a relu."""
    condition, g, zero = node.operands
    if is_zero(zero) and _is(condition, "gt") and known_number(condition.operands[1]) == 0:
        y = condition.operands[0]
        if y.dtype == node.dtype:
            yield Fusion("keep_where_positive({0}, {1}{out})", (y, g), (condition,), (0, 1))


def _products(node: Node) -> Iterator[Fusion]:
    """x + a @ b; of a product in another shape, too, where x is one row of it, or a number."""
    for x, y in _pairs(node):
        product = y.operands[0] if _is(y, "reshape") else y
        if _is(product, "contract") and not product.attrs["batch"][0]:
            in_rows = y.shape[-1:] == product.shape[-1:] != (None,) and len(bare(x).shape) < 2
            if y is product or in_rows:
                between = tuple(dict.fromkeys((y, product)))
                yield Fusion(ADDED_PRODUCT, (x, product), between, (0,))


# Stands for a text that depends on how the factors are laid out.
ADDED_PRODUCT = "addmm"

# Patterns that save most come first: a node that one pattern takes isn't left for the next.
PATTERNS: tuple[dict[str, Pattern], ...] = (
    {"mul": _slopes, "select": _relu_slope},
    {"add": _products},
    {"add": _sums, "sub": _sums},
)


RESULTS: dict[str, Pattern] = {"add": _steps, "sub": _steps}


def fusions(graph: Graph, results: Iterable[Node], sizes: Sizes) -> dict[Node, Fusion]:
    """Which nodes of a graph end a pattern, and how they are computed.

    Args:
        graph: the graph.
        results: those of its outputs that are results of the whole program.
        sizes: what is known of the graph.
    """
    uses = Counter(x for n in graph.nodes for x in n.operands)
    uses.update(graph.outputs)
    found: dict[Node, Fusion] = {}
    taken: set[Node] = set()
    sought = [(n, patterns) for patterns in PATTERNS for n in reversed(graph.nodes)]
    sought += [(n, RESULTS) for n in dict.fromkeys(results)]
    for node, patterns in sought:
        pattern = patterns.get(node.primitive.name)
        if pattern is None or node in taken or node in found:
            continue
        if not node.shape or node.dtype not in FUSED:
            continue
        for fusion in pattern(node):
            free = all(uses[n] == 1 and n not in found for n in fusion.between)
            if free and taken.isdisjoint(fusion.between) and _fits(node, fusion, sizes):
                found[node] = fusion
                taken.update(fusion.between)
                break
    return found


def _fits(node: Node, fusion: Fusion, sizes: Sizes) -> bool:
    """Whether every operand provably has the sizes of the result: there's nothing to check."""
    want = [sizes.of(node, axis) for axis in range(len(node.shape))]
    return all(
        len(x.shape) == len(want) and [sizes.of(x, axis) for axis in range(len(want))] == want
        for n in (node, *fusion.between)
        if n.primitive.elementwise
        for x in n.operands
    )
