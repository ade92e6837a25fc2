"""Where two engines begin to differ: the first node that differs though its operands are equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engines._base import Engine
from ...graph.ir.leaves import CONSTANT
from ...graph.ir.node import Node, producer
from ...graph.ir.rewrite import closed
from ...runtime.inspection.values import evaluator, in_chunks, without_conditions
from .problem import Problem
from .result import FirstDifference, difference, summary, worst_place

Array = Any


class Search:
    """Looks for the first node at which an engine differs from the reference.

    Args:
        problem: the graph, and the values of its inputs.
        reference, engine: the two engines.
    """

    def __init__(self, problem: Problem, reference: Engine, engine: Engine):
        self.engines = (reference, engine)
        self.evaluate = evaluator(reference), evaluator(engine)
        self.arguments = problem.values
        self.graph = without_conditions(problem.graph, self.evaluate[0], problem.values)
        # Values of nodes on the reference, and those nodes whose values differ on the engine.
        self.values: dict[Node, Array] = dict(zip(self.graph.inputs, problem.values, strict=True))
        self.differing: set[Node] = set()

    def first(self) -> FirstDifference | None:
        """The first node that differs though it's given equal operands; where there's none, the
        first node that makes small differences of its operands a large one; None where no node
        differs."""
        amplifier: FirstDifference | None = None
        for node, got in self._differing_nodes():
            found = self._alone(node)
            if found is not None:
                return found
            if amplifier is None:
                amplifier = self._described(node, node, got, self.values[node], alone=False)
        return amplifier

    def _differing_nodes(self) -> Iterator[tuple[Node, Array]]:
        """Nodes whose value differs and whose operands' values don't, in order."""
        for chunk in in_chunks(self.graph):
            both = [evaluate(chunk, self.arguments) for evaluate in self.evaluate]
            for node, want, got in zip(chunk.outputs, *both, strict=True):
                self.values[node] = want
                if not difference(node.primitive.name, got, want).within():
                    self.differing.add(node)
                    if self.differing.isdisjoint(producer(node).operands):
                        yield node, got

    def _alone(self, node: Node) -> FirstDifference | None:
        """How the engines differ on the node alone, given the reference's values of its operands;
        None where they agree.
        """
        operands = dict.fromkeys(x for x in producer(node).operands if x.primitive is not CONSTANT)
        graph = closed(list(operands), [node])
        given = [self.values[x] for x in operands]
        want, got = (evaluate(graph, given)[0] for evaluate in self.evaluate)
        if difference(node.primitive.name, got, want).within():
            return None
        return self._described(node, producer(node), got, want, alone=True)

    def _described(
        self, node: Node, made_by: Node, got: Array, want: Array, alone: bool
    ) -> FirstDifference:
        at = worst_place(got, want) if np.shape(got) == np.shape(want) else None
        lines = [
            f"{engine.name}: shape {np.shape(value)}" if at is None
            else summary(engine.name, value, at)
            for engine, value in zip(self.engines, (want, got), strict=True)
        ]  # fmt: skip
        return FirstDifference(
            made_by.primitive.name,
            tuple(str(x.type) for x in made_by.operands),
            str(node.type),
            node.name,
            str(made_by.source),
            (lines[0], lines[1]),
            alone,
        )
