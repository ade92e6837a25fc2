"""What the CNTK engine makes of graphs; CNTK itself isn't needed for that."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import TESTS, needs_cntk

from kameleon import backend as K
from kameleon.config import cntk as environment
from kameleon.engines.cntk import older
from kameleon.engines.cntk.engine import CntkExecutable, CntkProgram, engine
from kameleon.engines.cntk.rules import BY_CNTK, Kind, kind_of
from kameleon.engines.cntk.segments import RULES
from kameleon.errors import EngineNotFoundError
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.runtime import compiler, engines

BENCHMARKS = TESTS.parent / "benchmarks"
# By workload the least share of its nodes that CNTK computes.
SHARES = {"mlp": 0.90, "conv": 0.85, "lstm": 0.85, "attention": 0.85}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[CntkExecutable]:
    """The programs that calls make; nothing is computed."""
    found: list[CntkExecutable] = []

    def run(self: CntkExecutable, arguments: Any) -> list[Any]:
        found.append(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(CntkExecutable, "__call__", run)
    return found


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[CntkExecutable]:
    """The programs that calls run."""
    found: list[CntkExecutable] = []
    run = CntkExecutable.__call__
    monkeypatch.setattr(
        CntkExecutable, "__call__", lambda p, given: found.append(p) or run(p, given)
    )
    return found


def workload(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Callable[..., Any], list[Any]]:
    """A step of a benchmark, and what it's given."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    module = __import__(name)
    weights = module.initial_weights()
    if name == "lstm":
        return module.kameleon(weights, True), [module.sequences()]
    if name == "attention":
        return module.kameleon(weights), [module.sequences()]
    return module.kameleon(weights)[0], list(module.batch())


@pytest.mark.parametrize("name", SHARES)
def test_cntk_computes_most_nodes_of_the_benchmarks(
    name: str, made: list[CntkExecutable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines._loaded, "cntk", engine)
    with engines.using("cntk"):
        step, data = workload(name, monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            step(data)
    program = made[0].program
    assert program.share >= SHARES[name]
    assert program.source.startswith(f"# CNTK computes {program.share:.0%} of the nodes")


@needs_cntk
@pytest.mark.parametrize("name", SHARES)
def test_in_calls_of_the_benchmarks_nothing_is_left_to_numpy(
    name: str, ran: list[CntkExecutable], monkeypatch: pytest.MonkeyPatch
) -> None:
    with engines.using("cntk"):
        step, data = workload(name, monkeypatch)
        step(data)
    program = ran[0].program
    assert program.segments and not program.by_numpy


def compiled(*outputs: Node) -> CntkProgram:
    """The program for outputs, over placeholders."""
    from kameleon.graph.ir.program import Graph

    inputs = [n for n in Graph((), outputs).nodes if not n.operands and n.primitive.name == "input"]
    graph = Graph(inputs, outputs)
    found = compiler.build(compiler.prepared(graph, engine), engine)
    assert isinstance(found, CntkExecutable)
    return found.program


def test_what_can_be_computed_together_is_one_segment() -> None:
    x, w = K.placeholder((None, 4)), K.placeholder((4, 3))
    program = compiled(K.sum(K.relu(K.dot(x, w))), K.tanh(x))
    assert len(program.segments) == 1 and not program.others


def test_a_segment_waits_for_what_numpy_computes_of_another_one() -> None:
    x = K.placeholder((None, 4))
    order = K.argmax(K.exp(x), axis=1)  # integers are NumPy's
    program = compiled(K.gather(K.tanh(x), order))
    assert [n.primitive.name for n in program.others] == ["argmax"]
    assert len(program.segments) == 2


def test_segments_are_of_one_type_of_floats() -> None:
    x = K.placeholder((3,), dtype="float32")
    y = K.cast(K.exp(x), "float64")
    program = compiled(K.exp(y) * y)
    kinds = [{kind_of(n) for n in s.nodes} for s in program.segments.values()]
    assert kinds == [{Kind.FLOAT32}, {Kind.FLOAT64}]


def test_long_segments_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    from kameleon.engines.cntk import segments

    monkeypatch.setattr(segments, "LONGEST", 10)
    y = K.placeholder((3,))
    for _ in range(25):
        y = K.sin(y)
    sizes = [len(s.nodes) for s in compiled(y).segments.values()]
    assert sizes == [10, 10, 5]


@pytest.mark.parametrize("dtype", ["float16", "int32", "uint8"])
def test_other_types_are_numpys(dtype: str) -> None:
    x = K.placeholder((3,), dtype=dtype)
    assert not compiled(x + x).segments


def test_every_primitive_has_a_line() -> None:
    assert set(BY_CNTK) <= set(RULES)
    declared = (p for p in REGISTRY.values() if p.expand is None and not p.host_callback)
    known = {p.name for p in declared if p.name != "constant"}
    leaves = {"input", "variable", "random_source"}
    assert known - leaves - {"plain_test"} <= set(RULES) | {"constant"}


def test_what_the_worker_gets_is_python_36() -> None:
    """Python 3.11 can tell, but for annotations and a few words; these are looked for."""
    for name, text in older.sources().items():
        assert not name.startswith("kameleon.graph"), f"{name}: the worker has no graph"
        tree = ast.parse(text, feature_version=(3, 6))
        for node in ast.walk(tree):
            assert not isinstance(node, ast.NamedExpr | ast.Match), name
            if isinstance(node, ast.arg):
                assert node.annotation is None, name
            if isinstance(node, ast.Call):
                assert all(k.arg != "strict" for k in node.keywords), name


def test_the_worker_itself_is_python_36() -> None:
    path = TESTS.parent / "src" / "kameleon" / "engines" / "cntk" / "worker.py"
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 6))
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    modules = {a.name.split(".")[0] for n in imports for a in n.names} | {"typing"}
    assert modules - set(sys.stdlib_module_names) <= {"numpy", "Any", "Dict"}


def test_where_there_is_no_cntk_the_error_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv(environment.VARIABLE, str(tmp_path / "nothing"))
    monkeypatch.delitem(engines._loaded, "cntk", raising=False)
    with pytest.raises(EngineNotFoundError, match=r"kameleon cntk install$"):
        engines.load("cntk")


def test_arrays_are_the_drivers_own() -> None:
    array = np.arange(3.0)
    held = engine.from_numpy(array)
    array[0] = 7
    assert engine.to_numpy(held).tolist() == [0, 1, 2]
    found = engine.type_of(held)
    assert found is not None and found.shape == (3,)
