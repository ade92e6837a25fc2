"""Primitives as PyTensor's own graphs: those that `to_pytensor` gives, those that the engine means.

What is run here is PyTensor's operations alone; the kernels that the engine puts in their place are
tested with all engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, reset_session, shortened

if "theano" not in engines_under_test():
    pytest.skip("needs the package pytensor", allow_module_level=True)

import pytensor
from pytensor.compile.mode import FAST_COMPILE, Mode
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import graph_replace
from pytensor.graph.rewriting.basic import MergeOptimizer
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.traversal import io_toposort
from pytensor.link.vm import VMLinker

from kameleon import backend as K
from kameleon.engines import Executable, Lowering
from kameleon.engines.theano.engine import TheanoEngine
from kameleon.engines.theano.native.engine import GraphEngine, Symbolic
from kameleon.engines.theano.ops import InlineOp, Kernel, array_type
from kameleon.engines.theano.thunk_runner import EngineLowering
from kameleon.graph.ir.leaves import LEAVES, input_node
from kameleon.graph.ir.node import ITEM, REGISTRY, Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.primitives.elementwise import cast, constant
from kameleon.graph.primitives.movement import broadcast_to
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime.compiler import compiled_anew
from kameleon.runtime.engines import embedded
from kameleon.testing import Check, conformance_checks

Array = np.ndarray[Any, Any]

# As it stands, without a rewrite; by thunks of Python, where nothing is compiled.
PLAIN = Mode(VMLinker(use_cloop=False, c_thunks=False), None)
# The engine's graph as PyTensor sees it: with the graphs in place of the Ops that mean them.
INLINED = Mode(PLAIN.linker, RewriteDatabaseQuery(include=["inline_ofg_expansion"]))


@pytest.fixture(autouse=True)
def _fresh(request: pytest.FixtureRequest) -> Iterator[None]:
    """A session of its own. Without a compiler PyTensor leaves bodies of loops in Python, too, and
    doesn't look for a BLAS, which takes it 40 s; but powers of integers are loops whose integers
    wrap around in C alone."""
    reset_session(K)
    in_c = "values-pow" in request.node.name
    with pytensor.config.change_flags(**({} if in_c else {"cxx": ""})):
        yield
    reset_session(K)


def normal(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


# Primitives, one by one --------------------------------------------------------------------------


class Compiled(Executable):
    """A graph as a function of PyTensor's own."""

    def __init__(self, graph: Graph, walk: type[Lowering], mode: Mode | str):
        inputs = [array_type(x.type)() for x in graph.inputs]
        low = walk(graph, inputs)
        outputs = [*low.run(), *getattr(low, "guards", ())]
        self.function = pytensor.function(
            inputs, outputs, mode=mode, on_unused_input="ignore", trust_input=True
        )
        self.count = len(graph.outputs)

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            found = self.function(*map(np.asarray, arguments))
        return [np.array(y) for y in found[: self.count]]


class Native(GraphEngine):
    """The graphs that `to_pytensor` gives; as they stand, if no other mode is given."""

    def __init__(self, mode: Mode | str = PLAIN):
        self.mode = mode

    def compile(self, graph: Graph) -> Any:
        return Compiled(graph, Symbolic, self.mode)


class Meanings(TheanoEngine):
    """What the engine's graphs mean to PyTensor: every Op of ours that has a graph is replaced."""

    name = "theano-meanings"

    def __init__(self, mode: Mode | str = INLINED):
        self.mode = mode

    def compile(self, graph: Graph) -> Any:
        code = Compiled(graph, EngineLowering, self.mode)
        ops = (node.op for node in code.function.maker.fgraph.apply_nodes)
        assert not any(isinstance(op, InlineOp | Kernel) for op in ops)
        return code


@pytest.mark.parametrize("check", shortened(conformance_checks("values-")))
def test_primitives(check: Check) -> None:
    """Each primitive to the last detail, by the graph as it stands."""
    check(Native())


@pytest.mark.parametrize("check", shortened(conformance_checks("values-")))
def test_meanings(check: Check) -> None:
    """The graphs that the engine runs by kernels give the same as PyTensor's."""
    check(Meanings())


def test_no_primitive_is_left_out() -> None:
    """Core primitives have rules, all others rules or expansions."""
    engine = GraphEngine()
    assert not engine.declined
    for primitive in REGISTRY.values():
        if primitive.tier == "core" and primitive not in (*LEAVES, ITEM):
            assert primitive.name in engine.rules, primitive.name


# Integers that wrap around ------------------------------------------------------------------------

UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
NARROWEST = ("int8", "int16")
SIGNED = (*NARROWEST, "int32")  # what goes beyond int64 is undefined in Numba
ELEMENTS = 6
BINARY = "add sub mul bit_and bit_or bit_xor maximum minimum".split()
UNARY = "neg square bit_not abs".split()


