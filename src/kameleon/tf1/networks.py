"""Functions of TensorFlow 1 over K functions: numbers, control, sessions and networks."""

from __future__ import annotations

from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor
from ..backend._words import DataFormat
from ..backend.operators import matmul as product
from ..errors import ArgumentError
from ..ir.node import Print
from ..prims.control import identity
from ..prims.movement import pad, slice_axis
from ..prims.sizes import size_of

# Numbers ------------------------------------------------------------------------------------


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:  # fmt: skip
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ArgumentError("tf.matmul: only one of transpose and adjoint can be True")
    transpose_a, transpose_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    a, b = as_tensor(a, "tf.matmul"), as_tensor(b, "tf.matmul")
    return product(turned(a) if transpose_a else a, turned(b) if transpose_b else b)


def turned(x: Any) -> Any:
    """The transposes of matrices."""
    rank = len(x.shape)
    return K.permute_dimensions(x, (*range(rank - 2), rank - 1, rank - 2))


def count_nonzero(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = "int64",
    input: Any = None,
) -> Any:  # fmt: skip
    x = input if input_tensor is None else input_tensor
    held = K.cast(K.not_equal(as_tensor(x, "tf.count_nonzero"), 0), "int64")
    return K.cast(K.sum(held, axis=axis, keepdims=bool(keepdims)), dtype)


def layout_of(data_format: Any) -> DataFormat:
    """K's word for a layout such as 'NHWC' or 'NCW'; channels are last where none is given."""
    return "channels_first" if str(data_format or "").startswith("NC") else "channels_last"


def bias_add(value: Any, bias: Any, data_format: Any = None, name: str | None = None) -> Any:
    return K.bias_add(as_tensor(value, "tf.nn.bias_add"), bias, layout_of(data_format))


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None,
             keep_dims: bool | None = None, keepdims: bool | None = None) -> Any:  # fmt: skip
    keep = bool(keepdims or keep_dims)
    return K.mean(x, axes, keep), K.var(x, axes, keep)


# Control ------------------------------------------------------------------------------------


def print_(
    input_: Any, data: Any, message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """A tensor equal to `input_`; computing it prints the tensors of `data`, a line each.

    Args:
        message: what stands before the first of them.
        first_n: 0: nothing is printed; all else: always.
        summarize: has no effect: NumPy shortens long arrays.
    """
    shown = identity(as_tensor(input_, "tf.Print"))
    if first_n != 0:
        labels = [message or "", *[""] * (len(data) - 1)]
        pairs = zip(labels, data, strict=True)
        lines = (Print(label, as_tensor(x, "tf.Print")) for label, x in pairs)
        shown.effects = (*shown.effects, *lines)
    return shown


# Networks -----------------------------------------------------------------------------------


def softmax(
    logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Any:
    axis = dim if axis is None else axis
    return K.softmax(logits, -1 if axis is None else axis)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    axis = -1 if axis is None else axis
    return logits - K.logsumexp(logits, axis=axis, keepdims=True)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None,
                  dim: Any = None) -> Any:  # fmt: skip
    axis = dim if axis is None else axis
    squares = K.sum(K.square(x), axis=axis, keepdims=True)
    return x / K.sqrt(K.maximum(squares, epsilon))


def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: Any = None,
             name: str | None = None, rate: Any = None) -> Any:  # fmt: skip
    return K.dropout(x, 1 - keep_prob if rate is None else rate, noise_shape, seed)


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    return K.relu(features, alpha=alpha)


def sigmoid_loss(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    return K.binary_crossentropy(labels, logits, from_logits=True)


def softmax_loss(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, dim: int = -1,
    name: str | None = None, axis: int = -1,
) -> Any:  # fmt: skip
    """The cross-entropy, in which labels are constants to gradients."""
    return softmax_loss_v2(K.stop_gradient(labels), logits, dim if axis == -1 else axis)


def softmax_loss_v2(labels: Any, logits: Any, axis: int | None = None) -> Any:
    axis = -1 if axis is None else axis
    return K.categorical_crossentropy(labels, logits, from_logits=True, axis=axis)


def sparse_loss(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    what = "tf.nn.sparse_softmax_cross_entropy_with_logits"
    x, of = as_tensor(logits, what), as_tensor(labels, what)
    sizes = (*of.shape, *x.shape)
    unsure = None in sizes and any(
        None not in pair and pair[0] != pair[1] for pair in zip(of.shape, x.shape, strict=False)
    )
    if unsure and of.ndim == x.ndim - 1:
        # Layers may declare sizes that their tensors haven't; TensorFlow believes neither then.
        rows = K.reshape(x, (-1, x.shape[-1] or K.shape(x)[-1]))
        loss = K.sparse_categorical_crossentropy(K.reshape(of, (-1,)), rows, from_logits=True)
        return K.reshape(loss, K.shape(of))
    return K.sparse_categorical_crossentropy(of, x, from_logits=True)


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float,
    name: str | None = None,
) -> Any:  # fmt: skip
    factor = 1.0 / K.sqrt(variance + variance_epsilon)
    factor = factor if scale is None else factor * scale
    shifted = (x - mean) * factor
    return shifted if offset is None else shifted + offset


def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Each channel over a power of the sum of squares of the channels around.

    Source: Krizhevsky et al., "ImageNet classification with deep convolutional neural networks"
    (2012), section 3.3.
    """
    x = as_tensor(input, "tf.nn.lrn")
    last, reach = len(x.shape) - 1, 2 * depth_radius
    around = pad(K.square(x), [(0, 0)] * last + [(depth_radius, depth_radius)])
    sums = sum((slice_axis(around, last, i, i - reach or None) for i in range(reach + 1)), 0.0)
    return x / K.pow(bias + alpha * sums, beta)


def swish(features: Any, name: str | None = None) -> Any:
    return features * K.sigmoid(features)


def selu(features: Any, name: str | None = None) -> Any:
    """Source: Klambauer et al., "Self-normalizing neural networks" (2017)."""
    return 1.0507009873554805 * K.elu(features, 1.6732632423543772)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    return matmul(x, weights) + biases


def look_up(params: Any, ids: Any, partition_strategy: str, max_norm: Any, what: str) -> Any:
    """Rows by their numbers.

    Args:
        params: a matrix, or a list of matrices among which the rows were dealt out.
        partition_strategy: 'mod' (one row to each in turn) or 'div' (to each those that follow one
            another).
        max_norm: longer rows are shortened to this length.
    """
    found = K.gather(*_joined(params, ids, partition_strategy, what))
    return found if max_norm is None else shortened(found, max_norm)


def _joined(params: Any, ids: Any, strategy: str, what: str) -> tuple[Any, Any]:
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if strategy not in ("mod", "div"):
        raise ArgumentError(f"{what}: partition_strategy is {strategy!r}; there are 'mod', 'div'")
    whole = parts[0] if len(parts) == 1 else K.concatenate(parts, axis=0)
    if len(parts) == 1 or strategy == "div":
        return whole, ids
    sizes = K.stack([K.cast(size_of(as_tensor(p, what), 0), "int64") for p in parts])
    number = K.cast(as_tensor(ids, what), "int64")
    count = len(parts)
    starts = K.cumsum(sizes) - sizes
    return whole, K.gather(starts, number % count) + number // count


def shortened(rows: Any, longest: Any) -> Any:
    """The rows, at most of some length."""
    axes = list(range(1, len(rows.shape)))
    length = K.sqrt(K.sum(K.square(rows), axes, True))
    return rows * (longest / K.maximum(length, longest))


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    return K.in_top_k(predictions, targets, k)
