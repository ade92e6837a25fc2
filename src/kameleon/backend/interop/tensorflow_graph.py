"""Pure graphs as functions of TensorFlow's tensors, with K's gradients of any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import tensorflow as tf

from ...engines.tensorflow.engine import engine
from ...engines.tensorflow.lowering import Tracing
from ...engines.tensorflow.rules import RULES
from ...errors import GradientError
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...graph.passes.populated import populated
from ...runtime.compiler import prepared
from .pure import Adjoint, Pure

raw = tf.raw_ops
Tensors = Sequence[Any]
Kept = TypeVar("Kept")


class GraphTracing(Tracing):
    """The engine's own lowering, in a graph of the user's; a part of the nodes at a time."""

    rules = RULES

    def __init__(self, graph: Graph, arguments: Sequence[Any]):
        super().__init__(graph, arguments)
        self._outside: set[Node] = set()

    def value(self, node: Node) -> Any:
        """See `Lowering.value`; what comes from outside of this part is hidden."""
        if node in self._outside:
            self._outside.remove(node)
            self.values[node] = hidden(self.values[node])
        return super().value(node)

    def part(self, graph: Graph) -> GraphTracing:
        """Ready to `run` a graph over nodes that have values here, which stay as they are."""
        found = copy(self)
        found._outside = {x for x, value in self.values.items() if tf.is_tensor(value)}
        found.graph, found._pairs = graph, []
        found.values, found.pools, found.losses, found._shapes = (
            dict(x) for x in (self.values, self.pools, self.losses, self._shapes)
        )
        return found


class Joint(NamedTuple):
    """A graph and its gradient, behind all passes.

    Attributes:
        whole: from inputs and cotangents of outputs to outputs and cotangents of inputs.
        outputs: the part that needs no cotangents.
        back: the rest, over all nodes of that part.
        flows: for each input the number of its cotangent.
    """

    whole: Graph
    outputs: Graph
    back: Graph
    flows: list[int | None]


class Applied:
    """A pure graph as a function of tensors, to be called where a tf.function is traced.

    Its gradient is K's: nodes that compute the inputs' cotangents, over those of the forward pass.
    When TensorFlow differentiates these, it's the same step again.

    Attributes:
        followed: which outputs may have cotangents.
        lowering: what gives nodes their tensors.
    """

    def __init__(
        self,
        pure: Pure,
        followed: Sequence[bool] | None = None,
        lowering: type[GraphTracing] = GraphTracing,
    ):
        outputs = pure.differentiable[1]
        self.pure, self.lowering = pure, lowering
        self.followed = [f and g for f, g in zip(followed or outputs, outputs, strict=True)]

    def __call__(self, tensors: Tensors) -> list[Any]:
        """The outputs' tensors."""
        if not any(self.followed) or not any(self.pure.differentiable[0]):
            return self.plain(tensors)
        return _differentiable(self._begun, self._cotangents, tensors)

    def plain(self, tensors: Tensors) -> list[Any]:
        """The outputs' tensors, without a gradient."""
        return _tensors(self.lowering(self._alone, tensors))

    def _begun(self, tensors: Tensors) -> tuple[list[Any], GraphTracing | GradientError]:
        """The outputs' tensors, and where the gradient goes on."""
        try:
            joint = self._joint
        except GradientError as error:  # it counts when somebody asks for the gradient
            return self.plain(tensors), error
        cotangents = [None] * (len(joint.whole.inputs) - len(tensors))
        tracing = self.lowering(joint.whole, [*tensors, *cotangents]).part(joint.outputs)
        return _tensors(tracing), tracing

    def _cotangents(
        self, tensors: Tensors, begun: GraphTracing | GradientError, given: Tensors
    ) -> list[Any]:
        """Cotangents of the inputs; None for those that have no influence."""
        if isinstance(begun, GradientError):
            raise begun
        joint = self._joint
        pairs = zip(given, self.followed, strict=True)
        cotangents = [tf.convert_to_tensor(g) for g, has in pairs if has]  # slices become dense

        def value(_: Tensors) -> tuple[list[Any], None]:
            tracing = begun.part(joint.back)
            places = joint.whole.inputs[len(tensors) :]
            tracing.values |= dict(zip(places, cotangents, strict=True))
            return _tensors(tracing), None

        def second(arguments: Tensors, _: None, given: Tensors) -> list[Any]:
            adjoint = self._adjoint
            return adjoint._cotangents(arguments, adjoint._begun(arguments)[1], given)

        found = _differentiable(value, second, [*tensors, *cotangents])
        return [None if i is None else found[i] for i in joint.flows]

    @cached_property
    def _alone(self) -> Graph:
        return _ready(self.pure.graph)

    @cached_property
    def _adjoint(self) -> Applied:
        """From inputs and cotangents of outputs to the cotangents of inputs that there are."""
        return Applied(self._gradient.pure, None, self.lowering)

    @cached_property
    def _joint(self) -> Joint:
        adjoint, own = self._adjoint.pure.graph, self.pure.graph
        whole = _ready(Graph(adjoint.inputs, [*own.outputs, *adjoint.outputs]))
        first = len(own.outputs)
        outputs = Graph(whole.inputs, whole.outputs[:first])
        back = Graph(outputs.nodes, whole.outputs[first:])
        return Joint(whole, outputs, back, self._gradient.flows)

    @cached_property
    def _gradient(self) -> Adjoint:
        return self.pure.adjoint(self.pure.differentiable[0], self.followed)


def _ready(graph: Graph) -> Graph:
    """A graph behind all passes, with conditions around windows that may see nothing."""
    return populated(prepared(graph, engine), engine.nonempty_dims)[0]


def _tensors(lowering: Tracing) -> list[Any]:
    return [tf.convert_to_tensor(y) for y in lowering.run()]


# Integers of as many bits as floats.
BITS = {2: tf.int16, 4: tf.int32, 8: tf.int64}


def hidden(x: Any) -> Any:
    """A tensor that TensorFlow sees no way for gradients to.

    Else its gradients of second order would go through operations beside ours, with cotangents of
    0: at a price, and with errors where TensorFlow has no gradient. The optimiser takes this out.
    """
    if not x.dtype.is_floating:
        return x
    return raw.Bitcast(input=raw.Bitcast(input=x, type=BITS[x.dtype.size]), type=x.dtype)


def _differentiable(
    function: Callable[[Tensors], tuple[list[Any], Kept]],
    gradient: Callable[[Tensors, Kept, Tensors], list[Any]],
    tensors: Tensors,
) -> list[Any]:
    """What a function gives, with a gradient of its own.

    Args:
        function: gives results, and what the gradient needs besides the tensors.
        gradient: takes the tensors, what was kept, and the results' cotangents.
        tensors: the arguments.
    """

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def call(*arguments: Any) -> Any:
        results, kept = function(arguments)
        return results, lambda *given: gradient(arguments, kept, given)

    # The gradient of a gradient is built in a graph that sees the tensors of this one alone.
    return list(call(*map(tf.identity, tensors)))