def _full(value: int, like: Node) -> Node:
    return constant(np.full(ELEMENTS, value, str(like.dtype)))


def _divisor(x: Node) -> Node:
    """Odd numbers, and neither 0 nor -1."""
    return REGISTRY["bit_or"](REGISTRY["bit_and"](x, _full(61, x)), _full(1, x))


# By name a function of two tensors of one dtype and of a random generator; no bits are moved by
# more than there are.
STEPS: dict[str, Callable[[Node, Node, np.random.Generator], Node]] = {
    **{name: lambda x, y, rng, name=name: REGISTRY[name](x, y) for name in BINARY},  # type: ignore[misc]
    **{name: lambda x, y, rng, name=name: REGISTRY[name](x) for name in UNARY},  # type: ignore[misc]
    "floor_div": lambda x, y, rng: REGISTRY["floor_div"](x, _divisor(y)),
    "mod": lambda x, y, rng: REGISTRY["mod"](x, _divisor(y)),
    "shift_left": lambda x, y, rng: REGISTRY["shift_left"](x, _full(rng.integers(8), x)),
    "shift_right": lambda x, y, rng: REGISTRY["shift_right"](x, _full(rng.integers(8), x)),
    "select": lambda x, y, rng: REGISTRY["select"](REGISTRY["lt"](x, y), x, y),
    "cast": lambda x, y, rng: cast(
        x, rng.choice(UNSIGNED if x.dtype.kind == "unsigned" else NARROWEST)
    ),
    "cumsum": lambda x, y, rng: REGISTRY["cumsum"](x, axis=0),
    "reduce_sum": lambda x, y, rng: broadcast_to(reduce_sum(x, [0]), [ELEMENTS]),
}


def program_of_integers(
    dtypes: Sequence[str], seed: int, length: int = 12
) -> tuple[Graph, list[Array]]:
    """A chain of random operations on integers, and values for its inputs."""
    rng = np.random.default_rng(seed)
    inputs = [input_node(TensorType((ELEMENTS,), as_dtype(d))) for d in dtypes for _ in "ab"]
    pool = list(inputs)
    for name in rng.choice(list(STEPS), length):
        x = pool[-rng.integers(1, 4)]
        others = [y for y in pool if y.dtype == x.dtype]
        pool.append(STEPS[name](x, others[rng.integers(len(others))], rng))
    limits = [np.iinfo(str(x.dtype)) for x in inputs]
    return Graph(inputs, pool[-3:]), [
        rng.integers(i.min, i.max, ELEMENTS, i.dtype, endpoint=True) for i in limits
    ]


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_negative_floats_as_uint64_in_numba(source: str) -> None:
    """Compiled code would make 0 of them, or the largest integer."""
    x = input_node(TensorType((ELEMENTS,), as_dtype(source)))
    values = [np.array([-300, -1.5, -0.5, 0, 7, 2**63], source)]
    assert_same_in_numba(Native, Graph([x], [cast(x, "uint64")]), values)


# What the engine runs is PyTensor's own arithmetic in int32.
WRAPPED = pytest.mark.parametrize(
    ("kind", "dtypes"),
    [
        pytest.param(Native, UNSIGNED, id="unsigned"),
        pytest.param(Native, SIGNED, id="signed"),
        pytest.param(Meanings, UNSIGNED, id="engine-unsigned"),
        pytest.param(Meanings, NARROWEST, id="engine-signed"),
    ],
)


def assert_same_in_numba(kind: type[Native | Meanings], graph: Graph, values: list[Array]) -> None:
    pytest.importorskip("numba")
    want = compiled_anew(graph, embedded())(values)
    for got, expected in zip(compiled_anew(graph, kind("NUMBA"))(values), want, strict=True):
        np.testing.assert_array_equal(got, expected)


@WRAPPED
def test_integers_wrap_around_in_numba(
    kind: type[Native | Meanings], dtypes: Sequence[str]
) -> None:
    """There PyTensor would keep bits that they don't have, but for the casts in these graphs."""
    inputs = [input_node(TensorType((ELEMENTS,), as_dtype(dtype))) for dtype in dtypes]
    rest: Callable[[Node], Node] = lambda x: REGISTRY["floor_div"](x, _full(8, x))  # noqa: E731
    unary = ("neg", "square", "bit_not", "abs")
    outputs = [rest(REGISTRY[name](x, _full(9, x))) for x in inputs for name in ("add", "mul")]
    outputs += [rest(REGISTRY[name](x)) for x in inputs for name in unary]
    values = [_from_the_ends(str(x.dtype)) for x in inputs]
    assert_same_in_numba(kind, Graph(inputs, outputs), values)


