"""Inputs for verification, and what NumPy makes of them: given by the user, or made up.

Which inputs make sense a graph doesn't tell: an integer may be an index, a number of rows or a
divisor. So several are tried, and NumPy, which checks them, tells which ones will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, FeedError
from ...graph.analysis.agreement import agreed_sizes
from ...graph.ir.node import Node
from ...graph.ir.program import Graph
from ...runtime.compiler import compiled, run
from ...runtime.engines import embedded
from ...runtime.feeds import feed_of
from ..interop.pure import Stateless

Array = np.ndarray[Any, Any]
WHAT = "export"
REMEDY = (
    "give some: verify=[[…], […]], for each call a list of the inputs' values; or write it without:"
    " verify=False"
)
CALLS = 2


class Call(NamedTuple):
    """Values of the inputs, and what comes out: outputs, then new values of variables."""

    given: list[Array]
    expected: list[Array]


# Inputs for each call, or calls, of which it's known what comes out; None: they're made up.
Examples = Sequence[list[Array] | Call] | None
# For each input its shape, with None for sizes that stay open, or None for its own.
Shapes = Sequence[Sequence[int | None] | None] | None


def examples_of(program: Stateless, verify: Any, shapes: Shapes = None) -> Examples:
    """The inputs that a user gives for verification; None, if they're to be made up.

    Args:
        program: what is written.
        verify: what the user gives.
        shapes: what the file takes alone: see `shapes_of`.

    Raises:
        ArgumentError: it's neither a bool nor a list of lists, or of calls.
        FeedError: a value doesn't fit its input.
    """
    if isinstance(verify, bool):
        return None if shapes is None else _made_up(program, _reference(program), shapes)
    if isinstance(verify, list) and verify and all(isinstance(x, Call) for x in verify):
        return verify
    if not isinstance(verify, list | tuple) or not verify:
        raise ArgumentError(_expected_of_verify(program, verify))
    return [_fed(program, each) for each in verify]


def _expected_of_verify(program: Stateless, got: Any) -> str:
    names = ", ".join(x.name[:-2] for x in program.inputs)
    return (
        f"{WHAT}: verify is True, False, or a list that has, for each call, a list of the inputs'"
        f" values: [[{names}], …], not {got!r:.200}"
    )


def _fed(program: Stateless, values: Any) -> list[Array]:
    if not isinstance(values, list | tuple):
        raise ArgumentError(_expected_of_verify(program, [values]))
    outer = program.outer
    parts = values if outer is None else outer.entries.values(values)
    pairs = zip(program.inputs, program.function.completed(parts), strict=True)
    return [np.array(feed_of(x, WHAT)(value, embedded())) for x, value in pairs]


def calls_of(program: Stateless, examples: Examples) -> list[Call]:
    """What to call the file with, and what has to come out.

    Args:
        program: what was written.
        examples: inputs, or calls, of which it's known what has to come out; None: inputs are made
            up.

    Raises:
        ArgumentError: NumPy refuses all inputs that were made up.
    """
    compute = _reference(program)
    if examples is None:
        return _made_up(program, compute)
    return [x if isinstance(x, Call) else Call(x, compute(x, True)) for x in examples]


# The reference -----------------------------------------------------------------------------------

# Given inputs, what comes out; the second argument: whether an error shall name the node.
Compute = Callable[..., list[Array]]


def _reference(program: Stateless) -> Compute:
    """What NumPy computes."""
    executable = compiled(program.pure().graph, embedded())
    state = [*program.values, *program.keys]
    count = len(program.function.outputs) + len(program.updated)

    def compute(given: Sequence[Array], named: bool = False) -> list[Array]:
        arguments = [np.array(x) for x in given] + state
        found = run(executable, arguments) if named else executable(arguments)
        return [np.asarray(x) for x in found[:count]]

    return compute


# Inputs that are made up -------------------------------------------------------------------------


def _made_up(program: Stateless, compute: Compute, shapes: Shapes = None) -> list[Call]:
    """Two calls, of other sizes where they can differ.

    Raises:
        ArgumentError: NumPy refuses all inputs.
    """
    calls: list[Call] = []
    last: Exception | None = None
    for sizes in _sizes(program, shapes):
        found = _call(program, sizes, compute, len(calls))
        if isinstance(found, Call):
            calls.append(found)
            if len(calls) == CALLS:
                break
        else:
            last = found
    if not calls:
        raise ArgumentError(
            f"{WHAT}: the file can't be verified: NumPy refuses all inputs that were made up"
            f" ({last})\n  {REMEDY}"
        ) from last
    return calls


# Sizes for the groups of equal unknown sizes, one after the other: of the first one, which mostly
# counts samples; of the others, and how much more each next one is.
PLANS = (
    (2, 3, 1), (3, 5, 1), (2, 2, 0), (3, 3, 0), (2, 8, 1), (3, 12, 0), (2, 32, 0), (2, 64, 0),
    *((n, n, 0) for n in (1, 4, *range(5, 65))),
)  # fmt: skip


def _sizes(program: Stateless, shapes: Shapes) -> Iterator[list[list[int]]]:
    """Sizes of all inputs' axes, in the order in which they're tried."""
    roots = roots_of(program)
    fixed = fixed_sizes(roots, shapes_of(program, shapes))
    roots = [[fixed.get(r, r) for r in each] for each in roots]
    groups = list(dict.fromkeys(r for each in roots for r in each if not isinstance(r, int)))
    for first, other, step in PLANS if groups else PLANS[:CALLS]:
        found = {g: other + step * i for i, g in enumerate(groups[1:])} | dict.fromkeys(
            groups[:1], first
        )
        yield [[found.get(r, r) for r in each] for each in roots]


def roots_of(program: Stateless) -> list[list[Any]]:
    """For each axis of each input its size; or, if it's unknown, what equal ones have in common."""
    function = program.function
    graph = function.graph(equal=False)
    guard = function.guard
    sizes = agreed_sizes(Graph(graph.inputs, graph.outputs, guard.equal if guard else ()))
    inputs = graph.inputs[: len(program.inputs)]
    return [[sizes.of(x, axis) for axis in range(len(x.shape))] for x in inputs]


