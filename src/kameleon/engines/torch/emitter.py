"""The PyTorch engine's emitter: from a graph to lines of PyTorch."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import torch

from ...graph.analysis.broadcasts import bare_operands
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.ir.types import TensorType
from ...graph.primitives.constants import bare
from .._codegen.code import VIEW, Arg, Language
from .._codegen.emitter import Emitter
from .._codegen.literal import literal, word
from .._codegen.rules import axis_text, factors
from .fusion import ADDED_PRODUCT, Fusion, fusions
from .namespace import NAMESPACE
from .products import KERNELS as PRODUCTS
from .products import may_be_large
from .tensors import shared
from .together import flat_pools, parts

# Integer scalars that follow from sizes are Python numbers, computed by these expressions.
WHOLE = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "floor_div": "{0} // {1}",
    "mod": "{0} % {1}",
    "neg": "-{0}",
    "shift_right": "{0} >> {1}",
    "maximum": "int_max({0}, {1})",
    "minimum": "int_min({0}, {1})",
    "cast": "{0}",
}


class TorchEmitter(Emitter):
    """Emits lines of PyTorch.

    A size is a Python number where a line takes a size, and a tensor in any other computation.
    """

    # A buffer of the pool costs microseconds here: the pool is for larger arrays than NumPy's.
    language = Language("torch", {**NAMESPACE, **PRODUCTS}, large=4)
    transpose = "permute"

    def __init__(
        self,
        graph: Graph,
        device: torch.device,
        more: int = 0,
        results: Collection[Node] | None = None,
    ):
        # PyTorch has an allocator of its own for the memory of accelerators.
        self.pooled = self.in_place and device.type == "cpu"
        super().__init__(graph, more, results)
        self.device = device
        self.several_threads = device.type == "cpu" and torch.get_num_threads() > 1
        self._whole = _whole_numbers(graph)
        self._fusions = fusions(graph, self.results, self.sizes)
        self._late = {*self._whole, *(n for f in self._fusions.values() for n in f.between)}
        self._parts = parts(graph)
        self._splits: dict[tuple[Node, int], int] = {}
        self._numbers: dict[Node, Arg] = {}
        self._upright: dict[Node, int] = {}

    def inner(self, graph: Graph, more: int = 0, results: Collection[Node] = ()) -> Emitter:
        """See `Emitter.inner`."""
        return type(self)(graph, self.device, more, results)

    def value(self, array: Any) -> Any:
        """See `Emitter.value`."""
        return shared(array.copy()).to(self.device)

    def arg(self, node: Node) -> Arg:
        """Scalar constants of floats stay on the processor: PyTorch takes them from there. Not each
        function takes integers and bools from there."""
        stays = self._stays(node)
        return self.constant(shared(node.attrs["value"].array.copy())) if stays else self.slot(node)

    def _stays(self, node: Node) -> bool:
        """Whether a node is a number that may stay on the processor beside an accelerator."""
        is_number = node.primitive is CONSTANT and not node.shape and node.dtype.is_float
        return is_number and self.device.type != "cpu"

    def stretched(self, node: Node) -> tuple[list[Arg], list[int]]:
        """See `Emitter.stretched`: the first of several numbers is moved, and each divisor, whose
        reciprocal PyTorch would multiply by.
        """
        args, full = super().stretched(node)
        bare = bare_operands(node)
        moved = [0] if all(map(self._stays, bare)) else []
        moved += [1] if node.primitive.name == "floor_div" else []
        return [self.slot(bare[i]) if i in moved else x for i, x in enumerate(args)], full

    def product(self, node: Node) -> str:
        """See `Emitter.product`: accelerators have products of floats alone."""
        if self.device.type != "cpu" and not node.dtype.is_float:
            return "int_product"
        if len(node.attrs["batch"][0]) == 1:
            return "bmm"
        return "large_dot" if self._may_be_large(node) else super().product(node)

    def _may_be_large(self, product: Node) -> bool:
        """Whether large products may be computed in another way, which this code's language has."""
        has_way = self.device.type == "cpu" and "large_dot" in self.language.namespace
        return has_way and may_be_large(product)

    def private(self, node: Node, slot: int) -> int:
        """See `Emitter.private`."""
        return self.code.emit(node, "{0}.clone()", [slot])

    def is_blocked(self, node: Node) -> bool:
        """See `Emitter.is_blocked`."""
        fusion = self._fusions.get(node)
        is_loop = fusion is None or fusion.text != ADDED_PRODUCT
        return super().is_blocked(node) and self.device.type == "cpu" and is_loop

    def is_late(self, node: Node) -> bool:
        """See `Emitter.is_late`."""
        return super().is_late(node) or node in self._late

    def held(self, node: Node, inside: Node, body: Graph) -> int:
        """See `Emitter.held`: a matrix that steps multiply by is laid out for fast products."""
        uses = {n.primitive.name for n in body.nodes if inside in n.operands}
        is_matrix = len(node.shape) == 2 and node.dtype.is_float
        if self.device.type != "cpu" or not is_matrix or "contract" not in uses:
            return self.slot(node)
        if node not in self._upright:
            self._upright[node] = self.code.emit(node, "upright({0})", [self.slot(node)], VIEW)
        return self._upright[node]

    def slot(self, node: Node) -> int:
        """See `Emitter.slot`."""
        if node in self._whole and node not in self._slots and node.primitive is not CONSTANT:
            device = self.constant(self.device)
            text = f"scalar_tensor({{0}}, dtype={word(node.dtype)}, device={{1}})"
            self.emit(node, text, [self.size(node), device])
        return super().slot(node)

    # What rules ask for ----------------------------------------------------------------------

    @cached_property
    def flat_pools(self) -> set[Node]:
        """See `flat_pools`."""
        return flat_pools(self.graph, self.users, self.sizes)

    def fused(self, node: Node) -> bool:
        """Emit a node, if it ends a pattern (see `fusion`); whether it does."""
        fusion = self._fusions.get(node)
        if fusion is None:
            return False
        if fusion.text == ADDED_PRODUCT:
            self._add_product(node, fusion)
            return True
        bases = bare_operands(node, fusion.operands)
        args = [self.slot(x) for x in bases]  # fusions take no numbers from the processor
        full = [i for i in fusion.reusable if bases[i] is fusion.operands[i]]
        self.emit(node, fusion.text, args, reusable=full, full=full)
        return True

    def _add_product(self, node: Node, fusion: Fusion) -> None:
        """The line of x + a @ b, for which PyTorch stretches x, in the product's place; where `y`
        is the product in another shape, the sum gets that shape.
        """
        (x, product), y = fusion.operands, fusion.between[0]
        made, base = factors(self, product, hole=1), bare(x)
        name = "large_addmm" if self._may_be_large(product) else "addmm"
        text = f"{name}({{0}}, {made.left}, {made.right}{{out}})"
        in_place = [0] if base is x and len(node.shape) == 2 else []
        self.emit(product, text, [base, *product.operands], reusable=in_place, dims=made.dims)
        if y is not product:
            self.rules[y.primitive.name](self, y)
        self._slots[node] = self._slots[y]

    def split(self, node: Node) -> bool:
        """Emit a slice, if it's one of the slices that make up a tensor; whether it is."""
        part = self._parts.get(node)
        if part is None:
            return False
        key = part.source, part.axis
        if key not in self._splits:
            text = f"split_with_sizes({{0}}, {literal(part.sizes)}, {literal(part.axis)})"
            source = self.slot(part.source)
            self._splits[key] = self.code.emit(node, text, [source], VIEW)
        self.emit(node, f"{{0}}[{part.number}]", [self._splits[key]], VIEW)
        return True

    def size(self, node: Node) -> Arg:
        """The value of an integer scalar as a Python number."""
        if node not in self._numbers:
            self._numbers[node] = self._number(node)
        return self._numbers[node]

    def _number(self, node: Node) -> Arg:
        if node.primitive is CONSTANT:
            return literal(int(node.attrs["value"].array))
        if node.primitive.name == "size":
            text = f"{{0}}.shape[{axis_text(node)}]"
            return self.code.emit(node, text, [self.slot(node.operands[0])])
        if node in self._whole:
            given = [self.size(x) for x in node.operands]
            return self.code.emit(node, WHOLE[node.primitive.name], given)
        return self.code.emit(node, "as_int({0})", [self.slot(node)])


def _whole_numbers(graph: Graph) -> set[Node]:
    """Sizes, and the integer scalars that follow from them and from constants."""
    found: set[Node] = set()
    for node in graph.nodes:
        if not isinstance(node.type, TensorType) or node.shape or not node.dtype.is_integer:
            continue
        name = node.primitive.name
        follows = name in WHOLE and found.issuperset(node.operands)
        if node.primitive is CONSTANT or name == "size" or follows:
            found.add(node)
    return found
