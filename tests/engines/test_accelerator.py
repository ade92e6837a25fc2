"""The PyTorch engine on an accelerator: a pretended one, which nobody needs to have.

It refuses to mix its tensors with the processor's, and it has values. So the engine is held to
the same as on the processor.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch isn't installed", allow_module_level=True)

import torch
from _support import pretend_accelerator as pretend
from _support.common import build, shortened

if not pretend.is_possible():
    reason = f"PyTorch {torch.__version__} has no devices that are written in Python"
    pytest.skip(reason, allow_module_level=True)

from kameleon import backend as K
from kameleon.engines.torch import pool
from kameleon.engines.torch.compiled import CompiledEmitter
from kameleon.engines.torch.engine import TorchEngine
from kameleon.errors import EvaluationError, ShapeError
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.program import Graph
from kameleon.graph.ir.types import DTYPES, TensorType
from kameleon.graph.passes.pipeline import prepared
from kameleon.graph.primitives.elementwise import constant
from kameleon.graph.primitives.movement import broadcast_to
from kameleon.runtime import engines
from kameleon.testing import Case, Check, check_case, conformance_checks
from kameleon.testing.cases import CASES

Array = np.ndarray[Any, Any]


class Accelerated(TorchEngine):
    """The engine on the device."""

    name = "torch on an accelerator"

    def __init__(self) -> None:
        super().__init__(pretend.register())


class Placed(Accelerated):
    """All that it gives must be on the device."""

    def to_numpy(self, array: Any, copy: bool = True) -> Any:
        """See `Engine.to_numpy`."""
        assert array.device == self.device
        return super().to_numpy(array, copy)


class OnProcessor(TorchEngine):
    """The engine without it."""

    name = "torch on the processor"

    def __init__(self) -> None:
        super().__init__("cpu")


@pytest.fixture(scope="module")
def accelerated() -> Accelerated:
    """The device is registered when a test needs it: it stays until the process ends."""
    return Accelerated()


@pytest.fixture(autouse=True)
def _known(accelerated: Accelerated, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both engines can be named."""
    for engine in (accelerated, OnProcessor()):
        monkeypatch.setitem(engines._loaded, engine.name, engine)


# --- the device ----------------------------------------------------------------------------------


def on_device(values: Any = ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))) -> torch.Tensor:
    """A tensor of the device."""
    return torch.tensor(values).to(pretend.NAME)


