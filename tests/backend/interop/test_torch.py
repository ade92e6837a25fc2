"""`to_torch`: numbers, gradients of any order, updates, phases, random streams, and tools."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, reset_session
from golden.cases import load_cases
from golden.differences import DIFFERENCES
from golden.runner import check_cases

if "torch" not in engines_under_test():
    pytest.skip("needs the package torch", allow_module_level=True)

import torch

import kameleon
from kameleon import backend as K
from kameleon.backend.interop.torch import to_torch
from kameleon.backend.interop.torch_tracing import DECODERS, traced
from kameleon.engines.numpy.engine import engine as numpy_engine
from kameleon.engines.torch.tensors import as_numpy, shared
from kameleon.errors import (
    ArgumentError,
    DTypeError,
    EngineError,
    EvaluationError,
    FeedError,
    ShapeError,
)
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.node import Node
from kameleon.graph.ir.program import Graph
from kameleon.graph.primitives.elementwise import add, constant, mul
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime.function import Function
from kameleon.testing.cases.case import Case
from kameleon.testing.conformance import BY_PRIMITIVE
from kameleon.testing.together import one_by_one

Array = np.ndarray[Any, Any]

# PyTorch's compiler says what it is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    reset_session(K)
    torch._dynamo.reset()
    yield
    reset_session(K)


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype(dtype)


def tensor(array: Any, **options: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(array), **options)


def assert_close(found: Any, expected: Any, rtol: float = 2e-6) -> None:
    found = found.detach().numpy() if isinstance(found, torch.Tensor) else np.asarray(found)
    assert (found.shape, found.dtype) == (np.shape(expected), np.asarray(expected).dtype)
    scale = np.max(np.abs(expected), initial=0, where=np.isfinite(expected)) if expected.size else 0
    np.testing.assert_allclose(found, expected, rtol, rtol * float(scale))


# All primitives ----------------------------------------------------------------------------------

TOLERANCE = {"float16": 4e-3, "float32": 5e-6, "float64": 1e-12}


def projected(tensors: Sequence[Node], seed: int) -> Node:
    """A number that all tensors have part in."""
    total = constant(np.float64(0))
    for i, y in enumerate(tensors):
        weights = normal(*y.shape, seed=seed + i, dtype="float64")
        total = add(total, reduce_sum(mul(y, constant(weights)), range(len(y.shape))))
    return total


def check_values(_: Any, cases: Sequence[Case]) -> None:
    posed = [(case, case.inputs(True)) for case in cases]
    inputs = [x for _, given in posed for x in given]
    function = Function(inputs, [y for case, given in posed for y in case.results(given)])
    module = to_torch(function)
    operands = [np.asarray(x) for case in cases for x in case.operands]
    expected = Function(inputs, function.outputs, engine=numpy_engine)(operands)
    for _ in range(2):
        for y, found, want in zip(function.outputs, module(*operands), expected, strict=True):
            assert_close(found, np.asarray(want), TOLERANCE.get(y.dtype, 0))


def check_gradients(_: Any, cases: Sequence[Case]) -> None:
    """To the second order, against those that NumPy computes of K's."""
    posed = [(case, case.inputs(True)) for case in cases]
    inputs = [x for _, given in posed for x in given]
    wrt = [given[i] for case, given in posed for i in case.wrt]
    results = [y for case, given in posed for y in case.results(given) if y.dtype.is_float]
    loss = projected(results, 7)
    first = gradients(loss, wrt)
    known = [x for x, g in zip(wrt, first, strict=True) if g is not None]
    slopes = [g for g in first if g is not None]
    second = gradients(projected(slopes, 99), known)
    there = [g for g in second if g is not None]
    operands = [np.asarray(x) for case in cases for x in case.operands]
    expected = Function(inputs, [*slopes, *there], engine=numpy_engine)(operands)
    module = to_torch(Function(inputs, [loss]))
    given = [tensor(x, requires_grad=n in wrt) for n, x in zip(inputs, operands, strict=True)]
    by = [x for n, x in zip(inputs, given, strict=True) if n in known]
    found = torch.autograd.grad(module(*given)[0], by, create_graph=True)
    weights = [normal(*g.shape, seed=99 + i, dtype="float64") for i, g in enumerate(slopes)]
    total = sum((g * tensor(w)).sum() for g, w in zip(found, weights, strict=True))
    for g, want in zip(found, expected, strict=False):
        assert_close(g, np.asarray(want), 1e-10)
    if not there:
        return
    again = torch.autograd.grad(total, by, allow_unused=True)
    pairs = [g for g, h in zip(again, second, strict=True) if h is not None]
    for g, want in zip(pairs, expected[len(slopes) :], strict=True):
        assert_close(g, np.asarray(want), 1e-10)


