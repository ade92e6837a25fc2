"""The conformance kit: what an engine must do, as a list of checks that it passes or fails.

There are four kinds of checks: values of each primitive against an oracle in plain Python; the
expansion of each composite; gradients to the second order; and the contract of `Engine` and
`Executable`. The first three have all cases of a primitive in one program, with known sizes and
with unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from .._utils.tables import Part, Shown, Table
from ..engines._base import Engine
from ..graph.ir.node import REGISTRY, Node
from ..graph.ir.program import Graph
from ..graph.passes.simplify import simplify
from .cases import CASES
from .cases.case import Case
from .contract import CONTRACT, require
from .together import Native, check_slopes, check_values, one_by_one


@dataclass(frozen=True)
class Check:
    """Something that every engine must do, mostly with all cases of a primitive.

    Attributes:
        name: what the check is about.
        run: checks an engine; raises AssertionError, or whatever the engine raises.
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
class Report(Shown):
    """The checks of the conformance kit that an engine has passed and failed.

    Attributes:
        engine: its name.
        passed: the names of the checks that it passed.
        failures: by name of a check that it failed, what was raised.
    """

    engine: str
    passed: list[str] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every check was passed."""
        return not self.failures

    def _parts(self) -> list[Part]:
        count = len(self.passed) + len(self.failures)
        rows = []
        for name, error in self.failures.items():
            first = next((line for line in str(error).splitlines() if line.strip()), "")
            rows.append((f"{name}:", f"{type(error).__name__}: {first.strip()}"))
        parts: list[Part] = [f"{self.engine}: {len(self.passed)} of {count} checks passed"]
        return [*parts, Table(rows, head=False, indent="  ")] if rows else parts


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

    >>> [check.name for check in conformance_checks("values-tanh")]
    ['values-tanh-static', 'values-tanh-unknown']
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
        progress: called before each check with the number of checks that are done, the number of
            all checks, and the name of the next one.
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


# Cases by primitive, in the order of the table.
BY_PRIMITIVE: dict[str, list[Case]] = {}
for _case in CASES:
    BY_PRIMITIVE.setdefault(_case.primitive, []).append(_case)
SIZES = {"static": True, "unknown": False}


def _checks() -> Iterator[Check]:
    for name, run_check in CONTRACT.items():
        yield Check(f"contract-{name}", run_check)
    for kind, check in KINDS.items():
        for primitive, cases in BY_PRIMITIVE.items():
            for sizes, known in SIZES.items():
                if chosen := cases_of(kind, cases, known):
                    yield Check(
                        f"{kind}-{primitive}-{sizes}", partial(check, case=chosen, known=known)
                    )


def cases_of(kind: str, cases: Sequence[Case], known: bool) -> list[Case]:
    """The cases that a kind of check is for; with sizes unknown, only those that `has_unknown`
    holds for."""
    return [case for case in cases if WITH[kind](case) and (known or case.has_unknown)]


# One case, or several together ----------------------------------------------------------------


def check_case(
    engine: Engine, case: Case | Sequence[Case], known: bool = True, native: Native | None = None
) -> None:
    """Values against the oracle, and inferred types against the values' own.

    A second call must give the same, and no operand may be overwritten. A case that uses a dtype
    that the engine lacks must be refused.

    Args:
        engine: what computes the values.
        case: one of `conformance_cases()`, or several, which make one function.
        known: whether all sizes are known before the function runs.
        native: for which nodes the engine's own rules are used; `engine.native`, if None.

    Raises:
        AssertionError: a value, dtype or shape is wrong; for several cases a `CasesError`, which
            names those that fail.
    """
    one_by_one(check_values, engine, _several(case), known, native)


def is_composite(case: Case) -> bool:
    """Whether the case's primitive has an expansion."""
    return REGISTRY[case.primitive].tier == "composite"


def check_expansion(engine: Engine, case: Case | Sequence[Case], known: bool = True) -> None:
    """Values of a composite that is expanded, whatever rules the engine has for it.

    Raises:
        AssertionError: as `check_case`; or the composite is still there when it's expanded.
    """
    cases = _several(case)
    names = {c.primitive for c in cases}

    def native(node: Node) -> bool:
        return node.primitive.name not in names and engine.native(node)

    check_case(engine, cases, known, native)
    for c in cases:
        inputs = c.inputs(known)
        graph = simplify(Graph(inputs, c.results(inputs)), native)
        left = names & {node.primitive.name for node in graph.nodes}
        require(not left, f"{c.id}: {left} is still there when it's expanded")


def check_case_gradient(engine: Engine, case: Case | Sequence[Case], known: bool = True) -> None:
    """Gradients of a case to the order that it says.

    Gradients of the embedded engine are held against differences of values, those of another engine
    against the embedded engine's. An engine that lacks float64 must refuse to compute them.

    Raises:
        AssertionError: a gradient is wrong, missing, or of another type.
    """
    one_by_one(check_slopes, engine, _several(case), known)


def _several(case: Case | Sequence[Case]) -> list[Case]:
    return [case] if isinstance(case, Case) else list(case)


# By the kind of a check: what runs it, and which cases it's for.
KINDS: dict[str, Callable[..., None]] = {
    "values": check_case,
    "gradient": check_case_gradient,
    "expansion": check_expansion,
}
WITH: dict[str, Callable[[Case], bool]] = {
    "values": lambda case: True,
    "gradient": lambda case: bool(case.wrt),
    "expansion": is_composite,
}
