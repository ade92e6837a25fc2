"""A page of a user's code; the type checkers complain of the lines that say so, and of no other."""

from __future__ import annotations

import numpy as np

import kameleon
from kameleon import backend as K


def scaled(x: K.Tensor, by: K.Variable) -> K.Tensor:
    """A product."""
    return x * by


class Layer:
    """A layer of the user's own."""

    def __init__(self, units: int) -> None:
        self.kernel: K.Variable = K.variable(np.zeros((3, units)), name="kernel")
        self.bias = K.variable(np.zeros(units))

    def __call__(self, x: K.Tensor) -> K.Tensor:
        return K.relu(K.bias_add(K.dot(x, self.kernel), self.bias), alpha=0.1)


def norm(x: K.Tensor) -> K.Tensor:
    """The root of the sum of the squares."""
    return K.sqrt(K.sum(K.square(x), axis=-1, keepdims=True))


x = K.placeholder((None, 3))
y = norm(Layer(4)(x)) + 1
half = scaled(-x / 2, K.variable(0.5))[:, 0]
step = K.function([x], [y, half], engine="numpy", as_numpy=True)
arrays = step([np.ones((2, 3))])

images = K.zeros((1, 4, 4, 1))
same = K.conv2d(images, K.zeros((2, 2, 1, 1)), padding="same", data_format="channels_last")
largest = K.pool2d(images, (2, 2), pool_mode="max")
with K.using_engine("numpy"):
    value = K.eval(K.resize_images(same, 2, 2, "channels_last", interpolation="bilinear"))
kameleon.set_engine("numpy")

K.conv2d(images, K.zeros((2, 2, 1, 1)), padding="sam")  # wrong
K.conv2d(images, K.zeros((2, 2, 1, 1)), paddin="same")  # wrong
K.pool2d(images, (2, 2), pool_mode="mean")  # wrong
K.resize_images(images, 2, 2, "channels_lost")  # wrong
K.function([x], [y], engin="numpy")  # wrong
K.functon([x], [y])  # wrong
scaled(x, by=2)  # wrong
kameleon.compar("numpy")  # wrong