def check_followed(_: Any, cases: Sequence[Case], known: bool) -> None:
    """The code that PyTorch follows, in place of the engine's."""
    posed = [(case, case.inputs(known)) for case in cases]
    inputs = [x for _, given in posed for x in given]
    graph = Graph(inputs, [y for case, given in posed for y in case.results(given)])
    operands = [np.asarray(x) for case in cases for x in case.operands]
    expected = Function(inputs, graph.outputs, engine=numpy_engine)(operands)
    found = traced(graph, torch.device("cpu"), "a case")(*map(shared, operands))
    for y, own, want in zip(graph.outputs, found, expected, strict=True):
        assert_close(as_numpy(own), np.asarray(want), TOLERANCE.get(y.dtype, 0))


@pytest.mark.parametrize("primitive", BY_PRIMITIVE)
def test_values_of_primitives(primitive: str) -> None:
    one_by_one(check_values, numpy_engine, BY_PRIMITIVE[primitive])


@pytest.mark.parametrize("primitive", BY_PRIMITIVE)
def test_gradients_of_primitives(primitive: str) -> None:
    cases = [case for case in BY_PRIMITIVE[primitive] if case.wrt]
    static = [c for c in cases if all(y.type.is_static for y in c.results(c.inputs(True)))]
    if static:
        one_by_one(check_gradients, numpy_engine, static)


@pytest.mark.parametrize(
    "known", [True, pytest.param(False, marks=pytest.mark.nightly)], ids=["static", "unknown"]
)
@pytest.mark.parametrize("primitive", [x for x in BY_PRIMITIVE if x not in DECODERS])
def test_values_of_primitives_that_pytorch_follows(primitive: str, known: bool) -> None:
    cases = BY_PRIMITIVE[primitive]
    one_by_one(check_followed, numpy_engine, [c for c in cases if known or c.has_unknown], known)


# Recorded calls ----------------------------------------------------------------------------------

SPARSE = ("sparse", "sparse_variable")
RECORDED = [
    case
    for case in load_cases()
    if case.raises is None
    and case.id not in DIFFERENCES
    and not any(item.bind in SPARSE for item in case.inputs)
]


def evaluated(tensors: Sequence[Any], feeds: Sequence[tuple[Any, Any]]) -> list[Array]:
    """The values of tensors by a module."""
    module = to_torch(K.function([x for x, _ in feeds], list(tensors)))
    return [as_numpy(y) for y in module(*(value for _, value in feeds))]


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(i, marks=pytest.mark.nightly) for i in range(1, 5))]
)
def test_recorded_calls(part: int) -> None:
    """What the original returned."""
    check_cases(K, RECORDED[part::5], evaluated)


# Modules -----------------------------------------------------------------------------------------


def _placeholder(shape: Any, dtype: str, name: str | None = None) -> Any:
    return K.placeholder(shape, dtype=dtype, name=name)


def network(dtype: str = "float32") -> tuple[list[Any], Any, list[Any]]:
    """Inputs, loss and variables of a small network with a maximum, a softmax and a gather."""
    x, t = _placeholder((None, 5), dtype, "x"), _placeholder((None,), "int32", "t")
    w = K.variable(normal(5, 7), dtype, name="dense/w")
    b = K.variable(normal(7), dtype, name="dense/b")
    u = K.variable(normal(7, 3), dtype, name="u")
    y = K.dot(K.relu(K.bias_add(K.dot(x, w), b)), u)
    loss = K.mean(K.sparse_categorical_crossentropy(t, y, from_logits=True))
    return [x, t], loss + K.sum(K.max(y, 1)) / 9, [w, b, u]


