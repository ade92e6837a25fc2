"""Convolutions, pooling, normalization, losses, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.backend._windows import Moves, resolve, same_padding
from kameleon.graph.ir.node import Tensor as Node
from kameleon.graph.primitives import conv as C
from kameleon.graph.primitives import elementwise as E
from kameleon.graph.primitives import indexing as I
from kameleon.graph.primitives import pool as P
from kameleon.graph.primitives.control import check
from kameleon.graph.primitives.filling import full_like, least, zeros
from kameleon.graph.primitives.movement import broadcast_to, move_axis, reshape
from kameleon.graph.primitives.reduce import reduce_max, reduce_sum
from kameleon.graph.primitives.sizes import Size, as_node, size_of, sizes_product
from kameleon.graph.primitives.special import log_softmax
from kameleon.graph.primitives.windows import Window, corners, put_back

from ..graph import Operation
from ..shapes.networks import explicit_pads, spatial
from ..shapes.rules import is_channels_last
from .elementwise import zero
from .products import mean
from .slopes import slope, slopes
from .table import pure
from .values import (
    Kind,
    broadcast,
    dims,
    integer,
    integers,
    sizes_in,
    sizes_of,
    tensor,
)


def channels_last(operation: Operation, x: Any) -> Node:
    """A tensor with its channels moved to the end."""
    node = tensor(x)
    return node if is_channels_last(operation) else move_axis(node, 1, len(node.shape) - 1)


def in_layout(operation: Operation, x: Node) -> Node:
    """A tensor with its channels where the operation has them."""
    return x if is_channels_last(operation) else move_axis(x, len(x.shape) - 1, 1)


def window_over(
    operation: Operation, space: Sequence[int | None], kernel: Sequence[int],
    strides: Sequence[int], dilations: Sequence[int],
) -> Window:  # fmt: skip
    """The window of these sizes that slides over a space; it's padded as the operation says."""
    pads = explicit_pads(operation, len(space) + 2)
    if operation.attribute("padding") == b"SAME":
        parts = zip(space, kernel, strides, dilations, strict=True)
        pads = [same_padding(size or 0, step, (k - 1) * gap + 1) for size, k, step, gap in parts]
    return Window(tuple(kernel), tuple(strides), tuple(pads), tuple(dilations))


def slid(
    operation: Operation, x: Node, kernel: Sequence[int], strides: Sequence[int] = (),
    fill: float = 0,
) -> tuple[Node, Window]:  # fmt: skip
    """The window of an operation over a tensor with its channels at the end, and that tensor: with
    margins of a number, where they depend on sizes that aren't known.
    """
    rank, space = len(x.shape), x.shape[1:-1]
    strides = strides or spatial(operation, "strides", rank)
    dilations = spatial(operation, "dilations", rank)
    if operation.attribute("padding") == b"SAME" and None in space:
        moves = Moves(tuple(kernel), tuple(strides), tuple(dilations), "same")
        return resolve(x, moves, operation.type, fill)
    return x, window_over(operation, space, kernel, strides, dilations)


# Convolutions -----------------------------------------------------------------------------------


def _convolving(primitive: Callable[..., Node]) -> Callable[[Operation, Any, Node], Node]:
    """A convolution as an operation says."""

    def rule(operation: Operation, x: Any, kernel: Node) -> Node:
        node, window = slid(operation, channels_last(operation, x), sizes_of(kernel, 0, -2))
        return in_layout(operation, primitive(node, kernel, window=window))

    return rule


def _convolving_back(primitive: Callable[..., Node]) -> Callable[..., Node]:
    """The adjoint of a convolution in its input."""

    def rule(operation: Operation, sizes: list[Size], kernel: Node, g: Any) -> Node:
        over, given = sizes_of(kernel, 0, -2), channels_last(operation, g)
        space = sizes[1:-1] if is_channels_last(operation) else sizes[2:]
        below = zeros([size_of(given, 0), *space, 1], given.dtype)
        node, window = slid(operation, below, over)
        found = primitive(given, kernel, dims(node)[1:-1], window)
        if node is not below:  # without the margins
            sizes = [*dims(below)[:-1], size_of(found, -1)]
            found = slope(lambda x: slid(operation, x, over)[0], sizes, found.dtype, found)
        return in_layout(operation, found)

    return rule


convolved = pure("Conv2D Conv3D")(_convolving(C.conv))
pure("DepthwiseConv2dNative")(_convolving(C.depthwise_conv))
pure("Conv2DBackpropInput Conv3DBackpropInputV2")(_convolving_back(C.conv_input))
pure("DepthwiseConv2dNativeBackpropInput")(_convolving_back(C.depthwise_input))


