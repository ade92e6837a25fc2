"""A graph node by node: what its results are without any rewriting, and what last bits decide.

Two engines round differently. Where that turns a comparison, an order or a step, or where large
numbers cancel, results are apart though no engine is wrong. So each number that was rounded is
nudged by some units in the last place, over and over, or to the round number beside it: results
that then differ by more than engines may prove nothing. Numbers that no engine rounds, exact ties
among them, are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kameleon.engines._base import Executable
from kameleon.graph.ir.node import ITEM, Node
from kameleon.graph.ir.rewrite import closed
from kameleon.runtime.compiler import compiled_anew
from kameleon.runtime.engines import embedded
from kameleon.runtime.inspection.values import evaluator, without_conditions
from kameleon.testing.comparison.problem import problem_of
from kameleon.testing.comparison.result import FirstDifference, difference

from .program import Array

RUNS = 12  # with nudged numbers
UNITS = 16  # in the last place, by which a number is nudged at most
# By dtype, how many bits of a number are zero at its end if it's taken as exact: sums and products
# of few such numbers are exact, too.
SHORT = {"float16": 5, "float32": 11, "float64": 26}

# Primitives whose results are numbers of their operands, or whole numbers: nothing is rounded.
EXACT = frozenset(
    "abs argmax argmin argsort bitcast broadcast_to cast ceil check concatenate constant eq floor"
    " gather ge gt identity iota is_nan item le logical_and logical_not logical_or lt max_pool"
    " maximum minimum ne neg nonzero one_hot pad patches pool_pick put_along reduce_all reduce_any"
    " reduce_max reduce_min relu reshape reverse round select sign size slice stop_gradient"
    " take_along transpose unslice with_gradient".split()
)
# Primitives that round each element of the result once. All others sum, or have steps inside: what
# these make of rounded operands tells how far engines may be apart.
ELEMENTWISE = frozenset(
    "add cos div elu exp expm1 log log1p mul normal_quantile pow sigmoid sin softplus sqrt square"
    " sub tanh".split()
)
# Primitives that add products up, in an order that is the engine's: the terms may be much larger
# than their sum.
SUMS = frozenset(
    "contract conv conv_input conv_kernel cumsum depthwise_conv depthwise_input depthwise_kernel"
    " fold reduce_sum scatter_add sum_pool sum_to sum_unpool unpool".split()
)
LARGE = 2.0**20


class Nudging(np.random.Generator):
    """Says how numbers are nudged in one run: by lot, or to round numbers."""

    def __init__(self, seed: int, to_round: bool = False):
        super().__init__(np.random.PCG64(seed))
        self.to_round = to_round


def _nudgings() -> Iterator[Nudging]:
    """Those of all runs: every third one is to round numbers."""
    return (Nudging(run, run % 3 == 2) for run in range(RUNS))


class Stepwise:
    """The graph of a function, each node of it compiled on its own for the embedded engine.

    Args:
        function: what `K.function` returns.
        feeds: values of its inputs.
    """

    def __init__(self, function: Any, feeds: Sequence[Array]):
        problem = problem_of(function, list(feeds), [])
        self.arguments = problem.values
        self.outputs = len(problem.graph.outputs)
        self.graph = without_conditions(problem.graph, evaluator(embedded()), problem.values)
        self.steps = [_step(n) for n in self._nodes()]

    def _nodes(self) -> list[Node]:
        inputs = set(self.graph.inputs)
        return [n for n in self.graph.nodes if n not in inputs and n.primitive is not ITEM]

    def run(self, random: Nudging | None = None) -> list[Array]:
        """The function's results; with nudged numbers, if there's a generator."""
        return self._all(random)[: self.outputs]

    def _all(self, random: Nudging | None = None) -> list[Array]:
        """The results, and behind them the conditions that chose branches."""
        values = self._values(random)
        return [values[n] for n in self.graph.outputs]

    def _values(self, random: Nudging | None = None) -> dict[Node, Array]:
        values: dict[Node, Array] = dict(zip(self.graph.inputs, self.arguments, strict=True))
        for step in self.steps:
            made = step.results([values[x] for x in step.operands], random)
            values.update(zip(step.node.results, made, strict=True))
            values[step.node] = made[0]
        return values

    def decided_by_last_bits(self) -> set[int]:
        """The numbers of the results that are apart in runs with nudged numbers; all of them,
        where that turns a condition."""
        first = self._all()
        found = {i for nudging in _nudgings() for i in apart(self._all(nudging), first)}
        chosen = any(i >= self.outputs for i in found)
        return set(range(self.outputs)) if chosen else found

    def is_delicate(self, found: FirstDifference) -> bool:
        """Whether last bits decide what the node of a difference gives: a sum of large numbers
        that is nearly 0, say."""
        values = self._values()
        for step in self.steps:
            types = tuple(str(x.type) for x in step.node.operands)
            name, source = step.node.primitive.name, str(step.node.source)
            if (name, types, source) == (found.primitive, found.operands, found.source):
                given = [values[x] for x in step.operands]
                first = step.results(given)
                if any(apart(step.results(given, nudging), first) for nudging in _nudgings()):
                    return True
        return False


class Step(NamedTuple):
    """A node, its distinct operands, and code that computes nothing else."""

    node: Node
    operands: list[Node]
    code: Executable

    def results(self, operands: Sequence[Array], random: Nudging | None = None) -> list[Array]:
        """What the node gives; with nudged numbers, if there's a generator."""
        given, name = list(operands), self.node.primitive.name
        if random is not None and name not in EXACT | ELEMENTWISE:
            given = [nudged(x, ~_is_short(x), random) for x in given]
        made = self._made(given)
        if random is not None:
            made = [_with_other_choices(self.node, x, random) for x in made]
        if random is not None and name not in EXACT:
            made = [nudged(x, _was_rounded(x, given), random) for x in made]
        if random is not None and name in SUMS:
            sizes = self._made([np.abs(x) if str(x.dtype) in SHORT else x for x in given])
            made = [_summed(x, y, given, random) for x, y in zip(made, sizes, strict=True)]
        return made

    def _made(self, given: Sequence[Array]) -> list[Array]:
        return [np.asarray(x) for x in self.code([x.copy() for x in given])]


