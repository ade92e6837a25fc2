"""The table of numeric functions of the K surface: calls, operands, and what must come out.

Oracles are NumPy's and SciPy's own functions. Operands are float64 unless they are integers by
nature, and lie away from kinks where gradients are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from kameleon import backend as K

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes:
        id: what a test's name shows.
        call: tensors of the operands -> the result.
        operands: arrays.
        oracle: the same arrays -> the expected array.
        wrt: the operands by which the result is differentiated.
    """

    id: str
    call: Callable[..., Any]
    operands: tuple[Array, ...]
    oracle: Callable[..., Any]
    wrt: tuple[int, ...] = ()


def numbers(*shape: int, seed: int = 0) -> Array:
    """Normal numbers."""
    return np.random.default_rng((seed, *shape)).normal(size=shape)


def parts(*shape: int, seed: int = 0) -> Array:
    """Numbers between 0.1 and 0.9."""
    return np.random.default_rng((seed, *shape)).uniform(0.1, 0.9, shape)


X, Y, P = numbers(3, 4), numbers(3, 4, seed=1), parts(3, 4)
CUBE = numbers(2, 3, 4)
AXES: tuple[Any, ...] = (None, 0, -1, [0, 1], (1,))


# Reductions --------------------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "prod": np.prod,
    "var": np.var,
    "std": np.std,
    "mean": np.mean,
    "logsumexp": special.logsumexp,
}


def reductions() -> Iterator[Case]:
    for name, oracle in REDUCTIONS.items():
        for axis in AXES:
            for keepdims in (False, True):
                kwargs = {"axis": axis, "keepdims": keepdims}
                axes = {**kwargs, "axis": tuple(axis) if isinstance(axis, list) else axis}
                yield Case(
                    f"{name}-{axis}-{keepdims}",
                    lambda x, name=name, kwargs=kwargs: getattr(K, name)(x, **kwargs),
                    (CUBE,),
                    lambda x, oracle=oracle, axes=axes: oracle(x, **axes),
                    (0,),
                )


def runs_and_places() -> Iterator[Case]:
    for axis in (0, 1, -1):
        for name, oracle in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
            yield Case(
                f"{name}-{axis}",
                lambda x, name=name, axis=axis: getattr(K, name)(x, axis),
                (CUBE,),
                lambda x, oracle=oracle, axis=axis: oracle(x, axis=axis),
                (0,),
            )
        for name, oracle in (("argmax", np.argmax), ("argmin", np.argmin)):
            yield Case(
                f"{name}-{axis}",
                lambda x, name=name, axis=axis: getattr(K, name)(x, axis),
                (CUBE,),
                lambda x, oracle=oracle, axis=axis: oracle(x, axis=axis),
            )
    zeros = np.array([[2.0, 0.0, 3.0, 0.5], [0.0, 0.0, 1.0, 4.0], [1.0, 2.0, 3.0, 0.0]])
    yield Case("prod-of-zeros", lambda x: K.prod(x, 1), (zeros,), lambda x: x.prod(1), (0,))
    yield Case(
        "cumprod-of-zeros", lambda x: K.cumprod(x, 1), (zeros,), lambda x: x.cumprod(1), (0,)
    )


def logic() -> Iterator[Case]:
    marks = np.array([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0], [1.0, np.nan, 3.0]])
    for name, oracle in (("any", np.any), ("all", np.all)):
        for axis in (None, 0, -1):
            yield Case(
                f"{name}-{axis}",
                lambda x, name=name, axis=axis: getattr(K, name)(x, axis, keepdims=True),
                (marks,),
                lambda x, oracle=oracle, axis=axis: oracle(x, axis=axis, keepdims=True),
            )


def whole_numbers() -> Iterator[Case]:
    counts = np.array([[-3, 2, 2], [7, -9, 1]], "int32")
    cut = lambda x: np.trunc(x.mean(1)).astype("int32")  # noqa: E731
    yield Case("mean-of-integers", lambda x: K.mean(x, 1), (counts,), cut)
    yield Case(
        "var-of-integers",
        lambda x: K.var(x, 1),
        (counts,),
        lambda x: cut((x - cut(x)[:, None]) ** 2),
    )
    for name, oracle in (("sum", np.sum), ("prod", np.prod), ("max", np.max)):
        yield Case(
            f"{name}-of-integers",
            lambda x, name=name: getattr(K, name)(x, 0),
            (counts,),
            lambda x, oracle=oracle: oracle(x, 0).astype("int32"),
        )


