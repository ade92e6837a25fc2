"""Each pass before the engines, on its own: what it gives is a valid graph with the same values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kameleon import backend as K
from kameleon.engines._flags import flagged
from kameleon.engines.numpy.engine import engine
from kameleon.graph.analysis.agreement import sizes_of
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import ITEM, REGISTRY, Node
from kameleon.graph.ir.program import Graph, bodies
from kameleon.graph.ir.types import TensorType, as_dtype
from kameleon.graph.ir.verify import verify
from kameleon.graph.passes import arithmetic, contraction, order, window_kernels
from kameleon.graph.passes.carriers import in_carriers
from kameleon.graph.passes.half import half_in_single
from kameleon.graph.passes.loops import with_steps
from kameleon.graph.passes.populated import populated
from kameleon.graph.passes.simplify import simplify
from kameleon.graph.passes.storage import in_storage
from kameleon.graph.passes.windows import inferred_dims
from kameleon.graph.primitives.choices import needs_no_branch
from kameleon.graph.primitives.control import run_scan
from kameleon.graph.primitives.elementwise import add
from kameleon.graph.primitives.filling import full_like, zeros
from kameleon.graph.primitives.linalg import contract, is_of_matrices
from kameleon.graph.primitives.sizes import as_node, dims_of
from kameleon.graph.primitives.windows import Window, has_margins, is_dilated
from kameleon.testing.cases import CASES
from kameleon.testing.cases.case import Case

Array = np.ndarray[Any, Any]
Pass = Callable[[Graph], Graph]

STORAGE = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}
# Of what is compared, and of what is summed.
ORDERED = {"bool": "uint8", "int16": "int32", "uint32": "int64", "uint64": "int64"}
SUMMED = {"int8": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64"}
CARRIERS = {
    **dict.fromkeys("lt ge maximum minimum reduce_max argmin argsort select".split(), ORDERED),
    **dict.fromkeys("add neg mul cumsum cumprod reduce_sum reduce_prod contract".split(), SUMMED),
}
WINDOWS = [name for name, primitive in REGISTRY.items() if "places" in primitive.parts]
ALL = ("samples", "places", "channels")


STATED_OTHERWISE = {*arithmetic.RULES, *contraction.RULES, *order.RULES}


def legal(graph: Graph) -> Graph:
    """As for an engine whose own rules hold for none of these."""
    return simplify(graph, lambda node: node.primitive.name not in STATED_OTHERWISE)


def plain_windows(graph: Graph) -> Graph:
    """As for an engine whose kernels know no margins and no dilation, but in convolutions, and no
    strides of depthwise ones."""

    def native(node: Node) -> bool:
        window, name = node.attrs.get("window"), node.primitive.name
        if name not in window_kernels.CHANGES:
            return True
        strided = name.startswith("depthwise") and set(window.strides) != {1}
        return name == "conv" or not (has_margins(window) or is_dilated(window) or strided)

    return simplify(graph, native)


PASSES: dict[str, tuple[Pass, Callable[[Case], bool]]] = {
    "equations": (legal, lambda case: case.primitive in STATED_OTHERWISE),
    "storage": (
        lambda graph: in_storage(legal(graph), STORAGE),
        lambda case: any(x.dtype.name in STORAGE for x in case.operands),
    ),
    "carriers": (
        lambda graph: in_carriers(graph, lambda node: CARRIERS.get(node.primitive.name, {})),
        lambda case: any(x.dtype.name in CARRIERS.get(case.primitive, ()) for x in case.operands),
    ),
    "half": (
        half_in_single,
        lambda case: any(x.dtype == np.float16 for x in case.operands),
    ),
    "loops": (with_steps, lambda case: case.primitive in ("scan", "linear_scan", "cumprod_slope")),
    "windows": (plain_windows, lambda case: case.primitive in window_kernels.CHANGES),
    "populated": (
        lambda graph: populated(graph, dict.fromkeys(WINDOWS, ALL))[0],
        lambda case: case.primitive in WINDOWS,
    ),
}


def values(graph: Graph, feeds: Sequence[Array]) -> list[Array]:
    """What the embedded engine makes of a graph."""
    with np.errstate(all="ignore"):
        return [np.asarray(y) for y in engine.compile(simplify(graph, engine.native))(feeds)]


def assert_equal(got: Iterable[Array], want: Iterable[Array]) -> None:
    """The same types, and the same numbers up to the rounding of sums in another order."""
    for a, b in zip(got, want, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        accuracy = 4 * float(np.finfo(a.dtype).eps) if a.dtype.kind == "f" else 0.0
        np.testing.assert_allclose(a, b, rtol=accuracy, atol=accuracy)


def assert_nothing_forgotten(changed: Graph, graph: Graph) -> None:
    """What is known of the results' sizes stays known."""
    for new, old in zip(changed.outputs, graph.outputs, strict=True):
        pairs = zip(new.shape, old.shape, strict=True)
        assert all(a == b or b is None for a, b in pairs), (new, old)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", PASSES)
