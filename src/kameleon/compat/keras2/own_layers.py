"""Keras tensors, as the documentation calls the outputs of `Input` and of layers.

Here are only as many kinds of layers as making such tensors needs, written over the K surface.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import backend as K
from ..._utils.tracebacks import boundary
from ...errors import ArgumentError, ShapeError
from ...graph.ir.node import Node

__all__ = ["Dense", "Input", "Lambda", "Layer"]

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "elu": K.elu,
    "hard_sigmoid": K.hard_sigmoid,
    "linear": lambda x: x,
    "relu": K.relu,
    "sigmoid": K.sigmoid,
    "softmax": K.softmax,
    "softplus": K.softplus,
    "softsign": K.softsign,
    "tanh": K.tanh,
}


@boundary
def Input(  # noqa: N802 (the documented name)
    shape: Sequence[int | None] | None = None,
    batch_shape: Sequence[int | None] | None = None,
    name: str | None = None,
    dtype: Any = None,
    sparse: bool = False,
    tensor: Any = None,
) -> Any:
    """A Keras tensor to begin with.

    Args:
        shape: sizes without the batch axis.
        batch_shape: sizes with the batch axis; one of the two is needed.
        name: the tensor's name.
        dtype: element type; `K.floatx()`, if None.
        sparse: whether the tensor's values are sparse matrices.
        tensor: an existing tensor to wrap, instead of a new placeholder.

    Raises:
        ArgumentError: neither shape nor batch_shape nor tensor is given.

    >>> from kameleon import backend as K
    >>> K.int_shape(Input([10]))
    (None, 10)
    """
    if tensor is None:
        if shape is None and batch_shape is None:
            raise ArgumentError("Input: give `shape` (without the batch axis) or `batch_shape`")
        dims = tuple(batch_shape) if batch_shape is not None else (None, *(shape or ()))
        label = name or f"input_{K.get_uid('input')}"
        tensor = K.placeholder(shape=dims, dtype=dtype, sparse=sparse, name=label)
    tensor._keras_history = (None, 0, 0)
    return tensor


class Layer:
    """A function of tensors with weights of its own, made at the first call.

    Subclasses define `build(input_shape)`, which calls `add_weight`, and `call(inputs)`.

    >>> from kameleon import backend as K
    >>> class Double(Layer):
    ...     def call(self, inputs):
    ...         return 2. * inputs
    >>> K.is_keras_tensor(Double()(Input([3])))
    True
    """

    @boundary
    def __init__(self, name: str | None = None):
        snake = re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()
        self.name = name or f"{snake}_{K.get_uid(snake)}"
        self.built = False
        self.weights: list[Any] = []
        self.trainable_weights: list[Any] = []

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this static shape."""

    def call(self, inputs: Any) -> Any:
        """The outputs for these inputs."""
        raise NotImplementedError(f"{type(self).__name__} must define call(inputs)")

    @boundary
    def add_weight(
        self,
        name: str,
        shape: Sequence[int],
        initializer: Callable[[tuple[int, ...]], Any] | None = None,
        trainable: bool = True,
    ) -> Any:
        """A new variable of the layer.

        Args:
            name: the variable's name, which follows the layer's.
            shape: the variable's shape.
            initializer: gives the initial value of that shape; Glorot uniform, if None
                (Glorot and Bengio, AISTATS 2010).
            trainable: whether the variable is among `trainable_weights`.
        """
        value = (initializer or glorot_uniform)(tuple(shape))
        weight = K.variable(value, name=name)
        self.weights.append(weight)
        if trainable:
            self.trainable_weights.append(weight)
        return weight

    def get_weights(self) -> list[np.ndarray]:
        """The weights' values."""
        return K.batch_get_value(self.weights)

    @boundary
    def set_weights(self, values: Sequence[Any]) -> None:
        """Give the weights new values."""
        if len(values) != len(self.weights):
            raise ArgumentError(
                f"{self.name} has {len(self.weights)} weights, {len(values)} values were given"
            )
        K.batch_set_value(list(zip(self.weights, values, strict=True)))

    @boundary
    def __call__(self, inputs: Any) -> Any:
        with K.name_scope(self.name):
            if not self.built:
                several = isinstance(inputs, (list, tuple))
                self.build([K.int_shape(x) for x in inputs] if several else K.int_shape(inputs))
                self.built = True
            outputs = self.call(inputs)
        for i, x in enumerate(outputs if isinstance(outputs, (list, tuple)) else [outputs]):
            x._keras_history = (self, 0, i)
        return outputs


def glorot_uniform(shape: tuple[int, ...]) -> Any:
    """Random values in ±sqrt(6 / (fan in + fan out))."""
    limit = float(np.sqrt(6.0 / max(1, sum(shape[-2:]))))
    return K.eval(K.random_uniform(shape, -limit, limit))


def _activation(given: Any) -> Callable[..., Any]:
    if given is None:
        return ACTIVATIONS["linear"]
    if callable(given):
        return given  # type: ignore[no-any-return]
    if given not in ACTIVATIONS:
        raise ArgumentError(f"activation {given!r} is unknown; known: {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[given]


class Dense(Layer):
    """activation(x · kernel + bias), over the last axis.

    Args:
        units: size of the last axis of the output.
        activation: a name or a function; the identity, if None.
        use_bias: whether there's a bias.

    >>> from kameleon import backend as K
    >>> K.int_shape(Dense(10)(Input([3])))
    (None, 10)
    """

    @boundary
    def __init__(
        self, units: int, activation: Any = None, use_bias: bool = True, name: str | None = None
    ):
        super().__init__(name)
        self.units, self.use_bias = int(units), use_bias
        self.activation = _activation(activation)

    def build(self, input_shape: Any) -> None:
        """Make kernel and bias."""
        if input_shape[-1] is None:
            raise ShapeError(
                f"{self.name}: the last axis of the input must be known: {input_shape}"
            )
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units))
        self.bias = self.add_weight("bias", (self.units,), np.zeros) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        """The outputs for these inputs."""
        x = K.dot(inputs, self.kernel)
        return self.activation(x if self.bias is None else K.bias_add(x, self.bias))


class Lambda(Layer):
    """A function of tensors as a layer.

    Args:
        function: gets the inputs (and `arguments` as keywords) and gives the outputs.

    >>> from kameleon import backend as K
    >>> K.int_shape(Lambda(lambda x: K.sum(x, axis=1))(Input([3])))
    (None,)
    """

    @boundary
    def __init__(
        self,
        function: Callable[..., Any],
        arguments: dict[str, Any] | None = None,
        name: str | None = None,
    ):
        super().__init__(name)
        self.function, self.arguments = function, dict(arguments or {})

    def call(self, inputs: Any) -> Any:
        """The outputs for these inputs."""
        outputs = self.function(inputs, **self.arguments)
        if outputs is inputs and isinstance(outputs, Node):
            outputs = K.identity(outputs)
        return outputs
