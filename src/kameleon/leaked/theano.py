"""`K.T` and `K.theano`: what programs took from Theano through the backend module."""

from __future__ import annotations

import operator
from typing import Any

from ..backend import surface as K
from ..tf1.modules import module
from .parts import LeakedModule

tf: Any = module("tensorflow")

HINTS = {
    "scan": "K.rnn, K.foldl or K.map_fn",
    "function": "K.function(inputs, outputs, updates)",
    "shared": "K.variable(value)",
    "grad": "K.gradients(loss, variables)",
    "gradient": "K.gradients(loss, variables)",
    "ifelse": "K.switch",
    "sandbox": "K functions",
    "set_subtensor": "K.update with the whole new value, or K.switch",
    "inc_subtensor": "K.one_hot times the increment, added",
    "tril": "K.constant(numpy.tril(…)) as a mask",
    "triu": "K.constant(numpy.triu(…)) as a mask",
    "tensordot": "K.dot or K.batch_dot",
    "nlinalg": "numpy.linalg, outside of the graph",
}


def _concatenate(tensor_list: Any, axis: int = 0) -> Any:
    return K.concatenate(list(tensor_list), axis=axis)


def _reduced(function: Any) -> Any:
    def call(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        return function(x if dtype is None else K.cast(x, dtype), axis=axis, keepdims=keepdims)

    return call


NETWORKS = {
    "softmax": K.softmax,
    "sigmoid": K.sigmoid,
    "hard_sigmoid": K.hard_sigmoid,
    "softplus": K.softplus,
    "softsign": K.softsign,
    "relu": K.relu,
    "elu": K.elu,
    "binary_crossentropy": lambda output, target: K.binary_crossentropy(target, output),
    "categorical_crossentropy": lambda output, target: K.categorical_crossentropy(target, output),
}

TENSORS: dict[str, Any] = {
    **{
        name: _reduced(getattr(K, name)) for name in "sum mean max min prod any all std var".split()
    },
    **{
        name: getattr(K, name)
        for name in """abs sqrt exp log sin cos tanh maximum minimum clip stack
            zeros_like ones_like eye switch cast arange tile reshape dot""".split()
    },
    **{name: getattr(tf, name) for name in "floor ceil".split()},
    "concatenate": _concatenate,
    "sqr": K.square,
    "abs_": K.abs,
    "sgn": K.sign,
    "pow": K.pow,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "true_div": operator.truediv,
    "eq": K.equal,
    "neq": K.not_equal,
    "gt": K.greater,
    "ge": K.greater_equal,
    "lt": K.less,
    "le": K.less_equal,
    "argmax": lambda x, axis=-1: K.argmax(x, axis),
    "argmin": lambda x, axis=-1: K.argmin(x, axis),
    "transpose": lambda x, axes=None: tf.transpose(x, axes),
    "batched_dot": lambda a, b: K.batch_dot(a, b),
    "grad": lambda cost, wrt: K.gradients(cost, wrt),
    "nnet": LeakedModule("K.T.nnet", NETWORKS, {"conv2d": "K.conv2d"}),
}

T = LeakedModule("K.T", TENSORS, HINTS)
theano = LeakedModule("K.theano", {"tensor": T}, HINTS)
