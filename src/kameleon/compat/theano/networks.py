"""`theano.tensor.nnet` and `theano.tensor.signal`: activations, costs, convolutions and pools."""

from __future__ import annotations

from typing import Any

from ...backend import surface as K
from ...errors import ArgumentError
from ...graph.ir.node import Node
from .methods import pointwise
from .tensors import arange, one, size, tensor


def softmax(c: Any) -> Node:
    """Along the last axis."""
    c = tensor(c)
    return K.softmax(K.expand_dims(c, 0) if c.ndim == 1 else c)


def logsoftmax(c: Any) -> Node:
    """The logarithm of `softmax`."""
    c = tensor(c)
    found: Node = c - K.logsumexp(c, axis=-1, keepdims=True)
    return found


def binary_crossentropy(output: Any, target: Any) -> Node:
    """For each element, without any bound."""
    output, target = tensor(output), tensor(target)
    found: Node = -(target * K.log(output) + (1.0 - target) * K.log(1.0 - output))
    return found


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> Node:
    """For each row, of distributions, or of the numbers of classes."""
    coding, true = tensor(coding_dist), tensor(true_dist)
    if true.ndim == coding.ndim:
        return -K.sum(true * K.log(coding), axis=-1)
    return -K.log(pointwise(coding, (arange(size(true, 0)), true)))


def conv2d(
    input: Any, filters: Any, input_shape: Any = None, filter_shape: Any = None,
    border_mode: Any = "valid", subsample: Any = (1, 1), filter_flip: bool = True, **more: Any,
) -> Node:  # fmt: skip
    """The convolution of images (samples, channels, rows, columns) with filters (of the results,
    of the channels, rows, columns), which it flips."""
    x, kernel = tensor(input), tensor(filters)
    rows, columns = kernel.type.shape[2:]
    if rows is None or columns is None:
        raise ArgumentError("theano.tensor.nnet.conv2d: the filters' sizes must be known")
    named = {
        "valid": (0, 0), "full": (rows - 1, columns - 1), "half": (rows // 2, columns // 2),
    }  # fmt: skip
    pad = named.get(border_mode, border_mode) if isinstance(border_mode, str) else border_mode
    pad = (pad, pad) if isinstance(pad, int) else tuple(pad)
    if any(pad):
        x = K.spatial_2d_padding(x, tuple((n, n) for n in pad), "channels_first")
    if filter_flip:
        kernel = kernel[:, :, ::-1, ::-1]
    return K.conv2d(
        x, K.permute_dimensions(kernel, (2, 3, 1, 0)), tuple(subsample), "valid", "channels_first"
    )


def pool_2d(
    input: Any, ws: Any = None, ignore_border: bool | None = None, stride: Any = None,
    pad: Any = (0, 0), mode: str = "max", ds: Any = None, st: Any = None, padding: Any = None,
) -> Node:  # fmt: skip
    """Pools over windows of the last two axes."""
    window, step = tuple(ws or ds), tuple(stride or st or ws or ds)
    if any(padding or pad) or mode not in ("max", "average_exc_pad", "average_inc_pad"):
        raise ArgumentError(f"theano's pool_2d: no padding, and no mode {mode!r}; use K.pool2d")
    x = tensor(input)
    divides = all(
        n is not None and n % w == 0 for n, w in zip(x.type.shape[-2:], window, strict=True)
    )
    if not ignore_border and not (divides and step == window):
        raise ArgumentError(
            "theano's pool_2d: use ignore_border=True, or sizes that the windows fill"
        )
    return K.pool2d(x, window, step, "valid", "channels_first", "max" if mode == "max" else "avg")


NAMES: dict[str, Any] = {
    "softmax": softmax, "logsoftmax": logsoftmax, "conv2d": conv2d,
    "sigmoid": one(K.sigmoid), "ultra_fast_sigmoid": one(K.sigmoid), "softplus": one(K.softplus),
    "hard_sigmoid": one(K.hard_sigmoid), "softsign": one(K.softsign),
    "relu": lambda x, alpha=0: K.relu(tensor(x), alpha),
    "elu": lambda x, alpha=1: K.elu(tensor(x), alpha),
    "binary_crossentropy": binary_crossentropy,
    "categorical_crossentropy": categorical_crossentropy,
}  # fmt: skip
