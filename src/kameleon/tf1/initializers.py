"""Initializers of TensorFlow 1: objects that make a variable's first value from its shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..backend import surface as K
from ..errors import ArgumentError, ShapeError

# The standard deviation of a standard normal distribution that is cut off at two deviations.
TRUNCATED = 0.87962566103423978


def sizes_of(shape: Any) -> list[int]:
    """The sizes of a shape that is wholly known, as ints."""
    return [int(size) for size in shape]


def fans(shape: Sequence[int]) -> tuple[float, float]:
    """How many inputs and outputs a place of a kernel has: its last two axes are channels."""
    if len(shape) < 2:
        only = float(shape[0]) if shape else 1.0
        return only, only
    field = math.prod(shape[:-2])
    return float(field * shape[-2]), float(field * shape[-1])


class Initializer:
    """Called with a shape, it gives a tensor; the arguments of its maker are its attributes."""

    dtype: Any = "float32"

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """The first value of a variable of that shape.

        Args:
            shape: ints.
            dtype: an element type; the initializer's own, if None.
            partition_info: variables aren't partitioned here; it has no effect.
        """
        return self.value(sizes_of(shape), dtype or self.dtype)

    def value(self, shape: list[int], dtype: Any) -> Any:
        """What a subclass gives."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an initializer like this one."""
        return dict(vars(self))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """An initializer of these arguments."""
        return cls(**config)


class Zeros(Initializer):
    """Zeros."""

    def __init__(self, dtype: Any = "float32"):
        self.dtype = dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        return K.constant(np.zeros(shape), dtype)


class Ones(Initializer):
    """Ones."""

    def __init__(self, dtype: Any = "float32"):
        self.dtype = dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        return K.constant(np.ones(shape), dtype)


class Constant(Initializer):
    """Given values in their order; where they don't suffice, the last one goes on."""

    # The parameter hides a method of the class: the name is TensorFlow's.
    def __init__(self, value: Any = 0, dtype: Any = "float32", verify_shape: bool = False):
        self.dtype, self.given, self.verify_shape = dtype, value, verify_shape

    def value(self, shape: list[int], dtype: Any) -> Any:
        values, count = np.asarray(self.given), math.prod(shape)
        if (self.verify_shape and list(values.shape) != shape) or values.size > count:
            raise ShapeError(
                f"tf.constant_initializer: values of shape {values.shape} for a variable of shape"
                f" {tuple(shape)}"
            )
        flat = values.ravel()
        if flat.size < count:
            flat = np.concatenate([flat, np.repeat(flat[-1:], count - flat.size)])
        return K.constant(flat.reshape(shape), dtype)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.given, "dtype": self.dtype, "verify_shape": self.verify_shape}


class RandomUniform(Initializer):
    """Uniformly distributed numbers in [minval, maxval)."""

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: int | None = None, dtype: Any = "float32"
    ):
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        high = 1.0 if self.maxval is None else self.maxval
        return K.random_uniform(shape, self.minval, high, dtype, self.seed)


class RandomNormal(Initializer):
    """Normally distributed numbers."""

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None, dtype: Any = "float32"
    ):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        return K.random_normal(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normally distributed numbers within two standard deviations of the mean."""

    def value(self, shape: list[int], dtype: Any) -> Any:
        return K.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class VarianceScaling(Initializer):
    """Random numbers whose variance is `scale` over the number of inputs, outputs, or their mean.

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks" (2010); He et al., "Delving deep into rectifiers" (2015).
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = "float32",
    ):
        if scale <= 0:
            raise ArgumentError(f"variance scaling: scale must be positive, not {scale!r}")
        if mode not in _FANS:
            raise ArgumentError(f"variance scaling: mode is {mode!r}; there are {list(_FANS)}")
        if distribution.lower() not in _DRAWS:
            raise ArgumentError(
                f"variance scaling: distribution is {distribution!r}; there are {list(_DRAWS)}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution.lower()
        self.seed, self.dtype = seed, dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        variance = self.scale / max(1.0, _FANS[self.mode](*fans(shape)))
        return _DRAWS[self.distribution](shape, variance, dtype, self.seed)


def _truncated(shape: list[int], variance: float, dtype: Any, seed: int | None) -> Any:
    return K.truncated_normal(shape, 0.0, math.sqrt(variance) / TRUNCATED, dtype, seed)


def _normal(shape: list[int], variance: float, dtype: Any, seed: int | None) -> Any:
    return K.random_normal(shape, 0.0, math.sqrt(variance), dtype, seed)


def _uniform(shape: list[int], variance: float, dtype: Any, seed: int | None) -> Any:
    limit = math.sqrt(3 * variance)
    return K.random_uniform(shape, -limit, limit, dtype, seed)


_FANS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda n, m: n,
    "fan_out": lambda n, m: m,
    "fan_avg": lambda n, m: (n + m) / 2,
}
_DRAWS: dict[str, Callable[..., Any]] = {
    "normal": _truncated,
    "truncated_normal": _truncated,
    "untruncated_normal": _normal,
    "uniform": _uniform,
}


