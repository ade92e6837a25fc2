"""What is special to the Theano engine: Python first, then C; arrays shared with NumPy."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from _support.common import run_python

pytest.importorskip("pytensor", reason="the Theano engine needs PyTensor")

import pytensor
from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.tensor.rewriting.elemwise import FusionOptimizer

from kameleon import backend as K
from kameleon.engines.theano import engine as engine_module
from kameleon.engines.theano.engine import TheanoExecutable, engine
from kameleon.engines.theano.ops import InlineOp, Kernel, Loop
from kameleon.engines.theano.rewrites import REWRITES, Fused, Kernels, Vectorised
from kameleon.errors import EvaluationError, KameleonError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives.movement import broadcast_to, transpose
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime import engines
from kameleon.runtime.compiler import compiled
from kameleon.runtime.state import on
from kameleon.testing import check_case
from kameleon.testing.cases import CASES

Array = np.ndarray[Any, Any]
P: dict[str, Any] = dict(REGISTRY)

NEEDS_COMPILER = pytest.mark.skipif(not pytensor.config.cxx, reason="there is no C++ compiler here")
MODES = [pytest.param(None, id="python"), pytest.param(0.0, id="c", marks=NEEDS_COMPILER)]


@pytest.fixture(autouse=True)
def _on_theano() -> Iterator[None]:
    with engines.using("theano"):
        yield


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Graphs stay in Python, or are compiled to C at once."""
    monkeypatch.setattr(engine, "compile_after", request.param)
    return request.param


@pytest.fixture
def in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "compile_after", 0.0)


def tensor(*shape: int | None, dtype: str = "float32") -> Node:
    return input_node(TensorType(shape, as_dtype(dtype)))


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def code_of(inputs: Sequence[Node], *outputs: Node) -> TheanoExecutable:
    found = compiled(Graph(inputs, outputs), engine)
    assert isinstance(found, TheanoExecutable)
    return found


def loops(code: TheanoExecutable) -> int:
    """How many loops are in C."""
    return sum(isinstance(node.op, Loop) for node in code.runner.fgraph.apply_nodes)


def polynomial(x: Node, y: Node) -> Node:
    """Several operations that make one loop."""
    return P["add"](P["mul"](P["add"](x, y), y), P["square"](x))


# --- Python first, then C -------------------------------------------------------------------------


@NEEDS_COMPILER
def test_c_comes_when_enough_time_was_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "compile_after", 3600.0)
    x, y = tensor(None, 4), tensor(None, 4)
    code = code_of([x, y], polynomial(x, y))
    values = [normal(5, 4), normal(5, 4, seed=1)]
    (first,) = code(values)
    assert not loops(code)
    assert 0 < code.spent < 3600
    monkeypatch.setattr(engine, "compile_after", code.spent / 2)
    (second,), (third,) = code(values), code(values)
    assert loops(code) == 1
    np.testing.assert_array_equal(second, first)
    np.testing.assert_allclose(third, first, rtol=1e-6, atol=1e-6)
    assert code.compilations == 1


def test_without_a_compiler_it_stays_in_python(in_c: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "has_compiler", lambda: False)
    x = tensor(None)
    code = code_of([x], P["add"](x, x))
    assert code([normal(3)])[0].tolist() == (2 * normal(3)).tolist()
    assert not loops(code)


