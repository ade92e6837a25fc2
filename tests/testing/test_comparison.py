"""`kameleon.compare`: engines side by side, and the node where one differs from the others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_engine.plain_engine import RULES as PLAIN_RULES
from example_engine.plain_engine import PlainEngine

import kameleon
from kameleon import backend as K
from kameleon import config
from kameleon.engines.numpy.engine import NumpyEngine
from kameleon.engines.numpy.rules import RULES
from kameleon.errors import ArgumentError, EngineNotFoundError, FeedError, GradientError
from kameleon.graph.ir.program import Graph
from kameleon.runtime import engines
from kameleon.testing.comparison import Comparison
from kameleon.testing.comparison.result import difference

AT = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]


class WrongNumpy(NumpyEngine):
    """The NumPy engine whose table has one wrong rule."""

    name, title = "wrong", "Wrong"

    def __init__(self, primitive: str, rule: Any):
        self.primitive, self.rule = primitive, rule

    def compile(self, graph: Graph) -> Any:
        right = RULES[self.primitive]
        RULES[self.primitive] = self.rule
        try:
            return super().compile(graph)
        finally:
            RULES[self.primitive] = right


def scaled(text: str) -> Any:
    """A rule that computes a line of NumPy."""
    return lambda emitter, node: emitter.emit(node, text, node.operands)


def plain(name: str, **rules: Callable[..., Any]) -> PlainEngine:
    """The example engine with other rules for some primitives."""
    engine = PlainEngine()
    engine.name = name
    engine.rules = {**PLAIN_RULES, **rules}
    return engine


def here() -> int:
    """The number of the line that calls this."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


# --- engines that agree --------------------------------------------------------------------------


def trained() -> tuple[Any, Any, list[Any]]:
    """A function that takes a step, its loss, and its variables."""
    x = K.placeholder((None, 3), name="x")
    w = K.variable(np.ones((3, 2)) * 0.3, name="w")
    count = K.variable(0, dtype="int32", name="count")
    hidden = K.dropout(K.tanh(K.dot(x, w)), 0.5, seed=3)
    loss = K.mean(K.square(hidden))
    (gradient,) = K.gradients(loss, [w])
    updates = [(w, w - 0.1 * gradient), (count, count + 1)]
    return K.function([x], [loss, hidden], updates), loss, [w, count]


def test_outputs_gradients_and_updates_agree() -> None:
    f, _, (w, _) = trained()
    found = kameleon.compare(f, [AT], engines=["numpy", PlainEngine()])
    assert found.names == [
        *("output 0", "output 1", "new value of 'w'", "new value of 'count'", "gradient by 'w'"),
    ]
    assert found.agree(), str(found)
    run = found.runs["plain"]
    assert run.error is None and run.first_difference is None
    assert [d.dtype for d in run.differences] == [*["float32"] * 3, "int32", "float32"]
    assert all(d.absolute < 1e-6 for d in run.differences)
    assert run.first_call > run.warm_call > 0
    # The values are those of a call: the step that the gradient says.
    assert run.values is not None
    before = K.get_value(w)
    np.testing.assert_allclose(run.values[2], before - 0.1 * run.values[4], rtol=1e-5)


def test_random_numbers_are_those_of_the_next_call_and_stay_so() -> None:
    f, _, variables = trained()
    f([AT])
    before = K.batch_get_value(variables)
    found = kameleon.compare(f, [AT], engines=[PlainEngine()])
    again = kameleon.compare(f, {f.inputs[0]: AT}, engines=["numpy"])
    for old, new in zip(before, K.batch_get_value(variables), strict=True):
        np.testing.assert_array_equal(old, new)
    hidden = f([AT])[1]
    for run in (found.runs["plain"], again.runs["numpy"]):
        assert run.values is not None
        np.testing.assert_allclose(run.values[1], hidden, rtol=1e-5)
    assert not np.array_equal(f([AT])[1], hidden), "calls draw new numbers"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "bool"])
def test_dtypes(dtype: str) -> None:
    x = K.placeholder((3,), dtype=dtype)
    y = K.cast(x, dtype) if dtype == "bool" else x * x
    found = kameleon.compare([y, x], [[0, 1, 1]], engines=[PlainEngine()])
    assert found.agree(), str(found)
    assert {d.dtype for d in found.runs["plain"].differences} == {dtype}