Errors = type[BaseException] | tuple[type[BaseException], ...]
REFUSED: dict[str, tuple[Errors, Callable[[torch.Tensor], Any]]] = {
    "sum": (RuntimeError, lambda x: x + torch.ones(2, 3)),
    "stretched": (RuntimeError, lambda x: torch.ones(3) * x),
    "in place": (RuntimeError, lambda x: torch.ones(2, 3).add_(x)),
    "out": (RuntimeError, lambda x: torch.exp(x, out=torch.ones(2, 3))),
    "choice": (RuntimeError, lambda x: torch.where(x > 1, x, torch.ones(3))),
    "three tensors": (RuntimeError, lambda x: torch.addcmul(x, x, torch.ones(3))),
    "indices": (RuntimeError, lambda x: torch.index_select(x, 0, torch.tensor([1]))),
    "product": (RuntimeError, lambda x: torch.mm(x, torch.ones(3, 2))),
    "in a list": (RuntimeError, lambda x: torch.cat([x, torch.ones(1, 3)])),
    "a single index": (RuntimeError, lambda x: torch.index_select(x, 0, torch.tensor(1))),
    "product of integers": (NotImplementedError, lambda x: torch.mm(x.int(), x.int().T)),
    "NumPy": (TypeError, lambda x: x.numpy()),
    "an array": (TypeError, np.asarray),
    "DLPack": ((RuntimeError, BufferError), np.from_dlpack),  # the latter from NumPy 2.5 on
    "a wrong index": (
        pretend.DeviceAssertionError,
        lambda x: torch.index_select(x, 0, torch.tensor([2]).to(x.device)),
    ),
    "zero": (pretend.DeviceAssertionError, lambda x: x.int() // (0 * x.int())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_device_refuses(name: str) -> None:
    error, call = REFUSED[name]
    with pytest.raises(error):
        call(on_device())


def test_the_device_has_tensors_of_its_own() -> None:
    x = on_device()
    assert type(x) is torch.Tensor
    assert (x.device.type, x.is_cpu) == (pretend.NAME, False)
    for other in (x.cpu(), x.to("cpu"), x.cpu().to(pretend.NAME).cpu(), x * torch.tensor(1.0)):
        assert other.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert (x[1, 2].item(), float(x.sum())) == (6, 21)
    column = x.T[1]
    column.mul_(torch.tensor(10.0))
    assert x.tolist() == [[1, 20, 3], [4, 50, 6]]
    assert column.data_ptr() == x.data_ptr() + x.itemsize != x.clone().data_ptr()
    room = on_device([7.0])
    assert torch.add(x, 1, out=room.resize_(0)) is room
    assert room.tolist() == [[2, 21, 4], [5, 51, 7]]


def test_it_is_told_what_the_processor_waits_for() -> None:
    x = on_device()
    with pretend.waited_for() as names:
        y = torch.where(x > 2, x.exp(), 0).to(torch.int32).view(-1).clone()
        assert names == []
        y.cpu(), y.sum().item(), y.nonzero()
    assert names == ["_copy_from", "_local_scalar_dense", "nonzero"]


# --- the engine ----------------------------------------------------------------------------------


@pytest.mark.parametrize("check", shortened(conformance_checks()))
def test_conformance(check: Check) -> None:
    check(Placed())


def with_a_number(case: Case, at: int, number: Any) -> Case:
    """The case with a constant for one of its operands, which are of one shape."""
    given = case.operands[at]
    operands = (*case.operands[:at], *case.operands[at + 1 :])
    same = broadcast_to(constant(number, given.dtype.name), given.shape)

    def completed(function: Callable[..., Any], whole: Any) -> Callable[..., Any]:
        return lambda *xs: function(*xs[:at], whole, *xs[at:])

    return dataclasses.replace(
        case,
        label=f"{case.label}, operand {at} is {number}",
        build=completed(case.build, same),
        oracle=completed(case.oracle, np.full_like(given, number)),
        operands=operands,
        wrt=(),
    )


def cases_with_numbers() -> Iterator[Case]:
    """Those of elementwise primitives with several operands, a number for each of these."""
    for case in CASES:
        shapes = {x.shape for x in case.operands}
        if not REGISTRY[case.primitive].elementwise or len(case.operands) < 2 or len(shapes) > 1:
            continue
        for at, x in enumerate(case.operands):
            for number in dict.fromkeys(x.flat[:: max(1, x.size // 3)].tolist()) if x.ndim else ():
                yield with_a_number(case, at, number)


def test_constants_for_any_operand() -> None:
    """Some are kept on the processor, from where not all functions take them."""
    engine, cases = Placed(), list(cases_with_numbers())
    for case in cases:
        try:
            check_case(engine, case)
        except BaseException as error:
            raise AssertionError(case.id) from error
    assert len(cases) > 1000


DIVISIONS = (operator.floordiv, operator.mod)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint16", "uint64"])
def test_division_of_integers_by_zero(accelerated: Accelerated, dtype: str) -> None:
    x, y = K.placeholder((4,), dtype=dtype), K.placeholder((4,), dtype=dtype)
    seven, zero = K.constant(7, dtype), K.constant(0, dtype)
    outputs = [f(a, b) for a, b in ((x, y), (seven, y), (x, zero)) for f in DIVISIONS]
    given = [np.array([7, 0, 100, 1], dtype), np.array([0, 0, 3, 0], dtype)]
    found = K.function([x, y], outputs, engine=accelerated.name)(given)
    for got, expected in zip(
        found, K.function([x, y], outputs, engine="numpy")(given), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64"])
@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((3,), (3,))])
def test_products_of_integers(
    accelerated: Accelerated, shapes: tuple[tuple[int, ...], ...], dtype: str
) -> None:
    rng = np.random.default_rng(0)
    given = [rng.integers(0, 2**8, shape).astype(dtype) for shape in shapes]
    batch = (0,) if len(shapes[0]) == 3 else ()
    inputs = [input_node(TensorType(shape, DTYPES[dtype])) for shape in shapes]
    over = (len(shapes[0]) - 1,), (len(batch),)
    graph = Graph(inputs, [REGISTRY["contract"](*inputs, over=over, batch=(batch, batch))])
    (found,), (expected,) = (
        e.compile(prepared(graph, e))(given) for e in (accelerated, engines.embedded())
    )
    np.testing.assert_array_equal(accelerated.to_numpy(found), expected)


def test_batches_of_integers_must_be_as_many(accelerated: Accelerated) -> None:
    """NumPy would stretch a batch of one."""
    x, y = (input_node(TensorType((None, 2, 2), DTYPES["int32"])) for _ in range(2))
    product = REGISTRY["contract"](x, y, over=((2,), (1,)), batch=((0,), (0,)))
    run = accelerated.compile(Graph([x, y], [product]))
    with pytest.raises(ShapeError, match="differ at run time"):
        run([np.ones((count, 2, 2), "int32") for count in (1, 3)])


# Primitives whose code gives the processor values, for which it waits; and why.
WAITED_FOR = {
    **dict.fromkeys(
        "gather scatter_add take_along put_along sparse_to_dense sparse_dense_dot".split(),
        "an index out of range is an error, and would end the process",
    ),
    **dict.fromkeys(("minus_one_hot", "sparse_softmax_crossentropy"), "the same, of labels"),
    "check": "it raises where not all is true",
    "cond": "one branch is run",
    "while": "it ends where a condition says so",
    "nonzero": "its size depends on values",
    "pow": "how often unsigned numbers are squared depends on the exponents",
    "max_pool": "NaNs among maxima; and PyTorch has those of integers on the processor alone",
    **dict.fromkeys(("unpool", "pool_pick"), "cells of windows are the embedded engine's"),
    "contract": "PyTorch has products of integers on the processor alone",
    "ctc_greedy": "the embedded engine's",
    "ctc_beam_search": "the same",
    "scan": "some of the loops look up an index, or choose a branch, in their steps",
}


def test_the_processor_waits_for_little(accelerated: Accelerated) -> None:
    waited = set()
    for case in CASES:
        inputs = case.inputs(known=True)
        graph = prepared(Graph(inputs, case.results(inputs)), accelerated)
        run = build(graph, accelerated)
        arguments = [accelerated.from_numpy(x) for x in case.operands]
        with pretend.waited_for() as names:
            run(arguments)
        if names:
            waited.add(case.primitive)
    assert waited == set(WAITED_FOR)


def large() -> Graph:
    """What has ways of its own on the processor for arrays of some megabytes."""
    x = input_node(TensorType((1024, 1024), DTYPES["float32"]))
    y = REGISTRY["exp"](REGISTRY["sin"](REGISTRY["cos"](REGISTRY["tanh"](x))))
    holds = REGISTRY["gt"](x, y)
    zero = broadcast_to(constant(0.0, "float32"), x.shape)
    chosen = [REGISTRY["select"](holds, *pair) for pair in ((x, y), (x, zero), (zero, x))]
    return Graph([x], [y, *chosen])


def test_large_tensors_are_not_the_processors(accelerated: Accelerated) -> None:
    graph = large()
    pool.POOL.clear()
    run, expected = accelerated.compile(graph), engines.embedded().compile(graph)
    array = np.random.default_rng(0).normal(size=(1024, 1024)).astype("float32")
    for _ in range(3):
        results = list(run([array]))
        for got, want in zip(results, expected([array]), strict=True):
            np.testing.assert_allclose(accelerated.to_numpy(got), want, rtol=1e-5)
        del got
        accelerated.discard(results)
    assert pool.POOL.held == 0
    assert run.fast_path is None
    code = CompiledEmitter(graph, accelerated.device).code
    assert code.language is CompiledEmitter.language
    assert "empty(" not in run.source
    assert "blocked(" not in run.source


def test_devices_begin_with_the_accelerator(accelerated: Accelerated) -> None:
    assert accelerated.devices() == (f"{pretend.NAME}:0", "cpu")


def test_convolutions_are_as_exact_as_products(accelerated: Accelerated) -> None:
    rng, setting = np.random.default_rng(0), torch.backends.cudnn
    setting = getattr(setting, "conv", setting)
    before = {
        n: getattr(setting, n) for n in ("fp32_precision", "allow_tf32") if hasattr(setting, n)
    }
    given = [rng.normal(size=shape).astype("float32") for shape in ((2, 8, 8, 3), (3, 3, 3, 4))]
    x, k = (K.placeholder(array.shape) for array in given)
    loss = K.sum(K.square(K.conv2d(x, k, data_format="channels_last")))
    outputs = [loss, *K.gradients(loss, [x, k])]
    found, exact = (
        K.function([x, k], outputs, engine=e)(given) for e in (accelerated.name, "numpy")
    )
    for got, expected in zip(found, exact, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)
    assert before == {n: getattr(setting, n) for n in before}
    torch.set_float32_matmul_precision("high")
    try:
        rounded = K.function([x, k], outputs, engine=accelerated.name)(given)
    finally:
        torch.set_float32_matmul_precision("highest")
    np.testing.assert_allclose(rounded[0], exact[0], rtol=1e-2)
    assert abs(rounded[0] - exact[0]) > 1e-5 * exact[0]


UNUSUAL = [np.nan, np.inf, -np.inf, 1e30, -1e30, 5e9, -5e9, 2.5e9, 300.7, -300.7, 127.9, -0.5]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_casts_of_what_no_integer_holds(accelerated: Accelerated, dtype: str) -> None:
    """As on the processor, where they are what `tests/backend/test_casts.py` says."""
    x = K.placeholder((None,), dtype="float64")
    engines_too = accelerated.name, OnProcessor.name
    found, expected = (
        K.function([x], [K.cast(x, dtype)], engine=e)([UNUSUAL])[0] for e in engines_too
    )
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("window", [(1, 4), (3, 3)])
@pytest.mark.parametrize("channels", [1, 2])
def test_gradients_of_mean_pools_with_margins(
    accelerated: Accelerated, window: tuple[int, int], channels: int
) -> None:
    x = K.placeholder((2, 5, 8, channels))
    y = K.pool2d(x, window, (2, 3), "same", "channels_last", "avg")
    (slope,) = K.gradients(K.sum(K.square(y)), [x])
    given = np.random.default_rng(0).normal(size=(2, 5, 8, channels))
    found, expected = (
        K.function([x], [slope], engine=e)([given])[0] for e in (accelerated.name, "numpy")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_quotients_by_numbers_are_exact(accelerated: Accelerated) -> None:
    """PyTorch's code for CUDA takes reciprocals of divisors from the processor."""
    x = K.placeholder((None,))
    given = np.arange(-500, 500, dtype="float32") * np.float32(0.1)
    found, expected = (
        K.function([x], [x // 0.1], engine=e)([given])[0] for e in (accelerated.name, "numpy")
    )
    np.testing.assert_array_equal(found, expected)


# --- variables -----------------------------------------------------------------------------------

STEPS, ROWS, UNITS, KINDS = 5, 30, 20, 4


def train(engine: TorchEngine) -> tuple[list[Any], list[list[torch.Tensor]]]:
    """Some steps of a network that looks words up, sees them through a window and reads them.

    Returns:
        Its variables, and what the steps gave: the loss, and what was drawn.
    """
    K.set_floatx("float64")
    rng = np.random.default_rng(0)
    shapes = [(50, UNITS), (3, UNITS, UNITS), (UNITS, UNITS), (UNITS, KINDS), (KINDS,)]
    weights = [K.variable(rng.normal(size=shape) / 3) for shape in shapes]
    moments = [K.variable(np.zeros(shape)) for shape in shapes]
    table, window, turn, last, bias = weights
    words, labels = K.placeholder((None, 8), dtype="int32"), K.placeholder((None,), dtype="int32")
    x = K.dropout(K.gather(table, words), 0.3, seed=1)
    drawn = K.random_normal(K.shape(x), stddev=0.1, seed=2)
    x = K.relu(K.conv1d(x + drawn, window, padding="same"))

    def step(given: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        state = K.tanh(given + K.dot(states[0], turn))
        return state, [state]

    state = K.rnn(step, x, [K.zeros_like(x[:, 0])])[0]
    scores = K.bias_add(K.dot(state, last), bias)
    loss = K.mean(K.sparse_categorical_crossentropy(labels, scores, from_logits=True))
    updates = []
    for weight, moment, slope in zip(weights, moments, K.gradients(loss, weights), strict=True):
        updates += [K.update(moment, 0.9 * moment + slope)]
        updates += [K.update_sub(weight, 0.1 * (0.9 * moment + slope))]
    run = K.function([words, labels], [loss, drawn], updates, engine=engine.name, as_numpy=False)
    given = rng.integers(0, 50, (ROWS, 8)), rng.integers(0, KINDS, ROWS)
    return [*weights, *moments], [run(list(given)) for _ in range(STEPS)]


def test_training(accelerated: Accelerated) -> None:
    variables, given = train(accelerated)
    assert {v.cell.value.device for v in variables} == {accelerated.device}
    assert {x.device for step in given for x in step} == {accelerated.device}
    assert given[-1][0].item() < 0.8 * given[0][0].item()
    others, expected = train(OnProcessor())
    for got, want in zip(given, expected, strict=True):
        for x, y in zip(got, want, strict=True):
            torch.testing.assert_close(x.cpu(), y, rtol=1e-9, atol=1e-12)
    for v, w in zip(variables, others, strict=True):
        np.testing.assert_allclose(K.get_value(v), K.get_value(w), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "uint64", "float16", "float64"])
def test_variables_go_there_and_back(accelerated: Accelerated, dtype: str) -> None:
    start = np.array([[0, 1, 1], [1, 100, 0]]).astype(dtype)
    v = K.variable(start, dtype=dtype)
    turn = K.function([], [v], [K.update(v, K.reverse(v, 0))], as_numpy=False)
    here, processor = accelerated.name, OnProcessor.name
    for number, name in enumerate((here, "numpy", here, processor, here, here, processor, "numpy")):
        with engines.using(name) as engine:
            (before,) = turn([])
        if isinstance(engine, TorchEngine):
            assert before.device == v.cell.value.device == engine.device
        found = K.get_value(v)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, start if number % 2 else start[::-1])


def test_a_call_that_fails_changes_nothing(accelerated: Accelerated) -> None:
    v, index = K.variable([1.0, 2.0]), K.placeholder((1,), dtype="int32")
    with K.using_engine(accelerated.name):
        run = K.function([index], [K.gather(v, index)], [K.update_add(v, 1.0)])
        assert run([[1]])[0].tolist() == [2]
        for wrong in (-1, 2):
            with pytest.raises(EvaluationError, match=rf"index {wrong} is out of range"):
                run([[wrong]])
    assert K.get_value(v).tolist() == [2, 3]


def test_tensors_of_either_may_be_fed_to_both(accelerated: Accelerated) -> None:
    x = K.placeholder((2, 3))
    mine = on_device()
    for engine in (accelerated.name, OnProcessor.name, "numpy"):
        run = K.function([x], [x * 2.0, x], engine=engine)
        for given in (mine, mine.cpu(), mine.T.clone().T, mine.cpu().numpy()):
            for found, times in zip(run([given]), (2, 1), strict=True):
                assert found.tolist() == [[times * n for n in row] for row in mine.tolist()]
    with K.using_engine(accelerated.name):
        v = K.variable(mine)
        K.set_value(v, mine * 2)
        assert K.get_value(v).tolist() == [[2, 4, 6], [8, 10, 12]]
        assert K.eval(v * v).tolist() == [[4, 16, 36], [64, 100, 144]]
    assert mine.tolist() == [[1, 2, 3], [4, 5, 6]]
