"""`tf.contrib.layers` and `slim`: layers as functions whose arguments a scope may set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...backend._words import DataFormat, Padding, PoolMode
from ...errors import ArgumentError
from ..graph import GraphKeys, add_to_collection, get_collection_ref
from ..initializers import Ones, Zeros, xavier_initializer
from ..networks import batch_normalization, layout_of, moments
from ..scopes import get_variable, variable_scope
from . import convolution, layers
from .arguments import add_arg_scope

# Layers -------------------------------------------------------------------------------------


def finished(
    y: Any, activation_fn: Any, normalizer_fn: Any, normalizer_params: Any, collections: Any
) -> Any:  # fmt: skip
    """A layer's output: normalized, through its activation, in its collections."""
    if normalizer_fn is not None:
        y = normalizer_fn(y, **(normalizer_params or {}))
    y = y if activation_fn is None else activation_fn(y)
    for name in [collections] if isinstance(collections, str) else collections or ():
        add_to_collection(name, y)
    return y


def model_variable(
    name: str, shape: Any, initializer: Any, regularizer: Any, trainable: bool, dtype: Any
) -> Any:
    v = get_variable(name, shape, dtype, initializer, regularizer, trainable)
    if v not in get_collection_ref(GraphKeys.MODEL_VARIABLES):  # shared ones are there already
        add_to_collection(GraphKeys.MODEL_VARIABLES, v)
    return v


@add_arg_scope
def fully_connected(
    inputs: Any, num_outputs: int, activation_fn: Any = K.relu, normalizer_fn: Any = None,
    normalizer_params: Any = None, weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None, biases_initializer: Any = Zeros(),
    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
    outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
) -> Any:  # fmt: skip
    """Products with a matrix of weights, along the last axis."""
    x = as_tensor(inputs, "fully_connected")
    with variable_scope(scope, "fully_connected", [x], reuse=reuse):
        size: Any = x.type.shape[-1]
        w = model_variable("weights", [size, num_outputs], weights_initializer, weights_regularizer,
                      trainable, x.dtype)  # fmt: skip
        y = K.dot(x, w)
        if normalizer_fn is None and biases_initializer is not None:
            y = y + model_variable("biases", [num_outputs], biases_initializer, biases_regularizer,
                              trainable, x.dtype)  # fmt: skip
        return finished(y, activation_fn, normalizer_fn, normalizer_params, outputs_collections)


def linear(*args: Any, **options: Any) -> Any:
    return fully_connected(*args, **({"activation_fn": None} | options))


def _convolution(
    name: str, transposed: bool, inputs: Any, num_outputs: int, kernel_size: Any, stride: Any,
    padding: Any, data_format: Any, rate: Any, activation_fn: Any, normalizer_fn: Any,
    normalizer_params: Any, weights_initializer: Any, weights_regularizer: Any,
    biases_initializer: Any, biases_regularizer: Any, reuse: Any, outputs_collections: Any,
    trainable: bool, scope: Any,
) -> Any:  # fmt: skip
    layout = layout_of(data_format)
    x = as_tensor(inputs, name)
    with variable_scope(scope, name, [x], reuse=reuse):
        window, steps = (convolution.sizes(v, 2, name) for v in (kernel_size, stride))
        channels: Any = x.type.shape[1 if layout == "channels_first" else -1]
        ends = [num_outputs, channels] if transposed else [channels, num_outputs]
        w = model_variable("weights", [*window, *ends], weights_initializer, weights_regularizer,
                      trainable, x.dtype)  # fmt: skip
        if transposed:
            y = _transposed(x, w, num_outputs, window, steps, padding.lower(), layout)
        else:
            y = K.conv2d(x, w, steps, padding.lower(), layout, convolution.sizes(rate, 2, name))
        if normalizer_fn is None and biases_initializer is not None:
            b = model_variable("biases", [num_outputs], biases_initializer, biases_regularizer,
                          trainable, x.dtype)  # fmt: skip
            y = K.bias_add(y, b, layout)
        return finished(y, activation_fn, normalizer_fn, normalizer_params, outputs_collections)


def _transposed(
    x: Any, w: Any, filters: int, window: Sequence[int], steps: Sequence[int], padding: Padding,
    layout: DataFormat,
) -> Any:  # fmt: skip
    axes = (2, 3) if layout == "channels_first" else (1, 2)
    sizes = []
    for axis, size, step in zip(axes, window, steps, strict=True):
        n = K.int_shape(x)[axis]
        n = K.shape(x)[axis] if n is None else n
        sizes.append(n * step + (max(size - step, 0) if padding == "valid" else 0))
    batch = K.shape(x)[0]
    whole = (batch, filters, *sizes) if layout == "channels_first" else (batch, *sizes, filters)
    return K.conv2d_transpose(x, w, whole, tuple(steps), padding, layout)


