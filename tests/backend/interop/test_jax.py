"""Compiled functions as pure functions of JAX: numbers, derivatives, what transforms them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, reset_session, run_python

if "jax" not in engines_under_test():
    pytest.skip("needs the package jax", allow_module_level=True)

import jax
import jax.numpy as jnp
from jax.experimental.sparse import BCOO

import kameleon
from kameleon import backend as K
from kameleon.backend.interop.jax import to_jax
from kameleon.backend.interop.jax_function import MIXES
from kameleon.backend.interop.jax_gradients import _without
from kameleon.backend.interop.jax_tracing import Traced
from kameleon.backend.interop.pure import Stateless
from kameleon.engines.jax.arrays import X64
from kameleon.errors import ArgumentError, EngineError, EvaluationError, FeedError, GradientError
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.program import Graph
from kameleon.graph.primitives.elementwise import add, constant
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime.engines import embedded
from kameleon.runtime.function import Function
from kameleon.testing.cases.case import Case
from kameleon.testing.conformance import BY_PRIMITIVE, cases_of
from kameleon.testing.together import _assert_close, _loss

Array = np.ndarray[Any, Any]
tree: Any = jax.tree
config: Any = jax.config


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """JAX as it comes: once PyTensor has run in its mode of JAX, 64-bit numbers are switched on."""
    reset_session(K)
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    jax.config.update("jax_enable_x64", before)
    reset_session(K)


def normal(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    return (np.random.default_rng((seed, *shape)).normal(size=shape) * 0.4).astype(dtype)


def assert_close(got: Any, want: Any, rtol: float = 2e-5) -> None:
    """Trees of the same structure have the same numbers."""
    assert tree.structure(got) == tree.structure(want)
    for a, b in zip(tree.leaves(got), tree.leaves(want), strict=True):
        scale = max(1.0, float(np.abs(np.asarray(b, "float64")).max(initial=0)))
        np.testing.assert_allclose(
            np.asarray(a, "float64"), np.asarray(b, "float64"), rtol, rtol * scale
        )


# The conformance kit's cases -----------------------------------------------------------------

# With every change just these, of each kind of rule.
OFTEN = "tanh contract max_pool softmax gather cond".split()
# Sizes of results follow from values.
REFUSED = ("nonzero", "ctc_greedy", "ctc_beam_search")


# Its gradient is that for probabilities, with numbers that aren't: no function has that gradient.
ASYMMETRIC = ("softmax_crossentropy",)


def by_primitive(kind: str) -> list[Any]:
    """The primitives with cases of a kind; most of them for nightly runs."""
    return [
        name if name in OFTEN else pytest.param(name, marks=pytest.mark.nightly)
        for name, cases in BY_PRIMITIVE.items()
        if cases_of(kind, cases, True) and name not in REFUSED
    ]


@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
@pytest.mark.parametrize("primitive", by_primitive("values"))
def test_values_of_primitives(primitive: str, known: bool) -> None:
    cases = cases_of("values", BY_PRIMITIVE[primitive], known)
    uses = [(case, case.inputs(known)) for case in cases]
    outputs = [y for case, own in uses for y in case.results(own)]
    run, parameters = to_jax(Function([x for _, own in uses for x in own], outputs))
    with X64(True):
        found, _ = run(parameters, [x for case in cases for x in case.operands])
    rest = iter(found)
    for case in cases:
        for expected in case.expected():
            value = np.asarray(next(rest))
            assert value.dtype == expected.dtype, case.id
            _assert_close(value, expected, case.units)


@pytest.mark.parametrize("primitive", REFUSED)
def test_sizes_that_follow_from_values_are_refused(primitive: str) -> None:
    for case in BY_PRIMITIVE.get(primitive, []):
        inputs = case.inputs(True)
        with pytest.raises(EngineError, match=rf"can't trace {primitive}: .*(?s:.*)made at"):
            to_jax(Function(inputs, case.results(inputs)))


@pytest.mark.parametrize("known", [True, False], ids=["static", "unknown"])
@pytest.mark.parametrize("primitive", by_primitive("gradient"))
def test_derivatives_of_primitives(primitive: str, known: bool) -> None:
    cases = cases_of("gradient", BY_PRIMITIVE[primitive], known)
    for case in cases[:2] if primitive in OFTEN else cases:
        check_derivatives(case, known)


def check_derivatives(case: Case, known: bool) -> None:
    """Derivatives of first and second order, in reverse and in forward mode, against K's."""
    loss, inputs = _loss(case, known)
    wrt, shapes = [inputs[i] for i in case.wrt], [np.shape(case.operands[i]) for i in case.wrt]
    weights = [normal(*s, seed=i, dtype="float64") for i, s in enumerate(shapes)]
    first = gradients(loss, wrt)
    second = gradients(weighted(weights, first), wrt) if case.order > 1 else []
    live = [g for g in (*first, *second) if g is not None]
    rest = iter(Function(inputs, live, engine=embedded())(list(case.operands)))
    wanted = [
        np.zeros(s) if g is None else next(rest)
        for g, s in zip((*first, *second), shapes * 2, strict=False)
    ]
    run, parameters = to_jax(Function(inputs, [loss]))

    def value(*sources: Any) -> Any:
        operands = list(case.operands)
        for i, x in zip(case.wrt, sources, strict=True):
            operands[i] = x
        return run(parameters, operands)[0][0]

    def along(parts: Sequence[Any]) -> Any:
        return sum(jnp.sum(g * w) for g, w in zip(parts, weights, strict=True))

    with X64(True):
        at = tuple(jnp.asarray(case.operands[i]) for i in case.wrt)
        directions = tuple(map(jnp.asarray, weights))
        slopes = jax.grad(value, tuple(range(len(at))))
        count = len(wrt)
        assert_close(list(jax.jit(slopes)(*at)), wanted[:count], 1e-9)
        tangent = jax.jit(lambda at, by: jax.jvp(value, at, by)[1])(at, directions)
        assert_close(tangent, np.asarray(along(wanted[:count])), 1e-9)
        if second:
            everywhere = tuple(range(count))
            bends = jax.grad(lambda *at: along(slopes(*at)), everywhere)
            assert_close(list(jax.jit(bends)(*at)), wanted[count:], 1e-8)
            if case.primitive not in ASYMMETRIC:
                forward = jax.jit(lambda at, by: jax.jvp(slopes, at, by)[1])(at, directions)
                assert_close(list(forward), wanted[count:], 1e-8)


