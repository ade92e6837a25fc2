"""Parts of networks of TensorFlow 1 over K: batch statistics, losses, doubled activations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..backend import surface as K
from ..backend._tensors import as_float, as_tensor, promoted
from ..errors import ArgumentError
from ..ir.types import normalize_axes
from ..prims import elementwise as ew
from ..prims.filling import full_like
from ..prims.sizes import size_of
from .calling import called
from .elementwise import chosen
from .layouts import layout_of
from .networks import batch_normalization, xw_plus_b

# Statistics -----------------------------------------------------------------------------------


def _axes(axes: Any, x: Any, what: str) -> Sequence[int]:
    return normalize_axes(what, list(axes) if hasattr(axes, "__iter__") else axes, len(x.shape))


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: Any, what: str
) -> tuple[Any, Any]:
    """Mean and variance of elements that count as often as their weights say."""
    x, w = promoted((as_float(x, what), frequency_weights), what)
    over = _axes(axes, x, what)
    counted = w + full_like(x, 0)
    whole = K.sum(counted, over, True)
    mean = K.sum(w * x, over, True) / whole
    variance = K.sum(w * K.square(x - mean), over, True) / whole
    if keepdims:
        return mean, variance
    return _without(mean, over), _without(variance, over)


def _without(x: Any, axes: Sequence[int]) -> Any:
    for axis in sorted(axes, reverse=True):
        x = K.squeeze(x, axis)
    return x


class Statistics(NamedTuple):
    """What moments are made of: how many elements, their sum and that of squares, the shift."""

    counts: Any
    mean_ss: Any
    variance_ss: Any
    shift: Any


def sufficient_statistics(x: Any, axes: Any, shift: Any, keepdims: Any, what: str) -> Statistics:
    """Sums over elements, and over their squares, `shift` taken off before."""
    x = as_float(x, what)
    over = _axes(axes, x, what)
    sizes = [size_of(x, axis) for axis in over]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) == len(sizes):
        counts = K.constant(math.prod(known), x.dtype)
    else:
        counts = K.prod(K.stack([K.cast(size, x.dtype) for size in sizes]))
    moved = x if shift is None else x - K.cast(as_tensor(shift, what), x.dtype)
    keep = bool(keepdims)
    sums = K.sum(moved, over, keep), K.sum(K.square(moved), over, keep)
    return Statistics(counts, *sums, shift)


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, what: str
) -> tuple[Any, Any]:
    """Mean and variance of what `sufficient_statistics` gave."""
    mean_ss, variance_ss = promoted((mean_ss, variance_ss), what)
    part = 1.0 / K.cast(as_tensor(counts, what), mean_ss.dtype)
    shifted = mean_ss * part
    mean = shifted if shift is None else shifted + shift
    return mean, variance_ss * part - K.square(shifted)


# Normalization --------------------------------------------------------------------------------


class BatchNorm(NamedTuple):
    """The normalized tensor, and the moments."""

    y: Any
    batch_mean: Any
    batch_var: Any


LEAST_EPSILON = 1.001e-5


def fused_batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, epsilon: float, data_format: str,
    is_training: bool, what: str,
) -> BatchNorm:  # fmt: skip
    """Each channel with mean `offset` and deviation `scale`.

    Returns:
        What's normalized; and the mean and the variance, which are constants to gradients: those
        of the batch in training (its variance for n - 1 elements), else the given ones.
    """
    layout = layout_of(data_format, 2, what)
    x = layout.to_end(as_float(x, what), what)
    epsilon = max(float(epsilon), LEAST_EPSILON)
    if is_training and (mean is not None or variance is not None):
        raise ArgumentError(f"{what}: mean and variance are the batch's own in training")
    if not is_training and (mean is None or variance is None):
        raise ArgumentError(f"{what}: give mean and variance where it isn't training")
    if not is_training:
        m, v = (K.stop_gradient(K.cast(as_tensor(t, what), x.dtype)) for t in (mean, variance))
        y = batch_normalization(x, m, v, offset, scale, epsilon)
        return BatchNorm(layout.back(y), K.identity(m), K.identity(v))
    m, v = K.mean(x, (0, 1, 2)), K.var(x, (0, 1, 2))
    y = batch_normalization(x, m, v, offset, scale, epsilon)
    count = K.cast(K.size(x), x.dtype) / K.cast(size_of(x, 3), x.dtype)
    unbiased = v * (count / K.maximum(count - 1.0, 1.0))
    return BatchNorm(layout.back(y), K.stop_gradient(m), K.stop_gradient(unbiased))


def batch_norm_with_global_normalization(
    t: Any, m: Any, v: Any, beta: Any, gamma: Any, variance_epsilon: float,
    scale_after_normalization: bool, input: Any, mean: Any, variance: Any, what: str,
) -> Any:  # fmt: skip
    x, m, v = (new if old is None else old for old, new in ((t, input), (m, mean), (v, variance)))
    scale = gamma if scale_after_normalization else None
    return batch_normalization(as_tensor(x, what), m, v, beta, scale, variance_epsilon)


# Losses ---------------------------------------------------------------------------------------


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool, what: str) -> Any:
    """exp(c) - z * c, for the logarithm c of what's expected of a Poisson distribution.

    Args:
        compute_full_loss: adds Stirling's formula for the logarithm of the factorial of `targets`.
    """
    z, c = promoted((targets, log_input), what)
    loss = ew.exp(c) - c * z
    if not compute_full_loss:
        return loss
    small = K.less_equal(z, 1.0)
    safe = chosen(small, full_like(z, 2), z)
    stirling = safe * ew.log(safe) - safe + 0.5 * ew.log(2.0 * math.pi * safe)
    within = ew.logical_and(small, K.greater_equal(z, 0.0))
    return loss + chosen(within, full_like(z, 0), stirling)


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, targets: Any, what: str
) -> Any:
    """A binary cross-entropy in which what's missed costs `pos_weight` times as much."""
    z, x = promoted((targets if labels is None else labels, logits), what)
    weight = 1.0 + (pos_weight - 1.0) * z
    away = ew.log1p(ew.exp(-K.abs(x))) + K.relu(-x)
    return (1.0 - z) * x + weight * away


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any, global_batch_size: Any, what: str
) -> Any:
    """The sum of losses by the size of the batch."""
    loss = as_float(per_example_loss, what)
    whole = size_of(loss, 0) if global_batch_size is None else global_batch_size
    weighted = loss if sample_weight is None else loss * sample_weight
    return K.sum(weighted) / K.cast(whole, loss.dtype)


