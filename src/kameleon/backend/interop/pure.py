"""What a function computes, without its state: arrays in, arrays out, and how cotangents go back.

`Stateless` is a compiled function as a pure one: variables and random streams are further inputs,
new values of variables further outputs. `Pure` is its graph, for the engine of any library; its
gradient is made of two graphs more,

    forward:   inputs -> (outputs, what is kept)
    backward:  (what is kept, cotangents of outputs) -> cotangents of inputs

which are pure as well: a library that differentiates the second one takes the same way again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._utils.names import distinct
from ...errors import ArgumentError, GradientError
from ...graph.gradients import pullback
from ...graph.ir.leaves import CONSTANT, input_node
from ...graph.ir.node import ITEM, Node, dependents, walk
from ...graph.ir.program import Graph
from ...graph.ir.rewrite import closed
from ...graph.primitives.constants import known_number
from ...runtime.compiler import simplified
from ...runtime.function import Function
from ...runtime.pure import with_values
from ...runtime.state import draws, numpy_values
from .._conversions import is_of_tensorflow_1
from .._nests import leaves
from ..functions import BackendFunction
from ..sparse import PART_NAMES
from ..sparse_tensor import SparseTensor

# What says something of gradients: dead branches go, and these stay.
ANNOTATIONS = ("stop_gradient", "with_gradient")
KEY = "random_key"  # what a stream's state is called, where it has a name
KEY_WORDS = 2  # of 32 bits: the seed of a random stream, and how often it was drawn from


class Reverse(NamedTuple):
    """How a cotangent goes back through a pure graph.

    Attributes:
        forward: gives the outputs and, behind them, what `backward` needs of them.
        kept: for each input of `backward` but the cotangents, its place among the inputs and
            results of `forward`, counted through.
        backward: takes what is kept, then the cotangents that there are.
        flows: for each input of the pure graph, the number of the output of `backward` that is
            its cotangent; None, if the input has no influence.
    """

    forward: Pure
    kept: list[int]
    backward: Pure
    flows: list[int | None]


class Adjoint(NamedTuple):
    """The gradient of a pure graph by one graph, which takes its inputs, then cotangents.

    Attributes:
        pure: the graph.
        cotangents: its last inputs, one for each output that has a cotangent.
        flows: see `Reverse`.
    """

    pure: Pure
    cotangents: list[Node]
    flows: list[int | None]


class Pure:
    """A closed graph for the libraries that differentiate, transform or export it.

    Attributes:
        graph: from inputs to outputs; no variables, no random streams, no unfed placeholders.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self._reverses: dict[tuple[Any, Any], Reverse] = {}

    @property
    def differentiable(self) -> tuple[list[bool], list[bool]]:
        """Which inputs, and which outputs, may have a cotangent: those of floats."""
        inputs, outputs = self.graph.inputs, self.graph.outputs
        return [x.dtype.is_float for x in inputs], [y.dtype.is_float for y in outputs]

    def reverse(self, wanted: Sequence[bool], given: Sequence[bool]) -> Reverse:
        """The gradient, made once for each combination.

        Args:
            wanted: the inputs whose cotangents are asked for.
            given: the outputs that have a cotangent; it's zero for the others.

        Raises:
            GradientError: a primitive without gradient lies on a path.
        """
        key = tuple(wanted), tuple(given)
        found = self._reverses.get(key)
        return self._reverses.setdefault(key, self._reversed(*key)) if found is None else found

    def adjoint(self, wanted: Sequence[bool], given: Sequence[bool]) -> Adjoint:
        """The same by one graph; see `reverse`."""
        inputs, outputs = self.graph.inputs, self.graph.outputs
        starts = [y for y, has in zip(outputs, given, strict=True) if has and y.dtype.is_float]
        cotangents = [input_node(y.type) for y in starts]
        ends = [x for x, want in zip(inputs, wanted, strict=True) if want and x.dtype.is_float]
        parts = dict(zip(ends, pullback(starts, cotangents, ends), strict=True))
        found = [g for g in parts.values() if g is not None]
        numbers = {x: i for i, x in enumerate(x for x, g in parts.items() if g is not None)}
        pure = Pure(Graph([*inputs, *cotangents], found))
        return Adjoint(pure, cotangents, [numbers.get(x) for x in inputs])

    def _reversed(self, wanted: Sequence[bool], given: Sequence[bool]) -> Reverse:
        inputs, outputs = self.graph.inputs, self.graph.outputs
        whole, cotangents, flows = self.adjoint(wanted, given)
        found = whole.graph.outputs
        held = list(_kept(found, cotangents))
        there = {x: i for i, x in reversed(list(enumerate((*inputs, *outputs))))}
        added = [x for x in held if x not in there]
        there |= {x: i for i, x in enumerate(added, len(inputs) + len(outputs))}
        return Reverse(
            Pure(Graph(inputs, [*outputs, *added], self.graph.equal)),
            [there[x] for x in held],
            Pure(closed([*held, *cotangents], found)),
            flows,
        )


def _kept(gradients: Sequence[Node], cotangents: Sequence[Node]) -> Iterator[Node]:
    """What gradients need beside cotangents: nodes that don't depend on these, and that one would
    rather keep than compute again. Sizes are read anew, for engines that must know them early.
    """
    order = walk(gradients, set(cotangents))
    late = dependents(order, cotangents)
    open_nodes = [x for y in (*order, *gradients) if y in late for x in y.operands]
    open_nodes += [y for y in gradients if y not in late]
    seen: set[Node] = set()
    while open_nodes:
        node = open_nodes.pop()
        if node in late or node in seen:
            continue
        seen.add(node)
        if node.primitive is CONSTANT:
            continue
        if node.operands and _is_made_again(node):
            open_nodes += node.operands
        else:
            yield node