def weighted(weights: Sequence[Array], parts: Sequence[Any]) -> Any:
    """The sum of all elements, with weights."""
    total = constant(0.0, "float64")
    for w, g in zip(weights, parts, strict=True):
        if g is not None:
            part = REGISTRY["mul"](g, constant(w))
            total = add(total, reduce_sum(part, range(w.ndim)))
    return total


mixes = pytest.mark.skipif(not MIXES, reason="needs JAX 0.8: 64 bits in traced code, 32 around it")


# Networks, and all that transforms them --------------------------------------------------------


def dense() -> tuple[Any, Array]:
    x, w, v = K.placeholder((None, 3)), K.variable(normal(3, 4)), K.variable(normal(4, 1))
    return K.function([x], [K.mean(K.square(K.dot(K.tanh(K.dot(x, w)), v)))]), normal(8, 3)


def convolutional() -> tuple[Any, Array]:
    x, k, b = K.placeholder((None, 8, 8, 1)), K.variable(normal(3, 3, 1, 2)), K.variable(normal(2))
    h = K.relu(K.bias_add(K.conv2d(x, k, padding="same"), b))
    pooled = K.pool2d(h, (2, 2), (2, 2))
    return K.function([x], [K.mean(K.square(pooled))]), normal(8, 8, 8, 1)


def recurrent() -> tuple[Any, Array]:
    x = K.placeholder((None, 4, 3))
    w, u = K.variable(normal(3, 8)), K.variable(normal(4, 8))

    def step(now: Any, states: Any) -> tuple[Any, list[Any]]:
        z = K.dot(now, w) + K.dot(states[0], u)
        h = K.sigmoid(z[:, :4]) * K.tanh(z[:, 4:])
        return h, [h]

    zeros = K.zeros_like(K.dot(x[:, 0], w[:, :4]))
    return K.function([x], [K.mean(K.square(K.rnn(step, x, [zeros])[0]))]), normal(8, 4, 3)


NETWORKS = {"dense": dense, "convolutional": convolutional, "recurrent": recurrent}
SLOW = ("convolutional", "recurrent")
in_networks = pytest.mark.parametrize("network", NETWORKS)
mostly_dense = pytest.mark.parametrize(
    "network",
    [pytest.param(n, marks=pytest.mark.nightly) if n in SLOW else n for n in NETWORKS],
)


