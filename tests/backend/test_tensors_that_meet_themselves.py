"""x and its own maximum are of one rounding: x - max(x) is 0 at the maximum, however large x is.

Compilers compute x anew where it's used, and contract a product with the difference that it goes
into; then softmax, logsumexp and crossentropies of large products aren't numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kameleon import backend as K

pytestmark = pytest.mark.usefixtures("engine")  # on each engine that is installed

ROWS, COLUMNS = 12, 40
A, B = (np.random.default_rng(seed).uniform(-1, 1, (ROWS, COLUMNS)) for seed in (0, 1))
# So large that a difference of half a unit in the last place has no exponential.
SIZE = {"float32": 3e5, "float64": 1e10}

# Logits of shape (ROWS, COLUMNS), made of two matrices of that shape.
LOGITS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda a, b: a * b,
    "square": lambda a, b: K.square(a),
    "negated": lambda a, b: -K.square(b),
    "scaled": lambda a, b: K.dot(a, K.transpose(b[:COLUMNS]))[:, :1] * b * 0.3,
    "inner-1": lambda a, b: K.dot(a[:, :1], b[:1]),
    "inner-2": lambda a, b: K.dot(a[:, :2], b[:2]),
    "inner-3": lambda a, b: K.dot(a[:, :3], b[:3]),
    "vectors": lambda a, b: K.batch_dot(a[:, :1], b[:, :1], 1) * a,
    "batch_dot": lambda a, b: K.reshape(
        K.batch_dot(K.reshape(a[:, :4], (-1, 4, 1)), K.reshape(b[:, :10], (-1, 1, 10))),
        (ROWS, COLUMNS),
    ),
    "dense": lambda a, b: K.bias_add(K.dot(a[:, :1], b[:1]), b[0]),
    "convolution": lambda a, b: K.reshape(
        K.conv1d(K.reshape(a, (1, -1, 1)), K.ones((1, 1, 1)) * 1.7), (ROWS, COLUMNS)
    ) * 1e5,
    "depthwise": lambda a, b: K.reshape(
        K.depthwise_conv2d(K.reshape(a, (1, ROWS, COLUMNS, 1)), K.ones((1, 1, 1, 1)) * 1.7),
        (ROWS, COLUMNS),
    ) * 1e5,
    "transposed": lambda a, b: K.transpose(K.reshape(a * b, (COLUMNS, ROWS))),
    "chosen": lambda a, b: K.switch(K.greater(a, 0.0), a * b, b * b),
    "joined": lambda a, b: K.concatenate([a[:, :20] * b[:, 20:], b[:, :20] * a[:, :20]], -1),
    "converted": lambda a, b: K.cast(K.cast(a * b, "float64"), K.dtype(a)),
    "power": lambda a, b: K.pow(K.abs(a), 2.3) * b,
    "exponential": lambda a, b: K.exp(K.tanh(a)) * 1e10 * b,
    "tanh": lambda a, b: K.tanh(a / K.max(a)) * 1e10,
    "normalized": lambda a, b: K.l2_normalize(a, -1) * 1e11,
    "sum": lambda a, b: K.sum(K.stack([a, b], -1) * K.stack([b, a], -1), -1),
}  # fmt: skip

# What must be 0 then, apart from rounding where it isn't large.
MEETINGS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: K.sum(K.softmax(x), -1) - 1,
    "softmax-0": lambda x: K.sum(K.softmax(x, 0), 0) - 1,
    "logsumexp": lambda x: over(K.logsumexp(x, -1) - K.max(x, -1)),
    "crossentropy": lambda x: over(
        K.categorical_crossentropy(K.one_hot(K.argmax(x), COLUMNS), x, from_logits=True)
    ),
    "crossentropy-of-softmax": lambda x: over(
        K.categorical_crossentropy(K.one_hot(K.argmax(x), COLUMNS), K.softmax(x))
    ),
    "sparse": lambda x: over(K.sparse_categorical_crossentropy(K.argmax(x), x, from_logits=True)),
    "slope": lambda x: K.sum(K.gradients(K.sum(K.logsumexp(x, -1)), [x])[0], -1) - 1,
    "slope-of-maximum": lambda x: K.sum(K.gradients(K.sum(K.max(x, -1)), [x])[0], -1) - 1,
    "difference": lambda x: K.max(x - K.max(x, -1, keepdims=True), -1),
    "difference-of-minimum": lambda x: K.max(K.min(x, -1, keepdims=True) - x, -1),
    "difference-of-row": lambda x: K.max(K.abs(x - K.gather(x, list(range(ROWS)))), -1),
    "equal": lambda x: 1 - K.sum(K.cast(K.equal(x, K.max(x, -1, keepdims=True)), K.dtype(x)), -1),
    "in_top_k": lambda x: 1 - K.cast(K.in_top_k(x, K.argmax(x), 1), K.dtype(x)),
}


def over(x: Any) -> Any:
    """By how much x is below 0, or above the logarithm of the number of columns."""
    return x - K.clip(x, 0.0, np.log(COLUMNS) + 1e-4)


@pytest.mark.parametrize(
    ("meeting", "dtype"),
    [*((name, "float32") for name in MEETINGS), ("softmax", "float64"), ("slope", "float64")],
)
def test_logits_and_their_maximum(meeting: str, dtype: str) -> None:
    a, b = inputs = [K.placeholder((ROWS, COLUMNS), dtype=dtype) for _ in range(2)]
    outputs = [MEETINGS[meeting](f(a, b)) for f in LOGITS.values()]
    given = [(x * SIZE[dtype]).astype(dtype) for x in (A, B)]
    for name, found in zip(LOGITS, K.function(inputs, outputs)(given), strict=True):
        assert (np.abs(found) <= 1e-5).all(), f"{name}: {found}"