@add_arg_scope
def conv2d(
    inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
    data_format: Any = None, rate: Any = 1, activation_fn: Any = K.relu, normalizer_fn: Any = None,
    normalizer_params: Any = None, weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None, biases_initializer: Any = Zeros(),
    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
    outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
) -> Any:  # fmt: skip
    """A convolution of images."""
    return _convolution(
        "Conv", False, inputs, num_outputs, kernel_size, stride, padding, data_format, rate,
        activation_fn, normalizer_fn, normalizer_params, weights_initializer,
        weights_regularizer, biases_initializer, biases_regularizer, reuse, outputs_collections,
        trainable, scope,
    )  # fmt: skip


@add_arg_scope
def conv2d_transpose(
    inputs: Any, num_outputs: int, kernel_size: Any, stride: Any = 1, padding: str = "SAME",
    data_format: Any = "NHWC", activation_fn: Any = K.relu, normalizer_fn: Any = None,
    normalizer_params: Any = None, weights_initializer: Any = xavier_initializer(),
    weights_regularizer: Any = None, biases_initializer: Any = Zeros(),
    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
    outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
) -> Any:  # fmt: skip
    """The transpose of a convolution of images."""
    return _convolution(
        "Conv2d_transpose", True, inputs, num_outputs, kernel_size, stride, padding, data_format,
        1, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
        weights_regularizer, biases_initializer, biases_regularizer, reuse, outputs_collections,
        trainable, scope,
    )  # fmt: skip


def _pool(name: str, mode: PoolMode) -> Callable[..., Any]:
    def pool(
        inputs: Any, kernel_size: Any, stride: Any = 2, padding: Any = "VALID",
        data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None,
    ) -> Any:  # fmt: skip
        layout = layout_of(data_format)
        window, steps = (convolution.sizes(v, 2, name) for v in (kernel_size, stride))
        y = K.pool2d(as_tensor(inputs, name), window, steps, padding.lower(), layout, mode)
        return finished(y, None, None, None, outputs_collections)

    pool.__name__ = name
    return add_arg_scope(pool)


max_pool2d, avg_pool2d = _pool("max_pool2d", "max"), _pool("avg_pool2d", "avg")


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    return finished(layers.flatten(inputs), None, None, None, outputs_collections)


@add_arg_scope
def dropout(
    inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
    outputs_collections: Any = None, scope: Any = None, seed: Any = None,
) -> Any:  # fmt: skip
    y = layers.dropout(inputs, 1 - keep_prob, noise_shape, seed, is_training)
    return finished(y, None, None, None, outputs_collections)


def _normalized(
    x: Any, axes: Sequence[int], shape: Sequence[int | None], parts: tuple[bool, bool],
    epsilon: float, trainable: bool, dtype: Any,
) -> Any:  # fmt: skip
    """With mean 0 and deviation 1 over some axes, then scaled and shifted where that's asked."""
    mean, variance = moments(x, axes, keepdims=True)
    center, scale = parts
    beta = model_variable("beta", shape, Zeros(), None, trainable, dtype) if center else None
    gamma = model_variable("gamma", shape, Ones(), None, trainable, dtype) if scale else None
    return batch_normalization(x, mean, variance, beta, gamma, epsilon)


