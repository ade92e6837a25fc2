"""`tf.contrib.layers`: what it has beside the layers that most programs use."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ..graph import GraphKeys, add_to_collection, get_collection
from ..initializers import Ones, RandomNormal, Zeros, xavier_initializer
from ..nets import convolution
from ..nets.arguments import add_arg_scope
from ..nets.contrib import finished, model_variable
from ..networks import batch_normalization, layout_of, look_up, moments
from ..scopes import variable_scope
from ..summaries import histogram, scalar


def _padded(padding: str) -> Any:
    return padding.lower()


def embedding_lookup_unique(params: Any, ids: Any, name: str | None = None) -> Any:
    """The rows of a table that numbers choose."""
    return look_up(params, ids, "mod", None, "embedding_lookup_unique")


@add_arg_scope
def separable_conv2d(
    inputs: Any, num_outputs: int | None, kernel_size: Any, depth_multiplier: int = 1,
    stride: Any = 1, padding: str = "SAME", data_format: str = "NHWC", rate: Any = 1,
    activation_fn: Any = K.relu, normalizer_fn: Any = None, normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(), pointwise_initializer: Any = None,
    weights_regularizer: Any = None, biases_initializer: Any = Zeros(),
    biases_regularizer: Any = None, reuse: Any = None, variables_collections: Any = None,
    outputs_collections: Any = None, trainable: bool = True, scope: Any = None,
) -> Any:  # fmt: skip
    """A convolution of each channel, then, unless `num_outputs` is None, one of size 1 over all."""
    x, layout = as_tensor(inputs, "separable_conv2d"), layout_of(data_format)
    with variable_scope(scope, "SeparableConv2d", [x], reuse=reuse):
        window, steps, rates = (
            convolution.sizes(v, 2, "separable_conv2d") for v in (kernel_size, stride, rate)
        )
        channels: Any = x.type.shape[1 if layout == "channels_first" else -1]
        make = functools.partial(
            model_variable, regularizer=weights_regularizer, trainable=trainable, dtype=x.dtype
        )
        deep = make("depthwise_weights", [*window, channels, depth_multiplier],
                    weights_initializer)  # fmt: skip
        filters = channels * depth_multiplier if num_outputs is None else num_outputs
        how = (steps, _padded(padding), layout, rates)
        if num_outputs is None:
            y = K.depthwise_conv2d(x, deep, *how)
        else:
            mixed = make("pointwise_weights", [1, 1, channels * depth_multiplier, filters],
                         pointwise_initializer or weights_initializer)  # fmt: skip
            y = K.separable_conv2d(x, deep, mixed, *how)
        if normalizer_fn is None and biases_initializer is not None:
            b = model_variable("biases", [filters], biases_initializer, biases_regularizer,
                               trainable, x.dtype)  # fmt: skip
            y = K.bias_add(y, b, layout)
        return finished(y, activation_fn, normalizer_fn, normalizer_params, outputs_collections)


@add_arg_scope
def group_norm(
    inputs: Any, groups: int = 32, channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2), center: bool = True, scale: bool = True,
    epsilon: float = 1e-6, activation_fn: Any = None, param_initializers: Any = None,
    reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
    trainable: bool = True, scope: Any = None, mean_close_to_zero: bool = False,
) -> Any:  # fmt: skip
    """Source: Wu and He, "Group normalization" (2018)."""
    x = as_tensor(inputs, "group_norm")
    rank = len(x.type.shape)
    axis, over = channels_axis % rank, sorted(a % rank for a in reduction_axes)
    channels: Any = x.type.shape[axis]
    if channels % groups or axis in over:
        raise ArgumentError(
            f"group_norm: {groups} groups don't divide the {channels} channels of axis {axis}, or"
            f" that axis is among the reduction axes {over}"
        )
    sizes = [K.shape(x)[i] if n is None else n for i, n in enumerate(x.type.shape)]
    shape = [1] * axis + [groups, channels // groups] + [1] * (rank - axis - 1)
    with variable_scope(scope, "GroupNorm", [x], reuse=reuse):
        parted = K.reshape(x, [*sizes[:axis], groups, channels // groups, *sizes[axis + 1 :]])
        axes = [a if a < axis else a + 1 for a in over] + [axis + 1]
        mean, variance = moments(parted, axes, keepdims=True)
        first = dict(param_initializers or {})
        beta, gamma = (
            K.reshape(model_variable(name, [channels], first.get(name, start), None, trainable,
                                     x.dtype), shape)
            if wanted else None
            for name, start, wanted in (("beta", Zeros(), center), ("gamma", Ones(), scale))
        )  # fmt: skip
        y = K.reshape(batch_normalization(parted, mean, variance, beta, gamma, epsilon), sizes)
        return finished(y, activation_fn, None, None, outputs_collections)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """With the length 1 along an axis."""
    x = as_tensor(inputs, "unit_norm")
    return x / K.sqrt(epsilon + K.sum(K.square(x), dim, keepdims=True))


@add_arg_scope
def bias_add(
    inputs: Any, activation_fn: Any = None, initializer: Any = Zeros(), regularizer: Any = None,
    reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
    trainable: bool = True, data_format: str = "NHWC", scope: Any = None,
) -> Any:  # fmt: skip
    """A bias for each channel."""
    x, layout = as_tensor(inputs, "bias_add"), layout_of(data_format)
    with variable_scope(scope, "BiasAdd", [x], reuse=reuse):
        channels = x.type.shape[1 if layout == "channels_first" else -1]
        b = model_variable("biases", [channels], initializer, regularizer, trainable, x.dtype)
        return finished(K.bias_add(x, b, layout), activation_fn, None, None, outputs_collections)


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The largest of each group. Source: Goodfellow et al., "Maxout networks" (2013)."""
    x = as_tensor(inputs, "maxout")
    at = axis % len(x.type.shape)
    channels: Any = x.type.shape[at]
    if channels % num_units:
        raise ArgumentError(
            f"number of features({channels}) is not a multiple of num_units({num_units})"
        )
    sizes = [K.shape(x)[i] if n is None else n for i, n in enumerate(x.type.shape)]
    parted = [*sizes[:at], num_units, channels // num_units, *sizes[at + 1 :]]
    return K.max(K.reshape(x, parted), at + 1)


def embed_sequence(
    ids: Any, vocab_size: int | None = None, embed_dim: int | None = None, unique: bool = False,
    initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
    reuse: Any = None,
) -> Any:  # fmt: skip
    """The rows of a table that numbers choose."""
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        table = model_variable("embeddings", [vocab_size, embed_dim], initializer, regularizer,
                               trainable, "float32")  # fmt: skip
        return embedding_lookup_unique(table, ids)


def bow_encoder(
    ids: Any, vocab_size: int, embed_dim: int, sparse_lookup: bool = True,
    initializer: Any = None, regularizer: Any = None, trainable: bool = True, scope: Any = None,
    reuse: Any = None,
) -> Any:  # fmt: skip
    """The mean of the rows that a sequence's numbers choose; with `sparse_lookup`, 0 is none."""
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable("embeddings", [vocab_size, embed_dim],
                               initializer or RandomNormal(stddev=0.1), regularizer, trainable,
                               "float32")  # fmt: skip
        rows = embedding_lookup_unique(table, ids)
        if not sparse_lookup:
            return K.mean(rows, 1)
        there = K.expand_dims(K.cast(K.not_equal(as_tensor(ids, "bow_encoder"), 0), "float32"), -1)
        return K.sum(rows * there, 1) / K.maximum(K.sum(there, 1), 1.0)


@add_arg_scope
def spatial_softmax(
    features: Any, temperature: Any = None, name: str | None = None,
    variables_collections: Any = None, trainable: bool = True, data_format: str = "NHWC",
) -> Any:  # fmt: skip
    """For each channel, the expected row and column of its softmax, from -1 to 1."""
    x = as_tensor(features, "spatial_softmax")
    if layout_of(data_format) == "channels_last":
        x = K.permute_dimensions(x, (0, 3, 1, 2))
    _, channels, rows, columns = (int(n) if n is not None else -1 for n in x.type.shape)
    with variable_scope(name, "spatial_softmax"):
        if temperature is None:
            temperature = model_variable("temperature", [], Ones(), None, trainable, "float32")
        share = K.softmax(K.reshape(x, (-1, rows * columns)) / temperature, -1)
    across = K.constant([2 * c / (columns - 1) - 1 for _ in range(rows) for c in range(columns)])
    down = K.constant([2 * r / (rows - 1) - 1 for r in range(rows) for _ in range(columns)])
    # TensorFlow's meshgrid is that of matrices: the first coordinate is the row's.
    pairs = [K.sum(share * down, 1, keepdims=True), K.sum(share * across, 1, keepdims=True)]
    return K.reshape(K.concatenate(pairs, 1), (-1, channels * 2))


def recompute_grad(fn: Any, *args: Any, **options: Any) -> Any:
    """The function: what memory holds is the engine's matter."""
    return fn


# Summaries ----------------------------------------------------------------------------------------


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A summary of a tensor: its number, or a histogram."""
    name = tag or tensor.op.name
    return scalar(name, tensor) if K.ndim(tensor) == 0 else histogram(name, tensor)


def summarize_activation(op: Any) -> Any:
    """A histogram of what a layer gives, and, of rectified values, the share of zeros."""
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        zeros = K.mean(K.cast(K.equal(op, K.zeros_like(op)), "float32"))
        scalar(f"{op.op.name}/zeros", zeros)
    return histogram(f"{op.op.name}/activation", op)


def summarize_tensors(tensors: Any, summarizer: Callable[[Any], Any] = summarize_tensor) -> Any:
    """A summary of each."""
    return [summarizer(x) for x in tensors]


def summarize_collection(
    collection: Any, name_filter: str | None = None, summarizer: Any = summarize_tensor
) -> Any:
    """A summary of each tensor of a collection."""
    return summarize_tensors(get_collection(collection, name_filter), summarizer)


def summarize_activations(name_filter: str | None = None, summarizer: Any = None) -> Any:
    """A summary of what each layer gives that collects it."""
    return summarize_collection(
        GraphKeys.ACTIVATIONS, name_filter, summarizer or summarize_activation
    )


def collected(collections: Any, value: Any) -> None:
    """Put a value into one collection, or several."""
    for name in [collections] if isinstance(collections, str) else collections or ():
        add_to_collection(name, value)


FUNCTIONS: tuple[Any, ...] = (
    separable_conv2d, group_norm, unit_norm, bias_add, maxout, embed_sequence, bow_encoder,
    spatial_softmax, recompute_grad, summarize_tensor, summarize_activation, summarize_tensors,
    summarize_collection, summarize_activations,
)  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"contrib.layers.{function.__name__}": function for function in FUNCTIONS},
    "contrib.layers.separable_convolution2d": separable_conv2d,
    "contrib.layers.embedding_lookup_unique": embedding_lookup_unique,
}
