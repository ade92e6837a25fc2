"""The conformance kit: what an engine must do, as a list of checks that it passes or fails.

There are four kinds of them: values of each primitive against an oracle in plain Python, with
known sizes and with unknown ones; the expansion of each composite; gradients against
differences, to the second order; and the contract of `Engine` and `Executable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from ..engines._base import Engine, Executable
from ..errors import DTypeError, ShapeError
from ..ir.node import Node
from ..ir.primitive import REGISTRY
from ..ir.program import Graph, bodies
from ..ir.types import TensorType
from ..ir.verify import verify
from ..prims.elementwise import add, constant
from ..prims.reduce import reduce_sum
from ..runtime.compiler import run
from ..runtime.stages import build
from ..transform.grad import gradients
from ..transform.simplify import simplify
from .cases import CASES
from .cases.case import Array, Case
from .contract import CONTRACT, require
from .gradients import check_gradients

Native = Callable[[Node], bool]


@dataclass(frozen=True)
class Check:
    """Something that every engine must do.

    Attributes:
        name: what it's about.
        run: does it with an engine; raises AssertionError, or whatever the engine raises.
    """

    name: str
    run: Callable[[Engine], None] = field(repr=False)

    def __call__(self, engine: Engine) -> None:
        self.run(engine)

    @property
    def __name__(self) -> str:
        """The name, where pytest looks for it."""
        return self.name


@dataclass
class Report:
    """What an engine did of the conformance kit.

    Attributes:
        engine: its name.
        passed: the names of the checks that it passed.
        failures: of the others, the name and what was raised.
    """

    engine: str
    passed: list[str] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every check was passed."""
        return not self.failures

    def __str__(self) -> str:
        count = len(self.passed) + len(self.failures)
        lines = [f"{self.engine}: {len(self.passed)} of {count} checks passed"]
        for name, error in self.failures.items():
            first = next((line for line in str(error).splitlines() if line.strip()), "")
            lines.append(f"  {name}: {type(error).__name__}: {first.strip()}")
        return "\n".join(lines)


# The lists -----------------------------------------------------------------------------------


def conformance_cases(primitive: str | None = None) -> list[Case]:
    """The table of cases: uses of primitives, each with operands and an oracle.

    Args:
        primitive: its name, for the cases of one primitive only.

    >>> len(conformance_cases("softmax")) > 2
    True
    """
    return [case for case in CASES if primitive in (None, case.primitive)]


def conformance_checks(match: str = "") -> list[Check]:
    """All checks whose name contains `match`.

    >>> [check.name for check in conformance_checks("values-tanh-smooth")]
    ['values-tanh-smooth-static', 'values-tanh-smooth-unknown']
    """
    return [check for check in _checks() if match in check.name]


def conformance(match: str = "") -> tuple[str, list[Check]]:
    """The checks as arguments of pytest's `parametrize`, for a test that takes `check`.

    All that a test of an engine needs:

        import pytest
        from kameleon.testing import conformance
        from my_package import engine

        @pytest.mark.parametrize(*conformance())
        def test_conformance(check):
            check(engine)

    Args:
        match: where given, only checks whose name contains it.
    """
    return "check", conformance_checks(match)


def check_engine(
    engine: Engine, progress: Callable[[int, int, str], None] | None = None, match: str = ""
) -> Report:
    """Run the conformance kit on an engine.

    Args:
        engine: an instance; it needn't be registered.
        progress: called before each check with the number of those done, of all, and its name.
        match: where given, only checks whose name contains it.

    Returns:
        What passed and what failed; printed, it lists the failures.

    >>> from kameleon.engines.numpy.engine import engine
    >>> print(check_engine(engine, match="reduce_max"))
    numpy: ... of ... checks passed
    """
    report = Report(engine.name)
    checks = conformance_checks(match)
    for done, check in enumerate(checks):
        if progress is not None:
            progress(done, len(checks), check.name)
        try:
            check(engine)
        except Exception as error:
            report.failures[check.name] = error
        else:
            report.passed.append(check.name)
    return report


def _checks() -> Iterator[Check]:
    for name, run_check in CONTRACT.items():
        yield Check(f"contract-{name}", run_check)
    for case in CASES:
        for known, sizes in ((True, "static"), (False, "unknown")):
            yield Check(f"values-{case.id}-{sizes}", _bound(check_case, case, known))
            if case.wrt:
                yield Check(f"gradient-{case.id}-{sizes}", _bound(check_case_gradient, case, known))
        if is_composite(case):
            yield Check(f"expansion-{case.id}", _bound(check_expansion, case))


def _bound(check: Callable[..., Any], *args: Any) -> Callable[[Engine], None]:
    def run_check(engine: Engine) -> None:
        check(engine, *args)

    return run_check


# One case -------------------------------------------------------------------------------------