def differentiable(network: str) -> tuple[Callable[..., Any], Any, Array, Any]:
    """The loss of a network over parameters and data, both of these, and K's gradients."""
    function, x = NETWORKS[network]()
    run, parameters = to_jax(function)
    variables = function.compiled.program.variables
    slopes = K.function(function.inputs, K.gradients(function.outputs[0], list(variables)))
    want = dict(zip(parameters, slopes([x]), strict=True))
    return lambda parameters, x: run(parameters, [x])[0][0], parameters, x, want


@in_networks
def test_gradients(network: str) -> None:
    loss, parameters, x, want = differentiable(network)
    for made in (jax.grad(loss), jax.jit(jax.grad(loss)), jax.grad(jax.checkpoint(loss))):
        assert_close(made(parameters, x), want)
    value, slopes = jax.jit(jax.value_and_grad(loss))(parameters, x)
    assert_close((value, slopes), (loss(parameters, x), want))


@mostly_dense
def test_own_derivatives_are_those_that_jax_derives(network: str) -> None:
    """JAX's, through the traced operations, differ in rounding only."""
    function, x = NETWORKS[network]()
    run, parameters = to_jax(function)
    traced = Traced(Stateless(function, "test").pure(), "test")
    theirs = jax.jit(jax.grad(lambda p: traced(x, *p.values())[0]))(parameters)
    assert_close(jax.jit(jax.grad(lambda p: run(p, [x])[0][0]))(parameters), theirs)


@mostly_dense
def test_hessians(network: str) -> None:
    loss, parameters, x, _ = differentiable(network)
    name = list(parameters)[-1]

    def of_one(w: Any) -> Any:
        return loss({**parameters, name: w}, x)

    ways = (jax.hessian, lambda f: jax.jacrev(jax.jacrev(f)), lambda f: jax.jacfwd(jax.jacfwd(f)))
    found = [jax.jit(way(of_one))(parameters[name]) for way in ways]
    for other in found[1:]:
        assert_close(other, found[0])


@mostly_dense
def test_vmap(network: str) -> None:
    """Over samples, over networks, and over both; gradients and their tangents, too."""
    loss, parameters, x, want = differentiable(network)
    each = jax.jit(jax.vmap(jax.grad(loss), (None, 0)))(parameters, x[:, None])
    assert_close(tree.map(lambda g: g.mean(0), each), want)
    two = tree.map(lambda w: jnp.stack([w, 2 * w]), parameters)
    many = jax.jit(jax.vmap(jax.grad(loss), (0, None)))(two, x)
    assert_close(tree.map(lambda g: g[0], many), want)
    total = jax.grad(lambda p: jax.vmap(loss, (None, 0))(p, x[:, None]).mean())
    assert_close(jax.jit(total)(parameters), want)

    def product(p: Any) -> Any:
        return jax.jvp(lambda p: jax.grad(loss)(p, x), (p,), (p,))[1]

    bends = jax.jit(jax.vmap(product))(two)
    assert_close(tree.map(lambda g: g[1], bends), product(tree.map(lambda w: w[1], two)))


@mostly_dense
def test_scan_and_third_derivatives(network: str) -> None:
    loss, parameters, x, _ = differentiable(network)

    def step(p: Any, x: Any) -> tuple[Any, Any]:
        value, slopes = jax.value_and_grad(loss)(p, x)
        return tree.map(lambda w, g: w - 0.1 * g, p, slopes), value

    last, values = jax.jit(lambda p: jax.lax.scan(step, p, jnp.stack([x, x])))(parameters)
    assert values[1] < values[0]
    by_hand = parameters
    for _ in range(2):
        by_hand, _ = step(by_hand, x)
    assert_close(last, by_hand)

    def moved(t: Any) -> Any:
        return loss(tree.map(lambda w: w * t, parameters), x)

    with X64(True):  # the third derivative, against differences of the second one
        second, third = jax.jit(jax.grad(jax.grad(moved))), jax.jit(jax.grad(jax.hessian(moved)))
        h = 1e-2
        near = (second(1.0 + h) - second(1.0 - h)) / (2 * h)
        np.testing.assert_allclose(third(1.0), near, 1e-2, 1e-4)


def test_a_gradient_reads_what_it_needs() -> None:
    """Outputs beside the loss cost nothing: their part of the sweep is left out."""
    x, w = K.placeholder((2, 3)), K.variable(normal(3, 3))
    y = K.dot(x, w)
    function = K.function([x], [K.sum(K.square(y)), K.exp(y)], updates=[(w, w * 2.0)])
    run, parameters = to_jax(function)

    def loss(p: Any) -> tuple[Any, Any]:
        outputs, new = run(p, [normal(2, 3)])
        return outputs[0], (outputs[1], new)

    slopes = jax.jit(lambda p: jax.grad(loss, has_aux=True)(p)[0])
    assert "exponential" not in str(slopes.lower(parameters).compile().as_text())
    both = jax.grad(lambda p: run(p, [normal(2, 3)])[0][0] + run(p, [normal(2, 3)])[0][1].sum())
    want = K.function([x], K.gradients(K.sum(K.square(y)) + K.sum(K.exp(y)), [w]))
    assert_close(list(both(parameters).values()), want([normal(2, 3)]))