def _scaling(scale: float, mode: str, distribution: str, name: str) -> type[VarianceScaling]:
    """A class whose scale, mode and distribution are given."""

    def __init__(self: Any, seed: int | None = None, dtype: Any = "float32") -> None:
        VarianceScaling.__init__(self, scale, mode, distribution, seed, dtype)

    def get_config(self: Any) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": self.dtype}

    return type(name, (VarianceScaling,), {"__init__": __init__, "get_config": get_config})


GlorotUniform = _scaling(1.0, "fan_avg", "uniform", "GlorotUniform")
GlorotNormal = _scaling(1.0, "fan_avg", "truncated_normal", "GlorotNormal")


def he_normal(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns; axes before the last are its rows.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks" (2013).
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = "float32"):
        self.gain, self.seed, self.dtype = gain, seed, dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) < 2:
            raise ShapeError(f"tf.orthogonal_initializer: shape is {shape}; two axes at least")
        rows, columns = math.prod(shape[:-1]), shape[-1]
        size = (max(rows, columns), min(rows, columns))
        drawn = K.eval(K.random_normal(size, dtype="float64", seed=self.seed))
        q, r = np.linalg.qr(drawn)
        q = q * np.sign(np.diag(r))
        return K.constant(self.gain * (q if rows >= columns else q.T).reshape(shape), dtype)


class Identity(Initializer):
    """The unit matrix, times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = "float32"):
        self.gain, self.dtype = gain, dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        if len(shape) != 2:
            raise ShapeError(f"tf.initializers.identity: shape is {shape}; two axes are needed")
        return K.constant(self.gain * np.eye(shape[0], shape[1]), dtype)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of a layer's inputs, if `factor` suits its activation."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = "float32"):
        self.factor, self.seed, self.dtype = factor, seed, dtype

    def value(self, shape: list[int], dtype: Any) -> Any:
        limit = math.sqrt(3 / max(1, math.prod(shape[:-1]))) * self.factor
        return K.random_uniform(shape, -limit, limit, dtype, self.seed)


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = "float32"
) -> Callable[..., Any]:
    return factor_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


def factor_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = "float32",
) -> Callable[..., Any]:
    """What `tf.contrib.layers` has for `VarianceScaling`: its normal numbers have another scale."""
    if mode.lower() not in _FANS:
        raise ArgumentError(f"variance_scaling_initializer: mode is {mode!r}")
    own = dtype

    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        sizes = sizes_of(shape)
        variance = factor / _FANS[mode.lower()](*fans(sizes))
        if uniform:
            return _uniform(sizes, variance, dtype or own, seed)
        return K.truncated_normal(sizes, 0.0, math.sqrt(1.3 * variance), dtype or own, seed)

    return initializer


CLASSES: dict[str, Any] = {
    "zeros": Zeros, "ones": Ones, "constant": Constant, "random_uniform": RandomUniform,
    "random_normal": RandomNormal, "truncated_normal": TruncatedNormal,
    "variance_scaling": VarianceScaling, "orthogonal": Orthogonal, "identity": Identity,
    "uniform_unit_scaling": UniformUnitScaling, "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal,
}  # fmt: skip
FUNCTIONS: dict[str, Any] = {
    "he_normal": he_normal, "he_uniform": he_uniform,
    "lecun_normal": lecun_normal, "lecun_uniform": lecun_uniform,
}  # fmt: skip
# What isn't at the top as `tf.NAME_initializer`.
ONLY_INSIDE = {"identity"}

NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"initializers.{name}": value for name, value in (CLASSES | FUNCTIONS).items()},
    **{f"{name}_initializer": c for name, c in CLASSES.items() if name not in ONLY_INSIDE},
    **{f"python.ops.init_ops.{kind.__name__}": kind for kind in (Initializer, *CLASSES.values())},
    "contrib.layers.xavier_initializer": xavier_initializer,
    "contrib.layers.xavier_initializer_conv2d": xavier_initializer,
    "contrib.layers.variance_scaling_initializer": factor_initializer,
}