@pure("Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter")
def _kernel_gradient(operation: Operation, x: Any, sizes: list[int], g: Any) -> Node:
    given = channels_last(operation, g)
    node, window = slid(operation, channels_last(operation, x), sizes[:-2])
    if operation.type.startswith("Depthwise"):
        return C.depthwise_kernel(node, given, window=window, multiplier=sizes[-1])
    return C.conv_kernel(node, given, window=window)


# Pooling ----------------------------------------------------------------------------------------


def pool_sizes(operation: Operation, rank: int, *inputs: Any) -> tuple[list[int], list[int]]:
    """The sizes and strides of a pool's window; `inputs` where the operation takes them."""
    if not inputs:
        return [*spatial(operation, "ksize", rank)], [*spatial(operation, "strides", rank)]
    is_last = is_channels_last(operation)
    sizes, strides = (n[1:-1] if is_last else n[2:] for n in map(integers, inputs))
    return sizes, strides


def _max_pooled(operation: Operation, x: Node, *sizes: Any) -> tuple[Node, Node, Window]:
    """What a pool slides over, its maxima and their places, and the window."""
    node, window = slid(operation, x, *pool_sizes(operation, len(x.shape), *sizes), least(x.dtype))
    return node, P.max_pool(node, window=window), window


@pure("MaxPool MaxPool3D MaxPoolV2")
def _max_pool(operation: Operation, x: Any, *sizes: Any) -> Node:
    node = channels_last(operation, x)
    kernel = integers(sizes[0]) if sizes else operation.attribute("ksize")
    across = kernel[-1 if is_channels_last(operation) else 1]
    if across > 1:  # channels side by side, and then no neighbours
        parts = reshape(node, [*dims(node)[:-1], -1, across])
        return in_layout(operation, reduce_max(parts, [len(node.shape)]))
    _, pooled, _ = _max_pooled(operation, node, *sizes)
    return in_layout(operation, pooled.results[0])


@pure("MaxPool3DGrad")
def _of_all_maxima(operation: Operation, x: Any, y: Any, g: Any) -> Node:
    """A gradient put where the maxima are: of each window all that are as large."""
    node, given = channels_last(operation, x), channels_last(operation, g)
    over, pooled, window = _max_pooled(operation, node)
    top = pooled.results[0]
    parts = (E.select(E.eq(cell, top), given, zero(given)) for cell in corners(over, window))
    found = put_back(parts, dims(over)[0], dims(over)[1:-1], window)
    if over is not node:
        found = slope(lambda z: _max_pooled(operation, z)[0], dims(node), node.dtype, found)
    return in_layout(operation, found)


@pure("MaxPoolGrad MaxPoolGradV2 MaxPoolGradGrad MaxPool3DGradGrad MaxPoolGradGradV2")
def _max_pool_gradient(operation: Operation, x: Any, y: Any, g: Any, *sizes: Any) -> Node:
    """A gradient put where the maxima are; or, of the second one, what lies in it there."""
    node, given = channels_last(operation, x), channels_last(operation, g)
    over, pooled, window = _max_pooled(operation, node, *sizes)
    at = pooled.results[1]
    if "GradGrad" in operation.type:
        given, _ = slid(operation, given, *pool_sizes(operation, len(node.shape), *sizes))
        return in_layout(operation, P.pool_pick(given, at, window=window))
    found = P.unpool(given, at, dims(over)[1:-1], window)
    if over is not node:
        found = slope(lambda z: _max_pooled(operation, z, *sizes)[0], dims(node), node.dtype, found)
    return in_layout(operation, found)


@pure("AvgPool AvgPool3D")
def _average_pool(operation: Operation, x: Any) -> Node:
    node = channels_last(operation, x)
    over, window = slid(operation, node, *pool_sizes(operation, len(node.shape)))
    if over is node:
        return in_layout(operation, P.average_pool(node, window))
    ones, _ = slid(operation, full_like(node, 1), window.sizes, window.strides)
    count, total = (P.sum_pool(each, window=window) for each in (ones, over))
    return in_layout(operation, E.div(total, count))


@pure("AvgPoolGrad AvgPool3DGrad")
def _average_pool_gradient(operation: Operation, sizes: Any, g: Node, *, T: Kind) -> Node:
    return slope(lambda x: _average_pool(operation, x), sizes_in(sizes), T, g)


# Biases and normalization -----------------------------------------------------------------------


@pure("BiasAdd BiasAddV1")
def _bias(operation: Operation, x: Node, bias: Node) -> Node:
    if not is_channels_last(operation):
        bias = reshape(bias, [-1, *[1] * (len(x.shape) - 2)])
    return E.add(*broadcast(x, bias))


