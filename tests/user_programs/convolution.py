"""A small network of convolutions."""

from __future__ import annotations

import numpy as np

from kameleon import backend as K


class Convolution:
    """A kernel, and what is done with it."""

    def __init__(self, size: int, channels: tuple[int, int]) -> None:
        self.kernel = K.truncated_normal((size, size, *channels), stddev=0.1, seed=0)

    def __call__(self, x: K.Tensor) -> K.Tensor:
        y = K.conv2d(x, self.kernel, strides=(1, 1), padding="same", data_format="channels_last")
        return K.relu(y, alpha=0.2)


images = K.placeholder((None, 8, 8, 1))
y = K.pool2d(Convolution(3, (1, 4))(images), (2, 2), strides=(2, 2), pool_mode="avg")
y = K.spatial_2d_padding(y, padding=((1, 1), (1, 1)))
flat = K.batch_flatten(y)
rows, columns = K.int_shape(flat)
f = K.function([images], [y, flat], name="features")
maps, vectors = f([np.zeros((2, 8, 8, 1), "float32")])
assert maps.shape == (2, 6, 6, 4) and vectors.shape == (2, columns), rows

K.pool2d(images, (2, 2), pool_mode="average")  # wrong
K.conv2d(images, padding="same")  # wrong
Convolution(3, 4)  # wrong
maps.foo()  # wrong
