"""Graphs of K as PyTensor's own: the numbers, gradients, loops, names, and what they're made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, reset_session, run_python

if "theano" not in engines_under_test():
    pytest.skip("needs the package pytensor", allow_module_level=True)

import pytensor
import pytensor.tensor as pt
from golden.cases import Case, load_cases
from golden.differences import DIFFERENCES
from golden.runner import MismatchError, check_cases
from pytensor.compile.mode import FAST_COMPILE, Mode
from pytensor.graph.traversal import io_toposort
from pytensor.link.vm import VMLinker
from pytensor.scan.op import Scan
from pytensor.tensor.elemwise import Elemwise

import kameleon
from kameleon import backend as K
from kameleon.config import choice
from kameleon.engines.theano.native import ops
from kameleon.errors import ArgumentError, DTypeError, FeedError, MissingLibraryError
from kameleon.testing.together import one_by_one

Array = np.ndarray[Any, Any]

# Warnings: in C where PyTensor comes from pip; of Numba about matrices with gaps, and code that it
# neither keeps nor compiles; and of JAX, which leaves out errors at run time.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:.*faster on contiguous arrays"),
    pytest.mark.filterwarnings("ignore:Cannot cache compiled function"),
    pytest.mark.filterwarnings("ignore:Numba will use object mode"),
    pytest.mark.filterwarnings("ignore:Skipping Assert"),
]

# As it stands, without a rewrite; by thunks of Python, where nothing is compiled.
PLAIN = Mode(VMLinker(use_cloop=False, c_thunks=False), None)


# Tests of what is compiled to C.
NEED_A_COMPILER = ("[c]", "_in_c", "CVM")


@pytest.fixture(autouse=True)
def _fresh(request: pytest.FixtureRequest) -> Iterator[None]:
    """A session of its own. Without a compiler PyTensor leaves bodies of loops in Python, too, and
    doesn't look for a BLAS, which takes it 40 s."""
    reset_session(K)
    in_c = any(words in request.node.name for words in NEED_A_COMPILER)
    with pytensor.config.change_flags(**({} if in_c else {"cxx": ""})):
        yield
    reset_session(K)


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def evaluated(mode: Any, tensors: Sequence[Any], feeds: Sequence[tuple[Any, Any]]) -> list[Array]:
    """The values of tensors by a function of PyTensor's."""
    if not tensors:
        return []
    found = kameleon.to_pytensor(list(tensors), [x for x, _ in feeds])
    outputs, inputs = found if feeds else (found, [])
    assert_all_known(outputs)
    function = pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    arrays = [np.asarray(value, str(x.dtype)) for x, value in feeds]
    with np.errstate(all="ignore"):
        values = function(*arrays)
    # Behind PyTensor's rewrites sums of JAX's may come as float64.
    return [np.asarray(y, x.type.dtype) for x, y in zip(outputs, values, strict=True)]


def operations(outputs: Sequence[Any]) -> Iterator[Any]:
    """The Ops of a graph, those inside of loops and of elementwise operations among them."""
    for node in io_toposort([], list(outputs)):
        yield node.op
        if isinstance(node.op, Scan):
            yield from operations(node.op.inner_outputs)
        if isinstance(node.op, Elemwise):
            yield node.op.scalar_op


def assert_all_known(outputs: Sequence[Any]) -> None:
    """Everything in a graph is PyTensor's own operation, or one of the few that it lacks."""
    for op in operations(outputs):
        own = type(op).__module__.startswith("pytensor.")
        assert own or isinstance(op, ops.SCALAR + ops.OWN), type(op)


# Numbers ---------------------------------------------------------------------------------------

SPARSE = ("sparse", "sparse_variable")
CASES = [
    case
    for case in load_cases()
    if case.raises is None
    and case.id not in DIFFERENCES
    and not any(item.bind in SPARSE for item in case.inputs)
]


def in_shares(every: int) -> list[Any]:
    """All cases; but each so-many-th only in nightly runs."""
    return [
        pytest.param(case, id=case.id, marks=() if i % every == 0 else pytest.mark.nightly)
        for i, case in enumerate(CASES)
    ]


