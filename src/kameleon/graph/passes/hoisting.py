"""Loop-invariant code motion: non-recurrent work leaves a scan, batched over time."""

from __future__ import annotations

from collections.abc import Callable, Container
from math import prod

from ..analysis.intervals import is_within_one
from ..ir.context import built_for
from ..ir.node import Node, dependents, walk
from ..ir.program import Graph, has_effects
from ..ir.rewrite import closed, substitute
from ..ir.sizes import Sizes
from ..ir.types import TensorType
from ..primitives.control import run_scan, scan_parts
from ..primitives.elementwise import mul
from ..primitives.indexing import gather
from ..primitives.linalg import contract
from ..primitives.movement import WHOLE, broadcast_to, move_axis, pad, reshape, slice_, transpose
from ..primitives.sizes import as_node, dims_of, merged, size_of, size_origin

# Larger slices stay in the loop: their elements cost more than the calls do, and one slice is
# still in the cache when the step needs it.
LARGEST_SLICE = 2**16
# A loop without recurrent state becomes one computation where slices are no larger than this:
# there calls cost more than elements do. Intermediate values are in memory for all steps at once.
LARGEST_MAPPED = 2**13


def vectorised(node: Node) -> tuple[Node, ...] | None:
    """map(f, xs) -> f over all slices at once, where each operation of f can be batched over time
    and is small; else None."""
    if node.attrs["carry"]:
        return None
    work = _Lifting(node)
    invariant, movable = work.invariant_and_liftable(LIFT.keys() | {"size"})
    inner = work.body.nodes[len(work.body.inputs) :]
    if not all(n in invariant or (n in movable and _is_small(n, LARGEST_MAPPED)) for n in inner):
        return None
    return tuple(map(work.over_time, work.body.outputs)) if work.runs_together() else None


def hoisted(node: Node) -> tuple[Node, ...] | None:
    """The results of an equal scan whose steps do less; None, if nothing can be hoisted.

    What a step computes from its slices and constants alone isn't recurrent: one large operation
    for all steps is faster than one for each.
    """
    work = _Lifting(node)
    work.gather_factors()
    hoisted = work.hoisted()
    if not hoisted:
        return None
    later = [n for n in work.body.nodes if n not in hoisted]
    used = {n for x in later for n in x.operands} | set(work.body.outputs)
    frontier = [n for n in hoisted if n in used]
    consts, carry, sequences = scan_parts(node)
    inputs = work.body.inputs
    k = len(consts) + len(carry)
    body = closed([*inputs, *frontier], work.body.outputs)
    lifted = [work.over_time(n) for n in frontier]
    kept = set(body.nodes[len(body.inputs) :])
    read = {n for x in kept for n in x.operands} | set(body.outputs)
    slots = list(zip(body.inputs[k:], [*sequences, *lifted], strict=True))
    slots = [(p, x) for p, x in slots if p in read] or slots[:1]
    whole = run_scan(
        Graph([*body.inputs[:k], *(p for p, _ in slots)], body.outputs),
        consts,
        carry,
        [x for _, x in slots],
        node.attrs["backwards"],
    )
    return (*whole[0], *whole[1])


