"""Sizes as formulas of the sizes that they follow from, and the numbers that sizes follow from.

`SIZE_FROM` tells which sizes are others, unchanged; here is what windows, slices, reshapes and
joins make of sizes, and what integers are computed from sizes before they become sizes again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import partial, reduce
from itertools import chain
from typing import Any

from ..ir import forms
from ..ir.forms import (
    Applied,
    Root,
    common,
    either,
    floor_div,
    least,
    minus,
    most,
    negative,
    plus,
    quotient,
    times,
)
from ..ir.leaves import CONSTANT
from ..ir.node import Node, producer
from ..ir.program import Graph
from ..ir.sizes import Origin, Sizes
from ..ir.types import INT32
from .movement import Cut
from .shaping import is_short
from .sizes import merged, stated_dims

# What a rule asks for: the size of an axis, or the numbers that an integer scalar or vector holds.
Asked = tuple[Node, int] | Node
Steps = Generator[Asked, Any, Any]
# So often are other roots put in place of a root's atoms.
MOST = 16


class Formulas(Sizes):
    """`Sizes` that are formulas of others, equal where their formulas are.

    Args:
        origin: see `Sizes`.
        given: what a parameter of a body has the numbers of, and whether in each step; else it has
            them where they follow from sizes alone.
        inside: the bodies of a node, as far as they're known.
    """

    def __init__(
        self,
        origin: Origin,
        given: Callable[[Node], tuple[Node, bool] | None] = lambda node: None,
        inside: Callable[[Node], Sequence[Graph]] = lambda node: (),
    ):
        super().__init__(origin)
        self._given, self.inside = given, inside
        self._answers: dict[Asked, Any] = {}

    def of(self, node: Node, axis: int) -> Root:
        """See `Sizes.of`."""
        return self.representative(self._answer((node, axis)))

    def of_scalar(self, size: int | Node) -> Root:
        """See `Sizes.of_scalar`."""
        return self.representative(self._answer(size)[0] if isinstance(size, Node) else size)

    def representative(self, root: Root) -> Root:
        """See `Sizes.representative`."""
        seen: set[Root] = set()
        # What was stated may say that a size is a formula of itself.
        while root not in seen and len(seen) < MOST and not forms.is_long(root):
            seen.add(root)
            known = super().representative
            root = forms.substituted(known(root), known, known)
        return root

    def state(self, a: Root, b: Root) -> None:
        """See `Sizes.state`."""
        a, b = self.representative(a), self.representative(b)
        if a != b:
            super().state(*forms.solved(a, b))

    def state_equal(self, inputs: Sequence[Node], pairs: Iterable[tuple[Root, Root]]) -> None:
        """See `Sizes.state_equal`; the sizes are formulas of inputs' sizes."""
        for pair in pairs:
            self.state(
                *(forms.substituted(s, lambda at: self.of(inputs[at[0]], at[1])) for s in pair)
            )

    def _answer(self, asked: Asked) -> Any:
        """What is asked for, without what was stated. Rules are generators: they ask for more."""
        pending: list[tuple[Asked, Steps]] = []
        answer: Any = None
        wanted = asked
        while True:
            if wanted in self._answers:
                answer = self._answers[wanted]
            else:
                pending.append((wanted, self._steps(wanted)))
                answer = None
            while pending:
                try:
                    wanted = pending[-1][1].send(answer)
                    break
                except StopIteration as done:
                    answer = self._answers[pending.pop()[0]] = done.value
            else:
                return answer

    def _steps(self, asked: Asked) -> Steps:
        return self._size(*asked) if isinstance(asked, tuple) else self._numbers(asked)

    def _size(self, node: Node, axis: int) -> Steps:
        if node.shape[axis] is not None:
            return node.shape[axis]
        origin = self._origin(node, axis)
        if isinstance(origin, Node):
            return (yield origin)[0]
        if origin is not None:
            return (yield origin)
        source = producer(node)
        rule = _space if "space" in source.attrs else SIZES.get(source.primitive.name)
        if source.primitive.moves_windows:
            rule = _seen
        found = None if rule is None else (yield from rule(self, node, axis))
        return (node, axis) if found is None or forms.is_long(found) else found

    def _numbers(self, node: Node) -> Steps:
        """The elements of a scalar or of a short vector."""
        given = self._given(node)
        if given is not None:
            operand = yield given[0]
            if given[1] or all(map(forms.is_of_sizes, operand)):
                return operand
        if _is_whole(node):
            if node.primitive is CONSTANT:
                return node.attrs["value"].array.ravel().tolist()
            if node.primitive.name == "size":
                return [(yield node.operands[0], node.attrs["axis"])]
            rule = NUMBERS.get(node.primitive.name)
            operands = node.operands[:1] if rule is _same else node.operands
            counts = not (node.dtype.is_bool and node.primitive.name == "cast")
            if rule is not None and counts and all(map(_is_whole, operands)):
                operand = []
                for x in operands:
                    operand.append((yield x))
                found = rule(node, *operand)
                if found is not None and not any(map(forms.is_long, found)):
                    return found
        if not node.shape:
            return [node]
        return [Applied("element", (node, i)) for i in range(node.shape[0] or 0)]


def _is_whole(node: Node) -> bool:
    """Whether a node holds a few integers that sizes can be computed with; a bool is 1 or 0."""
    wide = node.dtype.kind == "signed" and node.dtype.itemsize >= INT32.itemsize
    return (wide or node.dtype.is_bool) and is_short(node)


# Sizes -----------------------------------------------------------------------------------------


