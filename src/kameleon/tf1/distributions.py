"""`tf.distributions`: densities, draws and entropies of the usual distributions."""

from __future__ import annotations

import math
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor
from ..compat.tensorflow.arithmetic.special import erfc
from ..errors import ArgumentError

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Distribution:
    """What all distributions have; a subclass gives `_log_prob`, `_sample` and `_shape`."""

    def __init__(self, name: str, dtype: Any = "float32"):
        self.name, self.dtype = name, dtype

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """The logarithm of the density, or of the probability."""
        return self._log_prob(as_tensor(value, self.name))

    def prob(self, value: Any, name: str = "prob") -> Any:
        """The density, or the probability."""
        return K.exp(self.log_prob(value))

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Any:
        """Draws, along new first axes of these sizes."""
        more = [sample_shape] if isinstance(sample_shape, int) else list(sample_shape)
        return self._sample([int(n) for n in more], seed)

    def mean(self, name: str = "mean") -> Any:
        """The mean."""
        raise NotImplementedError

    def variance(self, name: str = "variance") -> Any:
        """The mean square of the distance from the mean."""
        raise NotImplementedError

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation."""
        return K.sqrt(self.variance())

    def mode(self, name: str = "mode") -> Any:
        """The value of most density, or probability."""
        raise NotImplementedError

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        """The probability of this value and all less."""
        raise NotImplementedError

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Any:
        """The logarithm of the probability of this value and all less."""
        return K.log(self.cdf(value))

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        """The probability of all greater values."""
        return 1.0 - self.cdf(value)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Any:
        """The logarithm of the probability of all greater values."""
        return K.log(self.survival_function(value))

    def cross_entropy(self, other: Any, name: str = "cross_entropy") -> Any:
        """The mean, over this distribution, of another one's information, in nats."""
        return self.kl_divergence(other) + self.entropy()

    def entropy(self, name: str = "entropy") -> Any:
        """The entropy, in nats."""
        raise NotImplementedError

    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> Any:
        """The Kullback-Leibler divergence from another distribution."""
        return kl_divergence(self, other)

    def _log_prob(self, x: Any) -> Any:
        raise NotImplementedError

    def _sample(self, more: list[int], seed: int | None) -> Any:
        raise NotImplementedError


def _dims(more: list[int], x: Any) -> list[Any]:
    """Sizes, and those of a tensor behind them."""
    known = [K.shape(x)[i] if n is None else n for i, n in enumerate(x.shape)]
    return [*more, *known]


class Normal(Distribution):
    """The normal distribution."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ):
        self.loc, self.scale = as_float(loc, name), as_float(scale, name)
        super().__init__(name, self.loc.dtype)

    def _log_prob(self, x: Any) -> Any:
        return -0.5 * K.square((x - self.loc) / self.scale) - HALF_LOG_TWO_PI - K.log(self.scale)

    def _sample(self, more: list[int], seed: int | None) -> Any:
        both = self.loc + K.zeros_like(self.scale)
        drawn = K.random_normal(_dims(more, both), dtype=self.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def mean(self, name: str = "mean") -> Any:
        return self.loc + K.zeros_like(self.scale)

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation."""
        return self.scale + K.zeros_like(self.loc)

    def variance(self, name: str = "variance") -> Any:
        """The variance."""
        return K.square(self.stddev())

    mode = mean

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        return self._below((as_tensor(value, self.name) - self.loc) / self.scale)

    def survival_function(self, value: Any, name: str = "survival_function") -> Any:
        return self._below((self.loc - as_tensor(value, self.name)) / self.scale)

    def _below(self, z: Any) -> Any:
        return 0.5 * erfc(-z * math.sqrt(0.5))

    def entropy(self, name: str = "entropy") -> Any:
        return 0.5 + HALF_LOG_TWO_PI + K.log(self.stddev())


class Uniform(Distribution):
    """The same density from `low` to `high`."""

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ):
        self.low, self.high = as_float(low, name), as_float(high, name)
        super().__init__(name, self.low.dtype)

    def range(self, name: str = "range") -> Any:
        """high - low"""
        return self.high - self.low

    def prob(self, value: Any, name: str = "prob") -> Any:
        x = as_tensor(value, self.name)
        density = 1.0 / self.range() + 0.0 * x
        inside = K.cast(K.greater_equal(x, self.low), "int32") * K.cast(
            K.less(x, self.high), "int32"
        )
        return K.switch(K.greater(inside, 0), density, K.zeros_like(density))

    def _log_prob(self, x: Any) -> Any:
        return K.log(self.prob(x))

    def _sample(self, more: list[int], seed: int | None) -> Any:
        width = self.range()
        return self.low + width * K.random_uniform(_dims(more, width), dtype=self.dtype, seed=seed)

    def mean(self, name: str = "mean") -> Any:
        return (self.low + self.high) / 2.0

    def variance(self, name: str = "variance") -> Any:
        return K.square(self.range()) / 12.0

    def cdf(self, value: Any, name: str = "cdf") -> Any:
        return K.clip((as_tensor(value, self.name) - self.low) / self.range(), 0.0, 1.0)

    def entropy(self, name: str = "entropy") -> Any:
        return K.log(self.range())


