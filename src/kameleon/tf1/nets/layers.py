"""`tf.layers`: dense layers, dropout, flattening, batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backend import surface as K
from ...errors import ArgumentError, ShapeError
from ...ir.node import Node
from ..initializers import Ones, Zeros
from ..shapes import TensorShape
from .base import Layer, activated, as_function

Initial = Callable[..., Any] | None


class Dense(Layer):
    """activation(x W + b)"""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Initial = None,
        bias_initializer: Initial = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel: Any = None
        self.bias: Any = None

    def compute_output_shape(self, input_shape: Any) -> Any:
        return TensorShape(input_shape)[:-1].concatenate(self.units)

    def build(self, input_shape: Any) -> None:
        channels = input_shape[-1].value
        if channels is None:
            raise ShapeError("tf.layers.dense: the last size of the input must be known")
        self.kernel = self.add_weight(
            "kernel", [channels, self.units], initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint,
        )  # fmt: skip
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.units], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, constraint=self.bias_constraint,
            )  # fmt: skip

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        y = K.dot(K.cast(inputs, self.kernel.dtype), self.kernel)
        return activated(self.activation, y + self.bias if self.use_bias else y)


dense = as_function(Dense, "dense")


class Dropout(Layer):
    """In training a part `rate` of the elements is 0, and the others are larger."""

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False, **kwargs: Any) -> Any:
        dropped = lambda: K.dropout(inputs, self.rate, self.noise_shape, self.seed)  # noqa: E731
        return chosen(training, dropped, lambda: K.identity(inputs))


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    return Dropout(rate, noise_shape, seed, name, _scope=name)(inputs, training=training)


def chosen(training: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """One of two tensors, by a flag that's known, or a tensor."""
    if isinstance(training, Node):
        return K.switch(K.cast(training, "bool"), then, otherwise)
    return then() if training else otherwise()


class Flatten(Layer):
    """All axes but the first one become one."""

    def __init__(self, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = data_format or "channels_last"

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        rank = len(inputs.shape)
        if self.data_format == "channels_first" and rank > 2:
            inputs = K.permute_dimensions(inputs, (0, *range(2, rank), 1))
        return K.batch_flatten(inputs) if rank > 1 else K.expand_dims(inputs, -1)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    return Flatten(data_format, name=name)(inputs)


class BatchNormalization(Layer):
    """In training by the batch's mean and variance, else by moving averages of them.

    The updates of these averages are added to the collection `UPDATE_OPS`.

    Source: Ioffe and Szegedy, "Batch normalization" (2015).
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Initial = Zeros(),
        gamma_initializer: Initial = Ones(),
        moving_mean_initializer: Initial = Zeros(),
        moving_variance_initializer: Initial = Ones(),
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(trainable, name, **kwargs)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise ArgumentError(
                "batch_normalization: renorm, virtual_batch_size and adjustment aren't there"
            )
        self.axis = axis[0] if isinstance(axis, (list, tuple)) else axis
        self.momentum, self.epsilon, self.fused = momentum, epsilon, fused
        self.center, self.scale = center, scale
        self.initial = {
            "gamma": gamma_initializer, "beta": beta_initializer,
            "moving_mean": moving_mean_initializer,
            "moving_variance": moving_variance_initializer,
        }  # fmt: skip
        self.regularizers = {"gamma": gamma_regularizer, "beta": beta_regularizer}
        self.constraints = {"gamma": gamma_constraint, "beta": beta_constraint}
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    def build(self, input_shape: Any) -> None:
        self.axis = self.axis % len(input_shape)
        size = input_shape[self.axis].value
        if size is None:
            raise ShapeError("batch_normalization: the size of the axis must be known")
        for name, wanted, trained in (
            ("gamma", self.scale, True), ("beta", self.center, True),
            ("moving_mean", True, False), ("moving_variance", True, False),
        ):  # fmt: skip
            if wanted:
                variable = self.add_weight(
                    name, [size], initializer=self.initial[name], trainable=trained,
                    regularizer=self.regularizers.get(name), constraint=self.constraints.get(name),
                )  # fmt: skip
                setattr(self, name, variable)

    def call(self, inputs: Any, training: Any = False, **kwargs: Any) -> Any:
        rank = len(inputs.shape)
        others = [i for i in range(rank) if i != self.axis]
        mean, variance = K.mean(inputs, axis=others), K.var(inputs, axis=others)
        known = isinstance(training, Node)
        if known or training:
            self._move(inputs, others, mean, variance, training if known else None)
        mean = chosen(training, lambda: mean, lambda: K.identity(self.moving_mean))
        variance = chosen(training, lambda: variance, lambda: K.identity(self.moving_variance))
        factor = 1.0 / K.sqrt(variance + self.epsilon)
        factor = factor * self.gamma if self.scale else factor
        shift = self.beta - mean * factor if self.center else -mean * factor
        if self.axis == rank - 1:
            return inputs * factor + shift
        lying = [-1 if i == self.axis else 1 for i in range(rank)]
        return inputs * K.reshape(factor, lying) + K.reshape(shift, lying)

    def _move(self, inputs: Any, axes: list[int], mean: Any, variance: Any, training: Any) -> None:
        """Add the updates of the averages, which do nothing unless `training`."""
        part: Any = 1.0 - self.momentum
        if training is not None:
            part = K.cast(K.cast(training, "bool"), mean.dtype) * part
        if self._is_fused(len(inputs.shape)):
            count = K.cast(K.prod(K.stack([K.shape(inputs)[i] for i in axes])), mean.dtype)
            variance = variance * (count / K.maximum(count - 1.0, 1.0))
        for average, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
            self.add_update(K.update_sub(average, (average - new) * part))

    def _is_fused(self, rank: int) -> bool:
        """Whether TensorFlow takes its fused kernel, which averages the unbiased variance."""
        possible = rank == 4 and self.axis in (1, 3)
        return possible if self.fused is None else self.fused


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Initial = Zeros(),
    gamma_initializer: Initial = Ones(),
    moving_mean_initializer: Initial = Zeros(),
    moving_variance_initializer: Initial = Ones(),
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Any:
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
        moving_mean_initializer, moving_variance_initializer, beta_regularizer, gamma_regularizer,
        beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused,
        trainable, virtual_batch_size, adjustment, name, _scope=name, _reuse=reuse,
    )  # fmt: skip
    return layer(inputs, training=training)


LAYERS = (
    Dense, dense, Dropout, dropout, Flatten, flatten, BatchNormalization, batch_normalization,
)  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {f"layers.{x.__name__}": x for x in LAYERS}
