"""Each primitive that's said to be CNTK's is computed by CNTK itself, not by NumPy in its place."""

from __future__ import annotations

import pytest
from _support.common import needs_cntk

from kameleon.engines.cntk.engine import CntkExecutable, engine
from kameleon.engines.cntk.rules import BY_CNTK
from kameleon.engines.cntk.segments import LATE
from kameleon.graph.ir.program import Graph
from kameleon.runtime import compiler
from kameleon.testing.cases import CASES
from kameleon.testing.cases.case import Case

pytestmark = needs_cntk

# Why a case may be left to NumPy, in the words of a program's source.
EXCUSES = ("tensors without elements", "nothing is left", "operands that CNTK errs for")


def compiled(case: Case) -> CntkExecutable | None:
    """The function of a case; None where its primitive is left to NumPy by the rules."""
    inputs = case.inputs(known=True)
    graph = Graph(inputs, case.results(inputs))
    if case.primitive in engine.where:  # passes rewrite nodes for which the rule doesn't hold
        graph = compiler.prepared(graph, engine)
    found = compiler.build(graph, engine)
    assert isinstance(found, CntkExecutable)
    nodes = [n for segment in found.program.segments.values() for n in segment.nodes]
    return found if any(n.primitive.name == case.primitive for n in nodes) else None


@pytest.mark.parametrize("name", sorted(BY_CNTK - LATE))
def test_cntk_computes(name: str) -> None:
    count = 0
    for case in CASES:
        if case.primitive != name or (found := compiled(case)) is None:
            continue
        found([engine.from_numpy(x) for x in case.operands])
        by_numpy = found.program.by_numpy
        assert all(why.endswith(EXCUSES) for why, _ in by_numpy.values()), case.id
        count += not by_numpy
    assert count >= 1