def test_where_compiling_fails_it_goes_on_in_python(
    in_c: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = engine_module.ThunkRunner

    def broken(graph: Graph, in_c: bool) -> Any:
        if in_c:
            raise OSError("no space left")
        return runner(graph, in_c)

    monkeypatch.setattr(engine_module, "has_compiler", lambda: True)
    monkeypatch.setattr(engine_module, "ThunkRunner", broken)
    x = tensor(None)
    with pytest.warns(RuntimeWarning, match="goes on in Python.*no space left"):
        code = code_of([x], P["sub"](x, x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert code([np.ones(2, "float32")])[0].tolist() == [0, 0]


@NEEDS_COMPILER
@pytest.mark.parametrize("error", [MemoryError, TimeoutError, KeyError])
def test_no_half_rewritten_graph_is_compiled(
    in_c: None, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """PyTensor itself logs what its rewriters raise, and goes on."""

    def struck(self: Any, fgraph: Any) -> None:
        raise error("struck")

    x = tensor(None)
    squares = P["mul"](x, x)
    said = (
        pytest.warns(RuntimeWarning, match="goes on in Python.*struck")
        if error is KeyError
        else pytest.raises(error)
    )
    assert loops(code_of([x], P["sub"](x, squares)))  # what is private to PyTensor has been tried
    with monkeypatch.context() as patch, said:
        patch.setattr(FusionOptimizer, "apply", struck)
        code_of([x], P["add"](squares, x))
    code = code_of([x], P["sub"](squares, x))
    assert loops(code) and code([np.full(2, 3, "float32")])[0].tolist() == [6, 6]


# Each is a loop of its own to compile: the dtypes and operations in which C might go astray.
IN_C = (
    *("maximum-float32", "minimum-float64", "maximum-int64", "select-float32", "sign-float32"),
    *("cast-bool-float32", "is_nan-float32", "bit_xor-uint32", "mul-uint32", "abs-int32"),
    *("relu-float32", "div-float32", "add-bool", "logical_not-bool", "add-float16"),
)


@NEEDS_COMPILER
@pytest.mark.parametrize("case", [c for c in CASES if c.id in IN_C], ids=lambda case: case.id)
def test_c_keeps_the_pinned_values(in_c: None, case: Any) -> None:
    check_case(engine, case, known=False)


def test_those_cases_exist() -> None:
    assert {case.id for case in CASES} >= set(IN_C)


def test_kernels_come_by_rewrites_of_our_own(mode: Any) -> None:
    """PyTensor's modes don't ask the database that they're in."""
    x = tensor(None, 3)
    code = code_of([x], P["tanh"](reduce_sum(x, [0])))
    ops = [node.op for node in code.runner.fgraph.apply_nodes]
    assert sum(isinstance(op, Kernel) for op in ops) == 2
    assert not any(isinstance(op, InlineOp) for op in ops)
    ours = {Kernels, Fused, Vectorised}
    assert {type(r) for r in REWRITES.query("+python", "+c", "+vectorised").data} == ours
    query = RewriteDatabaseQuery(include=["fast_run", "fast_compile", "numba", "jax"])
    assert not ours & {type(r) for r in optdb.query(query).data}


def test_the_print_names_primitives_with_their_attributes() -> None:
    x = K.placeholder((None, 3))
    f = K.function([x], [K.max(K.softmax(x + 1.0), axis=0)])
    f([normal(2, 3)])
    lines = [line.strip(" │├└─").split(" [")[0] for line in f.source.splitlines() if line]
    assert lines[:3] == ["reduce_max{axes=(0,)}", "softmax{axis=1}", "Add"]


# --- what loops in C are given --------------------------------------------------------------------


def unaligned(x: Array) -> Array:
    """A copy at an odd address."""
    raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    raw[...] = x
    assert not raw.flags.aligned
    return raw


LAYOUTS = {
    "contiguous": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "gapped": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "unaligned": unaligned,
    "derived class": lambda x: x.view(np.recarray),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_arrays_of_any_layout(mode: Any, layout: Any) -> None:
    x, y = tensor(None, None), tensor(None, None)
    code = code_of([x, y], polynomial(x, y), polynomial(y, x))
    a, b = normal(6, 5), normal(6, 5, seed=1)
    given = [layout(a), b]
    for got, (u, v) in zip(code(given), ((a, b), (b, a)), strict=True):
        np.testing.assert_allclose(got, (u + v) * v + u * u, rtol=1e-5)
    np.testing.assert_array_equal(given[0], a)  # nothing was written in place


def test_stretched_and_empty_arrays(mode: Any) -> None:
    x, row, number = tensor(None, 3), tensor(1, 3), tensor()
    size = P["size"](x, axis=0)
    stretched = P["add"](x, broadcast_to(row, [size, 3]))
    code = code_of([x, row, number], P["mul"](stretched, broadcast_to(number, [size, 3])))
    for rows in (4, 1, 0):
        a, b = normal(rows, 3), normal(1, 3, seed=1)
        (got,) = code([a, b, np.array(2, "float32")])
        np.testing.assert_allclose(got, (a + b) * 2, rtol=1e-6)


def test_scalars_of_numpy_are_taken(mode: Any) -> None:
    x = tensor()
    (got,) = code_of([x], polynomial(x, x))([np.float32(3)])
    assert got == 27


def test_sizes_that_differ_are_errors_and_change_nothing(mode: Any) -> None:
    x, y = K.placeholder((None, 2)), K.placeholder((None, 2))
    v = K.variable(5.0)
    f = K.function([x, y], [x * y], [K.update(v, K.sum(x))])
    for rows in ((4, 3), (3, 4), (2, 3)):
        with pytest.raises(KameleonError, match="differ"):
            f([normal(n, 2) for n in rows])
    assert K.get_value(v) == 5


def test_a_size_that_an_operand_lacks_is_an_error(mode: Any) -> None:
    x, row, size = tensor(None, 3), tensor(1, 3), tensor(dtype="int32")
    code = code_of([x, row, size], P["add"](x, broadcast_to(row, [size, 3])))
    a, b = normal(4, 3), normal(1, 3, seed=1)
    np.testing.assert_array_equal(code([a, b, np.array(4, "int32")])[0], a + b)
    with pytest.raises(KameleonError, match="differ"):
        code([a, b, np.array(5, "int32")])


# --- memory ---------------------------------------------------------------------------------------


def test_large_results_stay_what_they_were(mode: Any) -> None:
    """Buffers are handed on inside of calls and between them; results that are held aren't."""
    x, y = tensor(None, None), tensor(None, None)
    inner = polynomial(x, y)
    code = code_of([x, y], polynomial(inner, P["tanh"](inner)), transpose(inner, (1, 0)))
    values = [normal(300, 200), normal(300, 200, seed=1)]
    held = code(values)
    kept = [r.copy() for r in held]
    for seed in range(3):
        code([normal(300, 200, seed=seed), values[1]])
    for result, copy in zip(held, kept, strict=True):
        np.testing.assert_array_equal(result, copy)
    assert not any(np.shares_memory(r, v) for r in held for v in values)
    assert not np.shares_memory(*held)


def test_results_that_are_arguments_or_constants_are_copies(mode: Any) -> None:
    x = tensor(None, 2)
    constant = K.constant(normal(3, 40))
    code = code_of([x], x, transpose(x, (1, 0)), x, constant, constant)
    value = normal(4, 2)
    results = code([value])
    assert [r.shape for r in results] == [(4, 2), (2, 4), (4, 2), (3, 40), (3, 40)]
    for number, result in enumerate(results):
        result.fill(number)
    assert [set(r.ravel()) for r in results] == [{0.0}, {1.0}, {2.0}, {3.0}, {4.0}]
    np.testing.assert_array_equal(value, normal(4, 2))
    np.testing.assert_array_equal(code([value])[3], normal(3, 40))


def test_nothing_is_held_between_calls(mode: Any) -> None:
    x, index = tensor(None), tensor(None, dtype="int32")
    code = code_of([x], P["tanh"](P["add"](x, x)), reduce_sum(x, [0]))
    code([normal(8)])
    assert all(cell[0] is None for cell in code.runner.filled)
    picked = P["gather"](x, index, axis=0)
    failing = code_of([x, index], P["add"](picked, picked))
    with pytest.raises(EvaluationError, match="out of range"):
        failing([normal(3), np.array([7], "int32")])
    assert all(cell[0] is None for cell in failing.runner.filled)


def test_values_move_from_numpy_without_a_copy() -> None:
    v = K.variable(normal(5))
    before = v.cell.value
    f = K.function([], [v * 2.0])
    f([])
    assert np.shares_memory(on(v.cell.record, engine, v), before)


# --- manners --------------------------------------------------------------------------------------


def test_one_code_for_all_sizes(mode: Any) -> None:
    x = K.placeholder((None, None))
    f = K.function([x], [K.softmax(K.dot(x, K.transpose(x)) + 1.0)])
    for shape in ((2, 3), (5, 1), (1, 4)):
        np.testing.assert_allclose(f([normal(*shape)])[0].sum(-1), 1, rtol=1e-5)
    assert f.compilations == 1


@NEEDS_COMPILER
def test_threads_that_call_while_c_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "compile_after", 1e-4)
    x, y = tensor(None), tensor(None)
    code = code_of([x, y], polynomial(x, y))

    def work(seed: int) -> None:
        a, b = normal(50, seed=seed), normal(50, seed=seed + 100)
        for _ in range(20):
            np.testing.assert_allclose(code([a, b])[0], (a + b) * b + a * a, rtol=1e-4, atol=1e-5)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
    assert loops(code) == 1


def test_it_runs_on_the_processor() -> None:
    assert engine.devices() == ("cpu",)
    assert engine.version() == pytensor.__version__


def test_it_imports_no_other_engine(tmp_path: Any) -> None:
    code = """
import sys
import kameleon
assert "pytensor" not in sys.modules
from kameleon import backend as K
x = K.placeholder((None,))
assert K.function([x], [x + 1.0])([[1.0, 2.0]])[0].tolist() == [2.0, 3.0]
assert "pytensor" in sys.modules
print(*(name for name in ("jax", "torch", "tensorflow") if name in sys.modules))
"""
    done = run_python(code, tmp_path, {"KERAS_BACKEND": "theano"})
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
    assert done.stderr.strip() in ("", "Using Theano backend.")


def test_sizes_of_one_that_only_the_graph_knows(mode: Any) -> None:
    """PyTensor is told so by a node whose constants are no arrays."""
    weights = K.variable(np.ones((4, 1)))
    x, target = K.placeholder((None, 4)), K.placeholder((None, None))
    loss = K.mean(K.binary_crossentropy(target, K.sigmoid(K.dot(x, weights))))
    step = K.function(
        [x, target], [loss], updates=[(weights, weights - K.gradients(loss, weights)[0])]
    )
    values = [step([-np.ones((3, 4)), np.ones((3, 1))])[0] for _ in range(2)]
    assert values[1] < values[0]


def test_what_lies_between_is_let_go_as_soon_as_nobody_needs_it(mode: Any) -> None:
    """Of unknown sizes, too: else a chain of operations holds as many arrays as it has steps."""
    x = K.placeholder((None,))
    y = x
    for _ in range(30):
        y = K.sqrt(y + 1.0)
    function = K.function([x], [y])
    given = np.ones(100_000, np.float32)
    function([given])
    tracemalloc.start()
    try:
        function([given])
        assert tracemalloc.get_traced_memory()[1] < 6 * given.nbytes
    finally:
        tracemalloc.stop()