@pytest.mark.parametrize(
    ("dtype", "error", "agrees"),
    [
        ("float64", 1e-10, True),
        ("float64", 1e-8, False),
        ("float32", 1e-5, True),
        ("float32", 1e-3, False),
        ("float16", 5e-3, True),
        ("float16", 5e-2, False),
    ],
)
def test_tolerance_goes_with_the_dtype(dtype: str, error: float, agrees: bool) -> None:
    off = plain("off", exp=lambda walk, node, x: (np.exp(x) * (1 + error)).astype(x.dtype))
    found = kameleon.compare(K.exp(K.variable([0.0, 3.0], dtype=dtype)), (), [off], wrt=[])
    assert found.agree() is agrees, str(found)
    assert found.agree(rtol=0.5)
    assert found.agree(rtol=0, atol=2.0)
    assert not found.agree(rtol=0, atol=0)


def test_learning_phase_and_inner_inputs() -> None:
    x, w = K.placeholder((3,)), K.variable([1.0, 2.0, 3.0], name="w")
    inner = x * w
    y = K.in_train_phase(K.exp(inner), K.sin(inner)) * w
    f = K.function([inner, K.learning_phase()], [K.sum(y)])
    for phase, meaning in ((1, np.exp), (0, np.sin)):
        found = kameleon.compare(f, [[1.0, 0.5, 2.0], phase], [PlainEngine()])
        assert found.agree(), str(found)
        values = found.runs["plain"].values
        assert values is not None and found.names[-1] == "gradient by 'w'"
        # The inner tensor is given: w acts on the output through the last product alone.
        np.testing.assert_allclose(values[1], meaning(np.array([1.0, 0.5, 2.0])), rtol=1e-6)


def test_gradients_that_are_asked_for() -> None:
    x, v = K.placeholder((2,), name="x"), K.variable([1.0, 2.0], name="v")
    y = K.sin(x) * v
    found = kameleon.compare(y, {x: [0.5, 1.5]}, [PlainEngine()], wrt=[x, v])
    assert found.names == ["output 0", "gradient by 'x'", "gradient by 'v'"]
    assert found.agree()
    values = found.runs["plain"].values
    assert values is not None
    np.testing.assert_allclose(values[2], np.sin([0.5, 1.5]), rtol=1e-6)
    inner = K.exp(x)
    found = kameleon.compare(K.sum(inner * v), [[0.5, 1.5]], [PlainEngine()], wrt=[inner])
    assert found.names[1].startswith("gradient by 'Exp")
    assert found.agree()
    assert kameleon.compare(K.sum(y), [[0.5, 1.5]], ["numpy"], wrt=[]).names == ["output 0"]
    names = ["output 0", "gradient by 'x'"]
    assert kameleon.compare(K.sum(y), [[0.5, 1.5]], "numpy", wrt=x).names == names
    with pytest.raises(GradientError, match="doesn't depend on"):
        kameleon.compare(K.sum(x), [[0.5, 1.5]], ["numpy"], wrt=[v])


def test_nests_of_outputs() -> None:
    x = K.placeholder((2,))
    f = K.function([x], {"a": x * 2.0, "b": [x + 1.0, x]})
    found = kameleon.compare(f, [[1.0, 2.0]], [PlainEngine()])
    assert found.names == ["output 0", "output 1", "output 2"]
    assert found.agree()


def test_installed_engines_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "names", lambda: ["numpy", "plain", "absent"])
    monkeypatch.setattr(engines, "runs_here", lambda name: name != "absent")
    monkeypatch.setitem(engines._loaded, "plain", PlainEngine())
    found = kameleon.compare(K.variable([1.0, 2.0]) * 2.0)
    assert list(found.runs) == ["numpy", "plain"]
    assert found.agree(), str(found)


def test_an_installed_engine_that_does_not_load_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "names", lambda: ["numpy", "torn"])
    monkeypatch.setattr(engines, "runs_here", lambda name: True)
    monkeypatch.setitem(engines.MODULES, "torn", "kameleon.engines.no_such_module")
    monkeypatch.setitem(config.ENGINES, "torn", config.Library("torn", "this", "Torn"))
    found = kameleon.compare(K.variable([1.0, 2.0]) * 2.0)
    assert found.runs["torn"].error is not None and "no_such_module" in found.runs["torn"].error
    assert not found.agree()