class _Lifting:
    """The nodes of a scan's body, batched over time: with a leading axis for the steps."""

    def __init__(self, node: Node):
        self.body: Graph = node.attrs["body"]
        consts, carry, sequences = scan_parts(node)
        inputs = self.body.inputs
        params = inputs[len(consts) + len(carry) :]
        self.lifted: dict[Node, Node] = dict(zip(params, sequences, strict=True))
        self.invariant: dict[Node, Node] = dict(zip(inputs[: len(consts)], consts, strict=True))
        self.sequences = sequences
        self._known = {*self.lifted, *self.invariant}
        self.length = size_of(sequences[0], 0)

    def runs_together(self) -> bool:
        """Whether all sequences have, provably, the same number of slices."""
        sizes = Sizes(size_origin)
        return len({sizes.of(x, 0) for x in self.sequences}) == 1

    def invariant_and_liftable(self, names: Container[str]) -> tuple[set[Node], set[Node]]:
        """The loop-invariant nodes; and the non-recurrent ones that can be batched over time, where
        primitives of these names may be.
        """
        invariant, movable = set(self.invariant), set(self.lifted)
        for node in self.body.nodes[len(self.body.inputs) :]:
            if all(n in invariant for n in node.operands) and not has_effects(node):
                invariant.add(node)
            elif _rule_name(node) in names and movable.issuperset(set(node.operands) - invariant):
                if _is_size(node):
                    invariant.add(node)
                elif _liftable(node, invariant):
                    movable.add(node)
        return invariant, movable

    def hoistable(self) -> tuple[set[Node], set[Node]]:
        """`invariant_and_liftable` for recurrent steps: without products of two matrices that
        differ from step to step, and without what depends on such products.
        """
        invariant, movable = self.invariant_and_liftable(HOISTABLE)
        alone = {n for n in movable if _multiplies_steps(n, invariant)}
        return invariant, movable - dependents(self.body.nodes, alone)

    def hoisted(self) -> dict[Node, None]:
        """What is hoisted: contractions; elementwise nodes that are small or read hoisted nodes."""
        movable = self.hoistable()[1]
        chosen: dict[Node, None] = {}
        for node in self.body.nodes[len(self.body.inputs) :]:
            if node in movable:
                light = _is_small(node, LARGEST_SLICE) or any(n in chosen for n in node.operands)
                if node.primitive.name == "contract" or (light and node.primitive.elementwise):
                    chosen[node] = None
        return chosen

    def gather_factors(self) -> None:
        """x * a * b -> x * (a * b), where a and b can be made before the loop and x can't.

        Gradients go back through a step in such chains. Either a or b lies between -1 and 1, so
        that a * b isn't infinite where neither of the two is.
        """
        invariant, movable = self.hoistable()
        before = invariant | movable
        given = {**self.lifted, **self.invariant}
        factors: dict[Node, tuple[Node, Node]] = {}  # of a product: x, and the other factor

        def joint(a: Node, b: Node) -> Node | None:
            if invariant.issuperset((a, b)) or not any(is_within_one(n, given) for n in (a, b)):
                return None
            product = mul(a, b)
            before.add(product)
            return product

        def gathered(node: Node, operands: tuple[Node, ...]) -> Node | None:
            if (
                node.primitive is not mul
                or not node.dtype.is_float
                or not _is_small(node, LARGEST_SLICE)
            ):
                return None
            for i, factor in enumerate(node.operands):
                rest = node.operands[1 - i]
                if factor in before and rest not in before:
                    found = factors.get(rest)
                    if found and (both := joint(found[1], factor)) is not None:
                        factors[node] = found[0], both
                        return mul(found[0], both)
                    factors[node] = operands[1 - i], factor
            return None

        self.body = self.body.to(substitute(self.body.outputs, {}, gathered))

    def _make(self, node: Node) -> None:
        """Compute a node before the loop: batched over time, unless it's loop-invariant."""
        for n in walk([node], self._known):
            if n not in self._known:
                self._known.add(n)
                built_for(n, self._make_one, n)

    def _make_one(self, n: Node) -> None:
        """Compute a node whose operands have been computed."""
        if _is_size(n) and n.operands[0] in self.lifted:
            self.invariant[n] = as_node(size_of(self.lifted[n.operands[0]], n.attrs["axis"] + 1))
        elif any(m in self.lifted for m in n.operands):
            self.lifted[n] = LIFT[_rule_name(n)](self, n)
        else:
            operands = [self.invariant[m] for m in n.operands]
            self.invariant[n] = n.primitive(*operands, **n.attrs) if operands else n

    def over_time(self, node: Node) -> Node:
        """A node with the axis of time, along which a loop-invariant node is repeated."""
        self._make(node)
        if node in self.lifted:
            return self.lifted[node]
        same = self.invariant[node]
        return broadcast_to(same, [self.length, *dims_of(same)])


def _rule_name(node: Node) -> str:
    return "elementwise" if node.primitive.elementwise else node.primitive.name


def _liftable(node: Node, invariant: set[Node]) -> bool:
    name = _rule_name(node)
    if not isinstance(node.type, TensorType):
        return False
    return name in TOGETHER or all(n in invariant for n in node.operands[1:])


def _multiplies_steps(node: Node, invariant: set[Node]) -> bool:
    """Whether a node is a product of two matrices that differ from step to step, or of batches."""
    if node.primitive.name != "contract":
        return False
    return bool(node.attrs["batch"][0]) or not any(n in invariant for n in node.operands)


def _is_size(node: Node) -> bool:
    """Whether a node is the size of an axis, which is the same for all slices."""
    return node.primitive.name == "size"


def _is_small(node: Node, largest: int) -> bool:
    """Whether a step's value isn't known to be large."""
    return prod(d for d in node.shape if d is not None) <= largest