def test_zero_cotangents_are_cut_off() -> None:
    a, b, k = (K.placeholder((2,)) for _ in range(3))
    graph = Graph([k, a, b], [add(a * k, b), b * k])
    left, none = _without(graph, [a, b], [b])
    assert none is None and left is not None and left.primitive.name == "mul"


# Meshes --------------------------------------------------------------------------------------

MESHES = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from backend.interop.test_jax import NETWORKS, assert_close, to_jax
from kameleon.errors import FeedError

mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
function, x = NETWORKS[NETWORK]()
run, parameters = to_jax(function)
loss = lambda p, x: run(p, [x])[0][0]
want = jax.jit(jax.grad(loss))(parameters, x)
bent = jax.jit(lambda p: jax.jvp(jax.grad(lambda p: loss(p, x)), (p,), (p,))[1])(parameters)
there = jax.device_put(x, NamedSharding(mesh, P("d")))
assert_close(jax.jit(jax.grad(loss))(parameters, there), want)
for checked in (True, False):
    named = dict(mesh=mesh, in_specs=(P(), P("d")), out_specs=P(), check_vma=checked)
    whole = jax.shard_map(lambda p, x: jax.lax.pmean(loss(p, x), "d"), **named)
    assert_close(jax.jit(jax.grad(whole))(parameters, x), want)
    inner = lambda p, x: jax.grad(lambda p: jax.lax.pmean(loss(p, x), "d"))(p)
    outer = lambda p, x: jax.lax.pmean(jax.grad(loss)(p, x), "d")
    mapped = jax.shard_map(inner if checked else outer, **named)
    assert_close(jax.jit(mapped)(parameters, x), want)
    again = jax.jit(lambda p: jax.jvp(jax.grad(lambda p: whole(p, x)), (p,), (p,))[1])
    assert_close(again(parameters), bent)
if NETWORK == "dense":
    mine = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Explicit,))
    there = jax.device_put(x, NamedSharding(mine, P("d")))
    try:
        loss(parameters, there)
    except FeedError as error:
        assert "auto_axes" in str(error)
    if hasattr(jax, "set_mesh"):  # since JAX 0.7
        with jax.set_mesh(mine):
            slopes = jax.sharding.auto_axes(jax.grad(loss), out_sharding=P())
            assert_close(jax.jit(slopes)(parameters, there), want)