def test_engines_of_kameleon_agree(engine_name: str) -> None:
    f, _, _ = trained()
    found = kameleon.compare(f, [AT], engines=[engine_name])
    assert found.agree(), str(found)


# --- engines that don't --------------------------------------------------------------------------


TEST = "test_the_first_wrong_node_and_its_line_are_named"


def test_the_first_wrong_node_and_its_line_are_named() -> None:
    x, w = K.placeholder((None, 3)), K.variable(np.ones((3, 4)), name="w")
    hidden = K.tanh(K.dot(x, w))
    grown, line = K.exp(hidden), here()
    loss = K.sum(K.square(grown) + K.exp(grown))
    wrong = WrongNumpy("exp", scaled("exp({0}) * 1.01"))
    found = kameleon.compare(loss, {x: AT}, engines=["numpy", wrong])
    assert not found.agree()
    first = found.runs["wrong"].first_difference
    assert first is not None and first.alone
    assert (first.primitive, first.type) == ("exp", "float32[?, 4]")
    assert first.operands == ("float32[?, 4]",)
    assert first.name == grown.name
    assert first.source == f'File "{__file__}", line {line}, in {TEST}'
    text = str(found)
    assert (
        f"wrong differs from numpy at\n  exp(float32[?, 4]) -> float32[?, 4], '{grown.name}'"
        in text
    )
    assert f'"{__file__}", line {line}' in text
    assert "NO" in text


def test_a_wrong_gradient_alone() -> None:
    """The output agrees; its gradient is computed by another rule."""
    x = K.variable([0.5, 1.0, 2.0], dtype="float64", name="x")
    y, line = K.sqrt(x), here()
    half = plain("half", div=lambda walk, node, a, b: a / b * 0.5)
    found = kameleon.compare(K.sum(y), engines=[half])
    run = found.runs["half"]
    assert [d.within() for d in run.differences] == [True, False]
    assert run.worst is not None and run.worst.name == "gradient by 'x'"
    assert run.first_difference is not None
    assert run.first_difference.primitive == "div"
    assert f"line {line}," in run.first_difference.source


def test_a_node_that_makes_small_differences_large_is_no_culprit_alone() -> None:
    x = K.variable([0.1, 0.2], dtype="float64")
    zero = K.exp(x) - K.constant(np.exp([0.1, 0.2]), dtype="float64")
    tiny = plain("tiny", exp=lambda walk, node, x: np.exp(x) * (1 + 1e-14))
    found = kameleon.compare(K.sign(zero), engines=[tiny], wrt=[])
    assert not found.agree()
    first = found.runs["tiny"].first_difference
    assert first is not None and (first.primitive, first.alone) == ("sign", False)
    assert "small differences" in str(found)


def test_a_wrong_branch_of_the_learning_phase() -> None:
    x = K.placeholder((2,))
    wrong, line = lambda: K.cos(x), here()
    f = K.function([x, K.learning_phase()], [K.in_train_phase(wrong, lambda: K.sin(x))])
    off = plain("off", cos=lambda walk, node, x: np.cos(x) + x.dtype.type(0.1))
    assert kameleon.compare(f, [[1.0, 2.0], 0], [off]).agree()
    first = kameleon.compare(f, [[1.0, 2.0], 1], [off]).runs["off"].first_difference
    assert first is not None and first.primitive == "cos"
    assert f"line {line}," in first.source


def test_a_wrong_loop_is_named_as_a_whole() -> None:
    x = K.variable(np.ones((2, 4, 3)), dtype="float64")
    _, ys, _ = K.rnn(lambda step, states: (step + states[0], [step + states[0]]), x, [x[:, 0]])
    off = plain(
        "off", scan=lambda walk, node, *xs: [y * 2 for y in PLAIN_RULES["scan"](walk, node, *xs)]
    )
    first = kameleon.compare(ys, engines=[off], wrt=[]).runs["off"].first_difference
    assert first is not None and first.primitive == "scan"
    assert first.type.startswith("float64[") and "line" in first.source


def test_shapes_and_dtypes_that_differ() -> None:
    x = K.variable([1.0, 2.0])
    flat = plain("flat", exp=lambda walk, node, x: np.exp(x)[:1])
    wide = plain("wide", exp=lambda walk, node, x: np.exp(x.astype("float64")))
    found = kameleon.compare(K.exp(x), engines=[flat, wide], wrt=[])
    for name in ("flat", "wide"):
        run = found.runs[name]
        assert not run.agrees() and run.worst is not None and run.worst.absolute == np.inf
        assert run.first_difference is not None and run.first_difference.primitive == "exp"


