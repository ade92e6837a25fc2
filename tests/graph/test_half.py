"""float16: what each node computes is rounded to it, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test

from kameleon import backend as K

Array = np.ndarray[Any, Any]
X = np.random.default_rng(7).normal(size=(6, 8)).astype("float16")

# What NumPy computes exactly before it rounds: so must any engine, to the last bit.
EXACT = {
    "scaled sums": lambda x: (x * 3.1 + 0.7) / 1.3 - x,
    "kinks": lambda x: K.relu(x * 1.7 - 0.3) * 1.1 - K.abs(x / 0.7) * 0.9,
    "roots": lambda x: K.sqrt(K.abs(x * 2.3)) * 1.9 - K.square(x * 0.3),
    "whole parts": lambda x: K.round(x * 30.7) * 0.1 + x * 0.3,
    "negated": lambda x: -(x * 1.1) + K.maximum(x * 1.1, x / 0.9),
    "extremes": lambda x: K.max(x * 1.1, axis=-1, keepdims=True) - x * 1.1,
    "rows moved": lambda x: K.transpose(K.transpose(x * 1.3) * 0.7) - x * 0.9,
    "quotients": lambda x: (x / 3.0) / 7.1 - x / 0.9,
    "constants that meet": lambda x: ((x * 1.3) * 0.7 + 0.9) + 0.3 - x * 1.1 - x * 0.7,
    "by a root": lambda x: x / K.sqrt(K.abs(x) + 1.3) - K.exp(x) + 1.0,
    "sums of products": lambda x: x * K.relu(x) + K.square(x) * 0.3 + x * K.abs(x),
    "widened": lambda x: K.cast(K.cast(x * 1.1, "float32") - K.cast(x, "float32"), "float16"),
    "narrowed": lambda x: K.cast(K.cast(K.cast(x, "float32") * 1.1, "float16"), "float32") * 3.3,
    "whole numbers": lambda x: K.cast(K.cast(x * 30.7, "int32") + 1, "float16") * 0.1,
    "in a loop": lambda x: K.foldl(lambda a, b: a * 0.9 + b * 1.1, x),
    "in a branch": lambda x: K.switch(K.sum(x) < 9e3, lambda: x * 1.1 - x * 0.7, lambda: x),
    "padded": lambda x: K.temporal_padding(K.expand_dims(x * 1.1, 0), (1, 1)) * 1.3,
    "the least of padded ones": lambda x: K.argmin(
        K.temporal_padding(K.expand_dims(x * 1.1 + 3.0, 0), (1, 1)) * 1.3 - 9.0, axis=1
    ),
    "chosen": lambda x: K.switch(x > 0.0, x * 1.3, x / 1.3) * 0.7 - x,
}


ENGINES = [name for name in engines_under_test() if name != "numpy"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def on(engine: str, x: Any, y: Any, value: Array) -> Array:
    with K.using_engine(engine):
        result: Array = K.function([x], [y])([value])[0]
    return result


@pytest.mark.parametrize("name", EXACT)
def test_every_node_is_rounded(engine: str, name: str) -> None:
    x = K.placeholder((None, 8), dtype="float16")
    y = EXACT[name](x)
    got = on(engine, x, y, X)
    assert got.dtype == y.dtype
    np.testing.assert_array_equal(got, on("numpy", x, y, X))


NUMBERS = [0.1, 0.3, 0.7, 0.9, 1.1, 1.3, 2.3, 3.1, 7.1]

# Of two tensors and two numbers, what compilers like to rearrange.
STEPS: list[Callable[..., Any]] = [
    lambda x, y, c, d: x / c / d,
    lambda x, y, c, d: x * c * d,
    lambda x, y, c, d: x + c + d,
    lambda x, y, c, d: x * y - d,
    lambda x, y, c, d: x * c + y,
    lambda x, y, c, d: x * c + y * c,
    lambda x, y, c, d: K.square(x) * c + d,
    lambda x, y, c, d: x / K.sqrt(K.abs(y) + c),
    lambda x, y, c, d: K.maximum(x, y * c) - K.round(x * d),
    lambda x, y, c, d: K.switch(x * c > y, x, y * d),
    lambda x, y, c, d: K.relu(x) * c - (x // c) * d,
    lambda x, y, c, d: K.clip(x * c, -1.0, 1.0) - K.max(y, -1, keepdims=True),
    lambda x, y, c, d: K.cast(K.cast(x, "float32") * c, "float16") + y,
    lambda x, y, c, d: K.cast(x * c > y * d, "float16") * c,
]


@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=pytest.mark.nightly if s > 2 else ()) for s in range(40)]
)
def test_random_chains_are_rounded(engine: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = K.placeholder((None, 8), dtype="float16")
    made = [x, x * 0.9]
    for _ in range(int(rng.integers(3, 10))):
        pair = [made[int(i)] for i in rng.integers(len(made), size=2)]
        step = STEPS[int(rng.integers(len(STEPS)))]
        made.append(step(*pair, *map(float, rng.choice(NUMBERS, 2))))
    with np.errstate(all="ignore"):
        want, got = (K.function([x], made[2:], engine=e)([X]) for e in ("numpy", engine))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_ties_that_come_of_rounding_are_ties(engine: str) -> None:
    rows = np.linspace(1, 1.05, 64).reshape(4, 16).astype("float16")
    x = K.placeholder((None, 16), dtype="float16")
    scores = x * 0.1 + 3.0  # far fewer numbers than before
    for k in (1, 3, 8):
        y = K.in_top_k(scores, K.constant([3, 0, 15, 8], dtype="int32"), k)
        np.testing.assert_array_equal(on(engine, x, y, rows), on("numpy", x, y, rows))


# Means over what float16 can't hold between: sums and squares of large numbers, squares of small
# ones, and how many elements there are.
MEANS: dict[str, tuple[Callable[[Any], Any], Callable[[Array], Any]]] = {
    "mean": (K.mean, np.mean),
    "std": (K.std, np.std),
    "np.std": (lambda x: np.std(x, ddof=1), lambda x: np.std(x, ddof=1)),
    "l2_normalize": (K.l2_normalize, lambda x: x / np.sqrt(np.sum(np.square(x)))),
    "mean of a batch": (lambda x: K.normalize_batch_in_training(x, None, None, [0])[1], np.mean),
}
SAMPLES = {"large": [60000, 50000, 40000, -300], "small": [2e-4, -3e-4, 5e-4, 4e-4]}
SAMPLES["many"] = [0, 1] * 40000


@pytest.mark.parametrize("sample", SAMPLES)
def test_means_are_of_the_numbers_as_they_are(engine_name: str, sample: str) -> None:
    value = np.array(SAMPLES[sample], "float16")
    x = K.placeholder((None,), dtype="float16")
    got = K.function([x], [ours(x) for ours, _ in MEANS.values()], engine=engine_name)([value])
    for name, y in zip(MEANS, got, strict=True):
        expected = MEANS[name][1](value.astype("float64"))
        assert y.dtype == "float16"
        np.testing.assert_allclose(y, expected, rtol=2e-3, err_msg=name)


# What lies near 1 has few digits left for its logarithm in 16 bits.
LOSSES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "logits": lambda x, t, _: K.categorical_crossentropy(t, x, from_logits=True),
    "softmax": lambda x, t, _: K.categorical_crossentropy(t, K.softmax(x)),
    "softmax, turned": lambda x, t, _: K.categorical_crossentropy(
        K.transpose(t), K.transpose(K.softmax(x)), axis=0
    ),
    "probabilities": lambda x, t, _: K.categorical_crossentropy(t, K.abs(x) + 0.5),
    "sparse logits": lambda x, _, i: K.sparse_categorical_crossentropy(i, x, from_logits=True),
    "sparse softmax": lambda x, _, i: K.sparse_categorical_crossentropy(i, K.softmax(x)),
    "sparse probabilities": lambda x, _, i: K.sparse_categorical_crossentropy(i, chances(x)),
    "binary logits": lambda x, t, _: K.binary_crossentropy(t, x, from_logits=True),
    "sigmoid": lambda x, t, _: K.binary_crossentropy(t, K.sigmoid(x)),
    "logsumexp": lambda x, *_: K.logsumexp(x, axis=1),
}


def chances(x: Any) -> Any:
    """Numbers in (0, 1] that aren't a softmax's."""
    return K.minimum(K.abs(x) * 0.25 + 0.125, 1.0)


SAME: dict[str, Any] = {
    "plus 0": lambda x: x + 0,
    "cast and back": lambda x: K.cast(K.cast(x, "float32"), "float16"),
    "clipped nowhere": lambda x: K.clip(x, -6e4, 6e4),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.usefixtures("engine")
def test_branches_read_what_is_the_same_number(name: str) -> None:
    """Optimisers drop such operations between two casts; ONNX Runtime's forgot inner readers."""
    x = K.placeholder((6, 8), dtype="float16")
    same = SAME[name](x)
    positive = K.sum(K.cast(x, "float32")) > 0
    f = K.function([x], [K.switch(positive, lambda: K.sin(same), lambda: same * same)])
    for given, want in ((abs(X), np.sin(abs(X.astype("float32")))), (-abs(X), X * X)):
        np.testing.assert_allclose(f([given])[0], want.astype("float16"), rtol=2**-10)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_rounded_once(engine_name: str, name: str, dtype: str) -> None:
    """Values and gradients against the same in float64, of the same numbers."""
    pytest.importorskip("ml_dtypes", reason="makes NumPy's arrays of bfloat16")
    rng = np.random.default_rng(3)
    rows = rng.integers(-12, 13, (40, 5)) / 4.0
    aims, labels = rng.multinomial(8, [0.2] * 5, 40) / 8.0, rng.integers(0, 5, 40)
    found = []
    for kind in (dtype, "float64"):
        x, t = (K.placeholder((40, 5), dtype=kind) for _ in range(2))
        at = K.placeholder((40,), dtype="int32")
        loss = LOSSES[name](x, t, at)
        made = [loss, *K.gradients(K.sum(loss), [x])]
        run = K.function([x, t, at], [K.cast(y, "float64") for y in made], engine=engine_name)
        found.append(run([rows.astype(kind), aims.astype(kind), labels]))
    for got, want in zip(*found, strict=True):
        step = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[dtype]
        np.testing.assert_allclose(got, want, rtol=2 * step, atol=step / 16)