@pytest.mark.parametrize("case", in_shares(5))
def test_golden(case: Case) -> None:
    """What the original returned, by the graph as it stands."""
    check_cases(K, [case], partial(evaluated, PLAIN))


@pytest.mark.parametrize("case", in_shares(60))
def test_golden_rewritten(case: Case) -> None:
    """The same behind PyTensor's quick rewrites."""
    check_cases(K, [case], partial(evaluated, FAST_COMPILE))


def computing(cases: Sequence[Case]) -> list[Case]:
    """Those that have something for PyTensor to compute."""
    return [case for case in cases if any(leaf.is_tensor for leaf in case.leaves)]


# About a quarter of the cases is compiled in each of these; few for every change: it's slow.
COMPILED = computing(CASES[::4]) + computing(CASES[2::4])[:84:6]
# So many of them come out as recorded in each.
LEAST = 300
# Numba compiles these for minutes.
SLOW_IN_NUMBA = ("conv2d_transpose", "conv3d_transpose")
# What doesn't come out there, and how it ends. JAX has no sizes that follow from values, nothing to
# decode by, and doesn't know what PyTensor makes of slices of unknown sizes; LLVM makes one
# rounding of two (0.2 * x + 0.5 is another number at the bounds); in C, PyTensor's log1p(-x) is
# exact where the 1 - x of log(1 - x) is rounded.
LIMITED = (MismatchError, NotImplementedError, TypeError, IndexError)
LIMITS: dict[str, dict[str, str]] = {
    "JAX": {
        **dict.fromkeys(("conv2d-040", "conv3d-022"), "concrete values"),
        **dict.fromkeys(
            ("ctc_decode-003", "ctc_decode-008", "ctc_decode-016"), "No JAX conversion"
        ),
        "ctc_label_dense_to_sparse-003": "No JAX conversion|data-dependent",
        "hard_sigmoid-002": "gradient of x",
        "rnn-055": "static integers|concrete values|must have static",
    },
    "NUMBA": {"hard_sigmoid-002": "gradient of x"},
    "CVM": {"binary_crossentropy-010": "gradient of target"},
}


def compiled(mode: str) -> list[Case]:
    """The cases that are computed in a mode, and come out as recorded."""
    slow = SLOW_IN_NUMBA if mode == "NUMBA" else ()
    return [c for c in COMPILED if c.id not in LIMITS[mode] and c.function not in slow]


def in_mode(mode: str, tensors: Sequence[Any], feeds: Sequence[tuple[Any, Any]]) -> list[Array]:
    """`evaluated`, of at least one tensor."""
    assert tensors
    return evaluated(mode, tensors, feeds)


@pytest.mark.parametrize("mode", LIMITS)
def test_300_cases_are_computed_in_each_mode(mode: str) -> None:
    """By the tests below, which take nothing but the recorded numbers for an answer."""
    assert len({case.id for case in compiled(mode)}) >= LEAST


def in_shares_of(mode: str, quick: Sequence[int]) -> list[Any]:
    """The cases of a mode; all but a few only in nightly runs."""
    return [
        pytest.param(case, id=case.id, marks=() if i in quick else pytest.mark.nightly)
        for i, case in enumerate(compiled(mode))
    ]


@pytest.mark.parametrize("case", in_shares_of("NUMBA", [0]))
def test_golden_in_numba(case: Case) -> None:
    pytest.importorskip("numba")
    check_cases(K, [case], partial(in_mode, "NUMBA"))


@pytest.mark.parametrize("case", in_shares_of("JAX", [0, 100, 200]))
def test_golden_in_jax(case: Case) -> None:
    pytest.importorskip("jax")
    check_cases(K, [case], partial(in_mode, "JAX"))


# So many are one function: a compiler is started for each new loop, not for each case.
TOGETHER = 8


