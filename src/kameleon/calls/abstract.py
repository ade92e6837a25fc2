"""What a library's own abstract evaluation tells of a function's results.

Libraries that evaluate with known sizes alone are asked several times, with other numbers in the
place of unknown sizes: a size of a result that is always the same is known, one that is
always that of an operand's axis is unknown, but equal to it, and any other one is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import FOREIGN, ArgumentError
from ..ir.node import Node
from ..ir.sizes import Root, Sizes
from ..ir.types import TensorType
from ..prims.sizes import size_origin
from .library import Function, Library
from .results import Place, Results

# Numbers for unknown sizes, one row for each evaluation. Where a function can't do with sizes of 1,
# that says nothing.
TRIALS = ((5, 7, 11, 13, 17, 19), (6, 9, 14, 15, 22, 26), (1,))
OPTIONAL = (1,)

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
        raise ArgumentError(
            f"call: {name}({shown}) can't be evaluated by {library.title} before it runs:"
            f" {type(error).__name__}: {error}"
        ) from error
    several = isinstance(trials[0][1], (list, tuple))
    found = [_types(library, given, name) for _, given in trials]
    merged = [_merged([trial[i] for trial in found]) for i in range(len(found[0]))]
    origins = _origins(merged, [(given, f) for (given, _), f in zip(trials, found, strict=True)])
    return Results(tuple(merged), several, origins, traced=True)


def _trials(
    function: Function,
    library: Library,
    types: Sequence[TensorType],
    roots: Sequence[Sequence[Root]],
) -> list[Trial]:
    """Evaluations with some numbers for each unknown size: distinct ones, or, where the function
    can't do with these, the same for all.
    """
    if library.takes_unknown or all(t.is_static for t in types):
        return [(types, library.evaluate(function, types))]
    unknown = list(dict.fromkeys(r for sizes in roots for r in sizes if not isinstance(r, int)))
    apart = lambda row: {r: row[i % len(row)] for i, r in enumerate(unknown)}  # noqa: E731
    alike = lambda row: dict.fromkeys(unknown, row[0])  # noqa: E731
    try:
        return list(_tried(function, library, types, roots, apart))
    except FOREIGN:
        raise
    except Exception:
        if len(unknown) < 2:
            raise
        return list(_tried(function, library, types, roots, alike))


def _tried(
    function: Function,
    library: Library,
    types: Sequence[TensorType],
    roots: Sequence[Sequence[Root]],
    numbers: Callable[[Sequence[int]], dict[Root, int]],
) -> Iterator[Trial]:
    for row in TRIALS:
        number = numbers(row)
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
) -> tuple[tuple[Place, Place], ...]:
    """For unknown sizes of results the operands' axes that were as long in all trials."""
    if len(trials) < 2:
        return ()
    given = {
        tuple(types[i].shape[axis] for types, _ in trials): (i, axis)
        for i, type in reversed(list(enumerate(trials[0][0])))
        for axis in reversed(range(len(type.shape)))
    }
    found = []
    for number, type in enumerate(results):
        for axis, size in enumerate(type.shape):
            seen = tuple(types[number].shape[axis] for _, types in trials)
            if size is None and None not in seen and seen in given:
                found.append(((number, axis), given[seen]))
    return tuple(found)