class Bernoulli(Distribution):
    """1 with a probability, else 0."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = "int32",
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ):
        if (logits is None) == (probs is None):
            raise ArgumentError(f"{name}: pass either logits or probs")
        if probs is None:
            self.logits = as_float(logits, name)
            self.probs = K.sigmoid(self.logits)
        else:
            self.probs = as_float(probs, name)
            self.logits = K.log(self.probs) - K.log(1.0 - self.probs)
        super().__init__(name, dtype)

    def _log_prob(self, x: Any) -> Any:
        y = K.cast(x, self.logits.dtype)
        return y * self.logits - K.softplus(self.logits)

    def _sample(self, more: list[int], seed: int | None) -> Any:
        drawn = K.random_uniform(_dims(more, self.probs), dtype=self.probs.dtype, seed=seed)
        return K.cast(K.less(drawn, self.probs), self.dtype)

    def mean(self, name: str = "mean") -> Any:
        return self.probs

    def variance(self, name: str = "variance") -> Any:
        return self.probs * (1.0 - self.probs)

    def mode(self, name: str = "mode") -> Any:
        return K.cast(K.greater(self.probs, 0.5), self.dtype)

    def entropy(self, name: str = "entropy") -> Any:
        return K.softplus(self.logits) - self.logits * self.probs


class Categorical(Distribution):
    """One of several classes."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = "int32",
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ):
        if (logits is None) == (probs is None):
            raise ArgumentError(f"{name}: pass either logits or probs")
        given = as_float(probs if logits is None else logits, name)
        self.logits = K.log(given) if logits is None else given
        self.log = self.logits - K.logsumexp(self.logits, axis=-1, keepdims=True)
        self.probs = K.exp(self.log)
        super().__init__(name, dtype)

    def _log_prob(self, x: Any) -> Any:
        classes: Any = self.logits.shape[-1]
        chosen = K.one_hot(K.cast(x, "int32"), classes)
        return K.sum(K.switch(K.greater(chosen, 0), self.log + 0 * chosen, 0 * chosen), axis=-1)

    def _sample(self, more: list[int], seed: int | None) -> Any:
        # The largest of logits with Gumbel's noise is a class with its probability.
        u = K.random_uniform(_dims(more, self.logits), dtype=self.logits.dtype, seed=seed)
        noise = -K.log(-K.log(K.maximum(u, 1e-37)))
        return K.cast(K.argmax(self.logits + noise, axis=-1), self.dtype)

    def mode(self, name: str = "mode") -> Any:
        return K.cast(K.argmax(self.logits, axis=-1), self.dtype)

    def entropy(self, name: str = "entropy") -> Any:
        return -K.sum(self.probs * self.log, axis=-1)


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Any:
    """The mean, over the first distribution, of the difference of the logarithms."""
    a, b = distribution_a, distribution_b
    for kind, rule in DIVERGENCES.items():
        if isinstance(a, kind) and isinstance(b, kind):
            return rule(a, b)
    kinds = type(a).__name__, type(b).__name__
    raise NotImplementedError(f"No KL(distribution_a || distribution_b) is known for {kinds}")


def _of_normals(a: Normal, b: Normal) -> Any:
    ratio = K.square(a.scale / b.scale)
    apart = K.square((a.loc - b.loc) / b.scale)
    return 0.5 * (apart + ratio - 1.0 - K.log(ratio))


def _of_bernoullis(a: Bernoulli, b: Bernoulli) -> Any:
    off = K.softplus(-b.logits) - K.softplus(-a.logits)
    return a.probs * off + (1.0 - a.probs) * (K.softplus(b.logits) - K.softplus(a.logits))


def _of_categoricals(a: Categorical, b: Categorical) -> Any:
    return K.sum(a.probs * (a.log - b.log), axis=-1)


DIVERGENCES: dict[type, Any] = {
    Normal: _of_normals,
    Bernoulli: _of_bernoullis,
    Categorical: _of_categoricals,
}
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    f"{place}distributions.{x.__name__}": x
    for place in ("", "contrib.")
    for x in (Distribution, Normal, Uniform, Bernoulli, Categorical, kl_divergence)
}
