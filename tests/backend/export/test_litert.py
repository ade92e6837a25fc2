"""LiteRT files: networks of all kinds by LiteRT's own interpreter, and what's refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

if "tensorflow" not in engines_under_test():
    pytest.skip("needs the package tensorflow", allow_module_level=True)

import tensorflow as tf

from kameleon import backend as K
from kameleon.backend.export import litert
from kameleon.backend.interop.pure import Stateless
from kameleon.errors import UnsupportedError

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*tf.lite.Interpreter is deprecated"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return (0.4 * np.random.default_rng(seed).normal(size=shape)).astype("float32")


def weight(*shape: int) -> Any:
    return K.variable(normal(*shape, seed=sum(shape)))


def reloaded(function: Any, folder: Path, **options: Any) -> Any:
    """A file of a function, as the verification of exports calls it."""
    path = str(folder / "model.tflite")
    litert.write(Stateless(function, "export"), path, **options)
    space: dict[str, Any] = {}
    exec(litert.RELOAD, space)
    return space["load"](path)


def dense() -> tuple[Any, Any]:
    x = K.placeholder((None, 5), name="x")
    p = K.softmax(K.dot(K.relu(K.dot(x, weight(5, 8))), weight(8, 3)))
    return [x], [p, K.argmax(p), K.max(x, axis=0)]


def images() -> tuple[Any, Any]:
    x = K.placeholder((None, 12, 12, 3))
    h = K.relu(K.bias_add(K.conv2d(x, weight(3, 3, 3, 8), padding="same"), weight(8)))
    h = K.pool2d(h, (3, 3), (2, 2), padding="same")
    h = K.pool2d(h, (2, 2), (2, 2), padding="same", pool_mode="avg")
    h = K.separable_conv2d(h, weight(3, 3, 8, 1), weight(1, 1, 8, 6), padding="same")
    h = K.conv2d_transpose(h, weight(2, 2, 5, 6), (K.shape(h)[0], 6, 6, 5), strides=(2, 2))
    wide = (K.shape(h)[0], 12, 12, 4)
    h = K.conv2d_transpose(h, weight(3, 3, 4, 5), wide, strides=(2, 2), padding="same")
    return [x], [h, K.batch_flatten(h)]


def lstm(**options: Any) -> tuple[Any, Any]:
    """Over sequences of any length."""
    units = 4
    x = K.placeholder((None, None, 5))
    kernel, recurrent = weight(5, 4 * units), weight(units, 4 * units)

    def step(x: Any, states: Any) -> Any:
        h, c = states
        z = K.dot(x, kernel) + K.dot(h, recurrent)
        i, f, g, o = (z[:, n * units : (n + 1) * units] for n in range(4))
        c = K.sigmoid(f) * c + K.sigmoid(i) * K.tanh(g)
        h = K.sigmoid(o) * K.tanh(c)
        return h, [h, c]

    zeros = K.zeros_like(K.dot(x[:, 0], kernel[:, :units]))
    mask = K.any(K.greater(x, 0.0), axis=-1) if options.pop("masked", False) else None
    last, outputs, _ = K.rnn(step, x, [zeros, zeros], mask=mask, **options)
    return [x], [last, outputs]


def embedding() -> tuple[Any, Any]:
    index = K.placeholder((None, 6), dtype="int32", name="index")
    return [index], [K.mean(K.gather(weight(10, 4), K.abs(index) % 10), axis=1)]


NETWORKS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "dense": dense,
    "images": images,
    "lstm": lstm,
    "lstm-masked-backwards": lambda: lstm(masked=True, go_backwards=True),
    "embedding": embedding,
}


@pytest.mark.parametrize("network", NETWORKS)
def test_networks_for_any_batch(network: str, tmp_path: Path) -> None:
    inputs, outputs = NETWORKS[network]()
    function = K.function(inputs, outputs)
    call = reloaded(function, tmp_path)
    for size in (2, 5):
        given = [normal(*(size if d is None else d for d in x.shape), seed=size) for x in inputs]
        given = [np.asarray(3 * v, str(x.dtype)) for v, x in zip(given, inputs, strict=True)]
        for got, want in zip(call(given), function(given), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_new_values_of_variables_are_outputs(tmp_path: Path) -> None:
    x, w = K.placeholder((None, 2)), K.variable([[1.0], [2.0]])
    loss = K.mean(K.square(K.dot(x, w)))
    function = K.function([x], [loss], [(w, w - 0.1 * K.gradients(loss, [w])[0])])
    found = reloaded(function, tmp_path)([normal(3, 2)])
    want = function([normal(3, 2)])
    np.testing.assert_allclose(found[0], want[0], rtol=1e-5)
    np.testing.assert_allclose(found[1], K.get_value(w), rtol=1e-5)


def test_the_learning_phase_is_an_input(tmp_path: Path) -> None:
    x = K.placeholder((None, 2))
    call = reloaded(K.function([x, K.learning_phase()], [K.in_train_phase(2 * x, x)]), tmp_path)
    for phase in (0, 1):
        (found,) = call([normal(3, 2), np.array(phase, "int32")])
        np.testing.assert_allclose(found, (1 + phase) * normal(3, 2))


def test_a_signature_has_names(tmp_path: Path) -> None:
    b, a = K.placeholder((None, 2), name="b"), K.placeholder((None, 2), name="a")
    reloaded(K.function([b, a], {"sum": a + b, "difference": b - a}), tmp_path)
    runner = tf.lite.Interpreter(str(tmp_path / "model.tflite")).get_signature_runner()
    names = [x.name[:-2].replace("/", "_") for x in (b, a)]
    found = runner(**dict(zip(names, (normal(3, 2), normal(3, 2, seed=1)), strict=True)))
    np.testing.assert_allclose(found["difference"], normal(3, 2) - normal(3, 2, seed=1))


def test_nan_stays_and_small_numbers_keep_their_digits(tmp_path: Path) -> None:
    """LiteRT's own kernels give numbers for NaN, and 1.19e-7 for log(1 + 1e-7)."""
    x, y = K.placeholder((None, 3)), K.placeholder((None, 3))
    pairs = [K.maximum(x, y), K.minimum(x, y), K.max(x, axis=1), K.min(x, axis=0)]
    function = K.function([x, y], [K.exp(x), K.elu(x), K.softplus(x), K.sign(x), *pairs])
    given = np.array([[1, np.nan, -2], [0.5, 1e-7, -1e-7], [-9, 9, -18]], "float32")
    found = reloaded(function, tmp_path)([given, given[::-1].copy()])
    for got, want in zip(found, function([given, given[::-1].copy()]), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-6)


def doubles() -> Any:
    x = K.placeholder((None, 2), dtype="float64")
    return K.function([x], [K.tanh(x)])


def dropout() -> Any:
    x = K.placeholder((None, 2))
    return K.function([x], [K.dropout(x, 0.5)])


@pytest.mark.parametrize(
    ("make", "words"), [(doubles, "tanh"), (dropout, "shift_left")], ids=["float64", "random"]
)
def test_what_it_lacks_is_refused(make: Callable[[], Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=rf"can't hold {words}.*\n.*test_litert") as caught:
        reloaded(make(), tmp_path)
    assert "select_tf_ops=True" in str(caught.value)
    assert not list(tmp_path.iterdir())