@add_arg_scope
def layer_norm(
    inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None,
    reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
    trainable: bool = True, begin_norm_axis: int = 1, begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:  # fmt: skip
    """Source: Ba, Kiros and Hinton, "Layer normalization" (2016)."""
    x = as_tensor(inputs, "layer_norm")
    with variable_scope(scope, "LayerNorm", [x], reuse=reuse):
        rank = len(x.type.shape)
        axes = range(begin_norm_axis % rank, rank)
        shape = x.type.shape[begin_params_axis % rank :]
        y = _normalized(x, list(axes), shape, (center, scale), 1e-12, trainable, x.dtype)
        return finished(y, activation_fn, None, None, outputs_collections)


@add_arg_scope
def instance_norm(
    inputs: Any, center: bool = True, scale: bool = True, epsilon: float = 1e-06,
    activation_fn: Any = None, param_initializers: Any = None, reuse: Any = None,
    variables_collections: Any = None, outputs_collections: Any = None, trainable: bool = True,
    data_format: str = "NHWC", scope: Any = None,
) -> Any:  # fmt: skip
    """Source: Ulyanov, Vedaldi and Lempitsky, "Instance normalization" (2016)."""
    x = as_tensor(inputs, "instance_norm")
    if data_format.startswith("NC"):
        raise ArgumentError("instance_norm: channels must be last; transpose the images")
    with variable_scope(scope, "InstanceNorm", [x], reuse=reuse):
        axes = list(range(1, len(x.type.shape) - 1))
        shape = x.type.shape[-1:]
        y = _normalized(x, axes, shape, (center, scale), epsilon, trainable, x.dtype)
        return finished(y, activation_fn, None, None, outputs_collections)


@add_arg_scope
def batch_norm(
    inputs: Any, decay: float = 0.999, center: bool = True, scale: bool = False,
    epsilon: float = 0.001, activation_fn: Any = None, param_initializers: Any = None,
    param_regularizers: Any = None, updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True, reuse: Any = None, variables_collections: Any = None,
    outputs_collections: Any = None, trainable: bool = True, batch_weights: Any = None,
    fused: Any = None, data_format: str = "NHWC", zero_debias_moving_mean: bool = False,
    scope: Any = None, renorm: bool = False, renorm_clipping: Any = None,
    renorm_decay: float = 0.99, adjustment: Any = None,
) -> Any:  # fmt: skip
    """Source: Ioffe and Szegedy, "Batch normalization" (2015)."""
    if batch_weights is not None or renorm or adjustment is not None or zero_debias_moving_mean:
        raise ArgumentError("batch_norm: batch_weights, renorm, adjustment and zero_debias_moving_"
                            "mean aren't there")  # fmt: skip
    rank = len(as_tensor(inputs, "batch_norm").type.shape)
    with variable_scope(scope, "BatchNorm", reuse=reuse) as entered:
        layer = layers.BatchNormalization(
            axis=1 if data_format.startswith("NC") else -1, momentum=decay, epsilon=epsilon,
            center=center, scale=scale, trainable=trainable, _reuse=reuse, _scope=entered,
            fused=True if fused is None and rank == 2 else fused,  # beside four axes, two
        )  # fmt: skip
        y = layer(inputs, training=is_training)
    for v in layer.variables:
        if v not in get_collection_ref(GraphKeys.MODEL_VARIABLES):
            add_to_collection(GraphKeys.MODEL_VARIABLES, v)
    if updates_collections != GraphKeys.UPDATE_OPS:  # where the layer has put them
        for update in layer.updates:
            get_collection_ref(GraphKeys.UPDATE_OPS).remove(update)
            if updates_collections is not None:
                add_to_collection(updates_collections, update)
    if updates_collections is None and layer.updates:
        with K.control_dependencies(layer.updates):
            y = K.identity(y)
    return finished(y, activation_fn, None, None, outputs_collections)


def softmax(logits: Any, scope: Any = None) -> Any:
    return K.softmax(logits, -1)


def one_hot_encoding(
    labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
    outputs_collections: Any = None, scope: Any = None,
) -> Any:  # fmt: skip
    hot = K.one_hot(K.cast(as_tensor(labels, "one_hot_encoding"), "int32"), num_classes)
    return hot * (on_value - off_value) + off_value


def stack(inputs: Any, layer: Any, stack_args: Sequence[Any], **options: Any) -> Any:
    """A layer for each of the arguments, one behind the other."""
    scope = options.pop("scope", None)
    with variable_scope(scope, "Stack") as entered:
        name = entered.name.rpartition("/")[2] if scope else layer.__name__
        for i, given in enumerate(stack_args):
            given = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *given, scope=f"{name}_{i + 1}", **options)
    return inputs


def repeat(inputs: Any, repetitions: int, layer: Any, *args: Any, **options: Any) -> Any:
    """A layer so many times, one behind the other."""
    scope = options.pop("scope", None)
    with variable_scope(scope, "Repeat") as entered:
        name = entered.name.rpartition("/")[2] if scope else layer.__name__
        for i in range(repetitions):
            inputs = layer(inputs, *args, scope=f"{name}_{i + 1}", **options)
    return inputs


LAYERS: dict[str, Any] = {
    "fully_connected": fully_connected,
    "linear": linear,
    "relu": fully_connected,
    "conv2d": conv2d,
    "convolution2d": conv2d,
    "conv2d_transpose": conv2d_transpose,
    "convolution2d_transpose": conv2d_transpose,
    "max_pool2d": max_pool2d,
    "avg_pool2d": avg_pool2d,
    "flatten": flatten,
    "dropout": dropout,
    "layer_norm": layer_norm,
    "instance_norm": instance_norm,
    "batch_norm": batch_norm,
    "softmax": softmax,
    "one_hot_encoding": one_hot_encoding,
    "stack": stack,
    "repeat": repeat,
}
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {f"contrib.layers.{name}": value for name, value in LAYERS.items()}