def shapes_of(program: Stateless, shapes: Shapes) -> list[Sequence[int | None]]:
    """The shapes that a user gives, for all inputs.

    Raises:
        ArgumentError: one isn't that of an input.
    """
    inputs = program.inputs
    if shapes is None:
        return [x.shape for x in inputs]
    given = list(shapes) if isinstance(shapes, list | tuple) else []
    found = [x.shape if s is None else s for x, s in zip(inputs, given, strict=False)]
    if len(given) != len(inputs) or not all(
        isinstance(s, list | tuple) and x.type.may_accept(tuple(s))
        for x, s in zip(inputs, found, strict=True)
    ):
        wanted = ", ".join(f"'{x.name}' {x.shape}" for x in inputs)
        raise ArgumentError(f"{WHAT}: shapes must fit the inputs {wanted}, got {shapes!r}")
    return found


def fixed_sizes(
    roots: Sequence[Sequence[Any]], shapes: Sequence[Sequence[int | None]]
) -> dict[Any, int]:
    """What `shapes` says of sizes that are equal, by what they have in common."""
    pairs = (pair for row in zip(roots, shapes, strict=True) for pair in zip(*row, strict=True))
    return {root: size for root, size in pairs if size is not None}


# How inputs are drawn: floats between bounds, integers below a bound and from another one. They may
# be indices, numbers of something, or divisors; floats may be what only positive numbers can be.
KINDS = [
    (floats, integers)
    for floats in ((-2.0, 2.0), (0.05, 0.95))
    for integers in ((0, 10), (0, 2), (1, 3), (0, 1), (1, 2))
]


def _call(
    program: Stateless, sizes: list[list[int]], compute: Compute, number: int
) -> Call | Exception:
    """A call with inputs of these sizes; its results are finite, if that can be.

    Returns:
        The error of the last one that was tried, if NumPy refuses all.
    """
    found: Call | None = None
    last: Exception = FeedError("there are no inputs")
    for kind in KINDS:
        random = np.random.default_rng(number)
        given = _drawn(program, sizes, kind, random, number)
        try:
            call = Call(given, compute(given))
        except Exception as error:
            last = error
            continue
        if all(np.isfinite(x).all() for x in call.expected if x.dtype.kind == "f"):
            return call
        found = found or call
    return found or last


def _drawn(
    program: Stateless, sizes: list[list[int]], kind: Any, random: Any, number: int
) -> list[Array]:
    drawn = [
        _array(x, shape, kind, random, number)
        for x, shape in zip(program.inputs, sizes, strict=True)
    ]
    outer = program.outer
    if outer is None or outer.entries.plain:
        return drawn
    from ..sparse import feed_parts

    place = 0
    for x in outer.entries.sparse:
        if x is not None:
            shape = [2 + number if d is None else d for d in x.shape]
            dense = random.uniform(*kind[0], shape) * random.integers(0, 2, shape)
            drawn[place : place + 3] = map(np.asarray, feed_parts(dense.astype(x.dtype), x))
        place += 1 if x is None else 3
    return drawn


def _array(x: Node, shape: Sequence[int], kind: Any, random: Any, number: int) -> Array:
    floats, integers = kind
    dtype = np.dtype(x.dtype)
    if x.is_phase:
        return np.array(number % 2, dtype)
    if x.dtype.is_bool:
        return np.asarray(random.integers(0, 2, shape), dtype)
    if x.dtype.is_float:
        return np.asarray(random.uniform(*floats, shape)).astype(dtype)
    return np.asarray(random.integers(*integers, shape)).astype(dtype)
