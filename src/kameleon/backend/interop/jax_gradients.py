"""Pure graphs as functions of JAX, which it differentiates by K's own gradients.

JAX could differentiate the operations that a graph is traced as. K's own gradient is never slower
(see `benchmarks/bridges.py`), and a quarter faster for LSTMs and attention. It's also K's to the
letter: `K.custom_gradient`, where gradients are stopped, what a maximum of equal numbers
passes on, float16. So a program is a `jax.custom_jvp`, whose tangents go through a primitive:

    tangents:    linear(what is kept, tangents of inputs) -> tangents of outputs

Its transpose is K's reverse sweep, from cotangents of outputs to those of inputs: that alone is
made for gradients. The tangents themselves (forward mode, `jax.hessian`) are computed by what
transposes that sweep. Both are programs of this kind again, so derivatives have no highest order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NoReturn

import jax
import numpy as np
from jax.custom_derivatives import SymbolicZero

from ...engines.jax.arrays import in_64_bits
from ...errors import EngineError, GradientError
from ...graph.gradients import pullback
from ...graph.ir.leaves import input_node
from ...graph.ir.node import Node, dependents
from ...graph.ir.program import Graph
from ...graph.ir.rewrite import closed, substitute
from ...graph.ir.types import as_dtype
from ...graph.primitives.precision import has_dtype
from ...graph.primitives.shaping import shape_inputs
from .jax_linear import linear
from .jax_tracing import Traced
from .pure import Pure, Reverse

WIDE = tuple(map(as_dtype, ("float64", "int64", "uint64")))
Value = Any
Values = Sequence[Any]


class Program:
    """A pure graph as a function of JAX's arrays and tracers, to be called with one for each input.

    Args:
        pure: the graph.
        name: what errors call it.

    Attributes:
        deciding: the inputs whose values decide shapes. It can be called only if there are none.
        choosing: those that choose between branches whose shapes may differ.
        is_wide: whether it has numbers of 64 bits.

    Raises:
        EngineError: something in it can't be traced.
    """

    def __init__(self, pure: Pure, name: str):
        self.pure, self.name = pure, name
        traced = Traced(pure, name)
        self.deciding = shape_inputs(traced.graph, outer=False)
        self.choosing = [i for i in shape_inputs(traced.graph) if i not in self.deciding]
        self.is_wide = has_dtype(traced.graph, WIDE)
        self._slopes: dict[tuple[bool, ...], Slope] = {}
        self._function: Any = jax.custom_jvp(traced)
        self._function.defjvp(partial(in_64_bits, self._jvp), symbolic_zeros=True)

    def __call__(self, *arguments: Value) -> tuple[Value, ...]:
        try:
            found: tuple[Value, ...] = in_64_bits(self._function, *arguments)
        except EngineError as error:
            if all(isinstance(d, int) for x in arguments for d in np.shape(x)):
                raise
            raise EngineError(
                f"{error}\n  JAX traces with open sizes here, as for jax.export; the function's own"
                " export(path, format='stablehlo') knows what to do with them, or give them numbers"
            ) from None
        return found

    def _jvp(self, primals: Values, tangents: Values) -> tuple[Values, Values]:
        """The outputs, and their tangents."""
        inputs, _ = self.pure.differentiable
        moves = [
            is_float and not isinstance(t, SymbolicZero)
            for is_float, t in zip(inputs, tangents, strict=True)
        ]
        slope = self.slope(tuple(moves))
        results = slope.forward(*primals)
        outputs = results[: len(self.pure.graph.outputs)]
        places = [*primals, *results]
        given = [tangents[i] for i in slope.moving]
        like = [jax.typeof(outputs[i]).to_tangent_aval() for i in slope.moved]
        found = linear([places[i] for i in slope.kept], given, slope, like) if like else []
        moved = dict(zip(slope.moved, found, strict=True))
        live = [t for t, moves_it in zip(tangents, moves, strict=True) if moves_it]
        for i, refusal in slope.refused.items():
            [moved[i]] = linear([], live, refusal, [jax.typeof(outputs[i]).to_tangent_aval()])
        return outputs, tuple(moved.get(i, _no_tangent(y)) for i, y in enumerate(outputs))

    def slope(self, moves: tuple[bool, ...]) -> Slope:
        """How tangents of those inputs go through."""
        found = self._slopes.get(moves)
        return self._slopes.setdefault(moves, Slope(self, moves)) if found is None else found


def _no_tangent(y: Value) -> SymbolicZero:
    return SymbolicZero(jax.typeof(y).to_tangent_aval())


class Slope:
    """How tangents go through a program, and cotangents back.

    Args:
        program: the program.
        moves: for each input, whether it has a tangent.

    Attributes:
        forward: the program that gives, behind the outputs, what is kept.
        kept: the places of what is kept among inputs and results of `forward`, counted through.
        moving: the inputs whose tangents have an influence.
        moved: the outputs that have a tangent by it.
        refused: by number of an output that has no gradient, what stands for its slope.

    Raises:
        GradientError: no output has a gradient.
    """

    def __init__(self, program: Program, moves: tuple[bool, ...]):
        self._name = program.name
        floats = program.pure.differentiable[1]
        self.refused: dict[int, Refusal] = {}
        try:
            reverse, self.forward = _reversed(program, moves, floats)
        except GradientError:
            self.refused = dict(_refused(program, moves, floats))
            floats = [has and i not in self.refused for i, has in enumerate(floats)]
            reverse, self.forward = _reversed(program, moves, floats)
        self.kept, self._graph = reverse.kept, reverse.backward.graph
        pairs = [(flow, i) for i, flow in enumerate(reverse.flows) if flow is not None]
        self.moving = [i for _, i in sorted(pairs)]
        used = {x for n in self._graph.nodes for x in n.operands} | set(self._graph.outputs)
        cotangents = self._graph.inputs[len(self.kept) :]
        starts = [i for i, is_float in enumerate(floats) if is_float]
        self.moved = [i for i, g in zip(starts, cotangents, strict=True) if g in used]
        self._used = [g for g in cotangents if g in used]
        self._sweeps: dict[tuple[bool, ...], tuple[Program, list[bool]]] = {}

    def tangents(self, kept: Values, given: Values, like: Values) -> list[Value]:
        """The tangents of the outputs that are moved, given those of inputs that move.

        Args:
            kept: see the class.
            given: the tangents.
            like: the types of what is returned.
        """
        program, there = self._transposed
        nothing = [np.zeros(x.shape, x.dtype) for x in like]
        found = iter(program(*kept, *nothing, *given))
        return [next(found) if is_there else x for x, is_there in zip(nothing, there, strict=True)]

    @cached_property
    def _transposed(self) -> tuple[Program, list[bool]]:
        """What transposes the sweep; and, for each output that is moved, whether it's there."""
        held, outputs = self._graph.inputs[: len(self.kept)], self._graph.outputs
        given = [input_node(y.type) for y in outputs]
        parts = pullback(outputs, given, self._used)
        graph = closed([*held, *self._used, *given], [x for x in parts if x is not None])
        return Program(Pure(graph), self._name), [x is not None for x in parts]

    def cotangents(self, kept: Values, given: Values, like: Values) -> list[Value | None]:
        """The cotangents of the inputs that move; None for those that are zero.

        Args:
            kept: see the class.
            given: for each output that is moved its cotangent, or None, if it's zero.
            like: the types of outputs that are moved.
        """
        program, there = self._sweep(tuple(g is not None for g in given))
        pairs = zip(given, like, strict=True)
        whole = [np.zeros(x.shape, x.dtype) if g is None else g for g, x in pairs]
        found = iter(program(*kept, *whole))
        return [next(found) if is_there else None for is_there in there]

    def _sweep(self, given: tuple[bool, ...]) -> tuple[Program, list[bool]]:
        """The reverse sweep for those cotangents, and which of its results aren't zero."""
        if given not in self._sweeps:
            missing = [g for g, has in zip(self._used, given, strict=True) if not has]
            outputs = _without(self._graph, self._used, missing)
            inputs = [*self._graph.inputs[: len(self.kept)], *self._used]
            graph = Graph(inputs, [y for y in outputs if y is not None], self._graph.equal)
            self._sweeps[given] = Program(Pure(graph), self._name), [x is not None for x in outputs]
        return self._sweeps[given]


