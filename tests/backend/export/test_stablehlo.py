"""Functions as StableHLO: reloaded by JAX alone, with open sizes, state, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test, reset_session

if "jax" not in engines_under_test():
    pytest.skip("needs the package jax", allow_module_level=True)

pytest.importorskip("flatbuffers", reason="jax.export writes by the package flatbuffers")

import jax
from jax import export

import kameleon
from kameleon import backend as K
from kameleon.backend.export import stablehlo, verification
from kameleon.backend.interop.pure import Stateless
from kameleon.engines.jax.arrays import X64
from kameleon.errors import ArgumentError, UnsupportedError
from kameleon.runtime.function import Function
from kameleon.testing.cases.case import Case
from kameleon.testing.conformance import BY_PRIMITIVE
from kameleon.testing.together import _assert_close

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    reset_session(K)
    yield
    reset_session(K)


def normal(*shape: int, seed: int = 0) -> Array:
    return (np.random.default_rng((seed, *shape)).normal(size=shape) * 0.4).astype("float32")


def written(function: Any, folder: Path, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The function of a file, and its parameters."""
    path = folder / "program.stablehlo"
    stablehlo.write(Stateless(function, "export"), str(path), **options)
    exported = export.deserialize(bytearray(path.read_bytes()))
    with path.open("rb") as file, np.lib.npyio.NpzFile(file) as archive:
        arrays = {name: archive[name] for name in archive.files if name != "updated"}
    return exported, {name.removeprefix("parameters/"): x for name, x in arrays.items()}


# The conformance kit's cases -------------------------------------------------------------------

OFTEN = "tanh contract conv softmax gather concatenate slice scan".split()
# Results' sizes follow from values.
REFUSED = ("nonzero", "ctc_greedy", "ctc_beam_search")
# Branches of different shapes.
CHOOSING = ("cond-different-sizes",)


@pytest.mark.parametrize(
    "primitive",
    [
        name if name in OFTEN else pytest.param(name, marks=pytest.mark.nightly)
        for name in BY_PRIMITIVE
        if name not in REFUSED
    ],
)
def test_values_of_primitives(primitive: str, tmp_path: Path) -> None:
    cases = BY_PRIMITIVE[primitive]
    for case in cases[:3] if primitive in OFTEN else cases:
        check_values(case, tmp_path)


def check_values(case: Case, folder: Path) -> None:
    """With open sizes it's held or refused; with known ones, it's held. JAX's symbols stand for at
    least 1, and for sizes that are equal where they meet: so 0 and 1 are given.
    """
    inputs = case.inputs(known=False)
    function = Function(inputs, case.results(inputs))
    shapes = [
        tuple(d if d < 2 else a for d, a in zip(x.shape, n.shape, strict=True))
        for x, n in zip(case.operands, inputs, strict=True)
    ]
    if case.id in CHOOSING:
        with pytest.raises(UnsupportedError, match="branches must have equal output types"):
            written(function, folder, platforms=("cpu",), shapes=shapes)
        return
    try:
        exported, _ = written(function, folder, platforms=("cpu",), shapes=shapes)
    except UnsupportedError as error:
        assert case.primitive not in OFTEN, case.id
        assert "shapes=[" in str(error) or "decides shapes" in str(error), case.id
        known = [np.shape(x) for x in case.operands]
        exported, _ = written(function, folder, platforms=("cpu",), shapes=known)
    with X64(True):
        found, _ = exported.call({}, list(case.operands))
    for value, expected in zip(found, case.expected(), strict=True):
        assert value.dtype == expected.dtype, case.id
        _assert_close(np.asarray(value), expected, case.units)


# Whole programs, in a fresh process --------------------------------------------------------------


def training(loss: Any, weights: list[Any], inputs: list[Any]) -> Any:
    slopes = K.gradients(loss, weights)
    updates = [(w, w - 0.1 * g) for w, g in zip(weights, slopes, strict=True)]
    return K.function(inputs, [loss], updates=updates)


def dense() -> Any:
    x, t = K.placeholder((None, 3)), K.placeholder((None, 2))
    w, v = K.variable(normal(3, 4), name="w"), K.variable(normal(4, 2), name="w")
    y = K.softmax(K.dot(K.dropout(K.tanh(K.dot(x, w)), 0.5), v))
    return training(K.mean(K.categorical_crossentropy(t, y)), [w, v], [x, t])