print("done")
"""


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="needs jax.shard_map, of JAX 0.7")
@mostly_dense
def test_meshes(network: str, tmp_path: Path) -> None:
    """Data on four devices: by XLA, and by `shard_map`, with gradients inside and outside."""
    lines = ["import sys", f"sys.path[:0] = [{str(Path(__file__).parents[2])!r}]"]
    code = "\n".join([*lines, f"NETWORK = {network!r}", MESHES])
    devices = "--xla_force_host_platform_device_count=4"
    done = run_python(code, tmp_path, {"XLA_FLAGS": devices, "KERAS_BACKEND": "numpy"})
    assert done.stdout.strip().endswith("done"), done.stderr[-3000:]


# State, random numbers, phases -----------------------------------------------------------------


def test_a_step_of_training_goes_on_as_the_function_does() -> None:
    x, w = K.placeholder((None, 3)), K.variable(normal(3, 1), name="kernel")
    loss = K.mean(K.square(K.dot(x, w) - 1.0))
    step = K.function([x], [loss], updates=[(w, w - 0.1 * K.gradients(loss, [w])[0])])
    run, parameters = to_jax(step)
    data = normal(5, 3)
    before = K.get_value(w)

    def one(parameters: Any, _: Any) -> tuple[Any, Any]:
        outputs, parameters = run(parameters, [data])
        return parameters, outputs[0]

    last, values = jax.lax.scan(one, parameters, None, 4)
    np.testing.assert_array_equal(K.get_value(w), before)
    np.testing.assert_allclose(values, [step([data])[0] for _ in range(4)], 1e-5)
    assert_close(last, {"kernel": K.get_value(w)})
    np.testing.assert_array_equal(parameters["kernel"], before)


def test_an_optimizer_of_optax() -> None:
    optax = pytest.importorskip("optax")
    loss, parameters, x, _ = differentiable("dense")
    adam = optax.adam(0.05)

    @jax.jit
    def step(p: Any, state: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(p, x)
        changes, state = adam.update(slopes, state)
        return optax.apply_updates(p, changes), state, value

    state, values = adam.init(parameters), []
    for _ in range(20):
        parameters, state, value = step(parameters, state)
        values.append(float(value))
    assert values[-1] < 0.1 * values[0]


def test_names_that_occur_twice() -> None:
    variables = [K.variable([float(i)], name="w") for i in range(3)]
    names = [v.name for v in variables]
    assert len(set(names)) == 3
    _, parameters = to_jax(K.function([], [variables[0] + variables[1] * variables[2]]))
    assert sorted(float(x[0]) for x in parameters.values()) == [0.0, 1.0, 2.0]


def drawing() -> Any:
    x = K.placeholder((None, 4))
    return K.function([x], [K.dropout(x, 0.5), K.random_normal((3,)), K.random_uniform((2,))])


def test_numbers_of_calls() -> None:
    """A call after n others draws what the function does then; n may be traced."""
    function, x = drawing(), np.ones((3, 4), "float32")
    run, parameters = to_jax(function)
    _, traced = jax.lax.scan(lambda c, n: (c, run(parameters, [x], n)[0]), 0, jnp.arange(3))
    for n in range(3):
        want = function([x])
        assert_close(run(parameters, [x], n)[0], want)
        assert_close([y[n] for y in traced], want)


def test_keys_of_jax() -> None:
    run, parameters = to_jax(drawing())
    x = np.ones((3, 4), "float32")
    key = jax.random.key(7)
    typed, raw = (run(parameters, [x], k)[0] for k in (key, jax.random.PRNGKey(7)))
    assert_close(typed, raw)
    keys = jax.random.split(key, 500)
    many = jax.jit(jax.vmap(lambda k: run(parameters, [x], k)[0]))(keys)
    assert_close([y[3] for y in many], run(parameters, [x], keys[3])[0])
    assert abs(float(many[0].mean()) - 1) < 0.05
    assert abs(float(many[1].std()) - 1) < 0.1 and abs(float(many[2].mean()) - 0.5) < 0.05
    run(parameters, [x], jax.random.key(1, impl="rbg"))
    kept = jax.grad(lambda x: run(parameters, [x], key)[0][0].sum())(x)
    assert_close(kept, typed[0])


@pytest.mark.parametrize("key", [None, 1.5, "a", np.zeros(2, "int32"), np.zeros((2, 2), "uint32")])
def test_what_is_no_key_is_refused(key: Any) -> None:
    run, parameters = to_jax(drawing())
    with pytest.raises(ArgumentError, match=r"jax\.random"):
        run(parameters, [np.ones((3, 4), "float32")], key)


def test_learning_phases() -> None:
    """A number leaves one branch in the code; a tracer leaves both."""
    x, phase = K.placeholder((None, 3)), K.learning_phase()
    function = K.function([x, phase], [K.in_train_phase(K.exp(x), K.tanh(x))])
    run, _ = to_jax(function)
    data = normal(2, 3)
    for value in (0, 1, True, np.bool_(False)):
        assert_close(run({}, [data, value])[0], function([data, value]))
        assert_close(jax.jit(lambda p: run({}, [data, p])[0])(value), function([data, value]))
    assert_close(run({}, [data])[0], function([data]))
    assert "exp" not in str(jax.make_jaxpr(lambda x: run({}, [x, 0])[0])(data))
    both = str(jax.make_jaxpr(lambda x, p: run({}, [x, p])[0])(data, 1))
    assert "exp" in both and "tanh" in both


# Dtypes ----------------------------------------------------------------------------------------


@mixes
def test_64_bits_while_jax_has_32() -> None:
    """They come and go in 32 bits; what is between is computed in 64."""
    x, w = K.placeholder((None,), dtype="float64"), K.variable([1.0, 2.0, 3.0], dtype="float64")
    function = K.function([x], [K.sum(w * x + 1e-9) - 6.0, K.argmax(x)])
    run, parameters = to_jax(function)
    [name], data = parameters, np.ones(3)
    assert parameters[name].dtype == "float32"
    (small, place), _ = run(parameters, [data])
    assert small.dtype == "float32" and place.dtype == "int32"
    np.testing.assert_allclose(small, 3e-9, 1e-5)

    def loss(p: Any) -> Any:
        return run(p, [data])[0][0] ** 2

    assert_close(jax.jit(jax.hessian(loss))(parameters)[name][name], np.full((3, 3), 2.0))
    each = jax.vmap(jax.grad(lambda p, x: run(p, [x])[0][0]), (None, 0))(parameters, data[None])
    assert each[name].dtype == "float32"
    assert_close(each[name], np.ones((1, 3)))

    def step(p: Any, _: Any) -> tuple[Any, Any]:
        return tree.map(lambda w, g: w - 0.1 * g, p, jax.grad(jax.checkpoint(loss))(p)), 0

    assert jax.jit(lambda p: jax.lax.scan(step, p, None, 2)[0])(parameters)[name].dtype == "float32"
    with X64(True):
        (exact, place), _ = run({name: np.array([1.0, 2.0, 3.0])}, [data])
        assert exact.dtype == "float64" and place.dtype == "int64"
    assert not config.jax_enable_x64


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype: str) -> None:
    """Gradients are rounded as K's are, though JAX's own can't pass the rounding."""
    x, w = K.placeholder((None, 3), dtype=dtype), K.variable(normal(3, 2), dtype=dtype)
    loss = K.sum(K.square(K.relu(K.dot(x, w))))
    run, parameters = to_jax(K.function([x], [loss]))
    data = jnp.asarray(normal(4, 3)).astype(dtype)
    want = K.function([x], K.gradients(loss, [w]), engine="jax")([np.asarray(data)])
    found = jax.jit(jax.grad(lambda p: run(p, [data])[0][0]))(parameters)
    assert_close(list(found.values()), want, 1e-6)
    jax.hessian(lambda p: run(p, [data])[0][0])(parameters)


