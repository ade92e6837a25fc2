"""What compilers recognise and put something else for: activations, norms, products with a bias.

Each idiom is there as it's usually written, and in variants that mean something else: another
number, another axis, the operands the other way round. Values and gradients are compared with the
embedded engine's, which puts nothing together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.runtime.engines import using

Idiom = Callable[[Any], Any]

RNG = np.random.default_rng(0)
SHAPE = (2, 3, 4, 5)
GIVEN = (2.0 * RNG.normal(size=SHAPE)).astype("float32")


def constant(*shape: int, positive: bool = False) -> Any:
    values = RNG.normal(size=shape)
    return K.constant(np.abs(values) + 0.1 if positive else values)


WEIGHTS, BACK, BIAS, KERNEL = constant(5, 6), constant(6, 5), constant(6), constant(2, 2, 5, 6)


def norm(x: Any, axis: Any, epsilon: float, scale: Any, power: Callable[[Any], Any]) -> Any:
    centred = x - K.mean(x, axis=axis, keepdims=True)
    variance = K.mean(power(centred), axis=axis, keepdims=True)
    return centred / K.sqrt(K.abs(variance) + epsilon) * scale - 1.0


def gelu(x: Any, half: float, cubic: float, width: float) -> Any:
    return half * x * (1.0 + K.tanh(width * (x + cubic * x * x * x)))


def batch_norm(x: Any, epsilon: float) -> Any:
    mean, variance = constant(6), constant(6, positive=True)
    return (x - mean) / K.sqrt(variance + epsilon) * constant(6) + BIAS


def activations() -> Iterator[tuple[str, Idiom]]:
    for a in (2.0, 0.5, 0.0, 1.0, -1.0, -3.0):
        yield f"max(x, {a} x)", lambda x, a=a: K.maximum(x, a * x)
        yield f"min(x, {a} x)", lambda x, a=a: K.minimum(x, a * x)
        yield f"relu(x) - {a} relu(-x)", lambda x, a=a: K.relu(x) - a * K.relu(-x)
        yield f"x or {a} x", lambda x, a=a: K.switch(x > 0.0, x, a * x)
        yield f"elu {a}", lambda x, a=a: K.elu(x, a)
        yield f"x sigmoid({a} x)", lambda x, a=a: x * K.sigmoid(a * x)
        yield f"power {a}", lambda x, a=a: K.pow(K.abs(x) + 0.1, a)
    for c, d in product((0.0, 3.0, -6.0, 1.0), (1 / 6, 1.0, 0.5)):
        yield f"hard swish {c} {d:.2g}", lambda x, c=c, d=d: x * K.clip(x + c, 0.0, 6.0) * d
        yield f"hard sigmoid {c} {d:.2g}", lambda x, c=c, d=d: K.clip(d * x + c, 0.0, 1.0)
    for low, high in ((0.0, 6.0), (-1.0, 1.0), (6.0, 0.0), (0.0, 0.0), (-3.0, -1.0)):
        yield f"max, min {low} {high}", lambda x, a=low, b=high: K.minimum(K.maximum(x, a), b)
        yield f"min, max {low} {high}", lambda x, a=low, b=high: K.maximum(K.minimum(x, b), a)
    for half, cubic, width in product((0.5, 1.0, -0.5), (0.044715, 0.0), ((2 / np.pi) ** 0.5, 1.0)):
        name = f"gelu {half} {cubic} {width:.2g}"
        yield name, lambda x, h=half, c=cubic, w=width: gelu(x, h, c, w)
    yield "mish", lambda x: x * K.tanh(K.softplus(x))
    yield "x + 1 times tanh", lambda x: (x + 1.0) * K.tanh(K.softplus(x))


def norms() -> Iterator[tuple[str, Idiom]]:
    scales = {
        "2": 2.0,
        "rows": constant(5),
        "planes": constant(4, 5),
        "channels": constant(3, 1, 1),
    }
    powers = {"square": K.square, "power 2": lambda x: K.pow(x, 2.0), "power 4": lambda x: x**4.0}
    for axis, (kind, power), name in product((-1, 1, (2, 3), 0), powers.items(), scales):
        for epsilon in (1e-5, 1.0):
            scale = scales[name]
            yield (
                f"norm {axis} {kind} {name} {epsilon}",
                lambda x, a=axis, e=epsilon, s=scale, p=power: norm(x, a, e, s, p),
            )
    for axis in (-1, 1, 0):
        total = lambda x, axis=axis: K.sum(x, axis=axis, keepdims=True)  # noqa: E731
        yield f"softmax {axis}", lambda x, t=total: K.exp(x) / t(K.exp(x))
        yield f"log of softmax {axis}", lambda x, axis=axis: K.log(K.softmax(x, axis=axis))
        yield f"log of sum {axis}", lambda x, t=total: K.log(t(K.exp(x)))
        yield f"unit length {axis}", lambda x, t=total: x / K.sqrt(t(K.square(x)) + 1e-12)
    yield "exp over another sum", lambda x: K.exp(x) / K.sum(K.exp(x), axis=1, keepdims=True)


def products() -> Iterator[tuple[str, Idiom]]:
    dense = lambda x: K.dot(x, WEIGHTS)  # noqa: E731
    conv = lambda x: K.conv2d(x, KERNEL)  # noqa: E731
    behind: dict[str, Idiom] = {
        "plus bias": lambda y: y + BIAS,
        "bias less": lambda y: BIAS - y,
        "times bias": lambda y: y * BIAS,
        "plus a column": lambda y: y + K.constant(np.arange(2.0).reshape(2, 1, 1, 1)),
        "times 2 plus bias": lambda y: 2.0 * y + 0.5 * BIAS,
        "relu": lambda y: K.relu(y + BIAS),
        "relu 6": lambda y: K.relu(y + BIAS, max_value=6.0),
        "relu, steep": lambda y: K.relu(y + BIAS, alpha=2.0),
        "relu, leaky": lambda y: K.relu(y + BIAS, alpha=0.1),
        "relu, from 0.5": lambda y: K.relu(y + BIAS, threshold=0.5),
        "elu 2": lambda y: K.elu(y + BIAS, 2.0),
        "swish": lambda y: y * K.sigmoid(y),
        "swish 2": lambda y: y * K.sigmoid(2.0 * y),
        "mish": lambda y: y * K.tanh(K.softplus(y)),
        "gelu": lambda y: gelu(y + BIAS, 0.5, 0.044715, (2 / np.pi) ** 0.5),
        "plus itself": lambda y: K.relu(y + BIAS + 3.0 * y),
        "norm 0.001": lambda y: K.relu(batch_norm(y, 1e-3)),
        "norm 2": lambda y: batch_norm(y, 2.0),
    }
    for (name, function), (what, before) in product(
        behind.items(), {"product": dense, "convolution": conv}.items()
    ):
        yield f"{what}, {name}", lambda x, f=function, b=before: f(b(x))
    yield "two products", lambda x: K.dot(dense(x), BACK)
    yield "scaled before", lambda x: conv(2.0 * x)
    yield "padded before", lambda x: conv(K.spatial_2d_padding(x, ((1, 0), (0, 1))))
    yield "pool of relu", lambda x: K.pool2d(K.relu(x), (2, 2))
    yield "pool of less", lambda x: K.pool2d(-x, (2, 2))


def shared_reciprocals(a: Any, b: Any) -> Any:
    """Of which one has another reader than their product."""
    return a * b * 3.0 - a * (a * b)


def moves() -> Iterator[tuple[str, Idiom]]:
    there, back = (0, 2, 3, 1), (0, 3, 1, 2)
    turned = lambda x, f: K.permute_dimensions(f(K.permute_dimensions(x, there)), back)  # noqa: E731
    yield "there and back", lambda x: turned(x, lambda y: y)
    yield "softmax between", lambda x: turned(x, K.softmax)
    yield "sum between", lambda x: turned(x, lambda y: K.sum(y, axis=1, keepdims=True))
    yield "cut and joined", lambda x: K.concatenate([x[:, :, :2], x[:, :, 2:]], axis=2)
    yield "joined crosswise", lambda x: K.concatenate([x[:, :, 2:], x[:, :, :2]], axis=2)
    yield "stacked backwards", lambda x: K.stack([x[:, 2 - i] for i in range(3)], axis=1)
    yield "reversed and summed", lambda x: K.cumsum(K.reverse(x, 1), 1)
    yield "largest of less", lambda x: -K.max(-x, axis=1)
    yield "largest of -2 x", lambda x: K.max(x * -2.0, axis=1)
    yield "sums of sums", lambda x: K.sum(K.sum(x, axis=1), axis=2)
    yield "repeated and summed", lambda x: K.sum(K.repeat_elements(x, 3, 1), axis=1)
    yield "x / x", lambda x: (x + 9.0) / (x + 9.0)
    yield "factor out", lambda x: x * K.exp(x) + x * K.tanh(x)
    yield "root of square", lambda x: K.sqrt(K.square(x))
    yield "log of 2 + x", lambda x: K.log(2.0 + K.abs(x))
    yield "exp - 2", lambda x: K.exp(x) - 2.0
    yield "2 over a root", lambda x: 2.0 / K.sqrt(K.abs(x) + 1.0)
    yield "two reciprocals", lambda x: shared_reciprocals(K.sigmoid(x), 1.0 / K.sqrt(x * x + 1.0))
    yield "a gate and a root", lambda x: shared_reciprocals(1.0 / (x * x + 2.0), K.sigmoid(x))
    yield "the same twice", lambda x: shared_reciprocals(K.sigmoid(x), K.sigmoid(x))
    yield "a row's", lambda x: shared_reciprocals(K.sigmoid(x), 1.0 / K.sum(K.exp(x), -1, True))
    yield "wider", lambda x: 1.0 / K.exp(x[:, :1]) * K.ones_like(x) + x / (1.0 + K.abs(x[:, :, :1]))
    yield "to float16", lambda x: K.cast(K.cast(x, "float16"), "float32")


SUBJECTS = {each.__name__: dict(each()) for each in (activations, norms, products, moves)}


@pytest.mark.dealt(2)
@pytest.mark.parametrize("rows", [2, None], ids=["known", "unknown"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_idioms_mean_what_they_say(engine: Engine, subject: str, rows: int | None) -> None:
    wrong = []
    x = K.placeholder((rows, *SHAPE[1:]))
    for name, idiom in SUBJECTS[subject].items():
        y = idiom(x)
        f = K.function([x], [y, *K.gradients(K.sum(K.sin(y)), [x])])
        with using("numpy"):
            expected = f([GIVEN])
        pairs = zip(f([GIVEN]), expected, strict=True)
        wrong += [(name, i) for i, pair in enumerate(pairs) if not _are_near(*pair)]
    assert not wrong


def _are_near(got: Any, want: Any) -> bool:
    scale = max(1.0, float(np.abs(want[np.isfinite(want)]).max(initial=0.0)))
    near = np.isclose(got, want, rtol=1e-3, atol=2e-5 * scale, equal_nan=True)
    return got.shape == want.shape and bool(near.all())


# Roots and quotients that have no digits to round: reciprocal kernels mustn't lose the last one.
# (They are for many numbers at once.)
SQUARES = np.tile([1.0, 4.0, 16.0, 64.0, 0.25, 1024.0], 16)
QUOTIENTS: dict[str, tuple[Idiom, Any]] = {
    "1 / root": (lambda y: 1.0 / K.sqrt(y), 1 / np.sqrt(SQUARES)),
    "3 / root": (lambda y: 3.0 / K.sqrt(y), 3 / np.sqrt(SQUARES)),
    "y / root": (lambda y: y / K.sqrt(y), np.sqrt(SQUARES)),
    "y / root of all": (lambda y: y / K.sqrt(K.max(y)), SQUARES / 32.0),
    "1 / y": (lambda y: 1.0 / y, 1 / SQUARES),
    "power": (lambda y: K.pow(y, -0.5), 1 / np.sqrt(SQUARES)),
    "unit vectors": (
        lambda y: K.l2_normalize(K.one_hot(K.cast(y, "int32") % 2, 2) * K.ones_like(y[:1]), 1),
        np.eye(2)[SQUARES.astype(int) % 2],
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_by_roots_are_exact(engine: Engine, name: str, dtype: str) -> None:
    idiom, want = QUOTIENTS[name]
    y = K.placeholder((None,), dtype=dtype)
    [got] = K.function([y], [idiom(y)])([SQUARES.astype(dtype)])
    np.testing.assert_array_equal(got, want)
