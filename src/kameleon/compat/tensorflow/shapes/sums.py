"""Sums of products by an equation, such as `ij,jk->ik`."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Operation, Shape
from .rules import UNKNOWN, ShapeMismatchError, broadcast, same, shape_of, with_rank

# What an axis is called: by a letter, or as one of an ellipsis, of which the last is -1.
Label = str | int
DOTS = "..."


def labels(equation: str, ranks: Sequence[int]) -> tuple[list[list[Label]], list[Label]]:
    """What the axes of the inputs are called, and those of the sum."""
    inputs, _, output = equation.partition("->")
    terms = inputs.split(",")
    spare = [rank - len(term.replace(DOTS, "")) for term, rank in zip(terms, ranks, strict=True)]
    counts = [count if DOTS in term else 0 for term, count in zip(terms, spare, strict=True)]
    found = [_labels(term, count) for term, count in zip(terms, counts, strict=True)]
    return found, _labels(output, max(counts))


def _labels(term: str, count: int) -> list[Label]:
    before, dots, after = term.partition(DOTS)
    return [*before, *(range(-count, 0) if dots else ()), *after]


@shape_of("Einsum")
def _einsum(operation: Operation, given: list[Shape]) -> Shape:
    equation: str = operation.attribute("equation").decode()
    if equation.count("->") != 1:
        message = f"Expecting exactly one '->' in einsum equation: {equation}"
        raise ShapeMismatchError(message)
    terms = equation.split("->")[0].split(",")
    if len(terms) not in (1, 2):
        about = f"Expecting 1 or 2 input subscripts in equation '{equation}'"
        raise ShapeMismatchError(f"{about} but got: {len(terms)}")
    if DOTS in equation and None in given:
        return None
    shapes: list[tuple[int, ...]] = [
        shape if DOTS in term and shape is not None else with_rank(shape, len(term))
        for term, shape in zip(terms, given, strict=True)
    ]
    inputs, output = labels(equation, [len(shape) for shape in shapes])
    sizes: dict[Label, int] = {}
    for names, shape in zip(inputs, shapes, strict=True):
        for name, size in zip(names, shape, strict=True):
            if isinstance(name, str):
                sizes[name] = same(sizes.get(name, size), size)
            else:
                (sizes[name],) = broadcast((sizes.get(name, 1),), (size,)) or (UNKNOWN,)
    for name in output:
        if name not in sizes:
            about = f"Einsum output subscripts for equation '{equation}' has label '{name}'"
            raise ShapeMismatchError(f"{about} which is not present in the input subscripts")
    return tuple(sizes[name] for name in output)