def _reversed(
    program: Program, moves: Sequence[bool], given: Sequence[bool]
) -> tuple[Reverse, Program]:
    """K's gradient, and the program that begins it.

    Raises:
        GradientError: there's none, or a part of it can't be traced.
    """
    reverse = program.pure.reverse(moves, given)
    try:
        return reverse, Program(reverse.forward, program.name)
    except EngineError as error:
        raise GradientError(f"the gradient can't be traced: {error}") from None


def _refused(
    program: Program, moves: Sequence[bool], given: Sequence[bool]
) -> Iterator[tuple[int, Refusal]]:
    """The outputs that have no gradient; nobody may ask for it."""
    for i in (i for i, is_float in enumerate(given) if is_float):
        try:
            _reversed(program, moves, [i == j for j in range(len(given))])
        except GradientError as error:
            yield i, Refusal(error)


class Refusal:
    """Stands for a slope that there isn't: whoever needs it gets the error."""

    def __init__(self, error: GradientError):
        self.error = error

    def tangents(self, kept: Values, given: Values, like: Values) -> NoReturn:
        """See `Slope.tangents`."""
        raise self.error

    cotangents = tangents


def _without(graph: Graph, given: Sequence[Node], missing: Sequence[Node]) -> list[Node | None]:
    """The outputs of a linear graph, None where they're zero since some of what's given is zero."""
    if not missing:
        return list(graph.outputs)
    late = dependents(graph.nodes, given) | set(given)
    zero = set(missing)
    for node in graph.nodes:
        moving = [x for x in node.operands if x in late]
        if moving and zero.issuperset(moving):
            zero.add(node)

    def shortened(node: Node, operands: tuple[Node, ...]) -> Node | None:
        """A sum of something and zero."""
        if node.primitive.name != "add" or zero.isdisjoint(node.operands):
            return None
        [left] = [new for old, new in zip(node.operands, operands, strict=True) if old not in zero]
        return left

    live = [y for y in graph.outputs if y not in zero]
    found = iter(substitute(live, {x: x for x in zero}, shortened))
    return [None if y in zero else next(found) for y in graph.outputs]