DATA = normal(6, 5, seed=1), np.array([0, 1, 2, 0, 1, 2], "int32")


def test_training_steps_are_those_of_k() -> None:
    inputs, loss, variables = network()
    step = [(v, v - 0.1 * g) for v, g in zip(variables, K.gradients(loss, variables), strict=True)]
    module, train = to_torch(K.function(inputs, loss)), K.function(inputs, [loss], step)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        found = module(*map(tensor, DATA))
        found.backward()
        optimizer.step()
        assert_close(found, train(list(DATA))[0])
    for p, v in zip(module.parameters(), variables, strict=True):
        assert_close(p, K.get_value(v))


def test_numpy_arrays_and_other_dtypes_are_taken_as_k_takes_them() -> None:
    inputs, loss, _ = network()
    module = to_torch(K.function(inputs, loss))
    want = module(*map(tensor, DATA)).item()
    assert module(*DATA).item() == module(DATA[0].tolist(), DATA[1]).item() == want
    assert module(tensor(DATA[0]).double(), tensor(DATA[1]).long()).item() == want
    x = tensor(DATA[0], dtype=torch.float64, requires_grad=True)
    module(x, DATA[1]).backward()
    assert x.grad is not None and x.grad.dtype is torch.float64


def test_names_state_and_copies() -> None:
    inputs, loss, variables = network()
    module = to_torch(K.function(inputs, loss))
    assert list(module.state_dict()) == ["dense_w", "dense_b", "u"]
    assert list(module.names.values()) == [v.name for v in variables]
    want = module(*DATA).item()
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    copies = copy.deepcopy(module), pickle.loads(pickle.dumps(module))
    copies += (torch.load(file, weights_only=False),)
    with torch.no_grad():
        module.u.mul_(2)
    assert module(*DATA).item() != want
    assert [m(*DATA).item() for m in copies] == [want] * 3
    copies[0].load_state_dict(module.state_dict())
    assert copies[0](*DATA).item() == module(*DATA).item()
    with pytest.raises(RuntimeError, match="Missing key"):
        module.load_state_dict({"u": module.u})
    assert "K.function, inputs: x:0, t:0" in repr(module)


def test_awkward_names() -> None:
    names = ["forward", "training", "a.b", "a/b", "1st", "a:b", "names", "ä", "weight"]
    variables = [K.variable(float(i), name=name) for i, name in enumerate(names)]
    module = to_torch(K.function([], [K.stack(variables)]))
    assert module()[0].tolist() == list(range(len(names)))
    assert list(module.names.values()) == [v.name for v in variables]
    assert [p.item() for p in module.parameters()] == list(range(len(names)))
    assert all(name.isidentifier() and name.isascii() for name in module.names)


def test_frozen_parameters_and_inputs_that_require_gradients() -> None:
    inputs, loss, _ = network()
    module = to_torch(K.function(inputs, loss))
    module.dense_w.requires_grad_(False)
    x = tensor(DATA[0], requires_grad=True)
    module(x, DATA[1]).backward()
    assert module.dense_w.grad is None and module.u.grad is not None and x.grad is not None
    with torch.no_grad():
        assert not module(x, DATA[1]).requires_grad
    assert not module.requires_grad_(False)(*DATA).requires_grad


