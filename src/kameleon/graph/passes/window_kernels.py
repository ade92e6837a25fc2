"""Windows for which an engine has no kernel, by others for which it has one.

    f(x, …, window) -> back(f(to(x), …, plainer window))

An operand is a space over which windows move, a kernel, or what there is at the windows' places; so
is the result: see `Primitive.parts`. A change of the window names one of these three: `to` makes of
an operand what the plainer window takes, and `back`, the adjoint of `to`, does the reverse for a
result. So each change is said once for an operation and its adjoints. Where no change leads to a
kernel, the operation is expanded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

from ..ir.node import Node
from ..primitives.conv import conv
from ..primitives.indexing import gather
from ..primitives.movement import WHOLE, Cut, iota, reverse, slice_, transpose, unslice
from ..primitives.sizes import Size, dims_of, plus, split, stated_dims
from ..primitives.windows import Window, framed, has_margins, is_dilated
from .windows import count_places


class Form(NamedTuple):
    """An operation over another window, and the function from its result to the wanted one."""

    node: Node
    back: Callable[[Node], Node]


def by_kernel(node: Node, native: Callable[[Node], bool]) -> Node | None:
    """A node equal to this one, over a window for which there's a kernel; None without a kernel.

    Args:
        node: any node.
        native: whether an engine has a kernel for a node.
    """
    other = _convolved(node)
    if other is not None and native(other):
        return other
    changes = CHANGES.get(node.primitive.name, ())
    for count in range(1, len(changes) + 1):
        for chosen in combinations(changes, count):
            form = _changed(node, chosen)
            if form and native(form.node):
                return form.back(form.node)
    return None


def _changed(node: Node, changes: Sequence[Change]) -> Form | None:
    """The form after several changes; None where one of them changes nothing."""
    first, *others = changes
    form = first(node)
    if form is None or not others:
        return form
    inner = _changed(form.node, others)
    return inner and Form(inner.node, lambda y: form.back(inner.back(y)))


def _over(
    node: Node,
    window: Window,
    part: str,
    to: Callable[[Node], Node],
    back: Callable[[Node], Node],
    space: Sequence[Size] | None = None,
) -> Form:
    """The operation over another window, where one part is changed, and maybe its space's sizes."""
    *parts, result = node.primitive.parts
    operands = [to(x) if p == part else x for x, p in zip(node.operands, parts, strict=False)]
    attrs = {**node.attrs, "window": window}
    if "space" in attrs:
        attrs["space"], sizes = split(_space(node) if space is None else space)
        operands += sizes
    return Form(node.primitive(*operands, **attrs), back if result == part else lambda y: y)


def _space(node: Node) -> Sequence[Size]:
    return stated_dims(node) if "space" in node.attrs else dims_of(node.operands[0])[1:-1]


# Changes -----------------------------------------------------------------------------------------


def without_margins(node: Node) -> Form | None:
    """A space with its margins is a larger space."""
    window = node.attrs["window"]
    if not has_margins(window):
        return None
    cropped = [(-low, -high) for low, high in window.padding]
    sums = map(sum, window.padding)
    space = [plus(size, both) for size, both in zip(_space(node), sums, strict=True)]
    return _over(
        node, _bare(window), "space",
        lambda x: framed(x, window.padding), lambda x: framed(x, cropped), space,
    )  # fmt: skip


def without_dilation(node: Node) -> Form | None:
    """A kernel that comes out has cells that are some of a larger kernel's. (One that goes in
    would have zeros between its cells, which make NaN of infinities.)"""
    window = node.attrs["window"]
    if not is_dilated(window):
        return None
    cuts = [*_every(window.dilation), WHOLE, WHOLE]
    return _over(
        node, window._replace(sizes=window.spans, dilation=(1,) * window.rank), "kernel",
        lambda k: k, lambda k: slice_(k, cuts),
    )  # fmt: skip


def without_strides(node: Node) -> Form | None:
    """The places of a strided window are some of the places of the same window without strides."""
    window = node.attrs["window"]
    if set(window.strides) == {1}:
        return None
    everywhere = window._replace(strides=(1,) * window.rank)
    cuts = [WHOLE, *_every(window.strides), WHOLE]
    counts = [count_places(everywhere, i, size) for i, size in enumerate(_space(node))]

    def spread(y: Node) -> Node:
        batch, *_, channels = dims_of(y)
        return unslice(y, [batch, *counts, channels], cuts)

    return _over(node, everywhere, "places", spread, lambda y: slice_(y, cuts))


def _every(steps: Sequence[int]) -> list[Cut]:
    return [(None, None, step) for step in steps]


def _bare(window: Window) -> Window:
    return window._replace(padding=((0, 0),) * window.rank)


Change = Callable[[Node], Form | None]
# By primitive: the changes that are tried, fewer at a time first. Only depthwise operations lose
# their strides: others would be computed at too many places that nobody asks for.
CHANGES: dict[str, tuple[Change, ...]] = {
    "conv_kernel": (without_margins, without_dilation),
    **dict.fromkeys(("depthwise_conv", "depthwise_input"), (without_margins, without_strides)),
    "depthwise_kernel": (without_margins, without_dilation, without_strides),
    **dict.fromkeys(
        ("conv", "conv_input", "patches", "sum_pool", "sum_unpool"), (without_margins,)
    ),
}


# The adjoint of a dilated convolution ------------------------------------------------------------


def _convolved(node: Node) -> Node | None:
    """`conv_input` over a dilated window, as a convolution of g, spread to all places, with the
    mirrored kernel."""
    if node.primitive.name != "conv_input" or not is_dilated(node.attrs["window"]):
        return None
    window = node.attrs["window"]
    axes, missing = tuple(range(window.rank)), [span - 1 for span in window.spans]
    margins = tuple(
        (more - low, more - high) for (low, high), more in zip(window.padding, missing, strict=True)
    )
    if min(map(min, margins)) < 0:
        return None
    everywhere = without_strides(node)
    g, k = (everywhere.node if everywhere else node).operands[:2]
    mirrored = transpose(reverse(k, axes=axes), [*axes, window.rank + 1, window.rank])
    plain = window._replace(strides=(1,) * window.rank, padding=margins)
    found = conv(g, mirrored, window=plain)
    for axis, size in enumerate(_space(node)):
        if isinstance(size, Node) and sum(window.padding[axis]) < missing[axis]:
            found = _begun(found, axis + 1, size)
    return found if found.type == node.type else None


def _begun(x: Node, axis: int, size: Node) -> Node:
    """The first `size` cells of an axis: a window that finds no place in a space that is smaller
    than itself is spread over more cells than this space has."""
    return gather(x, iota([size]), axis)