def check_in_c(mode: str, cases: Sequence[Case]) -> None:
    check_cases(K, cases, partial(in_mode, mode))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "cases",
    [compiled("CVM")[i : i + TOGETHER] for i in range(0, len(compiled("CVM")), TOGETHER)],
    ids=lambda cases: cases[0].id,
)
def test_golden_in_c(cases: list[Case]) -> None:
    if not pytensor.config.cxx:
        pytest.skip("there is no C++ compiler here")
    one_by_one(check_in_c, "CVM", cases)  # type: ignore[arg-type]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("mode", "name"), [(mode, name) for mode, found in LIMITS.items() for name in found]
)
def test_limits_of_modes(mode: str, name: str) -> None:
    """What can be computed one day is to be taken off the list."""
    if mode == "CVM" and not pytensor.config.cxx:
        pytest.skip("there is no C++ compiler here")
    if mode != "CVM":
        pytest.importorskip(mode.lower())
    cases = [case for case in COMPILED if case.id == name]
    with pytest.raises(LIMITED, match=LIMITS[mode][name]):
        check_cases(K, cases, partial(in_mode, mode))


# Gradients ---------------------------------------------------------------------------------------


def network() -> tuple[Any, list[Any], list[Any]]:
    """The loss of a network of two layers, its placeholders and weights."""
    x, t = K.placeholder((None, 8), name="pixels"), K.placeholder((None, 3), name="labels")
    sizes = [(8, 5), (5,), (5, 3), (3,)]
    weights = [
        K.variable(normal(*shape, seed=i), name=f"weight_{i}") for i, shape in enumerate(sizes)
    ]
    hidden = K.relu(K.bias_add(K.dot(x, weights[0]), weights[1]))
    p = K.softmax(K.bias_add(K.dot(hidden, weights[2]), weights[3]))
    return K.mean(K.categorical_crossentropy(t, p)), [x, t], weights