def test_gradients_of_some_outputs_dont_meet_the_others() -> None:
    x = _placeholder((3,), "float64")
    module = to_torch(K.function([x], {"log": K.log(x), "sum": (K.sum(K.square(x)),)}))
    given = tensor([0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    for _ in range(3):  # the first call expects cotangents of both
        (found,) = torch.autograd.grad(module(given)["sum"][0], given)
        assert found.tolist() == [0, 2, 4]


@pytest.mark.parametrize("make", ["network", "rnn", "pools"])
def test_gradcheck(make: str) -> None:
    function, given = MADE[make]()
    module = to_torch(function)
    floats = [tensor(x, requires_grad=x.dtype.kind == "f") for x in given]
    names = list(dict(module.named_parameters()))

    def call(*tensors: torch.Tensor) -> Any:
        held = dict(zip(names, tensors[len(given) :], strict=True))
        return torch.func.functional_call(module, held, tensors[: len(given)])

    values = (*floats, *(p.detach().requires_grad_() for p in module.parameters()))
    assert torch.autograd.gradcheck(call, values, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(call, values, check_fwd_over_rev=True, fast_mode=True)


def _network() -> tuple[Any, list[Array]]:
    inputs, loss, _ = network("float64")
    return K.function(inputs, loss), [DATA[0].astype("float64"), DATA[1]]


def _rnn() -> tuple[Any, list[Array]]:
    x = _placeholder((None, None, 3), "float64")
    w, u = (K.variable(normal(n, 4) / 2, "float64") for n in (3, 4))

    def step(x: Any, states: Any) -> Any:
        h = K.tanh(K.dot(x, w) + K.dot(states[0], u))
        return h, [h]

    last, steps, _ = K.rnn(step, x, [K.zeros_like(K.dot(x[:, 0], w), "float64")])
    return K.function([x], (K.sum(K.square(last)), K.mean(steps, 1))), [
        normal(2, 4, 3, dtype="float64")
    ]


def _pools() -> tuple[Any, list[Array]]:
    x = _placeholder((None, 6, 6, 2), "float64")
    k = K.variable(normal(3, 3, 2, 3), "float64")
    y = K.pool2d(K.conv2d(x, k, padding="same"), (2, 2), (2, 2))
    return K.function([x], K.sum(K.square(y), (1, 2, 3))), [normal(2, 6, 6, 2, dtype="float64")]


MADE: dict[str, Callable[[], tuple[Any, list[Array]]]] = {
    "network": _network,
    "rnn": _rnn,
    "pools": _pools,
}


# Updates, phases, random streams -----------------------------------------------------------------


def stateful() -> tuple[Any, Any]:
    """A function with a moving mean, a counter and dropout, in both learning phases."""
    x = K.placeholder((None, 3), name="x")
    w = K.variable(normal(3, 2), name="w")
    mean, count = K.variable(np.zeros(2), name="mean"), K.variable(0, "int32", name="count")
    y = K.tanh(K.dot(x, w))
    y = K.in_train_phase(K.dropout(y, 0.5), y - mean)
    updates = [K.moving_average_update(mean, K.mean(y, 0), 0.9), K.update_add(count, 1)]
    return [x], (K.sum(K.square(y)), y, updates)


def test_updates_and_random_numbers_go_on_as_k_has_them() -> None:
    inputs, (loss, y, updates) = stateful()
    phase = K.learning_phase()
    function = K.function([*inputs, phase], [loss, y], updates)
    module = to_torch(function)
    assert not module.training
    assert dict(module.named_buffers()).keys() == {"mean", "count", "random_key"}
    x = normal(5, 3)
    for training in (True, False, True):
        module.train(training)
        given = (x, 1 - training) if training else (x,)  # what is given counts
        want = function([x, given[1] if training else 0])
        for found, y_want in zip(module(*given), want, strict=True):
            assert_close(found, y_want)
    assert_close(module.mean, K.get_value(updates[0].variable))
    assert module.count.item() == 3 and module.random_key[1].item() == 3
    assert_close(module.train()(x)[0], function([x, 1])[0])


@pytest.mark.parametrize("training", [True, False])
def test_the_phase_is_the_modules_where_it_is_no_input(training: bool) -> None:
    inputs, (loss, y, updates) = stateful()
    module = to_torch(K.function(inputs, [loss, y], updates)).train(training)
    other = to_torch(K.function([K.learning_phase(), *inputs], [loss, y], updates))
    x = normal(5, 3)
    for found, want in zip(module(x), other(int(training), x), strict=True):
        assert_close(found, want.detach().numpy())


def test_gradients_are_those_of_the_values_before_updates() -> None:
    x = K.placeholder((2,))
    w, seen = K.variable([1.0, 2.0], name="w"), K.variable([3.0, 4.0], name="seen")
    module = to_torch(K.function([x], K.sum(w * seen * x), [(seen, x)]))
    module(tensor([5.0, 6.0])).backward()
    assert module.w.grad.tolist() == [15, 24] and module.seen.tolist() == [5, 6]


def test_a_training_step_of_ks_own_runs_as_it_is() -> None:
    inputs, loss, variables = network()
    step = [(v, v - 0.1 * g) for v, g in zip(variables, K.gradients(loss, variables), strict=True)]
    train = K.function(inputs, [loss], step)
    module = to_torch(train)
    assert not list(module.parameters())
    for _ in range(3):
        assert_close(module(*DATA)[0], train(list(DATA))[0])
    for v in variables:
        assert_close(module.state_dict()[v.name[:-2].replace("/", "_")], K.get_value(v))


# What is refused ---------------------------------------------------------------------------------


def _module() -> Any:
    inputs, loss, _ = network()
    return to_torch(K.function(inputs, loss))


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no function": (lambda: to_torch(3), ArgumentError, "to_torch takes what K.function gives"),
    "double": (lambda: _module().double(), DTypeError, "K.set_floatx.'float64'"),
    "half": (lambda: _module().to(torch.float16), DTypeError, "can't become float16"),
    "few inputs": (lambda: _module()(DATA[0]), FeedError, "takes values for 'x:0', 't:0', 1"),
    "rank": (lambda: _module()(tensor(DATA[0][0]), DATA[1]), FeedError, "has shape"),
    "sizes": (lambda: _module()(*DATA[::-1]), FeedError, "input 'x:0'"),
    "floats for integers": (
        lambda: _module()(DATA[0], tensor(DATA[1]) + 0.5),
        FeedError,
        "would be changed",
    ),
    "large integers": (
        lambda: _module()(DATA[0], tensor(DATA[1]).long() + 2**40),
        FeedError,
        "would be changed",
    ),
    "another device": (
        lambda: _module()(tensor(DATA[0]).to("meta"), DATA[1]),
        FeedError,
        "is on meta, the module on cpu",
    ),
    "another dtype by functional_call": (
        lambda: torch.func.functional_call(_module(), {"u": torch.ones(7, 3).double()}, DATA),
        DTypeError,
        "'u:0' is float32 in the graph",
    ),
    "another shape by functional_call": (
        lambda: torch.func.functional_call(_module(), {"u": torch.ones(7, 1)}, DATA),
        ShapeError,
        "'u:0' has shape",
    ),
    "sparse": (
        lambda: to_torch(K.function([x := K.placeholder((2, 2), sparse=True)], K.to_dense(x))),
        ArgumentError,
        "is sparse",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    call, kind, message = REFUSED[what]
    with pytest.raises(kind, match=message):
        call()


def test_nothing_changes_where_a_call_fails() -> None:
    x = K.placeholder((None,))
    v = K.variable(np.zeros(2), name="v")
    index = K.variable([7], "int32")
    module = to_torch(K.function([x], K.gather(x, index), [(v, v + 1)]))
    with pytest.raises(Exception, match="out of"):
        module(np.ones(3, "float32"))
    assert module.v.tolist() == [0, 0]


# PyTorch's tools ---------------------------------------------------------------------------------


def test_torch_func() -> None:
    inputs, loss, _ = network()
    module = to_torch(K.function(inputs, loss))
    parameters = {name: p.detach() for name, p in module.named_parameters()}
    x, t = map(tensor, DATA)

    def call(parameters: Any, x: torch.Tensor, t: torch.Tensor) -> Any:
        return torch.func.functional_call(module, parameters, (x, t))

    found = torch.func.grad(call)(parameters, x, t)
    module(x, t).backward()
    for name, p in module.named_parameters():
        assert_close(found[name], p.grad.numpy())
    each = torch.func.vmap(torch.func.grad(call), (None, 0, 0))
    rows = each(parameters, x[:, None], t[:, None])
    for i in range(len(x)):
        alone = torch.func.grad(call)(parameters, x[i : i + 1], t[i : i + 1])
        for name, g in rows.items():
            assert_close(g[i], alone[name].numpy(), 1e-5)
    h = torch.func.hessian(lambda u: call({**parameters, "u": u}, x, t))(parameters["u"])
    want = torch.autograd.functional.hessian(
        lambda u: call({**parameters, "u": u}, x, t), parameters["u"]
    )
    assert_close(h, want.numpy(), 1e-5)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_torch_compile(backend: str, training: bool) -> None:
    inputs, (loss, y, updates) = stateful()
    module = to_torch(K.function(inputs, {"loss": loss, "y": [y]}, updates)).train(training)
    other, x = copy.deepcopy(module), tensor(normal(5, 3))
    fast = torch.compile(module, backend=backend, fullgraph=True)
    for _ in range(2):
        found, want = fast(x), other(x)
        assert_close(found["loss"], want["loss"].detach().numpy())
        found["loss"].backward()
        want["loss"].backward()
    assert_close(module.w.grad, other.w.grad.numpy())
    for name, value in other.state_dict().items():
        assert_close(module.state_dict()[name], value.numpy())


@pytest.mark.nightly
def test_torch_compile_with_its_own_compiler() -> None:
    function, given = _pools()
    module = to_torch(function)
    fast, x = torch.compile(copy.deepcopy(module)), tensor(given[0])
    assert_close(fast(x), module(x).detach().numpy(), 1e-9)


def test_torch_export_follows_modules() -> None:
    inputs, (loss, y, updates) = stateful()
    module = to_torch(K.function(inputs, [loss, y], updates)).train()
    kinds = torch.export.Dim
    shapes = (({0: kinds.DYNAMIC, 1: kinds.STATIC},),)
    program = torch.export.export(module, (tensor(normal(4, 3)),), dynamic_shapes=shapes)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    again = torch.export.load(file).module()
    for x in (normal(5, 3), normal(2, 3)):
        for found, want in zip(again(tensor(x)), module(x), strict=True):
            assert_close(found, want.detach().numpy())
    assert_close(again.mean, module.mean.numpy())


def test_what_pytorch_cant_follow_runs_and_is_refused_by_name() -> None:
    x = K.placeholder((None, 4))
    doubled = kameleon.call(lambda a: np.asarray(a) * 2, x, "numpy", shapes=(None, 4))
    module = to_torch(K.function([x], doubled))
    given = tensor(normal(2, 4))
    assert_close(module(given), 2 * given.numpy())
    with pytest.raises(EngineError, match=r"function of Python .*\n.*test_torch.py"):
        torch.export.export(module, (given,))
    found = torch.compile(module, backend="eager")(given)  # PyTorch breaks its graph there
    assert_close(found, 2 * given.numpy())


def test_autocast_changes_nothing() -> None:
    module = _module()
    want = module(*DATA).item()
    with torch.autocast("cpu", torch.bfloat16):
        assert module(*DATA).item() == want


def test_modules_of_no_inputs_and_of_meta_tensors() -> None:
    module = to_torch(K.function([], [K.constant([1.0, 2.0])]))
    assert module()[0].tolist() == [1, 2]
    found = _module().to("meta")(
        torch.empty(6, 5, device="meta"), torch.zeros(6, device="meta", dtype=torch.int32)
    )
    assert found.is_meta and found.shape == ()


@pytest.mark.parametrize("dynamic", [False, True])
def test_torch_compile_stretches_sizes_of_1(dynamic: bool) -> None:
    x, t = K.placeholder((None, 2)), K.placeholder((None, 1))
    module = to_torch(K.function([x, t], K.sum(K.square(K.sum(x, 1, keepdims=True) - t))))
    fast = torch.compile(module, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for rows in (5, 1, 3):
        given = tensor(normal(5, 2)), tensor(normal(5 if rows == 3 else rows, 1))
        assert_close(fast(*given), module(*given).detach().numpy())
    with pytest.raises(EvaluationError, match="3 and 5"):
        module(torch.ones(5, 2), torch.ones(3, 1))


# PyTorch looks at gradients of what it goes on with behind a break of its graph.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_sizes_that_follow_from_values() -> None:
    x = K.placeholder((None,))
    module = to_torch(K.function([x], (x * x)[x > 0]))
    given = tensor([1.0, -2.0, 3.0], requires_grad=True)
    for call in (module, torch.compile(module, backend="eager")):
        found = call(given)
        assert found.tolist() == [1, 9]
        assert torch.autograd.grad(found.sum(), given)[0].tolist() == [2, 0, 6]