# Elementwise -------------------------------------------------------------------------------

UNARY: dict[str, Callable[[Array], Any]] = {
    "square": np.square,
    "abs": np.abs,
    "exp": np.exp,
    "round": np.round,
    "sign": np.sign,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(x, 0),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "relu": lambda x: x.clip(0),
}
FLAT = ("round", "sign")
BINARY = {"maximum": np.maximum, "minimum": np.minimum}
COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")


def elementwise() -> Iterator[Case]:
    for name, oracle in UNARY.items():
        wrt = () if name in FLAT else (0,)
        yield Case(name, getattr(K, name), (X * 2,), oracle, wrt)
    yield Case("log", K.log, (P,), np.log, (0,))
    yield Case("sqrt", K.sqrt, (X,), lambda x: np.sqrt(x.clip(0)), (0,))
    yield Case("pow", K.pow, (P, Y), np.power, (0, 1))
    yield Case("pow-number", lambda x: K.pow(x, 3), (X,), lambda x: x**3, (0,))
    yield Case("pow-broadcast", K.pow, (P[:, :1], Y[0]), np.power, (0, 1))
    for name, oracle in BINARY.items():
        for label, other in (("alike", Y), ("row", Y[0]), ("column", Y[:, :1])):
            yield Case(f"{name}-{label}", getattr(K, name), (X, other), oracle, (0, 1))
    for name in COMPARISONS:
        ties = np.where(X > 0, X, Y)
        yield Case(name, getattr(K, name), (X, ties), getattr(np, name))
    for low, high in ((-0.5, 0.5), (None, 0.3), (-0.3, None), (2, 1)):
        top = low if None not in (low, high) and high < low else high
        yield Case(
            f"clip-{low}-{high}",
            lambda x, low=low, high=high: K.clip(x, low, high),
            (X,),
            lambda x, low=low, top=top: np.clip(x, low, top),
            (0,),
        )


def ramp(x: Array, alpha: float, ceiling: float | None, threshold: float) -> Array:
    """The documented relu; with a ceiling, nothing above a threshold is negative."""
    inside = x if ceiling is None else np.clip(x, 0, ceiling)
    return np.where(x > threshold, inside, alpha * (x - threshold))


def activations() -> Iterator[Case]:
    for alpha in (0.0, 0.2, -0.3, 1.5):
        for ceiling in (None, 1.0):
            for threshold in (0.0, 0.5, -0.5):
                setting = (alpha, ceiling, threshold)
                yield Case(
                    f"relu-{alpha}-{ceiling}-{threshold}",
                    lambda x, setting=setting: K.relu(x, *setting),
                    (X,),
                    lambda x, setting=setting: ramp(x, *setting),
                    (0,),
                )
    elu = lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))  # noqa: E731
    yield Case("elu-alpha", lambda x: K.elu(x, 0.7), (X,), elu, (0,))
    for axis in (0, 1, -1):
        yield Case(
            f"softmax-{axis}",
            lambda x, axis=axis: K.softmax(x, axis),
            (CUBE,),
            lambda x, axis=axis: special.softmax(x, axis=axis),
            (0,),
        )
    yield Case("softmax-vector", K.softmax, (X[0],), special.softmax, (0,))


# Normalization -----------------------------------------------------------------------------


def normalized(x: Array, gamma: Array, beta: Array, axes: tuple[int, ...]) -> Array:
    kept = [1 if i in axes else d for i, d in enumerate(x.shape)]
    off = x - x.mean(axes, keepdims=True)
    scaled = off / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    return scaled * gamma.reshape(kept) + beta.reshape(kept)


def normalization() -> Iterator[Case]:
    for axes in ((0,), (0, 1), (0, 2), (1,)):
        kept = [d for i, d in enumerate(CUBE.shape) if i not in axes]
        yield Case(
            f"normalize_batch_in_training-{axes}",
            lambda x, g, b, axes=axes: K.normalize_batch_in_training(x, g, b, axes)[0],
            (CUBE, numbers(*kept, seed=2), numbers(*kept, seed=3)),
            lambda x, g, b, axes=axes: normalized(x, g, b, axes),
            (0, 1, 2),
        )
    for axis in (1, -1):
        size = CUBE.shape[axis]
        shape = [size, 1] if axis == 1 else [size]
        yield Case(
            f"batch_normalization-{axis}",
            lambda x, m, v, b, g, axis=axis: K.batch_normalization(x, m, v, b, g, axis=axis),
            (CUBE, numbers(size), parts(size), numbers(size, seed=4), numbers(size, seed=5)),
            lambda x, m, v, b, g, s=shape: (x - m.reshape(s)) / np.sqrt(v.reshape(s) + 1e-3)
            * g.reshape(s)
            + b.reshape(s),
            (0, 1, 2, 3, 4),
        )  # fmt: skip
    for axis in (None, 0, -1):
        yield Case(
            f"l2_normalize-{axis}",
            lambda x, axis=axis: K.l2_normalize(x, axis),
            (X,),
            lambda x, axis=axis: x / np.sqrt((x * x).sum(axis, keepdims=True)),
            (0,),
        )