def convolutional() -> Any:
    x, t = K.placeholder((None, 8, 8, 1)), K.placeholder((None,), dtype="int32")
    k, w = K.variable(normal(3, 3, 1, 2)), K.variable(normal(32, 3))
    h = K.pool2d(K.relu(K.conv2d(x, k, padding="same")), (2, 2), (2, 2))
    y = K.softmax(K.dot(K.reshape(h, (-1, 32)), w))
    return training(K.mean(K.sparse_categorical_crossentropy(t, y)), [k, w], [x, t])


def recurrent() -> Any:
    """Over sequences of any length."""
    x, w, u = K.placeholder((None, None, 3)), K.variable(normal(3, 4)), K.variable(normal(4, 4))

    def step(now: Any, states: Any) -> tuple[Any, list[Any]]:
        h = K.tanh(K.dot(now, w) + K.dot(states[0], u))
        return h, [h]

    zeros = K.zeros_like(K.dot(x[:, 0], w))
    return training(K.mean(K.square(K.rnn(step, x, [zeros])[0])), [w, u], [x])


def of_any_plane() -> Any:
    x, k = K.placeholder((None, None, None, 3)), K.variable(normal(3, 3, 3, 2))
    strided = K.conv2d(x, k, strides=(2, 2), padding="same")
    return K.function([x], [K.conv2d(x, k, padding="same"), K.mean(strided, axis=(1, 2))])


def of_sizes() -> Any:
    x, y = K.placeholder((None, 5, 3)), K.placeholder((None, 2), dtype="int32")
    joined = K.concatenate([x[:, 0, :2], K.cast(y, "float32")], axis=1)
    count = K.cast(K.shape(x)[0], "float32")
    outputs = [K.reshape(x, (-1, 15)), x[1:], x[:-1], x[:, ::-1], K.flatten(x), K.shape(x)]
    more = [K.tile(x, [2, 1, 1]), K.repeat(x[:, 0], 4), count, K.random_normal(K.shape(x))]
    return K.function([x, y], [joined, *outputs, *more, K.arange(0, 4)])


def of_phases() -> Any:
    x, count = K.placeholder((None, 3)), K.variable(0, dtype="int64", name="count")
    y = K.in_train_phase(K.dropout(x, 0.5), x * 2.0)
    return K.function([x, K.learning_phase()], [y], updates=[(count, count + 1)])


def of_64_bits() -> Any:
    x, w = K.placeholder((None,), dtype="float64"), K.variable([0.5], dtype="float64")
    return K.function([x], [K.argmax(x), K.sum(x * w)], updates=[(w, w + K.mean(x))])


PROGRAMS: list[Callable[[], Any]] = [
    dense, convolutional, recurrent, of_any_plane, of_sizes, of_phases, of_64_bits,
]  # fmt: skip
OFTEN_WHOLE = (convolutional, of_sizes, of_phases)


@pytest.mark.parametrize(
    "make",
    [p if p in OFTEN_WHOLE else pytest.param(p, marks=pytest.mark.nightly) for p in PROGRAMS],
)
def test_reloaded_without_kameleon(make: Callable[[], Any], tmp_path: Path) -> None:
    """Two sizes, against NumPy."""
    program, path = Stateless(make(), "export"), str(tmp_path / "program.stablehlo")
    stablehlo.write(program, path)
    verification.check(program, "StableHLO", stablehlo.RELOAD, path, None)


def test_training_goes_on(tmp_path: Path) -> None:
    """What comes out as parameters goes in again: weights, and keys of random streams."""
    function = dense()
    exported, parameters = written(function, tmp_path)
    assert set(exported.platforms) == {"cpu", "cuda", "tpu"}
    assert sorted(parameters) == ["random_key", "w", "w_1"] or "random_key" in parameters
    for count in (4, 7, 4):
        given = [normal(count, 3), np.eye(2, dtype="float32")[np.arange(count) % 2]]
        outputs, parameters = exported.call(parameters, given)
        np.testing.assert_allclose(outputs[0], function(given)[0], 1e-5)


def test_an_export_is_part_of_a_program(tmp_path: Path) -> None:
    x = K.placeholder((None, 3))
    exported, _ = written(K.function([x], [K.tanh(x)]), tmp_path)
    found = jax.jit(lambda x: exported.call({}, [x])[0][0] * 2)(normal(2, 3))
    np.testing.assert_allclose(found, np.tanh(normal(2, 3)) * 2, 1e-5)


# Sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_of_planes_of_any_size(padding: str, stride: int, tmp_path: Path) -> None:
    x, k = K.placeholder((None, None, None, 2)), K.variable(normal(3, 3, 2, 4), name="k")
    y = K.conv2d(x, k, strides=(stride, stride), padding=padding)
    y = K.pool2d(y, (2, 2), (2, 2), padding="same")
    function = K.function([x], K.gradients(K.sum(K.square(y)), [x, k]))
    exported, parameters = written(function, tmp_path)
    for shape in ((2, 9, 6, 2), (3, 8, 11, 2)):
        found = exported.call(parameters, [normal(*shape)])[0]
        for got, want in zip(found, function([normal(*shape)]), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_loops_over_an_open_size_take_a_step(tmp_path: Path) -> None:
    """A fold begins with the first row, and goes on with the others: there are some."""
    x = K.placeholder((None, 3))
    function = K.function([x], [K.foldl(lambda a, row: a * 0.5 + row, x), K.cumsum(x[1:])])
    exported, parameters = written(function, tmp_path)
    for count in (2, 5):
        found = exported.call(parameters, [normal(count, 3)])[0]
        np.testing.assert_allclose(found[0], function([normal(count, 3)])[0], 1e-5)


def test_sizes_that_must_be_equal_have_one_name(tmp_path: Path) -> None:
    a, b, c = (K.placeholder((None, 3)) for _ in range(3))
    exported, _ = written(K.function([a, b, c], [K.concatenate([a, b], axis=0), a * c]), tmp_path)
    sizes = [x.shape[0] for x in exported.in_avals]
    assert sizes[0] == sizes[2] and sizes[0] != sizes[1]
    exported, _ = written(K.function([a, b], [K.concatenate([a, b], axis=1)]), tmp_path)
    assert len({x.shape[0] for x in exported.in_avals}) == 1


def test_shapes_that_are_given(tmp_path: Path) -> None:
    x = K.placeholder((None, None))
    function = K.function([x], [K.reshape(x, (4, -1))])
    with pytest.raises(UnsupportedError, match=r"hold reshape(?s:.*)test_stablehlo(?s:.*)shapes="):
        written(function, tmp_path)
    exported, _ = written(function, tmp_path, shapes=[(8, None)])
    assert exported.call({}, [np.ones((8, 3), "float32")])[0][0].shape == (4, 6)
    function.export(tmp_path / "verified.stablehlo", shapes=[(8, None)])
    for shapes in ([(8,)], [], [(8, None), None], [8], 8):
        with pytest.raises(ArgumentError, match="shapes must fit the inputs"):
            written(function, tmp_path, shapes=shapes)


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("platforms", ["cpu", [], ["gpu"], ["cpu", "abacus"]])
def test_no_such_platform(platforms: Any, tmp_path: Path) -> None:
    x = K.placeholder((None,))
    with pytest.raises(ArgumentError, match="platforms must be some of"):
        written(K.function([x], [x]), tmp_path, platforms=platforms)


def test_functions_of_python_are_refused(tmp_path: Path) -> None:
    x = K.placeholder((None,))
    y = kameleon.call(np.tanh, x, like=x)
    with pytest.raises(UnsupportedError, match=r"a file has no Python(?s:.*)test_stablehlo"):
        written(K.function([x], [y]), tmp_path)
    z = kameleon.call(jax.numpy.tanh, x)
    exported, _ = written(K.function([x], [z]), tmp_path)
    np.testing.assert_allclose(exported.call({}, [normal(3)])[0][0], np.tanh(normal(3)), 1e-5)


def test_sizes_that_follow_from_values_are_refused(tmp_path: Path) -> None:
    x, n = K.placeholder((None,)), K.placeholder((), dtype="int32")
    with pytest.raises(UnsupportedError, match="decides shapes"):
        written(K.function([x, n], [K.reshape(x, (n, -1))]), tmp_path)
    p, length = K.placeholder((2, 7, 5)), K.placeholder((2,), dtype="int32")
    decoded = K.ctc_decode(p, length)[0][0]
    with pytest.raises(UnsupportedError, match="ctc_greedy"):
        written(K.function([p, length], [decoded]), tmp_path)