def _lift_contract(work: _Lifting, node: Node) -> Node:
    a, b = node.operands
    over_a, over_b = node.attrs["over"]
    if node.attrs["batch"][0] or (a in work.lifted and b in work.lifted):
        return _lift_batches(work, node)
    if a in work.lifted:
        return contract(work.lifted[a], work.invariant[b], (tuple(i + 1 for i in over_a), over_b))
    product = contract(work.invariant[a], work.lifted[b], (over_a, tuple(i + 1 for i in over_b)))
    return move_axis(product, len(a.shape) - len(over_a), 0)


def _lift_batches(work: _Lifting, node: Node) -> Node:
    """Time is one more batch axis."""
    over_a, over_b = (tuple(i + 1 for i in axes) for axes in node.attrs["over"])
    batch_a, batch_b = ((0, *(i + 1 for i in axes)) for axes in node.attrs["batch"])
    a, b = map(work.over_time, node.operands)
    return contract(a, b, (over_a, over_b), (batch_a, batch_b))


def _lift_elementwise(work: _Lifting, node: Node) -> Node:
    return node.primitive(*map(work.over_time, node.operands), **node.attrs)


def _lift_transpose(work: _Lifting, node: Node) -> Node:
    perm = (0, *(i + 1 for i in node.attrs["perm"]))
    return transpose(work.lifted[node.operands[0]], perm)


def _lift_reshape(work: _Lifting, node: Node) -> Node:
    sizes = iter(work.invariant[n] for n in node.operands[1:])
    dims = [next(sizes) if d is None else d for d in node.attrs["shape"]]
    return reshape(work.lifted[node.operands[0]], [work.length, *dims])


def _lift_broadcast(work: _Lifting, node: Node) -> Node:
    (x, *sizes), shape = node.operands, node.attrs["shape"]
    dims = merged(shape, (work.invariant[n] for n in sizes))
    ones = [1] * (len(shape) - len(x.shape))
    lifted = work.lifted[x]
    aligned = reshape(lifted, [work.length, *ones, *dims_of(lifted)[1:]])
    return broadcast_to(aligned, [work.length, *dims])


def _lift_axes(work: _Lifting, node: Node) -> Node:
    axes = tuple(i + 1 for i in node.attrs["axes"])
    return node.primitive(work.lifted[node.operands[0]], axes=axes)


def _lift_along(work: _Lifting, node: Node) -> Node:
    attrs = {**node.attrs, "axis": node.attrs["axis"] + 1}
    return node.primitive(*map(work.over_time, node.operands), **attrs)


def _lift_slice(work: _Lifting, node: Node) -> Node:
    return slice_(work.lifted[node.operands[0]], [WHOLE, *node.attrs["windows"]])


def _lift_pad(work: _Lifting, node: Node) -> Node:
    margins = [(0, 0), *node.attrs["margins"]]
    return pad(work.lifted[node.operands[0]], margins, node.attrs["value"])


def _lift_gather(work: _Lifting, node: Node) -> Node:
    """Each step's own rows at the same places."""
    index, axis = work.invariant[node.operands[1]], node.attrs["axis"]
    return gather(work.lifted[node.operands[0]], index, axis + 1)


# By primitive: how a node is batched over time. Its operands after the first are loop-invariant,
# except for the primitives in `TOGETHER`.
LIFT: dict[str, Callable[[_Lifting, Node], Node]] = {
    "contract": _lift_contract,
    "elementwise": _lift_elementwise,
    "transpose": _lift_transpose,
    "reshape": _lift_reshape,
    "broadcast_to": _lift_broadcast,
    "slice": _lift_slice,
    "pad": _lift_pad,
    "gather": _lift_gather,
    **dict.fromkeys(
        ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_any", "reduce_all"),
        _lift_axes,
    ),
    **dict.fromkeys(("reverse", "product_of_others"), _lift_axes),
    "cumprod_slope": _lift_along,
    **dict.fromkeys(("argmax", "argmin", "argsort", "cumsum", "cumprod"), _lift_along),
    **dict.fromkeys(("softmax", "log_softmax", "linear_scan", "concatenate"), _lift_along),
}
# What is hoisted out of loops with recurrent steps.
HOISTABLE = frozenset(("contract", "elementwise", "transpose", "reshape"))
# Primitives all of whose operands may differ from step to step.
TOGETHER = frozenset(("contract", "elementwise", "concatenate", "linear_scan", "cumprod_slope"))
