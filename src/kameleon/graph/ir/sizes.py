"""Which sizes of a graph are provably equal, so that the rest can be checked at run time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .node import Node

Origin = Callable[[Node, int], Any]
Root = Any  # an int, or a key that stands for one unknown size


class Sizes:
    """Equalities between the sizes of one graph.

    `origin(node, axis)` gives, one step up, the operand and axis that has the same size; or the
    scalar node that is the size; or None.
    """

    def __init__(self, origin: Origin):
        self._origin = origin
        self._same: dict[Root, Root] = {}
        self._found: dict[tuple[Node, int], Root] = {}

    def of(self, node: Node, axis: int) -> Root:
        """What the size of an axis is: an int, or a representative of all equal ones."""
        path: list[tuple[Node, int]] = []
        while (root := self._known(node, axis)) is None:
            path.append((node, axis))
            step = self._origin(node, axis)
            if isinstance(step, Node) and step.primitive.name == "size":
                step = step.operands[0], step.attrs["axis"]
            if not isinstance(step, tuple):
                root = (node, axis) if step is None else step
                break
            node, axis = step
        self._found.update(dict.fromkeys(path, root))
        return self.representative(root)

    def of_scalar(self, size: int | Node) -> Root:
        """What a size given as a number or as a scalar node is: see `of`."""
        if isinstance(size, Node) and size.primitive.name == "size":
            return self.of(size.operands[0], size.attrs["axis"])
        return self.representative(size)

    def _known(self, node: Node, axis: int) -> Root:
        dim = node.shape[axis]
        return self._found.get((node, axis)) if dim is None else dim

    def representative(self, root: Root) -> Root:
        """The root that stands for all sizes that were stated to be equal to `root`."""
        while root in self._same:
            root = self._same[root]
        return root

    def state(self, a: Root, b: Root) -> None:
        """From here on the two are known to be equal (they were checked)."""
        a, b = Sizes.representative(self, a), Sizes.representative(self, b)
        if a != b:
            if isinstance(a, int):
                a, b = b, a
            if not isinstance(a, int):
                self._same[a] = b

    def state_equal(self, inputs: Sequence[Node], pairs: Iterable[tuple[Any, Any]]) -> None:
        """State equalities of inputs' sizes, as `Graph.equal` has them; formulas are left out."""
        for pair in pairs:
            if not all(isinstance(s, int | tuple) for s in pair):
                continue
            a, b = (s if isinstance(s, int) else self.of(inputs[s[0]], s[1]) for s in pair)
            self.state(a, b)
