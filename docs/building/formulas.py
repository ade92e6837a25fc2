"""Formulas of functions, as TeX: what their docstrings say in words or in code.

`x` is the first argument, `y` the result.
"""

from __future__ import annotations

from typing import NamedTuple


class Formula(NamedTuple):
    """A formula.

    Attributes:
        tex: in TeX.
        where: what its letters mean, where that isn't plain.
    """

    tex: str
    where: str = ""


WINDOWS = (
    "Here *w* is the kernel, *s* the stride and *d* the dilation; *i* and *j* are places, *k* and"
    " *l* cells of the window; *c* are channels of the input, *o* and *m* those of the output."
)
TARGETS = "Here *t* is the target, and *p* the output."

FORMULAS: dict[str, Formula] = {
    "relu": Formula(r"y = \max(x, 0)"),
    "elu": Formula(
        r"y = \begin{cases} x & x > 0 \\ \alpha (e^x - 1) & x \le 0 \end{cases}",
        "Here α is `alpha`.",
    ),
    "softmax": Formula(r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}"),
    "softplus": Formula(r"y = \log(1 + e^x)"),
    "softsign": Formula(r"y = \frac{x}{1 + |x|}"),
    "sigmoid": Formula(r"y = \frac{1}{1 + e^{-x}}"),
    "hard_sigmoid": Formula(r"y = \min(\max(0.2 x + 0.5, 0), 1)"),
    "tanh": Formula(r"y = \frac{e^x - e^{-x}}{e^x + e^{-x}}"),
    "mean": Formula(r"y = \frac{1}{n} \sum_i x_i"),
    "var": Formula(r"y = \frac{1}{n} \sum_i (x_i - \bar{x})^2", "The mean is written with a bar."),
    "std": Formula(
        r"y = \sqrt{\frac{1}{n} \sum_i (x_i - \bar{x})^2}", "The mean is written with a bar."
    ),
    "sum": Formula(r"y = \sum_i x_i"),
    "prod": Formula(r"y = \prod_i x_i"),
    "cumsum": Formula(r"y_k = \sum_{i \le k} x_i"),
    "cumprod": Formula(r"y_k = \prod_{i \le k} x_i"),
    "logsumexp": Formula(r"y = \log \sum_i e^{x_i}"),
    "dot": Formula(r"y_{ij} = \sum_k x_{ik} w_{kj}", "Here *w* is `y`, of two axes like *x*."),
    "l2_normalize": Formula(
        r"y_i = \frac{x_i}{\sqrt{\sum_j x_j^2}}", "A sum below 1e-12 counts as 1e-12."
    ),
    "batch_normalization": Formula(
        r"y = \frac{x - \mathrm{mean}}{\sqrt{\mathrm{var} + \varepsilon}} \gamma + \beta",
        "Here β is `beta`, γ is `gamma` and ε is `epsilon`.",
    ),
    "moving_average_update": Formula(
        r"x \leftarrow m x + (1 - m) v", "Here *m* is the momentum, and *v* the value."
    ),
    "categorical_crossentropy": Formula(r"y = - \sum_i t_i \log p_i", TARGETS),
    "sparse_categorical_crossentropy": Formula(r"y = - \log p_t", TARGETS),
    "binary_crossentropy": Formula(r"y = - t \log p - (1 - t) \log (1 - p)", TARGETS),
    "conv1d": Formula(r"y_{i,o} = \sum_{k,c} x_{s i + d k, c} w_{k,c,o}", WINDOWS),
    "conv2d": Formula(r"y_{i,j,o} = \sum_{k,l,c} x_{s i + d k, s j + d l, c} w_{k,l,c,o}", WINDOWS),
    "depthwise_conv2d": Formula(
        r"y_{i,j,c,m} = \sum_{k,l} x_{s i + d k, s j + d l, c} w_{k,l,c,m}", WINDOWS
    ),
    "gradients": Formula(
        r"g_i = \frac{\partial \sum_j y_j}{\partial x_i}",
        "Here *y* is the loss, and *x* a variable.",
    ),
    "ctc_batch_cost": Formula(
        r"y = - \log \sum_{\pi} \prod_t p_{t, \pi_t}",
        "The sum is over all alignments π of the labels; *t* is a step.",
    ),
    "clip": Formula(r"y = \min(\max(x, a), b)", "Here *a* is `min_value`, and *b* is `max_value`."),
    "square": Formula(r"y = x^2"),
}