def test_an_engine_that_raises() -> None:
    def broken(walk: Any, node: Any, x: Any) -> Any:
        raise RuntimeError("no power")

    v = K.variable([1.0, 2.0])
    f = K.function([], [K.sum(K.cos(v))], [(v, v * 2.0)])
    found = kameleon.compare(f, engines=["numpy", plain("dark", cos=broken)])
    assert not found.agree()
    run = found.runs["dark"]
    assert run.values is None
    assert run.error is not None and "no power" in run.error and "cos(float32[2])" in run.error
    assert "dark    failed" in str(found)
    np.testing.assert_array_equal(K.get_value(v), [1.0, 2.0])


def test_a_program_that_fails_everywhere_names_its_line() -> None:
    x = K.placeholder((None,), dtype="int32")
    picked, line = K.gather(K.variable([1.0, 2.0]), x), here()
    found = kameleon.compare(picked, [[0, 5]], [PlainEngine()])
    assert not found.agree()
    for run in found.runs.values():
        assert run.error is not None and f"line {line}," in run.error, run.error


def test_an_engine_that_fails_as_reference_gives_its_place_away() -> None:
    def broken(walk: Any, node: Any, x: Any) -> Any:
        raise RuntimeError("no power")

    one, two = plain("one", cos=broken), plain("two")
    found = kameleon.compare(K.cos(K.variable([1.0])), (), [one, two], reference="one")
    assert found.reference == "two"
    assert found.runs["one"].error is not None
    assert not found.agree()


def test_a_reference_that_lacks_the_dtype_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = K.variable([1.0, 2.0], dtype="float16")
    monkeypatch.setattr(NumpyEngine, "lacks", {"float16": "it's too small"})
    found = kameleon.compare(K.exp(x), (), [plain("one"), plain("two")], wrt=[])
    assert (found.reference, list(found.runs)) == ("one", ["one", "two"])
    assert found.agree()
    found = kameleon.compare(K.exp(x), (), ["numpy", plain("one")], wrt=[])
    assert found.runs["numpy"].error is not None and "too small" in found.runs["numpy"].error
    assert not found.agree()


# --- what is refused -----------------------------------------------------------------------------


def test_what_is_refused() -> None:
    x = K.placeholder((2,), name="x")
    f = K.function([x], [x * 2.0])
    with pytest.raises(ArgumentError, match="tensors"):
        kameleon.compare("x")
    with pytest.raises(ArgumentError, match="tensors, got 'x'"):
        kameleon.compare(f, [[1.0, 2.0]], "numpy", wrt=["x"])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="an engine is a name or an `Engine`, not 3"):
        kameleon.compare(f, [[1.0, 2.0]], 3)  # type: ignore[arg-type]
    with pytest.raises(FeedError, match="0 values were given for the inputs 'x:0'"):
        kameleon.compare(f, [], ["numpy"])
    with pytest.raises(FeedError, match="no value for x:0"):
        kameleon.compare(f, {}, ["numpy"])
    with pytest.raises(FeedError, match="no inputs"):
        kameleon.compare(f, {x: [1.0, 2.0], K.placeholder((1,)): [1.0]}, ["numpy"])
    with pytest.raises(FeedError, match="shape"):
        kameleon.compare(f, [[1.0, 2.0, 3.0]], ["numpy"])
    with pytest.raises(ArgumentError, match="no engine"):
        kameleon.compare(f, [[1.0, 2.0]], [])
    with pytest.raises(EngineNotFoundError, match="nonsense"):
        kameleon.compare(f, [[1.0, 2.0]], ["nonsense"])
    with pytest.raises(EngineNotFoundError, match="nonsense"):
        kameleon.compare(f, [[1.0, 2.0]], ["numpy"], reference="nonsense")


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("got", "want", "absolute", "relative"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0, 0.0),
        ([1.0, 2.5], [1.0, 2.0], 0.5, 0.25),
        ([np.nan, np.inf, -np.inf], [np.nan, np.inf, -np.inf], 0.0, 0.0),
        ([np.nan, 1.0], [2.0, 1.0], np.inf, np.inf),
        ([np.inf, 1.0], [-np.inf, 1.0], np.inf, np.inf),
        ([1e-3], [0.0], 1e-3, np.inf),
        ([], [], 0.0, 0.0),
        (3.0, 4.0, 1.0, 0.25),
    ],
)
def test_differences(got: Any, want: Any, absolute: float, relative: float) -> None:
    found = difference("x", np.array(got, "float64"), np.array(want, "float64"))
    assert (found.absolute, found.relative) == (absolute, relative)


