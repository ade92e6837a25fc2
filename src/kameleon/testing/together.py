"""Several cases in one program: their values against oracles, their gradients against NumPy's.

Compiling costs far more than running where programs are small, so all cases of a primitive make
one function. Where that function fails, each case is run alone, and those that fail are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..engines._base import Engine, Executable
from ..errors import DTypeError
from ..graph.gradients import gradients
from ..graph.ir.node import REGISTRY, Node
from ..graph.ir.program import Graph
from ..graph.ir.verify import verify
from ..graph.passes.pipeline import adapted
from ..graph.passes.simplify import simplify
from ..graph.primitives.elementwise import add, constant
from ..graph.primitives.precision import dtypes_in
from ..graph.primitives.reduce import reduce_sum
from ..runtime.compiler import run
from ..runtime.engines import embedded
from ..runtime.stages import build
from .cases.case import Array, Case
from .contract import require
from .gradients import check_gradients, derived

Native = Callable[[Node], bool]

# How far gradients may be from the embedded engine's: relative to each number, and to the largest.
RELATIVE, ABSOLUTE = 1e-6, 1e-8


class CasesError(AssertionError):
    """Some of several cases fail.

    Attributes:
        failures: by the id of a case, what it raised alone. Empty where each case passes alone, but
            all together fail.
    """

    def __init__(self, count: int, failures: Mapping[str, Exception], whole: Exception):
        self.failures = dict(failures)
        if not failures:
            super().__init__(f"{count} cases pass alone and fail together: {_said(whole)}")
            return
        first = _said(next(iter(failures.values()))).splitlines()[0]
        lines = [f"{len(failures)} of {count} cases fail, the first with {first}"]
        lines += [f"{name}: {_said(error)}" for name, error in failures.items()]
        super().__init__("\n".join(lines))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()}"


def one_by_one(
    check: Callable[..., None], engine: Engine, cases: Sequence[Case], *rest: Any
) -> None:
    """Check cases together; where that fails, each alone, so that the failing ones are named."""
    try:
        check(engine, cases, *rest)
    except Exception as whole:
        if len(cases) == 1:
            raise
        failures: dict[str, Exception] = {}
        for case in cases:
            try:
                check(engine, [case], *rest)
            except Exception as error:
                failures[case.id] = error
        first = next(iter(failures.values()), whole)
        raise CasesError(len(cases), failures, whole) from first


class Posed(NamedTuple):
    """A case as nodes."""

    case: Case
    inputs: list[Node]
    outputs: list[Node]


def _joined(uses: Iterable[Posed], native: Native) -> Graph:
    """One graph of several uses, as the engine gets it."""
    uses = list(uses)
    inputs = [x for use in uses for x in use.inputs]
    outputs = [y for use in uses for y in use.outputs]
    graph = Graph(inputs, outputs)
    verify(graph)
    simple = simplify(graph, native)
    verify(simple)
    return simple


def _possible(engine: Engine, uses: Sequence[Posed], native: Native) -> list[Posed]:
    """Those uses whose dtypes the engine has; it must refuse all others with a DTypeError."""
    if not engine.lacks:
        return list(uses)
    found = []
    for use in uses:
        graph = _joined([use], native)
        lacking = {dtype for _, dtype in dtypes_in(graph)} & set(engine.lacks)
        if not lacking:
            found.append(use)
            continue
        try:
            build(adapted(graph, engine), engine)
        except DTypeError:
            continue
        raise AssertionError(f"{engine.title} lacks {lacking}, and compiles it")
    return found


# Values ---------------------------------------------------------------------------------------


def check_values(
    engine: Engine, cases: Sequence[Case], known: bool, native: Native | None = None
) -> None:
    """Values of cases against their oracles, by one function of all cases.

    See `conformance.check_case` for what is checked.
    """
    native = native or engine.native
    uses = []
    for case in cases:
        inputs = case.inputs(known)
        uses.append(Posed(case, inputs, case.results(inputs)))
    uses = _possible(engine, uses, native)
    if not uses:
        return
    for values in _runs(engine, uses, _joined(uses, native)):
        rest = iter(values)
        for case, _, outputs in uses:
            for output, expected in zip(outputs, case.expected(), strict=True):
                _check_value(case, known, output, next(rest), expected)


def _check_value(case: Case, known: bool, output: Node, value: Array, expected: Array) -> None:
    names = (value.dtype.name, output.dtype)
    require(names == (expected.dtype.name,) * 2, f"dtype {names}, not {expected.dtype}")
    require(output.type.accepts(value.shape), f"{output.type} isn't the type of {value.shape}")
    _assert_close(value, expected, case.units)
    if known and not case.data_dependent:
        require(output.type.is_static, f"{output.type} isn't known, though all operands are")


def _runs(engine: Engine, uses: Sequence[Posed], graph: Graph) -> list[list[Array]]:
    """The outputs' values, of a call and of the short way, where there's one."""
    executable = build(adapted(graph, engine), engine)
    operands = [x for use in uses for x in use.case.operands]
    called = _called(engine, operands, executable)
    short = executable.fast_path and executable.fast_path(*map(np.array, operands))
    return [called] if short is None else [called, short]


def _called(engine: Engine, operands: Sequence[Array], executable: Executable) -> list[Array]:
    """The values of two calls, as engines may run a program differently when it comes again."""
    arguments = [engine.from_numpy(x.copy()) for x in operands]
    first, second = (list(map(engine.to_numpy, run(executable, arguments))) for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y, err_msg="the second call differs from the first")
    for x, y in zip(arguments, operands, strict=True):
        np.testing.assert_array_equal(engine.to_numpy(x), y, err_msg="an operand was overwritten")
    return first


def _assert_close(got: Array, expected: Array, units: float) -> None:
    """Integers and bools are equal; floats up to units in the last place (of 1, at least)."""
    require(got.shape == expected.shape, f"shape {got.shape}, not {expected.shape}")
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(got, expected)
        return
    tolerance = units * float(np.finfo(expected.dtype).eps)
    np.testing.assert_allclose(
        got.astype("float64"), expected.astype("float64"), rtol=tolerance, atol=min(tolerance, 1e-6)
    )


# Gradients ------------------------------------------------------------------------------------


def check_slopes(engine: Engine, cases: Sequence[Case], known: bool) -> None:
    """Gradients of cases to the order that each says.

    Gradients of the embedded engine are held against differences of values. Those of other engines
    are held against the embedded engine's, element by element: the losses of all cases, with their
    gradients of first and second order, are one function.
    """
    if engine is embedded():
        for case in cases:
            loss, inputs = _loss(case, known)
            _require_gradients(loss, case, inputs)
            feeds = dict(zip(inputs, case.operands, strict=True))
            check_gradients(loss, [inputs[i] for i in case.wrt], feeds, case.order, engine=engine)
        return
    uses = _possible(engine, [_derived(case, known) for case in cases], engine.native)
    if not uses:
        return
    operands = [np.asarray(x) for use in uses for x in use.case.operands]
    expected, got = (
        [e.to_numpy(y) for y in run(build(adapted(_joined(uses, e.native), e), e), operands)]
        for e in (embedded(), engine)
    )
    outputs = chain.from_iterable(use.outputs for use in uses)
    for output, value, want in zip(outputs, got, expected, strict=True):
        require(output.type.accepts(value.shape), f"{output.type} isn't the type of {value.shape}")
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        np.testing.assert_allclose(value, want, rtol=RELATIVE, atol=ABSOLUTE * scale)


def _loss(case: Case, known: bool) -> tuple[Node, list[Node]]:
    """A smooth scalar function of a case's results, and the case's inputs."""
    inputs = case.inputs(known)
    floats = [r for r in case.results(inputs) if r.dtype == "float64"]
    require(bool(floats), "a case with gradients needs a result of float64")
    parts = []
    for number, result in enumerate(floats):
        part = reduce_sum(REGISTRY["sin"](result), range(len(result.shape)))
        parts.append(REGISTRY["mul"](part, constant(1.0 - 0.3 * number, "float64")))
    return reduce(add, parts), inputs


def _require_gradients(loss: Node, case: Case, inputs: Sequence[Node]) -> None:
    """None of a case's gradients may be missing, or of another type."""
    wrt = [inputs[i] for i in case.wrt]
    for x, g in zip(wrt, gradients(loss, wrt), strict=True):
        require(g is not None, f"there's no gradient by {x!r}")
        assert g is not None
        same = g.type.dtype == x.dtype and len(g.shape) == len(x.shape)
        require(same, f"the gradient by {x!r} is {g.type}")


def _derived(case: Case, known: bool) -> Posed:
    """A case's loss, its gradients, and the gradients of these."""
    loss, inputs = _loss(case, known)
    _require_gradients(loss, case, inputs)
    wrt = [inputs[i] for i in case.wrt]
    shapes = [np.shape(case.operands[i]) for i in case.wrt]
    return Posed(case, inputs, [loss, *slopes(loss, wrt, shapes, case.order)])


def slopes(
    loss: Node, wrt: Sequence[Node], shapes: Sequence[Sequence[int]], order: int = 2
) -> list[Node]:
    """The gradients of all orders, see `gradients.derived`; those that are None are left out."""
    levels = derived(loss, wrt, shapes, order, np.random.default_rng(0))
    return [g for _, parts in levels for g in parts if g is not None]