def _inferred(f: Formulas, node: Node, axis: int) -> Steps:
    """What a reshape infers: all elements, shared among the other axes."""
    x, *sizes = node.operands
    rest: Root = 1
    for size in merged(node.attrs["shape"], sizes):
        if isinstance(size, Node):
            rest = times(rest, (yield size)[0])
        elif size != -1:
            rest = times(rest, size)
    total: Root = 1
    for i in range(len(x.shape)):
        total = times(total, (yield x, i))
    return quotient(total, rest)


def _sliced(f: Formulas, node: Node, axis: int) -> Steps:
    return _cut(node.attrs["windows"][axis], (yield node.operands[0], axis))


def _cut(window: Cut, size: Root) -> Root:
    """The size of a slice, in one form for slices that take as much."""
    start, stop, step = window[0] or 0, window[1], window[2]
    if start >= 0:
        after = minus(size, start)  # what lies behind the start, if that isn't behind the end
        end = after if stop is None else plus(after, stop) if stop < 0 else stop - start
        length = end if stop is None or stop < 0 else least(end, after)
    else:
        last = size if stop is None else least(size, stop) if stop >= 0 else plus(size, stop)
        length = minus(last, most(plus(size, start), 0))
        if stop is None:
            length = least(size, -start)
    return floor_div(plus(most(length, 0), step - 1), step)


def _padded(f: Formulas, node: Node, axis: int) -> Steps:
    return plus((yield node.operands[0], axis), *node.attrs["margins"][axis])


def _joined(f: Formulas, node: Node, axis: int) -> Steps:
    total: Root = 0
    for x in node.operands:
        total = plus(total, (yield x, axis))
    return total


def _seen(f: Formulas, node: Node, axis: int) -> Steps:
    """Of what a window sees: the number of its places, or channels."""
    source = producer(node)
    x, window, name = source.operands[0], source.attrs["window"], source.primitive.name
    size = yield x, axis
    if axis <= window.rank:
        free = plus(size, *window.padding[axis - 1], -window.spans[axis - 1])
        return most(plus(floor_div(free, window.strides[axis - 1]), 1), 0)
    if name == "depthwise_conv":
        return times(size, (yield source.operands[1], axis))
    return times(size, window.cells) if name == "patches" else size


def _space(f: Formulas, node: Node, axis: int) -> Steps:
    """Of what windows were spread over: what was asked for, or channels."""
    dims, window = stated_dims(node), node.attrs["window"]
    if axis <= window.rank:
        size = dims[axis - 1]
        return (yield size)[0] if isinstance(size, Node) else size
    channels = yield node.operands[0], axis
    return quotient(channels, window.cells) if node.primitive.name == "fold" else channels


def _stacked(f: Formulas, node: Node, axis: int) -> Steps:
    """Of what the steps of a scan give: the size in a step."""
    for body in f.inside(node.operands[0]):
        return (yield body.outputs[node.attrs["index"]], axis - 1)
    return None


def _chosen(f: Formulas, node: Node, axis: int) -> Steps:
    """Of what one of two branches gives: the size, where it's the same in both."""
    sizes = []
    for body in f.inside(node.operands[0]):
        sizes.append((yield body.outputs[node.attrs["index"]], axis))
    return either((yield node.operands[0].operands[0])[0], *sizes) if sizes else None


# By primitive (of an item: by that of what it's from), for sizes that `SIZE_FROM` doesn't tell.
SIZES: dict[str, Callable[[Formulas, Node, int], Steps]] = {
    "reshape": _inferred,
    "slice": _sliced,
    "pad": _padded,
    "concatenate": _joined,
    "scan": _stacked,
    "cond": _chosen,
}

# Numbers ---------------------------------------------------------------------------------------

Numbers = list[Root]


def _each(function: Callable[..., Root]) -> Callable[..., Numbers]:
    return lambda node, *operands: [function(*each) for each in zip(*operands, strict=True)]


def _folded(function: Callable[..., Root], start: Root) -> Callable[..., Numbers]:
    def rule(node: Node, x: Numbers) -> Numbers:
        return [reduce(function, x, start)] if node.attrs["axes"] else x

    return rule


def _gathered(node: Node, x: Numbers, index: Numbers) -> Numbers | None:
    known = all(isinstance(i, int) and 0 <= i < len(x) for i in index)
    return [x[i] for i in index] if known else None


def _same(node: Node, x: Numbers) -> Numbers:
    return x


# By primitive that sizes are computed with: the numbers, given those of the operands.
NUMBERS: dict[str, Callable[..., Numbers | None]] = {
    "add": _each(plus),
    "sub": _each(minus),
    "mul": _each(times),
    "neg": _each(partial(times, -1)),
    "square": _each(lambda x: times(x, x)),
    "floor_div": _each(floor_div),
    "maximum": _each(most),
    "minimum": _each(least),
    "common_size": _each(common),
    "lt": _each(lambda a, b: negative(minus(a, b))),
    "gt": _each(lambda a, b: negative(minus(b, a))),
    "le": _each(lambda a, b: minus(1, negative(minus(b, a)))),
    "ge": _each(lambda a, b: minus(1, negative(minus(a, b)))),
    "logical_not": _each(partial(minus, 1)),
    "select": _each(either),
    **dict.fromkeys(("cast", "identity", "stop_gradient", "check", "reshape", "transpose"), _same),
    "broadcast_to": lambda node, x, *sizes: (
        x * (node.shape[0] // max(len(x), 1)) if node.shape else x
    ),
    "slice": lambda node, x: x[slice(*node.attrs["windows"][0])] if node.shape else x,
    "reverse": lambda node, x: x[::-1] if node.attrs["axes"] else x,
    "concatenate": lambda node, *operands: [*chain(*operands)],
    "gather": _gathered,
    "iota": lambda node: list(range(node.shape[0] or 0)),
    "reduce_sum": _folded(plus, 0),
    "reduce_prod": _folded(times, 1),
}