def test_integers_are_equal_or_not() -> None:
    big = np.array([2**62, 1], "int64")
    assert difference("x", big, big).within()
    found = difference("x", big + np.array([1, 0]), big)
    assert found.absolute == 1.0 and not found.within(rtol=0.1)
    assert difference("x", np.array([True]), np.array([False])).absolute == 1.0
    assert difference("x", np.array([0], "uint8"), np.array([255], "uint8")).absolute == 255.0


def test_printed_form() -> None:
    x = K.variable([1.0, 2.0])
    text = str(kameleon.compare([x * 2.0, x + 1.0], (), ["numpy", PlainEngine()], wrt=[]))
    lines = text.splitlines()
    assert lines[0] == "2 results compared with numpy"
    assert lines[1].split() == "engine agrees difference relative of first call warm call".split()
    assert [line.split()[0] for line in lines[2:]] == ["numpy", "plain"]
    assert lines[3].split()[1:6] == ["yes", "0.0e+00", "0.0e+00", "output", "0"]
    assert isinstance(kameleon.compare(x, (), ["numpy"]), Comparison)


def test_what_notebooks_show() -> None:
    x = K.variable([1.0, 2.0])
    wrong = WrongNumpy("exp", scaled("exp({0}) * 1.01"))
    found = kameleon.compare([K.exp(x) + 1.0], (), ["numpy", wrong], wrt=[])
    shown = found._repr_html_()
    rows = re.findall(r"<tr>(.*?)</tr>", shown)
    assert re.findall(r"<th>(.*?)</th>", rows[0])[:2] == ["engine", "agrees"]
    assert [re.findall(r"<td>(.*?)</td>", row)[:2] for row in rows[1:]] == [
        ["numpy", ""],
        ["wrong", "NO"],
    ]
    assert "exp(float32[2]) -&gt; float32[2]" in shown, "the node is told, and nothing is a tag"


def test_results_of_nothing_but_nan_are_said_to_be_so() -> None:
    x = K.variable([1.0, 2.0])
    nothing, some = x * np.nan, x * K.constant([np.nan, 1.0])
    found = kameleon.compare([nothing, some], (), ["numpy", PlainEngine()], wrt=[])
    assert found.agree() and found.only_nan == ["output 0"]
    assert "\noutput 0: only NaN on numpy" in str(found)
    alone = str(kameleon.compare(nothing, (), ["numpy", PlainEngine()], wrt=[]))
    assert alone.splitlines()[3].split()[1:3] == ["only", "NaN"]
    assert not kameleon.compare(x, (), ["numpy", PlainEngine()]).only_nan


# --- other kinds of functions --------------------------------------------------------------------


def test_sparse_inputs() -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="SciPy makes the sparse matrices")
    x, w = K.placeholder((None, 3), sparse=True), K.variable(np.ones((3, 2)), name="w")
    f = K.function([x], [K.sum(K.dot(x, w))])
    matrix = sparse.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], "float32"))
    for feeds in ([matrix], {x: matrix}):
        found = kameleon.compare(f, feeds, [PlainEngine()])
        assert found.agree(), str(found)
        values = found.runs["plain"].values
        assert values is not None and found.names == ["output 0", "gradient by 'w'"]
        assert values[0] == 12.0


def test_functions_from_a_file(tmp_path: Path) -> None:
    f, _, _ = trained()
    f.save(tmp_path / "step.safetensors")
    loaded = kameleon.load(tmp_path / "step.safetensors")
    found = kameleon.compare(loaded, [AT], [PlainEngine()])
    assert found.agree(), str(found)
    assert len(found.names) == 5


def test_functions_that_only_change_variables() -> None:
    v = K.variable([1.0, 2.0], name="v")
    f = K.function([], [], [(v, v + K.random_uniform((2,)))])
    found = kameleon.compare(f, engines=[PlainEngine()])
    assert found.names == ["new value of 'v'"]
    assert found.agree(), str(found)
    values = found.runs["plain"].values
    f([])
    assert values is not None
    np.testing.assert_array_equal(values[0], K.get_value(v))
