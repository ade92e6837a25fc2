"""What a library's own abstract evaluation tells of a function's results.

Libraries that evaluate with known sizes alone are asked several times, with other numbers in the
place of unknown sizes: a size of a result that is always the same is known, one that is
always that of one unknown size is unknown, but equal to it, and any other one is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...errors import FOREIGN, ArgumentError
from ...graph.ir.node import Node
from ...graph.ir.sizes import Root, Sizes
from ...graph.ir.types import TensorType
from ...graph.primitives.sizes import size_origin
from .library import Function, Library
from .results import Place, Results

# Numbers for unknown sizes, one row for each evaluation. Where a function can't do with sizes of 1,
# that says nothing.
TRIALS = ((5, 7, 11, 13, 17, 19), (6, 9, 14, 15, 22, 26), (1,))
OPTIONAL = (1,)
# What to do where the function can't do with such numbers.
UNKNOWN = (
    " (numbers were put in the place of unknown sizes: give the tensors the sizes that the function"
    " wants, or declare shapes= and dtypes=)"
)

Trial = tuple[Sequence[TensorType], Any]


def evaluated(function: Function, library: Library, operands: Sequence[Node], name: str) -> Results:
    """The results of a function, as its library evaluates it.

    Raises:
        ArgumentError: the function can't be called so, or gives something else than tensors of
            which the number of axes and the dtype are known.
    """
    sizes = Sizes(size_origin)
    types = [x.type for x in operands]
    roots = [[sizes.of(x, axis) for axis in range(len(x.shape))] for x in operands]
    try:
        trials = _trials(function, library, types, roots)
    except FOREIGN:
        raise
    except Exception as error:
        shown = ", ".join(map(str, types))
        remedy = "" if all(t.is_static for t in types) else UNKNOWN
        raise ArgumentError(
            f"call: {name}({shown}) can't be evaluated by {library.title} before it runs:"
            f" {type(error).__name__}: {error}{remedy}"
        ) from error
    several = isinstance(trials[0][1], (list, tuple))
    found = [_types(library, given, name) for _, given in trials]
    merged = [_merged([trial[i] for trial in found]) for i in range(len(found[0]))]
    seen = [(given, f) for (given, _), f in zip(trials, found, strict=True)]
    origins = _origins(merged, seen, roots)
    return Results(tuple(merged), several, origins, traced=True)


def _trials(
    function: Function,
    library: Library,
    types: Sequence[TensorType],
    roots: Sequence[Sequence[Root]],
) -> list[Trial]:
    """Evaluations with some numbers for each unknown size: distinct ones; where the function can't
    do with these, the same for sizes that broadcasting would hold against each other; else the same
    for all.
    """
    if library.takes_unknown or all(t.is_static for t in types):
        return [(types, library.evaluate(function, types))]
    places: dict[Root, int] = {}  # counted from the last axis
    for sizes in roots:
        for place, root in enumerate(reversed(sizes)):
            if not isinstance(root, int):
                places.setdefault(root, place)
    apart = {root: number for number, root in enumerate(places)}
    for groups in (apart, places) if len(places) > 1 else ():
        try:
            return list(_tried(function, library, types, roots, groups))
        except FOREIGN:
            raise
        except Exception:  # the function can't do with these
            continue
    return list(_tried(function, library, types, roots, dict.fromkeys(places, 0)))


def _tried(
    function: Function,
    library: Library,
    types: Sequence[TensorType],
    roots: Sequence[Sequence[Root]],
    groups: Mapping[Root, int],
) -> Iterator[Trial]:
    """Evaluations in which unknown sizes of one group have the same number."""
    for row in TRIALS:
        number = {root: row[group % len(row)] for root, group in groups.items()}
        given = [
            TensorType(tuple(number.get(r, r) for r in sizes), t.dtype)
            for t, sizes in zip(types, roots, strict=True)
        ]
        try:
            yield given, library.evaluate(function, given)
        except FOREIGN:
            raise
        except Exception:
            if row != OPTIONAL:
                raise


def _types(library: Library, given: Any, name: str) -> list[TensorType]:
    """The types of what a function would give."""
    found = []
    for value in given if isinstance(given, (list, tuple)) else (given,):
        type = library.type_of(value)
        if type is None:
            raise ArgumentError(
                f"call: {name} gives {value!r}, no dense tensor with a known number of axes"
                " and a dtype of Kameleon's; declare its shapes= and dtypes=, if it becomes one"
            )
        found.append(type)
    return found


def _merged(types: Sequence[TensorType]) -> TensorType:
    """What is true of a result in all trials."""
    if len({(len(t.shape), t.dtype) for t in types}) > 1:
        raise ArgumentError(
            f"call: the number of axes of a result depends on sizes: {', '.join(map(str, types))}"
        )
    columns = zip(*(t.shape for t in types), strict=True)
    return TensorType(tuple(c[0] if len(set(c)) == 1 else None for c in columns), types[0].dtype)


def _origins(
    results: Sequence[TensorType],
    trials: Sequence[tuple[Sequence[TensorType], Sequence[TensorType]]],
    roots: Sequence[Sequence[Root]],
) -> tuple[tuple[Place, Place], ...]:
    """For unknown sizes of results the operands' axes that were as long in all trials, where these
    are all of one size: others might differ when the graph runs.
    """
    if len(trials) < 2:
        return ()
    given: dict[tuple[int | None, ...], dict[Root, Place]] = {}
    for i, sizes in enumerate(roots):
        for axis, root in enumerate(sizes):
            numbers = tuple(types[i].shape[axis] for types, _ in trials)
            given.setdefault(numbers, {}).setdefault(root, (i, axis))
    found: list[tuple[Place, Place]] = []
    for number, type in enumerate(results):
        for axis, size in enumerate(type.shape):
            seen = given.get(tuple(types[number].shape[axis] for _, types in trials), {})
            if size is None and len(seen) == 1:
                found.append(((number, axis), next(iter(seen.values()))))
    return tuple(found)