@mixes
def test_integers_and_bools() -> None:
    i, x = K.placeholder((None,), dtype="int32"), K.placeholder((None,))
    function = K.function([i, x], [i + 1, K.argmax(x), K.greater(x, 0), K.gather(x, i)])
    run, _ = to_jax(function)
    place, data = np.array([0, 2], "int32"), normal(3)
    assert_close(jax.jit(run)({}, [place, data])[0], function([place, data]))
    whole = jax.grad(lambda i, x: run({}, [i, x])[0][3].sum(), (0, 1), allow_int=True)(place, data)
    assert whole[0].dtype == jax.dtypes.float0
    assert_close(whole[1], np.array([1.0, 0.0, 1.0]))
    moved = jax.jvp(lambda x: run({}, [place, x])[0][3], (data,), (data,))
    assert_close(moved[1], data[place])


# Rules of K's own ------------------------------------------------------------------------------


def test_gradients_that_the_user_defines() -> None:
    @K.custom_gradient
    def clipped(x: Any) -> Any:
        return x * x, lambda g: K.clip(g, -1, 1) * 100.0

    x = K.placeholder((None,))
    run, _ = to_jax(K.function([x], [K.sum(clipped(x) * 3.0) + K.sum(K.stop_gradient(x) * x)]))
    data = normal(3)
    assert_close(jax.grad(lambda x: run({}, [x])[0][0])(data), 100.0 + data)


def test_equal_numbers_share_as_in_k() -> None:
    x = K.placeholder((4,))
    kinks = [K.max(x), K.maximum(x, K.reverse(x, 0)), K.abs(x), K.clip(x, 0.0, 1.0), K.relu(x)]
    loss = K.concatenate([K.reshape(y, (-1,)) for y in kinks])
    run, _ = to_jax(K.function([x], [loss]))
    data = np.array([0.0, 1.0, 1.0, 0.0], "float32")
    want = K.function([x], [K.stack(K.gradients(y, [x])) for y in kinks])([data])
    found = jax.jacrev(lambda x: run({}, [x])[0][0])(data)
    parts = np.split(found, np.cumsum([1, 4, 4, 4]))
    assert_close([part.sum(0, keepdims=True) for part in parts], want)


@mixes
def test_connectionist_temporal_classification() -> None:
    shapes: list[tuple[tuple[int, ...], str]] = [
        ((2, 4), "float32"), ((2, 7, 5), "float32"), ((2, 1), "int64"), ((2, 1), "int64"),
    ]  # fmt: skip
    inputs = [K.placeholder(shape, dtype=dtype) for shape, dtype in shapes]
    cost = K.ctc_batch_cost(*inputs)
    run, _ = to_jax(K.function(inputs, [cost]))
    p = np.exp(normal(2, 7, 5))
    labels = np.array([[0, 1, 2, 0], [1, 1, 3, 0]], "float32")
    given = [labels, p / p.sum(-1, keepdims=True), np.array([[7], [6]]), np.array([[3], [3]])]
    want = K.function(inputs, [cost, *K.gradients(K.sum(cost), [inputs[1]])])(given)

    def total(p: Any) -> Any:
        return run({}, [given[0], p, *given[2:]])[0][0].sum()

    assert_close(run({}, given)[0][0], want[0])
    assert_close(jax.jit(jax.grad(total))(given[1]), want[1], 1e-4)


