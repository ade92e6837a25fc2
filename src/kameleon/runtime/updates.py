"""New values of variables: of the variables' dtypes and shapes, or refused before the commit.

Dtypes are known when a program is built, and so are most sizes. Other sizes are compared at run
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engines._base import Engine
from ..errors import DTypeError, ShapeError
from ..graph.ir.node import Node, Variable, dependents
from ..graph.ir.program import Program, bodies


def check(variable: Variable, value: Node, what: str) -> None:
    """Refuse a new value that doesn't fit its variable.

    Raises:
        ShapeError: the shape of the value, as far as it's known, isn't the variable's.
        DTypeError: the dtype of the value isn't the variable's.
    """
    if not value.type.accepts(variable.shape):
        raise ShapeError(
            f"{what}: variable '{variable}' has shape {variable.shape}, the new value"
            f" {value.shape}; they must be equal"
        )
    if value.dtype != variable.dtype:
        raise DTypeError(
            f"{what}: variable '{variable}' is of {variable.dtype}, the new value of {value.dtype};"
            f" K.cast(value, '{variable.dtype}')"
        )


class SizeGuard:
    """Compares sizes of new values at run time, unless they're proven to be right.

    They're proven where no size in the graph behind a value is unknown: inference is exact then.
    Such sizes are compared once on each engine: its compiler may be wrong.

    Attributes:
        variables: the variables whose new values are compared in every call.
        tried: engines whose new values had the variables' shapes once.
    """

    def __init__(self, program: Program):
        order = program.nodes if program.updates else []
        loose = dependents(order, [n for n in order if _is_loose(n)])
        doubtful = [(i, v) for i, (v, x) in enumerate(program.updates) if x in loose]
        self.variables = [v for _, v in doubtful]
        self._places = [i for i, _ in doubtful]
        self._want = [v.shape for v in self.variables]
        self._program = program
        self.tried: set[Engine] = set()

    def check(self, new: Sequence[Any], engine: Engine) -> None:
        """Refuse new values, one for each update, unless all have the variables' shapes.

        Raises:
            ShapeError: a shape differs; names the variable and the line that made the value.
        """
        shape_of = engine.shape_of
        if engine not in self.tried:
            for i, (variable, _) in enumerate(self._program.updates):
                self._compare(i, variable, tuple(shape_of(new[i])))
            self.tried.add(engine)
            return
        found = [shape_of(new[i]) for i in self._places]
        if found != self._want:
            for i, variable, shape in zip(self._places, self.variables, found, strict=True):
                self._compare(i, variable, tuple(shape))

    def _compare(self, place: int, variable: Variable, found: tuple[int, ...]) -> None:
        if variable.type.accepts(found):
            return
        value = self._program.updates[place][1]
        raise ShapeError(
            f"variable '{variable}' has shape {variable.shape}, its new value turned out to be of"
            f" shape {found}; no variable has changed\n"
            f"  the value is that of {value.primitive.name}, which was made at {value.source}"
        )


def _is_loose(node: Node) -> bool:
    """Whether a size of the node, or of a node in its bodies, is unknown."""
    if any(None in x.type.shape for x in node.results):
        return True
    return any(_is_loose(inner) for body in bodies(node) for inner in body.nodes)