def test_values_are_the_same(name: str, known: bool) -> None:
    change, concerns = PASSES[name]
    cases = [case for case in CASES if concerns(case) and (known or case.has_unknown)]
    assert len(cases) > 10
    for case in cases:
        inputs = case.inputs(known)
        graph = Graph(inputs, case.results(inputs))
        changed = change(graph)
        verify(changed)
        assert_nothing_forgotten(changed, graph)
        assert_equal(values(changed, case.operands), values(graph, case.operands))


def everywhere(graph: Graph) -> Iterable[Node]:
    """All nodes, those of bodies, too."""
    for node in graph.nodes:
        yield node
        for body in bodies(node):
            yield from everywhere(body)


def test_no_unsigned_numbers_are_computed_with() -> None:
    left = {"input", "bitcast", "cast", "random_bits", "random_fold"}
    for case in CASES:
        inputs = case.inputs(known=True)
        graph = in_storage(legal(Graph(inputs, case.results(inputs))), STORAGE)
        for node in everywhere(graph):
            if node.primitive is not ITEM and any(
                x.dtype in STORAGE for x in (*node.results, *node.operands)
            ):
                assert node.primitive.name in left, (case.id, node)


def test_nothing_is_computed_in_a_dtype_that_is_carried() -> None:
    for case in CASES:
        inputs = case.inputs(known=True)
        graph = Graph(inputs, case.results(inputs))
        changed = in_carriers(graph, lambda node: CARRIERS.get(node.primitive.name, {}))
        for node in everywhere(changed):
            lacking = CARRIERS.get(node.primitive.name)
            first = 1 if node.primitive.name == "select" else 0
            assert not lacking or not any(x.dtype in lacking for x in node.operands[first:])
        names = {node.primitive.name for node in everywhere(graph)}
        assert changed is graph or not names.isdisjoint(CARRIERS)


def test_windows_stand_in_conditions_or_count_on_inputs() -> None:
    x = input_node(TensorType((None, None, None, 3), as_dtype("float32")))
    k = input_node(TensorType((3, 3, 3, 4), as_dtype("float32")))
    for margin, conditions in ((1, 0), (0, 1)):
        w = Window((3, 3), (1, 1), ((margin, margin),) * 2, (1, 1))
        graph = Graph([x, k], [REGISTRY["conv"](x, k, window=w)])
        changed, counted = populated(graph, {"conv": ALL})
        assert sum(n.primitive.name == "cond" for n in changed.nodes) == conditions
        assert counted == ([(0, 0), (0, 1), (0, 2)] if margin else [(0, 0)])


def test_sizes_of_windows_are_told_without_computing_them() -> None:
    cases = [case for case in CASES if case.primitive in WINDOWS]
    seen: set[tuple[str, bool]] = set()
    for case in cases:
        types = [TensorType((None,) * x.ndim, as_dtype(x.dtype)) for x in case.operands]
        for inputs in (list(map(input_node, types)), case.inputs(known=True)):
            results = case.results(inputs)
            shapes = [y.shape for y in values(Graph(inputs, results), case.operands)]
            told = [as_node(dim) for y in results for dim in inferred_dims(y)]
            graph = Graph(inputs, told)
            assert not {n.primitive.name for n in graph.nodes} & set(WINDOWS)
            sizes = [int(n) for n in values(graph, case.operands)]
            assert sizes == [n for shape in shapes for n in shape], case.id
            seen.add((case.primitive, None in results[0].shape))
    assert seen == {(name, unknown) for name in WINDOWS for unknown in (True, False)}


