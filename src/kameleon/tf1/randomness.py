"""Random numbers of TensorFlow 1: gamma and Poisson distributions, classes by their logits.

They come from K's generator: the same seed gives the same numbers on every engine, but others than
TensorFlow's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor, size_or_node
from ..prims import elementwise as ew
from ..prims.filling import full_like
from ..prims.sizes import dims_of
from .arrays import sizes_in
from .calling import called
from .elementwise import chosen

# Of so many candidates for a number of a gamma distribution, each taken with a chance above 0.95,
# one is taken but for once in 1e20 draws.
CANDIDATES = 16


def random_gamma(shape: Any, alpha: Any, beta: Any, dtype: Any, seed: Any, what: str) -> Any:
    """Numbers of gamma distributions: of `shape`, then the shape of the parameters.

    Args:
        alpha: the shape parameter; it's constant to gradients.
        beta: the rate; 1 by default.

    Source: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
    """
    a = K.stop_gradient(K.cast(as_float(alpha, what), dtype))
    b = full_like(a, 1) if beta is None else K.cast(as_tensor(beta, what), dtype)
    a = a + 0.0 * K.stop_gradient(b)
    dims = [*sizes_in(shape, what), *dims_of(a)]
    small = K.less(a, 1.0)
    d = chosen(small, a + 1.0, a) - 1 / 3
    seeds = [None] * 3 if seed is None else [3 * seed, 3 * seed + 1, 3 * seed + 2]
    x = K.random_normal([*dims, CANDIDATES], dtype=dtype, seed=seeds[0])
    u = 1.0 - K.random_uniform([*dims, CANDIDATES], dtype=dtype, seed=seeds[1])
    wide = K.expand_dims(d, -1)
    root = 1.0 + x / K.sqrt(9.0 * wide)
    v = root * root * root
    safe = K.maximum(v, np.finfo(np.dtype(str(v.dtype))).tiny)
    taken = K.less(ew.log(u), 0.5 * x * x + wide * (1.0 - v + ew.log(safe)))
    taken = K.cast(ew.logical_and(taken, K.greater(v, 0.0)), dtype)
    first = taken * K.cast(K.equal(K.cumsum(taken, axis=-1), 1.0), dtype)
    drawn = d * K.sum(v * first, axis=-1)
    boost = K.pow(1.0 - K.random_uniform(dims, dtype=dtype, seed=seeds[2]), 1.0 / a + 0.0 * drawn)
    drawn = chosen(small, drawn * boost, drawn)
    return K.stop_gradient(drawn) / b


# Above this mean a Poisson distribution is taken for a normal one.
LARGE = 500.0


def random_poisson(lam: Any, shape: Any, dtype: Any, seed: Any, what: str) -> Any:
    """Numbers of Poisson distributions with means `lam`: of `shape`, then the shape of `lam`.

    By the inverse of the distribution function; for means above 500 by the normal distribution
    with the same mean and variance, rounded.
    """
    mean = K.stop_gradient(K.cast(as_float(lam, what), "float64"))
    dims = [*sizes_in(shape, what), *dims_of(mean)]
    seeds = [None] * 2 if seed is None else [2 * seed, 2 * seed + 1]
    u = K.random_uniform(dims, dtype="float64", seed=seeds[0])
    z = K.random_normal(dims, dtype="float64", seed=seeds[1])
    mean = mean + 0.0 * u
    few = K.minimum(mean, LARGE)
    chance = ew.exp(-few)

    def goes_on(k: Any, count: Any, chance: Any, total: Any) -> Any:
        return ew.logical_and(K.any(K.less_equal(total, u)), K.less(k, 2.0 * LARGE))

    def step(k: Any, count: Any, chance: Any, total: Any) -> list[Any]:
        count = count + K.cast(K.less_equal(total, u), "float64")
        chance = chance * few / (k + 1.0)
        return [k + 1.0, count, chance, total + chance]

    start = [K.constant(0.0, "float64"), full_like(u, 0), chance, chance]
    count = K.while_loop(goes_on, step, start)[1]
    many = K.maximum(ew.round(mean + K.sqrt(mean) * z), 0.0)
    return K.cast(chosen(K.greater(mean, LARGE), many, count), dtype)


def _classes(logits: Any, num_samples: Any, dtype: Any, seed: Any, what: str) -> Any:
    """Classes drawn by the logarithms of their odds: (batch, samples).

    Source: Gumbel, "Statistical theory of extreme values" (1954), on largest of noisy numbers.
    """
    x = K.stop_gradient(as_float(logits, what))
    batch, classes = dims_of(x)
    count = size_or_node(num_samples, what)
    u = K.random_uniform([batch, count, classes], dtype=x.dtype, seed=seed)
    tiny = float(np.finfo(np.dtype(str(x.dtype))).tiny)
    noise = -ew.log(-ew.log(K.maximum(u, tiny)) + tiny)
    return K.cast(K.argmax(K.expand_dims(x, 1) + noise, axis=-1), dtype or "int64")


def multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any, what: str) -> Any:
    return _classes(logits, num_samples, output_dtype, seed, what)


def categorical(logits: Any, num_samples: Any, dtype: Any, seed: Any, what: str) -> Any:
    return _classes(logits, num_samples, dtype, seed, what)


PLAIN = called({
    "random_gamma": random_gamma, "random_poisson": random_poisson,
    "multinomial": multinomial, "random.categorical": categorical,
})  # fmt: skip