def zero_fraction(value: Any, what: str) -> Any:
    """The share of zeros."""
    return K.mean(K.cast(K.equal(as_tensor(value, what), 0), "float32"))


# Activations ----------------------------------------------------------------------------------


def crelu(features: Any, axis: int, what: str) -> Any:
    """What's above zero, and beside it what's below.

    Source: Shang et al., "Understanding and improving convolutional neural networks via
    concatenated rectified linear units" (2016).
    """
    x = as_tensor(features, what)
    return K.relu(K.concatenate([x, -x], axis=axis))


def relu_layer(x: Any, weights: Any, biases: Any, what: str) -> Any:
    return K.relu(xw_plus_b(x, weights, biases))


PLAIN = called({
    "nn.weighted_moments": weighted_moments, "nn.sufficient_statistics": sufficient_statistics,
    "nn.normalize_moments": normalize_moments, "nn.fused_batch_norm": fused_batch_norm,
    "nn.batch_norm_with_global_normalization": batch_norm_with_global_normalization,
    "nn.log_poisson_loss": log_poisson_loss,
    "nn.weighted_cross_entropy_with_logits": weighted_cross_entropy_with_logits,
    "nn.compute_average_loss": compute_average_loss,
    "nn.scale_regularization_loss": lambda regularization_loss, what: K.sum(regularization_loss),
    "math.zero_fraction": zero_fraction, "nn.crelu": crelu, "nn.relu_layer": relu_layer,
})  # fmt: skip