def test_only_integers_and_bools_have_an_order() -> None:
    for case in CASES:
        if case.primitive in order.RULES:
            inputs = case.inputs(known=True)
            changed = legal(Graph(inputs, case.results(inputs)))
            for node in changed.nodes:
                assert node.primitive.name not in order.RULES or not node.operands[0].dtype.is_float


def takes_all_but_such_choices(node: Node) -> bool:
    """As for an engine that has no choices but with branches."""
    return node.primitive.name != "select" or not needs_no_branch(node)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_dropped_by_a_choice_leaves_nothing(dtype: str, swapped: bool) -> None:
    x = np.resize(np.array([1.5, np.inf, -np.inf, np.nan, -0.0, -2.0, 5e-324], dtype), 2048)
    condition = np.arange(2048) % 3 == 0
    for shape in ((2048,), (None,), (8,)):
        inputs = [input_node(TensorType(shape, as_dtype(d))) for d in ("bool", dtype)]
        options = [inputs[1], zeros(dims_of(inputs[1]), dtype)]
        if swapped:
            options.reverse()
        graph = Graph(inputs, [REGISTRY["select"](inputs[0], *options)])
        changed = simplify(graph, takes_all_but_such_choices)
        names = {node.primitive.name for node in changed.nodes}
        assert ("select" in names) == (shape == (8,))
        verify(changed)
        feeds = [v[: shape[0]] for v in (condition, x)]
        want = np.where(feeds[0] != swapped, feeds[1], np.array(0, dtype))
        np.testing.assert_array_equal(values(changed, feeds)[0].view(np.uint8), want.view(np.uint8))


def test_sizes_of_what_is_chosen_by_bits_stay_known() -> None:
    x = floats(None, 10)
    slope = REGISTRY["select"](REGISTRY["gt"](x, zeros(dims_of(x), x.dtype)), x, full_like(x, 0))
    changed = simplify(Graph([x], [add(slope, x)]), takes_all_but_such_choices)
    _, flags = flagged(changed, sizes_of(changed))
    assert not flags, "nothing is compared at run time"


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_small_integers_are_chosen_without_a_branch(dtype: str) -> None:
    condition = np.arange(2048) % 3 == 0
    a, b = (np.arange(2048).astype(dtype) * np.array(k, dtype) for k in (3, 7))
    inputs = [input_node(TensorType((None,), as_dtype(d))) for d in ("bool", dtype, dtype)]
    graph = Graph(inputs, [REGISTRY["select"](*inputs)])
    changed = simplify(graph, takes_all_but_such_choices)
    assert "select" not in {node.primitive.name for node in changed.nodes}
    verify(changed)
    np.testing.assert_array_equal(values(changed, [condition, a, b])[0], np.where(condition, a, b))


def test_windows_without_a_kernel_become_others_that_have_one() -> None:
    """Also those of unknown sizes; the adjoint of a dilated convolution is a convolution."""
    x, g, k = floats(None, None, None, 3), floats(2, 3, 3, 4), floats(3, 2, 3, 4)
    w = Window((3, 2), (2, 3), ((2, 1), (1, 1)), (2, 3))
    back = REGISTRY["conv_input"](g, k, space=(7, 8), window=w)
    solid = w._replace(dilation=(1, 1))
    apart, holed = (
        REGISTRY["depthwise_conv"](x, floats(3, 2, 3, 1), window=window) for window in (solid, w)
    )
    for node, names in ((back, ["conv"]), (apart, ["depthwise_conv"]), (holed, [])):
        changed = plain_windows(Graph(node.operands, [node]))
        assert [n.primitive.name for n in changed.nodes if "window" in n.attrs] == names


def stacked(layers: int) -> Graph:
    """The gradients of recurrent layers over each other, of an unknown number of steps."""
    x = K.placeholder((None, None, 3))
    weights = [K.variable(np.eye(3)) for _ in range(layers)]
    h = x
    for w in weights:
        _, h, _ = K.rnn(
            lambda frame, states, w=w: (y := K.tanh(K.dot(frame, w) + states[0]), [y]),
            h, [K.zeros_like(h[:, 0])],
        )  # fmt: skip
    made = K.function([x], K.gradients(K.sum(h * h), weights)).compiled.graph()
    return simplify(made, engine.native)