def test_gradients_that_cannot_be() -> None:
    """They're refused where they're asked for: other outputs have theirs."""
    x = K.placeholder((None,))
    count = K.constant(0, dtype="int32")
    _, y = K.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, K.tanh(y) * 2.0), [count, x])
    function = K.function([x], [K.sum(K.square(x)), K.sum(y)])
    run, _ = to_jax(function)
    data = normal(3)
    assert_close(jax.jit(run)({}, [data])[0], function([data]))
    slopes = jax.grad(lambda x: tuple(run({}, [x])[0]), has_aux=True)(data)[0]
    assert_close(slopes, 2 * data)
    assert_close(jax.jit(jax.jacfwd(lambda x: run({}, [x])[0][0]))(data), 2 * data)
    for way in (jax.grad, jax.jacfwd):
        with pytest.raises(GradientError, match="can't be traced"):
            way(lambda x: run({}, [x])[0][1])(data)


def test_functions_of_python_are_called_back() -> None:
    x = K.placeholder((None, 3))
    back = lambda x, g: g * (1.0 - K.square(K.tanh(x)))  # noqa: E731
    y = kameleon.call(lambda a: np.tanh(a), x, like=x, gradient=back)
    run, _ = to_jax(K.function([x], [K.sum(y)]))
    data = normal(2, 3)
    assert_close(jax.jit(jax.grad(lambda x: run({}, [x])[0][0]))(data), 1 - np.tanh(data) ** 2)
    z = kameleon.call(np.unique, x, shapes=[(None,)])
    with pytest.raises(EngineError, match="declare them by shapes="):
        to_jax(K.function([x], [z]))


@mixes
def test_sparse_matrices() -> None:
    scipy = pytest.importorskip("scipy.sparse")
    x, w = K.placeholder((None, 4), sparse=True), K.variable(normal(4, 2), name="w")
    function = K.function([x], [K.dot(x, w), x])
    run, parameters = to_jax(function)
    matrix = scipy.random(5, 4, 0.4, format="csr", dtype="float32", random_state=0)
    mine = BCOO.fromdense(jnp.asarray(matrix.toarray()))
    want = function([matrix])
    for given in (matrix, mine):
        (product, same), _ = run(parameters, [given])
        assert_close(product, want[0])
        assert_close(same.todense(), matrix.toarray())
    [name] = parameters
    with pytest.raises(EngineError, match=r"K\.to_dense"):
        jax.jit(run)(parameters, [mine])
    run, _ = to_jax(K.function([x], [K.dot(x, w)]))
    slopes = jax.jit(jax.grad(lambda p, x: run(p, [x])[0][0].sum()))(parameters, mine)
    assert_close(slopes[name], np.tile(matrix.toarray().sum(0)[:, None], 2))
    with pytest.raises(FeedError, match="is sparse, and of a dense tracer"):
        jax.jit(run)(parameters, [matrix.toarray()])


# Inputs and outputs ----------------------------------------------------------------------------


def test_nests_and_nothing() -> None:
    x, w = K.placeholder((None,)), K.variable([1.0], name="w")
    run, _ = to_jax(K.function([x], {"a": x, "b": (x + 1.0, [x * 2.0, None])}))
    found, _ = run({}, [np.ones(1, "float32")])
    assert_close(found, {"a": np.ones(1), "b": (np.full(1, 2.0), [np.full(1, 2.0), None])})
    run, _ = to_jax(K.function([x], x * 2.0))
    assert_close(run({}, np.ones(1, "float32"))[0], np.full(1, 2.0))
    run, parameters = to_jax(K.function([], [], updates=[(w, w * 2.0)]))
    outputs, new = jax.jit(run)(parameters)
    assert outputs == [] and float(next(iter(new.values()))[0]) == 2.0
    assert to_jax(K.function([], []))[0]({}) == ([], {})