def _from_the_ends(dtype: str) -> Array:
    """The largest integers of a dtype, and the least ones."""
    few = np.arange(ELEMENTS // 2, dtype=dtype)
    return np.concatenate([np.iinfo(dtype).max - few, np.iinfo(dtype).min + few])


@pytest.mark.nightly
@WRAPPED
@pytest.mark.parametrize("seed", range(20))
def test_programs_of_integers_in_numba(
    kind: type[Native | Meanings], dtypes: Sequence[str], seed: int
) -> None:
    assert_same_in_numba(kind, *program_of_integers(dtypes, seed))


# The engine's graphs -----------------------------------------------------------------------------


def meanings(outputs: Sequence[Any]) -> list[Any]:
    """The Ops of a graph that mean other graphs."""
    return [n.op for n in io_toposort([], list(outputs)) if isinstance(n.op, InlineOp)]


class Recorded(TheanoEngine):
    """Keeps the graph that it was given."""

    graph: Graph

    def compile(self, graph: Graph) -> Any:
        self.graph = graph
        return super().compile(graph)


def engines_graph(inputs: Sequence[Any], output: Any) -> tuple[list[Any], Any, list[Any]]:
    """PyTensor's inputs, output and guards of the graph that the engine runs."""
    engine = Recorded()
    compiled_anew(Graph(inputs, [output]), engine)
    variables = [array_type(x.type)() for x in engine.graph.inputs]
    low = EngineLowering(engine.graph, variables)
    return variables, low.run()[0], low.guards


def inlined(inputs: list[Any], outputs: Any) -> Any:
    """A function of PyTensor's without any Op of ours that means a graph."""
    function = pytensor.function(inputs, outputs, mode=INLINED)
    assert not meanings(function.maker.fgraph.outputs)
    return function


def test_gradients_of_what_the_engine_runs() -> None:
    """PyTensor derives the graphs that Ops of ours mean, which its modes compile instead."""
    x, w = K.placeholder((2, 6, 6, 1)), K.placeholder((3, 3, 1, 4))
    loss = K.sum(K.square(K.pool2d(K.tanh(K.conv2d(x, w)), (2, 2))))
    fed = [normal(2, 6, 6, 1), normal(3, 3, 1, 4)]
    want = K.function([x, w], K.gradients(loss, [w]))(fed)[0]
    inputs, y, _ = engines_graph([x, w], loss)
    assert meanings([y])
    found = pytensor.grad(y, inputs[1])
    for function in (inlined(inputs, found), pytensor.function(inputs, found, mode=FAST_COMPILE)):
        np.testing.assert_allclose(function(*fed), want, rtol=1e-4, atol=1e-5)


def test_equal_meanings_merge() -> None:
    x = K.placeholder((2, 3))
    (variable,), y, _ = engines_graph([x], K.sum(K.exp(x)) + K.sum(K.exp(x) * 2.0))
    again, z, _ = engines_graph([x], K.sum(K.exp(x)))
    assert set(meanings([z])) <= set(meanings([y]))
    _, other, _ = engines_graph([x], K.softmax(x, axis=0) + K.softmax(x, axis=1))
    assert len(set(meanings([other]))) == 2
    twice = graph_replace([z], {again[0]: variable})
    assert merged_count([y, *twice]) == merged_count([y])


def merged_count(outputs: Sequence[Any]) -> int:
    """How many applications of Ops of ours are left when equal ones are merged."""
    fgraph = FunctionGraph(outputs=list(outputs), clone=True)
    MergeOptimizer().rewrite(fgraph)
    return len(meanings(fgraph.outputs))


def test_new_axes_come_in_front() -> None:
    x, row = (input_node(TensorType(shape, as_dtype("float32"))) for shape in ((3, 3), (3,)))
    inputs, y, _ = engines_graph([x, row], REGISTRY["sub"](x, broadcast_to(row, [3, 3])))
    a, b = normal(3, 3), normal(3)
    np.testing.assert_array_equal(inlined(inputs, y)(a, b), a - b)


def test_sizes_must_agree_in_what_the_engine_runs() -> None:
    x, row, size = (
        input_node(TensorType(shape, as_dtype(dtype)))
        for shape, dtype in (((None, 3), "float32"), ((1, 3), "float32"), ((), "int32"))
    )
    inputs, y, guards = engines_graph(
        [x, row, size], REGISTRY["add"](x, broadcast_to(row, [size, 3]))
    )
    total = inlined(inputs, [y, *guards])
    a, b = normal(4, 3), normal(1, 3)
    np.testing.assert_array_equal(total(a, b, np.int32(4))[0], a + b)
    with pytest.raises(AssertionError, match="differ at run time"):
        total(a, b, np.int32(5))