@pure("BiasAddGrad")
def _bias_gradient(operation: Operation, g: Any) -> Node:
    node = channels_last(operation, g)
    return reduce_sum(node, _all_but_channels(node))


def _all_but_channels(x: Node) -> list[int]:
    return list(range(len(x.shape) - 1))


def _count(x: Node) -> Node:
    """How many elements of a channel there are."""
    return E.cast(as_node(sizes_product(dims(x)[:-1])), x.dtype)


def _like(x: Node, *values: Node) -> list[Node]:
    return [broadcast_to(value, dims(x)) for value in values]


@pure("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3")
def _normalize(
    operation: Operation, x: Any, scale: Node, offset: Node, mean_: Any, variance: Any,
    *, epsilon: float, is_training: bool,
) -> list[Any]:  # fmt: skip
    given = channels_last(operation, x)
    node = E.cast(given, scale.dtype)  # half precision is computed in single
    if is_training:
        axes = _all_but_channels(node)
        center, count = mean(node, axes), _count(node)
        apart = node - broadcast_to(center, dims(node))
        spread = mean(apart * apart, axes)
        unbiased = spread * (count / K.maximum(count - 1, 1.0))
    else:
        center, spread = tensor(mean_), tensor(variance)
        unbiased = spread
    factor = scale / E.sqrt(spread + epsilon)
    m, r, b = _like(node, center, factor, offset)
    found = in_layout(operation, E.cast((node - m) * r + b, given.dtype))
    return [found, center, unbiased, center, spread, np.float32(0)]


@pure("FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3")
def _normalize_gradient(
    operation: Operation, g: Any, x: Any, scale: Node, center: Node, spread: Node, *rest: Any,
    epsilon: float, is_training: bool,
) -> list[Any]:  # fmt: skip
    given, node = (E.cast(channels_last(operation, each), scale.dtype) for each in (g, x))
    axes, count = _all_but_channels(node), _count(node)
    root = 1 / E.sqrt(spread + epsilon)
    m, r = _like(node, center, root)
    standard = (node - m) * r
    of_offset, of_scale = reduce_sum(given, axes), reduce_sum(given * standard, axes)
    [factor] = _like(node, scale * root)
    found = given * factor
    if is_training:
        shift, slope = _like(node, of_offset / count, of_scale / count)
        found = factor * (given - shift - standard * slope)
    nothing = np.zeros((0,), np.float32)
    found = in_layout(operation, E.cast(found, tensor(x).dtype))
    return [found, of_scale, of_offset, nothing, nothing]


@pure("BatchNormWithGlobalNormalization")
def _normalize_by(
    x: Node, center: Node, spread: Node, offset: Node, scale: Node,
    *, variance_epsilon: float, scale_after_normalization: bool,
) -> Node:  # fmt: skip
    """By moments that are given; graphs of 2015 have it."""
    factor = 1 / E.sqrt(spread + variance_epsilon)
    if scale_after_normalization:
        factor = factor * scale
    m, r, b = _like(x, center, factor, offset)
    return (x - m) * r + b


@pure("BatchNormWithGlobalNormalizationGrad")
def _normalize_by_gradient(
    x: Node, center: Node, spread: Node, scale: Node, g: Node,
    *, variance_epsilon: float, scale_after_normalization: bool,
) -> list[Node]:  # fmt: skip
    how: dict[str, Any] = {
        "variance_epsilon": variance_epsilon,
        "scale_after_normalization": scale_after_normalization,
    }
    moments = [center, spread, zero(center), scale]
    return slopes(lambda *xs: _normalize_by(*xs, **how), [x, *moments], g)


# Losses -----------------------------------------------------------------------------------------


def _crossentropy(x: Node, y: Node) -> list[Node]:
    log = log_softmax(x, axis=1)
    return [-reduce_sum(log * y, [1]), E.exp(log) - y]


pure("SoftmaxCrossEntropyWithLogits")(lambda x, y: _crossentropy(*broadcast(x, y)))


@pure("SparseSoftmaxCrossEntropyWithLogits")
def _of_classes(x: Node, labels: Node) -> list[Node]:
    count = broadcast_to(E.cast(as_node(dims(x)[1]), labels.dtype), dims(labels))
    inside = E.logical_and(E.ge(labels, zero(labels)), E.lt(labels, count))
    labels = check(labels, inside, message="a label value is outside of the valid range")
    return _crossentropy(x, I.one_hot(labels, dims(x)[1], x.dtype))


@pure("InTopK InTopKV2")
def _in_top(predictions: Node, targets: Node, count: Any = None, *, k: int | None) -> Node:
    found: Node = K.in_top_k(predictions, targets, k if count is None else integer(count))
    return found