def test_open_sizes_of_jax_export() -> None:
    """What goes with formulas works; else an error says what knows of open sizes."""
    from jax import export

    x = K.placeholder((None, 8, 8, 3))
    batch = jax.ShapeDtypeStruct(export.symbolic_shape("b, 8, 8, 3"), np.float32)
    run, none = to_jax(K.function([x], [K.sum(K.relu(x), axis=1)]))
    exported = export.export(jax.jit(lambda x: run(none, [x])[0][0]))(batch)
    assert exported.call(np.ones((5, 8, 8, 3), np.float32)).shape == (5, 8, 3)
    run, none = to_jax(K.function([x], [K.pool2d(x, (2, 2), strides=(2, 2))]))
    with pytest.raises(EngineError, match="format='stablehlo'"):
        export.export(jax.jit(lambda x: run(none, [x])[0][0]))(batch)


def test_constants_of_feed_dict() -> None:
    x, y = K.placeholder((2,)), K.placeholder((2,))
    run, _ = to_jax(K.function([x], [x * y], feed_dict={y: [3.0, 4.0]}))
    assert_close(run({}, [np.ones(2, "float32")])[0], [np.array([3.0, 4.0])])


def test_numbers_that_decide_shapes() -> None:
    x, rows = K.placeholder((None,)), K.placeholder((), dtype="int32")
    run, _ = to_jax(K.function([x, rows], [K.reshape(x, (rows, -1))]))
    assert run({}, [normal(6), 2])[0][0].shape == (2, 3)
    assert jax.jit(lambda x: run({}, [x, 3])[0][0])(normal(6)).shape == (3, 2)
    assert_close(jax.grad(lambda x: run({}, [x, 3])[0][0].sum())(normal(6)), np.ones(6))
    with pytest.raises(FeedError, match="static_argnums"):
        jax.jit(lambda x, n: run({}, [x, n]))(normal(6), 2)
    size = K.variable(2, dtype="int32")
    with pytest.raises(EngineError, match=r"follow from values(?s:.*)test_jax"):
        to_jax(K.function([x], [K.reshape(x, (size, -1))]))


def test_sizes_that_meet() -> None:
    a, b = K.placeholder((None, 3)), K.placeholder((None, 3))
    run, _ = to_jax(K.function([a, b], [K.sum(a * b)]))
    one, four = normal(1, 3), normal(4, 3)
    assert_close(run({}, [one, four])[0][0], (one * four).sum())
    slopes = jax.grad(lambda a: run({}, [a, four])[0][0])(one)
    assert_close(slopes, four.sum(0, keepdims=True))
    with pytest.raises(EvaluationError, match="differ"):
        run({}, [normal(2, 3), four])


BAD: list[tuple[Any, Any, str]] = [
    ({}, [normal(2, 3)], "parameters must be a dict of what to_jax gave"),
    (None, [normal(2, 3)], "a NoneType"),
    ({"w": normal(2, 2)}, [normal(2, 3)], "has shape"),
    ({"w": normal(3, 2)}, [normal(2, 4)], "has shape"),
    ({"w": normal(3, 2)}, [jnp.ones((2, 4))], "has shape"),
    ({"w": normal(3, 2)}, [], "takes 1 values"),
    ({"w": normal(3, 2)}, ["a"], "is no array"),
    ({"w": normal(3, 2)}, [jnp.ones((2, 3), "complex64")], "would be changed"),
]


@pytest.mark.parametrize(("parameters", "inputs", "words"), BAD)
def test_what_does_not_fit_is_refused(parameters: Any, inputs: Any, words: str) -> None:
    x, w = K.placeholder((None, 3)), K.variable(normal(3, 2), name="w")
    run, given = to_jax(K.function([x], [K.dot(x, w)]))
    if isinstance(parameters, dict) and parameters:
        parameters = dict(zip(given, parameters.values(), strict=True))
    with pytest.raises(FeedError, match=words):
        run(parameters, inputs)
    with pytest.raises(FeedError, match="has shape"):
        jax.jit(lambda x: run(given, [x]))(jnp.ones((2, 4)))


@pytest.mark.parametrize("other", [3, lambda x: x, np.zeros(2)])
def test_what_is_no_function_is_refused(other: Any) -> None:
    with pytest.raises(ArgumentError, match=r"to_jax takes what K\.function gives"):
        to_jax(other)


def test_floats_for_integers_are_refused() -> None:
    i = K.placeholder((None,), dtype="int32")
    run, _ = to_jax(K.function([i], [i]))
    with pytest.raises(FeedError, match="would be changed"):
        run({}, [jnp.ones(3)])
    assert run({}, [jnp.ones(3, "int8")])[0][0].dtype == "int32"