MODES = [
    pytest.param(PLAIN, id="plain"),
    pytest.param("JAX", id="jax"),
    pytest.param("NUMBA", id="numba", marks=pytest.mark.nightly),
    pytest.param("CVM", id="c", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("mode", MODES)
def test_training(mode: Any) -> None:
    """PyTensor's gradients of a network's loss are those of K, and a step by them learns."""
    if mode in ("JAX", "NUMBA"):
        pytest.importorskip(mode.lower())
    loss, inputs, weights = network()
    ours = K.function(inputs, K.gradients(loss, weights))
    found, variables = kameleon.to_pytensor(loss, inputs)
    shared = kameleon.to_pytensor(weights)
    slopes = pytensor.grad(found, shared)
    rate = np.float32(0.1)
    updates = [(w, w - rate * g) for w, g in zip(shared, slopes, strict=True)]
    step = pytensor.function(variables, [found, *slopes], mode=mode, updates=updates)
    fed = [normal(6, 8), np.eye(3, dtype="float32")[[0, 1, 2, 0, 1, 2]]]
    first, *gradients = step(*fed)
    for got, want in zip(gradients, ours(fed), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    for _ in range(5):
        last = step(*fed)[0]
    assert last < first
    np.testing.assert_array_equal(K.get_value(weights[0]), normal(8, 5))  # K's own stays


def test_gradients_stop_where_the_program_says() -> None:
    x = K.placeholder((3,))
    y, (x_in,) = kameleon.to_pytensor(K.sum(K.stop_gradient(x) * x), [x])
    slope = pytensor.grad(y, x_in)
    np.testing.assert_array_equal(slope.eval({x_in: normal(3)}, mode=PLAIN), normal(3))


def test_gradients_through_a_loop() -> None:
    x = K.placeholder((2, 4, 3))
    w = K.variable(normal(3, 3))
    last, _, _ = K.rnn(lambda a, s: ((h := K.tanh(K.dot(a + s[0], w))), [h]), x, [K.zeros((2, 3))])
    want = K.function([x], K.gradients(K.sum(last), [w]))([normal(2, 4, 3)])[0]
    found, (x_in,) = kameleon.to_pytensor(K.sum(last), [x])
    got = pytensor.grad(found, kameleon.to_pytensor(w)).eval({x_in: normal(2, 4, 3)}, mode=PLAIN)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


# Loops, sizes and errors at run time --------------------------------------------------------------


def run(tensor: Any, *feeds: tuple[Any, Any]) -> Array:
    return evaluated(PLAIN, [tensor], feeds)[0]


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_a_loop_that_ends_by_a_condition(limit: int) -> None:
    n = K.placeholder((), dtype="int32")
    i, total = K.while_loop(
        lambda i, s: i < n, lambda i, s: (i + 1, s + K.cast(i, "float32")), [0, K.constant(0.0)]
    )
    assert run(i, (n, limit)) == limit
    assert run(total, (n, limit)) == sum(range(limit))


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_scan_of_unknown_length(steps: int) -> None:
    x = K.placeholder((None, 2))
    fed = normal(steps, 2)
    sums = K.map_fn(lambda a: a * 2, x)
    np.testing.assert_array_equal(run(sums, (x, fed)), fed * 2)
    total = K.foldl(lambda acc, a: acc + a, x, initializer=K.zeros((2,)))
    np.testing.assert_allclose(run(total, (x, fed)), fed.sum(0), rtol=1e-5, atol=1e-6)


def test_unknown_sizes_must_agree() -> None:
    """A size that wasn't known to be 1 isn't stretched."""
    x, y = K.placeholder((None,)), K.placeholder((None,))
    assert run(x + y, (x, normal(3)), (y, normal(3))).shape == (3,)
    with pytest.raises((ValueError, AssertionError)):
        run(x + y, (x, normal(3)), (y, normal(1)))
    one, unknown = pt.tensor(dtype="float32", shape=(1,)), pt.vector(dtype="float32")
    total = kameleon.to_pytensor(x + y, {x: one, y: unknown})
    with pytest.raises(AssertionError, match="differ at run time"):
        total.eval({one: normal(1), unknown: normal(3)}, mode=PLAIN)


def test_an_index_out_of_range_is_an_error() -> None:
    x, i = K.placeholder((3,)), K.placeholder((None,), dtype="int32")
    assert run(K.gather(x, i), (x, normal(3)), (i, [2, 0])).shape == (2,)
    for index in (-1, 3):
        with pytest.raises(AssertionError, match="out of range"):
            run(K.gather(x, i), (x, normal(3)), (i, [index]))


def test_the_first_of_a_reversed_axis() -> None:
    """PyTensor's rewrites of x[::-1][0:1] without its axis find the first of x, not the last."""
    x = K.placeholder((4, 2))
    first = K.reshape(K.reverse(x, 0)[0:1], (2,))
    step: Any = lambda a, states: (a * 2.0, [])  # noqa: E731
    _, outputs, _ = K.rnn(step, K.expand_dims(x, 0), [], go_backwards=True, unroll=True)
    rewritten = Mode(VMLinker(use_cloop=False, c_thunks=False), "fast_run")
    row, steps = evaluated(rewritten, [first, outputs], [(x, normal(4, 2))])
    np.testing.assert_array_equal(row, normal(4, 2)[3])
    np.testing.assert_array_equal(steps[0], normal(4, 2)[::-1] * 2)


def test_many_rows_of_an_unknown_number_in_jax() -> None:
    """PyTensor would count them in int8, which holds 127."""
    pytest.importorskip("jax")
    scores, labels = K.placeholder((None, 3)), K.placeholder((None,), dtype="int32")
    loss = K.sparse_categorical_crossentropy(labels, scores, from_logits=True)
    fed = [(scores, normal(130, 3)), (labels, np.arange(130) % 3)]
    np.testing.assert_allclose(
        evaluated("JAX", [loss], fed)[0], evaluated(PLAIN, [loss], fed)[0], rtol=1e-5
    )


def test_random_numbers_are_drawn_anew() -> None:
    tensor = K.random_uniform((4,), seed=5)
    want = [K.function([], [tensor])([])[0] for _ in range(2)]
    again = K.random_uniform((4,), seed=5)
    draw = pytensor.function([], kameleon.to_pytensor(again), mode=PLAIN)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal([draw(), draw()], want)


# What users see ----------------------------------------------------------------------------------


def test_names_are_readable() -> None:
    loss, inputs, _ = network()
    found, _ = kameleon.to_pytensor(K.identity(loss, name="loss"), inputs)
    text = pytensor.dprint(found, file="str")
    for name in ("pixels", "labels", "weight_0", "weight_3", "Dot", "LogSoftmax"):
        assert name in text, text


def test_variables_are_shared() -> None:
    w = K.variable(normal(2, 3), name="kernel")
    first, second = kameleon.to_pytensor([w, w + 1.0])
    assert kameleon.to_pytensor(w) is first
    assert first.name == "kernel" and first.type.shape == (2, 3)
    first.set_value(np.zeros((2, 3), "float32"))
    np.testing.assert_array_equal(second.eval(mode=PLAIN), np.ones((2, 3)))
    np.testing.assert_array_equal(K.get_value(w), normal(2, 3))


def test_one_for_one_and_a_list_for_a_list() -> None:
    x = K.placeholder((2,), name="x")
    y, (x_in,) = kameleon.to_pytensor(x * 2.0, [x])
    assert (x_in.name, x_in.type.shape, x_in.type.dtype) == ("x", (2,), "float32")
    assert y.owner is not None
    (y,), _ = kameleon.to_pytensor([x * 2.0], [x])
    mine = pt.vector("mine", dtype="float32")
    assert mine in pytensor.graph.traversal.graph_inputs([kameleon.to_pytensor(x * 2.0, {x: mine})])


def test_the_learning_phase_has_its_default() -> None:
    x = K.placeholder((2,))
    y = K.in_train_phase(x * 2.0, x)
    np.testing.assert_array_equal(run(y, (x, normal(2))), normal(2))
    phase = K.learning_phase()
    np.testing.assert_array_equal(run(y, (x, normal(2)), (phase, 1)), normal(2) * 2)


def test_equal_operations_of_ours_merge() -> None:
    x = pt.ivector()
    two = np.int32(2)
    assert ops.shift_left(x, two).owner.op == ops.shift_left(x, two).owner.op
    assert ops.bitcast(x, "float32").owner.op == ops.bitcast(x, "float32").owner.op
    assert ops.bitcast(x, "float32").owner.op != ops.bitcast(x, "uint32").owner.op
    assert ops.wrap(x, "int8").owner.op == ops.wrap(x, "int8").owner.op
    assert ops.Decoding(3, 2) == ops.Decoding(3, 2) != ops.Decoding(3, 1)


def test_errors_say_what_would_do(monkeypatch: pytest.MonkeyPatch) -> None:
    x = K.placeholder((2, 3), name="x")
    with pytest.raises(FeedError, match="no value was given for placeholder 'x"):
        kameleon.to_pytensor(x * 2.0)
    with pytest.raises(ArgumentError, match=r"float32.*2 axes"):
        kameleon.to_pytensor(x * 2.0, {x: pt.vector(dtype="float64")})
    with pytest.raises(ArgumentError, match="sparse"):
        kameleon.to_pytensor(K.placeholder((2, 2), sparse=True))
    with pytest.raises(ArgumentError, match="inputs must be tensors"):
        kameleon.to_pytensor(x * 2.0, ["x"])
    half = K.placeholder((2,), dtype="bfloat16", name="half")
    with pytest.raises(DTypeError, match=r"'half:0' is bfloat16\[2\], and PyTensor has no such"):
        kameleon.to_pytensor(K.cast(half, "float32"), [half])
    monkeypatch.setattr(choice, "installed", lambda name: False)
    with pytest.raises(MissingLibraryError, match="pip install"):
        kameleon.to_pytensor(x * 2.0, [x])


def test_importing_loads_no_pytensor(tmp_path: Path) -> None:
    code = "import sys, kameleon; kameleon.to_pytensor; print('pytensor' in sys.modules)"
    assert run_python(code, tmp_path, {"KERAS_BACKEND": "numpy"}).stdout.strip() == "False"