def check_case(
    engine: Engine, case: Case, known: bool = True, native: Native | None = None
) -> None:
    """Values against the oracle, and inferred types against the values' own.

    A second call must give the same, and no operand may be overwritten. Where a dtype is in use
    that the engine lacks, it must be refused. Nothing is checked where the engine has no rule
    and the expansion needs sizes that aren't known.

    Args:
        engine: what computes it.
        case: one of `conformance_cases()`.
        known: whether all sizes are known before it runs.
        native: for which nodes the engine's own rules are used; `engine.native`, if None.

    Raises:
        AssertionError: a value, dtype or shape is wrong.
    """
    inputs = case.inputs(known)
    outputs = case.results(inputs)
    verify(Graph(inputs, outputs))
    graph = _expanded(inputs, outputs, native or engine.native)
    runs = [] if graph is None else _runs(engine, case, graph)
    triples = (zip(outputs, values, case.expected(), strict=True) for values in runs)
    for output, value, expected in chain.from_iterable(triples):
        names = (value.dtype.name, output.dtype)
        require(names == (expected.dtype.name,) * 2, f"dtype {names}, not {expected.dtype}")
        require(output.type.accepts(value.shape), f"{output.type} isn't the type of {value.shape}")
        _assert_close(value, expected, case.units)
        if known and not case.data_dependent:
            require(output.type.is_static, f"{output.type} isn't known, though all operands are")


def is_composite(case: Case) -> bool:
    """Whether the case's primitive has an expansion."""
    return REGISTRY[case.primitive].tier == "composite"


def check_expansion(engine: Engine, case: Case) -> None:
    """Values of a composite that is expanded, whatever rules the engine has for it."""

    def native(node: Node) -> bool:
        return node.primitive.name != case.primitive and engine.native(node)

    check_case(engine, case, native=native)
    inputs = case.inputs(known=True)
    graph = simplify(Graph(inputs, case.results(inputs)), native)
    left = {node.primitive.name for node in graph.nodes}
    require(case.primitive not in left, f"{case.primitive} is still there when it's expanded")


def check_case_gradient(engine: Engine, case: Case, known: bool = True) -> None:
    """Gradients of a case against differences, to the order that the case says.

    Raises:
        AssertionError: a gradient is wrong, missing, or of another type.
    """
    if "float64" in engine.lacks:  # differences mean nothing in other dtypes
        return
    inputs = case.inputs(known)
    wrt = [inputs[i] for i in case.wrt]
    results = case.results(inputs)
    if _expanded(inputs, results, engine.native) is None:
        return
    floats = [r for r in results if r.dtype == "float64"]
    loss: Node | None = None
    for number, result in enumerate(floats):
        part = reduce_sum(REGISTRY["sin"](result), range(len(result.shape)))
        part = REGISTRY["mul"](part, constant(1.0 - 0.3 * number, "float64"))
        loss = part if loss is None else add(loss, part)
    require(loss is not None, "a case with gradients needs a result of float64")
    assert loss is not None
    for x, g in zip(wrt, gradients(loss, wrt), strict=True):
        require(g is not None, f"there's no gradient by {x!r}")
        assert g is not None
        same = g.type.dtype == x.dtype and len(g.shape) == len(x.shape)
        require(same, f"the gradient by {x!r} is {g.type}")
    feeds = dict(zip(inputs, case.operands, strict=True))
    check_gradients(loss, wrt, feeds, case.order, engine=engine)


def _expanded(inputs: Sequence[Node], outputs: Sequence[Node], native: Native) -> Graph | None:
    """The graph that an engine gets; None where an expansion needs more sizes than are known."""
    try:
        graph = simplify(Graph(inputs, outputs), native)
    except ShapeError:
        if all(x.type.is_static for x in inputs):
            raise
        return None
    verify(graph)
    return graph


def _runs(engine: Engine, case: Case, graph: Graph) -> list[list[Array]]:
    """The outputs' values, of a call and of the short way, where there's one. None at all where
    the engine lacks a dtype, and says so."""
    lacking = _dtypes(graph) & set(engine.lacks)
    try:
        executable = build(graph, engine)
    except DTypeError:
        if lacking:
            return []
        raise
    require(not lacking, f"{engine.title} lacks {lacking}, and compiles it")
    called = _called(engine, case, executable)
    short = executable.short and executable.short(*map(np.array, case.operands))
    return [called] if short is None else [called, short]


def _called(engine: Engine, case: Case, executable: Executable) -> list[Array]:
    """The values of two calls, as engines may run a program differently when it comes again."""
    arguments = [engine.from_numpy(x.copy()) for x in case.operands]
    first, second = (list(map(engine.to_numpy, run(executable, arguments))) for _ in range(2))
    for x, y in zip(first, second, strict=True):
        np.testing.assert_array_equal(x, y, err_msg="the second call differs from the first")
    for x, y in zip(arguments, case.operands, strict=True):
        np.testing.assert_array_equal(engine.to_numpy(x), y, err_msg="an operand was overwritten")
    return first


def _dtypes(graph: Graph) -> set[str]:
    found: set[str] = set()
    for node in graph.nodes:
        types = (node.type,) if isinstance(node.type, TensorType) else node.type
        found.update(type.dtype for type in types)
        for body in bodies(node):
            found |= _dtypes(body)
    return found


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