def test_conditions_around_loops_grow_in_proportion_to_them() -> None:
    few, many = (len(list(everywhere(with_steps(stacked(n))))) for n in (4, 16))
    assert many < 5 * few


def floats(*shape: int | None) -> Node:
    """An input."""
    return input_node(TensorType(shape, as_dtype("float32")))


def test_sizes_that_steps_tell_stay_known() -> None:
    state, row, start, rows = (floats(*s) for s in [(None, 1)] * 2 + [(None,) * 2, (None, None, 1)])
    loop = run_scan(Graph([state, row], [new := add(state, row), new]), [], [start], [rows])
    graph = Graph([start, rows], [*loop[0], *loop[1]])
    changed = with_steps(graph)
    assert [y.shape for y in changed.outputs] == [(None, 1), (None, None, 1)]
    assert_nothing_forgotten(changed, graph)


def test_loops_that_any_sequence_gives_a_step_have_no_condition() -> None:
    state, a, b, start = (floats() for _ in range(4))
    xs, ys = floats(None), floats(3)
    body = Graph([state, a, b], [add(add(state, a), b)])
    graph = Graph([start, xs, ys], run_scan(body, [], [start], [xs, ys])[0])
    assert with_steps(graph) is graph


# Contractions ------------------------------------------------------------------------------------


@st.composite
def contractions(draw: st.DrawFn) -> tuple[list[Array], list[set[int]], Any, Any]:
    """Operands, which of their sizes are unknown, and the paired axes."""
    sizes = st.integers(0, 3)
    kinds = [draw(st.integers(0, most)) for most in (2, 3, 2, 2)]  # batch, over, free of each
    batch, over, free_a, free_b = ([draw(sizes) for _ in range(n)] for n in kinds)
    operands, axes, unknown = [], [], []
    for free in (free_a, free_b):
        labels = [("batch", i) for i in range(len(batch))] + [("over", i) for i in range(len(over))]
        labels += [("free", i) for i in range(len(free))]
        labels = draw(st.permutations(labels))
        of = {"batch": batch, "over": over, "free": free}
        shape = [of[kind][i] for kind, i in labels]
        seed = draw(st.integers(0, 9))
        operands.append(np.random.default_rng(seed).normal(size=shape))
        places = {label: axis for axis, label in enumerate(labels)}
        axes.append([[places[k, i] for i in range(len(of[k]))] for k in ("over", "batch")])
        unknown.append(draw(st.sets(st.sampled_from(range(len(shape))))) if shape else set())
    pairs = [tuple(tuple(a[kind]) for a in axes) for kind in (0, 1)]
    return operands, unknown, pairs[0], pairs[1]


def summation(ranks: Sequence[int], over: Any, batch: Any) -> str:
    """A contraction as einsum writes it."""
    free = iter("stuvwxyz")
    paired = [*zip(*over, strict=True), *zip(*batch, strict=True)]
    names = []
    for side, rank in enumerate(ranks):
        letters = {pair[side]: letter for pair, letter in zip(paired, "abcdefgh", strict=False)}
        names.append([letters.get(axis) or next(free) for axis in range(rank)])
    kept = [names[0][axis] for axis in batch[0]]
    kept += [c for own in names for c in own if c in "stuvwxyz"]
    return f"{''.join(names[0])},{''.join(names[1])}->{''.join(kept)}"


@given(contractions())
@settings(max_examples=150)
def test_contractions_become_products_of_matrices(drawn: Any) -> None:
    operands, unknown, over, batch = drawn
    inputs = [
        input_node(
            TensorType(
                tuple(None if i in open_ else d for i, d in enumerate(x.shape)),
                as_dtype("float64"),
            )
        )
        for x, open_ in zip(operands, unknown, strict=True)
    ]
    graph = Graph(inputs, [contract(*inputs, over, batch)])
    changed = legal(graph)
    verify(changed)
    assert all(is_of_matrices(n) for n in changed.nodes if n.primitive.name == "contract")
    sums = summation([x.ndim for x in operands], over, batch)
    want, weight = np.einsum(sums, *operands), np.einsum(sums, *map(abs, operands))
    # Sums in another order differ by roundings of what cancels.
    (found,) = values(changed, operands)
    assert np.all(np.abs(found - want) <= 1e-14 * weight)