# Crossentropies ----------------------------------------------------------------------------


def from_logits(t: Array, x: Array, axis: int) -> Any:
    return -(t * special.log_softmax(x, axis=axis)).sum(axis)


def from_probabilities(t: Array, p: Array, axis: int) -> Any:
    return -(t * np.log(p / p.sum(axis, keepdims=True))).sum(axis)


def one_hot(labels: Array, classes: int, axis: int) -> Array:
    return np.moveaxis(np.eye(classes)[labels], -1, axis)


def crossentropies() -> Iterator[Case]:
    targets, probabilities = parts(2, 3, 4, seed=6), parts(2, 3, 4, seed=7)
    for axis in (0, 1, 2, -1):
        # From logits the slope is that of targets which sum to 1, as TensorFlow's is.
        whole = targets / targets.sum(axis, keepdims=True)
        ways = {
            "logits": (
                lambda t, x, a=axis: K.categorical_crossentropy(t, x, True, a),
                CUBE,
                from_logits,
            ),
            "softmax": (
                lambda t, x, a=axis: K.categorical_crossentropy(t, K.softmax(x, a), axis=a),
                CUBE,
                from_logits,
            ),
            "probabilities": (
                lambda t, p, a=axis: K.categorical_crossentropy(t, p, axis=a),
                probabilities,
                from_probabilities,
            ),
        }
        for way, (call, x, oracle) in ways.items():
            is_any = way == "probabilities"
            yield Case(
                f"categorical_crossentropy-{way}-{axis}",
                call,
                (targets if is_any else whole, x),
                lambda t, x, oracle=oracle, a=axis: oracle(t, x, a),
                (0, 1) if is_any else (1,),
            )
    for axis in (0, 1, 2, -1, -2):
        classes = CUBE.shape[axis]
        rest = [d for i, d in enumerate(CUBE.shape) if i != axis % 3]
        labels = np.random.default_rng(8).integers(0, classes, rest).astype("int32")
        sparse = {
            "logits": (
                lambda t, x, a=axis: K.sparse_categorical_crossentropy(t, x, True, a),
                CUBE,
                from_logits,
            ),
            "softmax": (
                lambda t, x, a=axis: K.sparse_categorical_crossentropy(t, K.softmax(x, a), axis=a),
                CUBE,
                from_logits,
            ),
            "probabilities": (
                lambda t, p, a=axis: K.sparse_categorical_crossentropy(t, p, axis=a),
                probabilities,
                from_probabilities,
            ),
        }
        for way, (call, x, oracle) in sparse.items():
            yield Case(
                f"sparse_categorical_crossentropy-{way}-{axis}",
                call,
                (labels, x),
                lambda t, x, oracle=oracle, a=axis, n=classes: oracle(one_hot(t, n, a), x, a),
                (1,),
            )
    yield Case(
        "binary_crossentropy-logits",
        lambda t, x: K.binary_crossentropy(t, x, from_logits=True),
        (P, X),
        lambda t, x: np.logaddexp(x, 0) - t * x,
        (0, 1),
    )
    yield Case(
        "binary_crossentropy-sigmoid",
        lambda t, x: K.binary_crossentropy(t, K.sigmoid(x)),
        (P, X),
        lambda t, x: np.logaddexp(x, 0) - t * x,
        (0, 1),
    )
    yield Case(
        "binary_crossentropy-probabilities",
        K.binary_crossentropy,
        (P, parts(3, 4, seed=9)),
        lambda t, p: -(t * np.log(p + 1e-7) + (1 - t) * np.log(1 - p + 1e-7)),
        (0, 1),
    )


CASES: list[Case] = [
    *reductions(),
    *runs_and_places(),
    *logic(),
    *whole_numbers(),
    *elementwise(),
    *activations(),
    *normalization(),
    *crossentropies(),
]
