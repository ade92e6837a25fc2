"""Convolutions, pooling, normalization, losses, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kameleon import backend as K
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import conv as C
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import pool as P
from kameleon.graph.primitives.movement import broadcast_to, move_axis, reshape
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.graph.primitives.sizes import Size, as_node, sizes_product, split
from kameleon.graph.primitives.windows import Window

from ..shapes.networks import explicit_pads, spatial
from ..shapes.rules import is_channels_last
from .elementwise import log_softmax
from .products import mean
from .table import pure
from .values import (
    UnknownSizeError,
    broadcast,
    dims,
    dtype_of,
    integer,
    integers,
    sizes_in,
    sizes_of,
    tensor,
)

if TYPE_CHECKING:
    from ..graph import Operation


def channels_last(operation: Operation, x: Any) -> Node:
    """A tensor with its channels moved to the end."""
    node = tensor(x)
    return node if is_channels_last(operation) else move_axis(node, 1, len(node.shape) - 1)


def as_told(operation: Operation, x: Node) -> Node:
    """A tensor with its channels where the operation has them."""
    return x if is_channels_last(operation) else move_axis(x, len(x.shape) - 1, 1)


Space = Sequence[int | None]  # sizes; None for one that isn't known


def window_of(operation: Operation, space: Space, kernel: tuple[int, ...]) -> Window:
    """The window of an operation that slides over a space."""
    rank = len(space) + 2
    strides, dilations = (spatial(operation, name, rank) for name in ("strides", "dilations"))
    return window_over(operation, space, kernel, strides, dilations)


def window_over(
    operation: Operation, space: Space, kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int],
) -> Window:  # fmt: skip
    """The window of these sizes that slides over a space; it's padded as the operation says."""
    pads = explicit_pads(operation, len(space) + 2)
    if operation.attribute("padding") == b"SAME":
        parts = zip(space, kernel, strides, dilations, strict=True)
        needed = [_missing(size, step, (k - 1) * gap + 1) for size, k, step, gap in parts]
        pads = [(total // 2, total - total // 2) for total in needed]
    return Window(tuple(kernel), tuple(strides), tuple(pads), tuple(dilations))


def _missing(size: int | None, step: int, width: int) -> int:
    """How much a window of that width lacks at the edges of an axis."""
    if size is None and width > 1 and step > 1:
        raise UnknownSizeError("how much is padded isn't known")
    if size is None:
        return width - 1
    return max(0, (-(-size // step) - 1) * step + width - size)


def _spatial_sizes(operation: Operation, sizes: list[Size]) -> tuple[Size, ...]:
    return tuple(sizes[1:-1] if is_channels_last(operation) else sizes[2:])


# Convolutions -----------------------------------------------------------------------------------


def _convolving(primitive: Callable[..., Node]) -> Callable[[Operation, Any, Any], Node]:
    """A convolution as an operation says."""

    def rule(operation: Operation, x: Any, kernel: Any) -> Node:
        node, k = channels_last(operation, x), tensor(kernel)
        window = window_of(operation, node.shape[1:-1], sizes_of(k, 0, -2))
        return as_told(operation, primitive(node, k, window=window))

    return rule


def _convolving_back(primitive: Callable[..., Node]) -> Callable[[Operation, Any, Any, Any], Node]:
    """The adjoint of a convolution in its input."""

    def rule(operation: Operation, sizes: Any, kernel: Any, g: Any) -> Node:
        space, k = _spatial_sizes(operation, sizes_in(sizes)), tensor(kernel)
        known, _ = split(space)
        window = window_of(operation, known, sizes_of(k)[:-2])
        return as_told(operation, primitive(channels_last(operation, g), k, space, window))

    return rule


convolved = pure("Conv2D Conv3D")(_convolving(C.conv))
pure("DepthwiseConv2dNative")(_convolving(C.depthwise_conv))
pure("Conv2DBackpropInput Conv3DBackpropInputV2")(_convolving_back(C.conv_input))
pure("DepthwiseConv2dNativeBackpropInput")(_convolving_back(C.depthwise_input))


@pure("Conv2DBackpropFilter Conv3DBackpropFilterV2")
def _conv_kernel(operation: Operation, x: Any, sizes: Any, g: Any) -> Node:
    node = channels_last(operation, x)
    window = window_of(operation, node.shape[1:-1], tuple(integers(sizes)[:-2]))
    return C.conv_kernel(node, channels_last(operation, g), window=window)


@pure("DepthwiseConv2dNativeBackpropFilter")
def _depthwise_kernel(operation: Operation, x: Any, sizes: Any, g: Any) -> Node:
    node, told = channels_last(operation, x), integers(sizes)
    window = window_of(operation, node.shape[1:-1], tuple(told[:-2]))
    given = channels_last(operation, g)
    return C.depthwise_kernel(node, given, window=window, multiplier=told[-1])


# Pooling ----------------------------------------------------------------------------------------


def pool_window(operation: Operation, node: Node) -> Window:
    """The window of a pool over a tensor with its channels at the end."""
    kernel = tuple(spatial(operation, "ksize", len(node.shape)))
    return window_of(operation, node.shape[1:-1], kernel)


@pure("MaxPool MaxPool3D")
def _max_pool(operation: Operation, x: Any) -> Node:
    node = channels_last(operation, x)
    pooled = P.max_pool(node, window=pool_window(operation, node)).results[0]
    return as_told(operation, pooled)


@pure("MaxPoolGrad MaxPool3DGrad")
def _max_pool_gradient(operation: Operation, x: Any, y: Any, g: Any) -> Node:
    node = channels_last(operation, x)
    window = pool_window(operation, node)
    at = P.max_pool(node, window=window).results[1]
    found = P.unpool(channels_last(operation, g), at, dims(node)[1:-1], window)
    return as_told(operation, found)


@pure("AvgPool AvgPool3D")
def _average_pool(operation: Operation, x: Any) -> Node:
    node = channels_last(operation, x)
    return as_told(operation, P.average_pool(node, pool_window(operation, node)))


@pure("AvgPoolGrad AvgPool3DGrad")
def _average_pool_gradient(operation: Operation, sizes: Any, g: Any) -> Node:
    told = sizes_in(sizes)
    channels = told[-1 if is_channels_last(operation) else 1]
    shape = [told[0], *_spatial_sizes(operation, told), channels]
    node = broadcast_to(E.constant(0, dtype_of(operation, "T")), shape)
    pooled = P.average_pool(node, pool_window(operation, node))
    [found] = K.gradients(K.sum(pooled * channels_last(operation, g)), [node])
    return as_told(operation, found)


# Biases and normalization -----------------------------------------------------------------------


@pure("BiasAdd BiasAddV1")
def _bias(operation: Operation, x: Any, bias: Any) -> Node:
    node, given = tensor(x), tensor(bias)
    if not is_channels_last(operation):
        given = reshape(given, [-1, *[1] * (len(node.shape) - 2)])
    return E.add(*broadcast(node, given))


@pure("BiasAddGrad")
def _bias_gradient(operation: Operation, g: Any) -> Node:
    node = channels_last(operation, g)
    return reduce_sum(node, list(range(len(node.shape) - 1)))


def _count(x: Node) -> Node:
    """How many elements of a channel there are."""
    return E.cast(as_node(sizes_product(dims(x)[:-1])), x.dtype)


def _like(x: Node, *values: Node) -> list[Node]:
    return [broadcast_to(value, dims(x)) for value in values]


@pure("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def _normalize(
    operation: Operation, x: Any, scale: Any, offset: Any, mean_: Any, variance: Any
) -> list[Any]:
    node, epsilon = channels_last(operation, x), operation.attribute("epsilon")
    axes = list(range(len(node.shape) - 1))
    if operation.attribute("is_training"):
        center, count = mean(node, axes), _count(node)
        apart = node - broadcast_to(center, dims(node))
        spread = mean(apart * apart, axes)
        told = spread * (count / K.maximum(count - 1, 1.0))
    else:
        center, spread = tensor(mean_), tensor(variance)
        told = spread
    factor = tensor(scale) / E.sqrt(spread + epsilon)
    m, r, b = _like(node, center, factor, tensor(offset))
    found = as_told(operation, (node - m) * r + b)
    return [found, center, told, center, spread, np.float32(0)]


@pure("FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3")
def _normalize_gradient(
    operation: Operation, g: Any, x: Any, scale: Any, center: Any, spread: Any, *_: Any
) -> list[Any]:
    given, node = channels_last(operation, g), channels_last(operation, x)
    axes, count = list(range(len(node.shape) - 1)), _count(node)
    root = 1 / E.sqrt(tensor(spread) + operation.attribute("epsilon"))
    m, r = _like(node, tensor(center), root)
    standard = (node - m) * r
    of_offset, of_scale = reduce_sum(given, axes), reduce_sum(given * standard, axes)
    [factor] = _like(node, tensor(scale) * root)
    found = given * factor
    if operation.attribute("is_training"):
        shift, slope = _like(node, of_offset / count, of_scale / count)
        found = factor * (given - shift - standard * slope)
    nothing = np.zeros((0,), np.float32)
    return [as_told(operation, found), of_scale, of_offset, nothing, nothing]


@pure("BatchNormWithGlobalNormalization")
def _normalize_by(
    operation: Operation, x: Any, center: Any, spread: Any, offset: Any, scale: Any
) -> Node:
    """By moments that are given; graphs of 2015 have it."""
    node, factor = tensor(x), 1 / E.sqrt(tensor(spread) + operation.attribute("variance_epsilon"))
    if operation.attribute("scale_after_normalization"):
        factor = factor * tensor(scale)
    m, r, b = _like(node, tensor(center), factor, tensor(offset))
    return (node - m) * r + b


@pure("BatchNormWithGlobalNormalizationGrad")
def _normalize_by_gradient(
    operation: Operation, x: Any, center: Any, spread: Any, scale: Any, g: Any
) -> list[Node]:
    given, node = tensor(g), tensor(x)
    axes = list(range(len(node.shape) - 1))
    root = 1 / E.sqrt(tensor(spread) + operation.attribute("variance_epsilon"))
    [m] = _like(node, tensor(center))
    of_offset, of_factor = reduce_sum(given, axes), reduce_sum(given * (node - m), axes)
    scaled = bool(operation.attribute("scale_after_normalization"))
    factor = root * tensor(scale) if scaled else root
    of_spread = of_factor * factor * root * root * -0.5
    of_scale = of_factor * root if scaled else of_factor * 0.0
    found = given * _like(node, factor)[0]
    return [found, -of_offset * factor, of_spread, of_offset, of_scale]


# Losses -----------------------------------------------------------------------------------------


@pure("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(operation: Operation, logits: Any, labels: Any) -> list[Node]:
    x, y = broadcast(logits, labels)
    log = log_softmax(x)
    return [-reduce_sum(log * y, [1]), E.exp(log) - y]


@pure("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(operation: Operation, logits: Any, labels: Any) -> list[Node]:
    x = tensor(logits)
    hot = I.one_hot(tensor(labels), dims(x)[1], x.dtype)
    log = log_softmax(x)
    return [-reduce_sum(log * hot, [1]), E.exp(log) - hot]


@pure("InTopK InTopKV2")
def _in_top(operation: Operation, predictions: Any, targets: Any, k: Any = None) -> Node:
    count = operation.attribute("k") if k is None else integer(k)
    found: Node = K.in_top_k(tensor(predictions), tensor(targets), count)
    return found
