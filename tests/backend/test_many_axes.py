"""Tensors of many axes: libraries have kernels for five, six or eight, and no engine says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from kameleon import backend as K
from kameleon.engines import Engine
from kameleon.graph.primitives import indexing, movement, reduce
from kameleon.testing.together import one_by_one


def odd(rank: int) -> tuple[int, ...]:
    return tuple(range(1, rank, 2))


def even(rank: int) -> tuple[int, ...]:
    return tuple(range(0, rank, 2))


def thin(x: Any, axes: Sequence[int]) -> Any:
    """x with size 1 along some axes."""
    return K.max(x, list(axes), keepdims=True)


def alternating(x: Any) -> list[Any]:
    return [thin(x, even(K.ndim(x))), thin(x, odd(K.ndim(x)))]


def slope(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: K.gradients(K.sum(K.square(f(x))), [x])[0]


def cut(x: Any) -> Any:
    """Every second element along the even axes, the last one along the others."""
    windows = [slice(None, None, 2), slice(1, None)]
    return x[tuple(windows[i % 2] for i in range(K.ndim(x)))]


# Of x, whose sizes are all 2, but for one of 3.
CALLS: dict[str, Callable[[Any], Any]] = {
    "softmax": K.softmax,
    "softmax-0": lambda x: K.softmax(x, 0),
    "softmax-slope": slope(lambda x: K.softmax(x, 1)),
    "logsumexp": lambda x: K.logsumexp(x, list(odd(K.ndim(x)))),
    "crossentropy": lambda x: K.categorical_crossentropy(K.softmax(-x), x, from_logits=True),
    "sparse": lambda x: K.sparse_categorical_crossentropy(K.argmax(-x), x, from_logits=True),
    "sparse-slope": slope(
        lambda x: K.sparse_categorical_crossentropy(K.argmax(-x), x, from_logits=True)
    ),
    "transpose": K.transpose,
    "permutation": lambda x: K.permute_dimensions(x, [*odd(K.ndim(x)), *even(K.ndim(x))[::-1]]),
    "sum": lambda x: K.sum(x, list(even(K.ndim(x)))),
    "prod": lambda x: K.prod(x, list(odd(K.ndim(x)))),
    "max": lambda x: K.max(x, list(even(K.ndim(x)))),
    "max-slope": slope(lambda x: K.max(x, list(even(K.ndim(x))))),
    "var": lambda x: K.var(x, list(odd(K.ndim(x))), keepdims=True),
    "any": lambda x: K.any(K.greater(x, 1.0), list(odd(K.ndim(x)))),
    "argmax": lambda x: K.argmax(x, 1),
    "argsort": lambda x: indexing.argsort(x, axis=1),
    "cumsum": lambda x: K.cumsum(x, 1),
    "cumprod-slope": slope(lambda x: K.cumprod(x, 1)),
    "linear_scan": lambda x: reduce.linear_scan(x, x * 2, axis=1),
    "broadcast": lambda x: alternating(x)[0] * alternating(x)[1] - x,
    "broadcast-slope": slope(lambda x: alternating(x)[0] * alternating(x)[1] - x),
    "comparison": lambda x: K.less(alternating(x)[0], alternating(x)[1] * 2),
    "maximum": lambda x: K.maximum(*alternating(x)),
    "power": lambda x: K.pow(*alternating(x)),
    "stretched": lambda x: movement.broadcast_to(alternating(x)[0], K.int_shape(x)),
    "switch": lambda x: K.switch(K.greater(alternating(x)[0], 1.0), x, -alternating(x)[1]),
    "bias": lambda x: x + K.constant([1.0, 2.0, 3.0]),
    "slice": cut,
    "slice-slope": slope(cut),
    "steps-back": lambda x: x[..., ::-1, ::-1],
    "index": lambda x: x[1, ..., None, 0],
    "reverse": lambda x: K.reverse(x, list(even(K.ndim(x)))),
    "pad": lambda x: movement.pad(x, [(i % 2, i % 3 // 2) for i in range(K.ndim(x))], 7.0),
    "pad-slope": slope(lambda x: movement.pad(x, [(i % 2, 0) for i in range(K.ndim(x))], 7.0)),
    "tile": lambda x: K.tile(x, [1 + (i % 3 == 0) for i in range(K.ndim(x))]),
    "repeat_elements": lambda x: K.repeat_elements(x, 2, 1),
    "concatenate": lambda x: K.concatenate([x, cut_along(x), x], 1),
    "stack": lambda x: K.stack([x, -x], 2),
    "gather": lambda x: K.gather(x, K.constant([[1, 0], [0, 0]], "int32")),
    "gather-1": lambda x: indexing.gather(x, K.constant([[1, 0]], "int32"), axis=1),
    "gather-slope": slope(lambda x: indexing.gather(x, K.constant([1, 0, 1], "int32"), axis=1)),
    "take_along": lambda x: indexing.take_along(x, indexing.argsort(x, axis=1), 1),
    "take_along-slope": slope(lambda x: indexing.take_along(x, indexing.argsort(x, axis=1), 1)),
    "nonzero": lambda x: indexing.nonzero(K.greater(x, 1.0)),
    "one_hot": lambda x: K.one_hot(K.cast(x * 0, "int32"), 2),
    "dot": lambda x: K.dot(x, K.constant(np.arange(6).reshape(3, 2))),
    "dot-2": lambda x: K.dot(K.ones((2, 2)), K.permute_dimensions(x, turned(x))),
    "batch_dot": lambda x: K.batch_dot(x, K.permute_dimensions(x, turned(x)), (1, K.ndim(x) - 1)),
    "bools": lambda x: alternating_bools(x),
    "integers": lambda x: K.cast(x * 3, "int32") // K.cast(alternating(x)[0] + 1, "int32"),
    "cast": lambda x: K.cast(K.cast(x, "float16"), "float64"),
}


def cut_along(x: Any) -> Any:
    return x[:, :1]


def turned(x: Any) -> list[int]:
    """The first axis stays, the others are in reversed order."""
    return [0, *range(K.ndim(x) - 1, 0, -1)]


def alternating_bools(x: Any) -> Any:
    first, second = (K.greater(y, 1.0) for y in alternating(x))
    return first & second | ~first


class Posed(NamedTuple):
    """A call."""

    id: str


def check(engine: Engine, calls: Sequence[Posed], rank: int, known: bool) -> None:
    shape = (*(2,) * (rank - 1), 3)
    given = np.random.default_rng(rank).uniform(0.5, 2, shape).astype("float32")
    x = K.placeholder(shape if known else (None, 2, None, *shape[3:]))
    names = [call.id for call in calls]
    outputs = [CALLS[name](x) for name in names]
    found, expected = (
        K.function([x], outputs, engine=name)([given]) for name in (engine.name, "numpy")
    )
    for y, wanted in zip(found, expected, strict=True):
        assert y.dtype == wanted.dtype
        np.testing.assert_allclose(y, wanted, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("rank", "known"),
    [
        (6, False),
        (9, True),
        *(
            pytest.param(rank, known, marks=pytest.mark.nightly)
            for rank in (5, 7, 8, 10)
            for known in (True, False)
        ),
    ],
)
def test_every_rank(engine: Engine, rank: int, known: bool) -> None:
    calls = [
        Posed(name) for name in CALLS if known or name not in ("stretched", "batch_dot", "nonzero")
    ]
    one_by_one(check, engine, calls, rank, known)
