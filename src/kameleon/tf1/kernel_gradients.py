"""Gradients of single operations, as TensorFlow 1's inside has them (`gen_nn_ops.relu_grad` …).

Programs call them in gradients of their own, such as those of guided backpropagation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..backend._tensors import as_tensor
from . import arrays, pools
from .differentiation import gradients as gradients_of

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _where(condition: Any, chosen: Any) -> Any:
    return K.switch(condition, chosen, K.zeros_like(chosen))


def relu_grad(gradients: Any, features: Any, name: Any = None) -> Any:
    """gradients where features > 0, else 0; `features` may be relu's argument or its result."""
    return _where(features > 0, gradients)


def relu6_grad(gradients: Any, features: Any, name: Any = None) -> Any:
    """gradients where 0 < features < 6, else 0."""
    return _where(K.minimum(features, 6 - features) > 0, gradients)


def leaky_relu_grad(gradients: Any, features: Any, alpha: float = 0.2, name: Any = None) -> Any:
    """gradients, alpha of them where features aren't over 0."""
    return K.switch(features > 0, gradients, gradients * alpha)


def elu_grad(gradients: Any, outputs: Any, name: Any = None) -> Any:
    """Of elu, by its result y: gradients (y + 1) where y < 0."""
    return K.switch(outputs < 0, gradients * (outputs + 1), gradients)


def selu_grad(gradients: Any, outputs: Any, name: Any = None) -> Any:
    """Of selu, by its result y: gradients (y + scale alpha) where y < 0, else gradients scale."""
    low = gradients * (outputs + SELU_SCALE * SELU_ALPHA)
    return K.switch(outputs < 0, low, gradients * SELU_SCALE)


def softplus_grad(gradients: Any, features: Any, name: Any = None) -> Any:
    """gradients sigmoid(features)."""
    return gradients * K.sigmoid(features)


def softsign_grad(gradients: Any, features: Any, name: Any = None) -> Any:
    """gradients / (1 + |features|)²."""
    return gradients / K.square(1 + K.abs(features))


def sigmoid_grad(y: Any, dy: Any, name: Any = None) -> Any:
    """Of sigmoid, by its result: dy y (1 - y)."""
    return dy * y * (1 - y)


def tanh_grad(y: Any, dy: Any, name: Any = None) -> Any:
    """Of tanh, by its result: dy (1 - y²)."""
    return dy * (1 - K.square(y))


def bias_add_grad(out_backprop: Any, data_format: str = "NHWC", name: Any = None) -> Any:
    """The sum over all axes but that of channels."""
    g = as_tensor(out_backprop, "bias_add_grad")
    channels = 1 if str(data_format).startswith("NC") else g.ndim - 1
    return K.sum(g, [axis for axis in range(g.ndim) if axis != channels])


def _of_max(kind: str, layout: str) -> Callable[..., Any]:
    def gradient(
        orig_input: Any, orig_output: Any, grad: Any, ksize: Any, strides: Any, padding: Any,
        data_format: str = layout, name: Any = None,
    ) -> Any:  # fmt: skip
        """What flows to the input of a pool: to the first of equal maxima."""
        x = as_tensor(orig_input, "max_pool_grad")
        y = pools.PLAIN[kind](x, ksize, strides, padding, data_format=data_format)
        return gradients_of(y, x, grad_ys=grad)[0]

    return gradient


def _of_average(kind: str, layout: str) -> Callable[..., Any]:
    def gradient(
        orig_input_shape: Any, grad: Any, ksize: Any, strides: Any, padding: Any,
        data_format: str = layout, name: Any = None,
    ) -> Any:  # fmt: skip
        """What flows to the input of a pool, whose sizes are given."""
        g = as_tensor(grad, "avg_pool_grad")
        x = arrays.PLAIN["zeros"](orig_input_shape, g.dtype)
        y = pools.PLAIN[kind](x, ksize, strides, padding, data_format=data_format)
        return gradients_of(y, x, grad_ys=g)[0]

    return gradient


NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{
        f"python.ops.gen_nn_ops.{function.__name__}": function
        for function in (
            relu_grad, relu6_grad, leaky_relu_grad, elu_grad, selu_grad, softplus_grad,
            softsign_grad, bias_add_grad,
        )
    },
    **{f"python.ops.gen_math_ops.{f.__name__}": f for f in (sigmoid_grad, tanh_grad)},
    # Before TensorFlow 1.5 these names began with an underscore.
    "python.ops.gen_nn_ops._relu_grad": relu_grad,
    "python.ops.gen_nn_ops._elu_grad": elu_grad,
    "python.ops.gen_nn_ops.max_pool_grad": _of_max("nn.max_pool", "NHWC"),
    "python.ops.gen_nn_ops._max_pool_grad": _of_max("nn.max_pool", "NHWC"),
    "python.ops.gen_nn_ops.max_pool3d_grad": _of_max("nn.max_pool3d", "NDHWC"),
    "python.ops.gen_nn_ops.avg_pool_grad": _of_average("nn.avg_pool", "NHWC"),
    "python.ops.gen_nn_ops._avg_pool_grad": _of_average("nn.avg_pool", "NHWC"),
    "python.ops.gen_nn_ops.avg_pool3d_grad": _of_average("nn.avg_pool3d", "NDHWC"),
}  # fmt: skip
