"""Learning rates that fall with the steps: functions of `tf.train`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...backend import surface as K
from ...backend._tensors import as_float, as_tensor
from ...errors import ArgumentError
from ...prims import elementwise as ew


def _rate_and_step(learning_rate: Any, global_step: Any, what: str) -> tuple[Any, Any]:
    if global_step is None:
        raise ArgumentError(f"{what}: global_step is required")
    rate = as_float(learning_rate, what)
    return rate, K.cast(as_tensor(global_step, what), rate.dtype)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """learning_rate * decay_rate ** (global_step / decay_steps)"""
    rate, step = _rate_and_step(learning_rate, global_step, "exponential_decay")
    periods = _periods(step, decay_steps, staircase)
    return rate * K.pow(as_tensor(decay_rate, "exponential_decay", rate.dtype), periods)


def _periods(step: Any, decay_steps: Any, staircase: bool) -> Any:
    periods = step / K.cast(decay_steps, step.dtype)
    return ew.floor(periods) if staircase else periods


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)"""
    rate, step = _rate_and_step(learning_rate, global_step, "natural_exp_decay")
    return rate * K.exp(-decay_rate * _periods(step, decay_steps, staircase))


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)"""
    rate, step = _rate_and_step(learning_rate, global_step, "inverse_time_decay")
    return rate / (1.0 + decay_rate * _periods(step, decay_steps, staircase))


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Any:
    """From `learning_rate` to `end_learning_rate` in `decay_steps`; `cycle` begins again then."""
    rate, step = _rate_and_step(learning_rate, global_step, "polynomial_decay")
    steps = K.cast(decay_steps, rate.dtype)
    if cycle:
        steps = steps * K.maximum(ew.ceil(step / steps), 1.0)
    else:
        step = K.minimum(step, steps)
    left = 1.0 - step / steps
    return (rate - end_learning_rate) * K.pow(left, power) + end_learning_rate


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Any:
    """values[0] up to boundaries[0], that included; values[1] up to boundaries[1]; and so on."""
    if len(boundaries) != len(values) - 1:
        raise ArgumentError(
            f"piecewise_constant: {len(boundaries)} boundaries and {len(values)} values;"
            " expected one value more than boundaries"
        )
    step = as_tensor(x, "piecewise_constant")
    result = as_tensor(values[-1], "piecewise_constant")
    for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
        result = K.switch(K.less_equal(step, boundary), as_tensor(value, "values"), result)
    return result


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Half a cosine, from 1 to `alpha`.

    Source: Loshchilov and Hutter, "SGDR: Stochastic gradient descent with warm restarts" (2016).
    """
    rate, step = _rate_and_step(learning_rate, global_step, "cosine_decay")
    done = K.minimum(step, K.cast(decay_steps, rate.dtype)) / K.cast(decay_steps, rate.dtype)
    return rate * ((1.0 - alpha) * _cosine(done) + alpha)


def _cosine(done: Any) -> Any:
    return 0.5 * (1.0 + K.cos(math.pi * done))


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Half cosines one after the other, each `t_mul` times as long and `m_mul` times as high.

    Source: as `cosine_decay`.
    """
    rate, step = _rate_and_step(learning_rate, global_step, "cosine_decay_restarts")
    done = step / K.cast(first_decay_steps, rate.dtype)
    if t_mul == 1.0:
        restarts = ew.floor(done)
        part = done - restarts
    else:
        # The lengths of n cosines sum to (1 - t_mul ** n) / (1 - t_mul).
        restarts = ew.floor(K.log(1.0 - done * (1.0 - t_mul)) / math.log(t_mul))
        longer = K.exp(restarts * math.log(t_mul))
        part = (done - (1.0 - longer) / (1.0 - t_mul)) / longer
    height = K.pow(as_tensor(m_mul, "cosine_decay_restarts", rate.dtype), restarts)
    return rate * ((1.0 - alpha) * height * _cosine(part) + alpha)


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Any:
    """A line times a cosine.

    Source: Bello et al., "Neural optimizer search with reinforcement learning" (2017).
    """
    rate, step = _rate_and_step(learning_rate, global_step, "linear_cosine_decay")
    return _line_and_cosine(rate, step, decay_steps, num_periods, alpha, beta, None)


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Any:
    """`linear_cosine_decay` with noise on the line, whose variance falls with the steps."""
    rate, step = _rate_and_step(learning_rate, global_step, "noisy_linear_cosine_decay")
    at = K.minimum(step, K.cast(decay_steps, rate.dtype))
    deviation = K.sqrt(initial_variance / K.pow(1.0 + at, variance_decay))
    noise = K.random_normal((), dtype=rate.dtype) * deviation
    return _line_and_cosine(rate, step, decay_steps, num_periods, alpha, beta, noise)


def _line_and_cosine(
    rate: Any, step: Any, decay_steps: Any, num_periods: Any, alpha: Any, beta: Any, noise: Any
) -> Any:
    steps = K.cast(decay_steps, rate.dtype)
    at = K.minimum(step, steps)
    line = (steps - at) / steps
    line = line if noise is None else line + noise
    return rate * ((alpha + line) * _cosine(2.0 * num_periods * at / steps) + beta)


NAMES: dict[str, Any] = {
    f"train.{function.__name__}": function
    for function in (
        exponential_decay, natural_exp_decay, inverse_time_decay, polynomial_decay,
        piecewise_constant, cosine_decay, cosine_decay_restarts, linear_cosine_decay,
        noisy_linear_cosine_decay,
    )
}  # fmt: skip