# Primitives whose records leave the sign of zeros to the engine.
PICKS = frozenset("maximum minimum select relu reduce_max reduce_min max_pool".split())


def _with_other_choices(node: Node, x: Array, random: Nudging) -> Array:
    """A result with what records call engine-defined drawn by lot: the sign of a zero that was
    picked, whether a sigmoid's far tail is 0."""
    lots = random.integers(0, 2, x.shape).astype(bool)
    if node.primitive.name in PICKS and x.dtype.kind == "f":
        return np.asarray(np.where((x == 0) & lots, -x, x))
    if node.primitive.name == "sigmoid":
        return np.asarray(np.where((x < np.finfo(x.dtype).eps) & lots, 0, x), x.dtype)
    return x


def _step(node: Node) -> Step:
    operands = list(dict.fromkeys(node.operands))
    return Step(node, operands, compiled_anew(closed(operands, node.results), embedded()))


def apart(got: Sequence[Array], want: Sequence[Array]) -> dict[int, str]:
    """By number, the values that are further apart than engines may be, as text."""
    found = {}
    for i, pair in enumerate(zip(got, want, strict=True)):
        how = difference(f"value {i}", *pair)
        if not how.within():
            found[i] = f"{how}\n{pair[0]}\n{pair[1]}"
    return found


def nudged(x: Array, where: Array, random: Nudging) -> Array:
    """Numbers moved by some units in the last place, where they may be."""
    if str(x.dtype) not in SHORT:
        return x
    eps = np.finfo(x.dtype).eps
    if random.to_round:
        moved = _rounded(x)
        where = where & (np.abs(moved - x) <= UNITS * eps * np.abs(x))
    else:
        moved = x * (1 + random.integers(-UNITS, UNITS + 1, x.shape) * eps)
    return np.asarray(np.where(where, moved, x), x.dtype)


def _summed(x: Array, size: Array, given: Sequence[Array], random: Nudging) -> Array:
    """A sum as another order of its terms might give it, whose magnitudes add up to `size`."""
    if str(x.dtype) not in SHORT:
        return x
    # Terms so much larger than their sum are rounded on the way, however few digits they have.
    where = (_was_rounded(x, given) | (size > LARGE * np.abs(x))) & np.isfinite(size)
    off = random.uniform(-1.0, 1.0, x.shape) * np.finfo(x.dtype).eps * np.where(where, size, 0)
    return np.asarray(x + off, x.dtype)


def _rounded(x: Array) -> Array:
    """The nearest numbers of few digits."""
    bits, (whole, kind) = SHORT[str(x.dtype)], _bits_of(x)
    found = ((whole + (1 << (bits - 1))) & ~kind.type((1 << bits) - 1)).view(x.dtype)
    return np.asarray(np.where(np.isfinite(x) & np.isfinite(found), found, x))


def _bits_of(x: Array) -> tuple[Array, np.dtype[Any]]:
    kind = np.dtype(f"i{x.dtype.itemsize}")
    return np.ascontiguousarray(x).view(kind).reshape(x.shape), kind


def _was_rounded(x: Array, operands: Sequence[Array]) -> Array:
    """Which elements are no exact results of exact operands."""
    rounded = ~_is_short(x)
    for operand in operands:
        if str(operand.dtype) in SHORT:
            long = ~_is_short(operand)
            rounded = rounded | (long if long.shape == x.shape else long.any())
    return rounded


def _is_short(x: Array) -> Array:
    """Which numbers have few digits: all of them, for dtypes other than the usual floats."""
    bits = SHORT.get(str(x.dtype))
    if bits is None:
        return np.ones(x.shape, bool)
    whole, _ = _bits_of(x)
    return np.asarray(whole & ((1 << bits) - 1) == 0)