def _is_made_again(node: Node) -> bool:
    """Whether it's made of one tensor at little cost, or is a size."""
    if node.primitive.name in ("size", "broadcast_to", "stretch"):
        return True
    first = node.primitive.first_size
    tensors = [x for x in node.operands[:first] if known_number(x) is None]
    of_one = node.primitive.is_cheap and len(tensors) == 1
    return of_one or (node.primitive is not ITEM and node.shape == () and node.dtype.is_integer)


class Stateless:
    """A compiled function as a pure one.

    Attributes:
        name: what errors call it.
        inputs: the function's own inputs.
        variables: those that it reads or writes; their `names` tell them apart.
        sources: the random streams that it draws from.
        updated: by number of a variable, that of its new value behind the outputs.
        phase: the place of the learning phase among the inputs, if it's there.
        outer: what `K.function` gave, with nests of outputs and sparse inputs, if it's that.
    """

    def __init__(self, function: Any, what: str):
        """
        Raises:
            ArgumentError: it's no function of `K.function`.
        """
        self.outer = function if isinstance(function, BackendFunction) else None
        function = getattr(self.outer, "compiled", function)
        if not isinstance(function, Function):
            remedy = "K.function(inputs, outputs)"
            if is_of_tensorflow_1(function):
                remedy = "TensorFlow 1.15 made it; --keras-on kameleon lets Keras run on K"
            raise ArgumentError(f"{what} takes what K.function gives, not {function!r}: {remedy}")
        program = function.program
        self.function, self.name = function, function.name
        self.inputs, self.variables = list(function.inputs), program.variables
        self.sources = program.sources
        self.names = distinct(v.name.rpartition(":")[0] for v in self.variables)
        self.updated = {self.variables.index(v): i for i, (v, _) in enumerate(program.updates)}
        self.phase = function.phase
        self._pure: dict[tuple[bool | None, bool], Pure] = {}

    def pure(self, phase: bool | None = None, equal: bool = False) -> Pure:
        """The graph: inputs, variables and keys of streams in; outputs and new values out.

        Values are printed and watched by `K.function` alone: they aren't among the outputs.

        Args:
            phase: the learning phase, where it's known when code is made; its input is left unread.
            equal: whether it's for inputs of which all sizes are equal that meet; else one of them
                may be 1.
        """
        key = phase, equal
        found = self._pure.get(key)
        if found is None:
            found = self._pure.setdefault(key, Pure(self._graph(*key)))
        return found

    def _graph(self, phase: bool | None, equal: bool) -> Graph:
        values = self.function.constants.values()
        graph = with_values(self.function.graph(phase, equal), len(self.inputs), values)
        return graph.to(graph.outputs[: len(self.function.outputs) + len(self.updated)])

    @property
    def trainable(self) -> set[int]:
        """The numbers of the variables that training changes: outputs are differentiated by them,
        in the training phase, and nobody has set their `trainable` to False.
        """
        graph = self.pure(None if self.phase is None else True).graph
        pure = Pure(simplified(graph, ANNOTATIONS))  # without dead branches
        first, outputs = len(self.inputs), len(self.function.outputs)
        given = [i < outputs for i in range(len(pure.graph.outputs))]
        ends = {first + i for i, v in enumerate(self.variables) if v.trainable}
        try:
            flows = pure.reverse([i in ends for i in range(len(pure.graph.inputs))], given).flows
        except GradientError:  # then each float may be one
            flows = [0 if x.dtype.is_float else None for x in pure.graph.inputs]
        return {i - first for i in ends if flows[i] is not None}

    @property
    def values(self) -> list[np.ndarray]:
        """The variables' present values: arrays that are shared with nobody."""
        return [np.array(x) for x in numpy_values(self.variables)]

    @property
    def keys(self) -> list[np.ndarray]:
        """For each stream, what the function's next call draws with: (2,) of uint32."""
        pairs = [(x.attrs["seed"], draws(x).value) for x in self.sources]
        return [np.array(pair, np.uint32) for pair in pairs]

    def rebuilt(self, outputs: Sequence[Any]) -> Any:
        """Outputs in the nest of lists, tuples and dicts that the function gives them in."""
        found = list(outputs)
        return found if self.outer is None else self.outer.leaves.rebuild(found)

    @property
    def paths(self) -> list[str]:
        """For each output the keys of the dicts that it stands in, joined; empty, if in none."""
        if self.outer is None:
            return [""] * len(self.function.outputs)
        found: list[str] = []
        for x, path in leaves(self.outer.outputs):
            parts = PART_NAMES if isinstance(x, SparseTensor) else ("",) * (x is not None)
            found += ["_".join(filter(None, (path, part))) if path else "" for part in parts]
        return found

    def refuse_sparse(self, what: str) -> None:
        """Refuse sparse inputs and outputs, for libraries' objects that have none.

        Raises:
            ArgumentError: names the first one.
        """
        outer = self.outer
        outputs = () if outer is None else (x for x, _ in leaves(outer.outputs))
        for x in () if outer is None else (*outer.inputs, *outputs):
            if isinstance(x, SparseTensor):
                raise ArgumentError(
                    f"{what}: '{x.name}' is sparse, and what this makes takes and gives dense"
                    " tensors: K.to_dense makes an output dense; for an input, use a dense"
                    " placeholder"
                )
