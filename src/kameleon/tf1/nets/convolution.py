"""`tf.layers`: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...backend import surface as K
from ...backend._words import PoolMode
from ...errors import ArgumentError, ShapeError
from ..initializers import Zeros
from .base import Layer, activated, as_function

ONES: dict[int, Any] = {1: 1, 2: (1, 1), 3: (1, 1, 1)}


def sizes(value: Any, rank: int, what: str) -> tuple[int, ...]:
    """A number for each axis."""
    if isinstance(value, int):
        return (value,) * rank
    found = tuple(int(v) for v in value)
    if len(found) != rank:
        raise ArgumentError(f"{what} must be a number, or {rank} of them, not {value!r}")
    return found


def _maker(rank: int) -> Callable[..., None]:
    """The `__init__` of a convolution over so many axes."""

    def __init__(
        self: Any,
        filters: int,
        kernel_size: Any,
        strides: Any = ONES[rank],
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = ONES[rank],
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        Layer.__init__(self, trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self._set(filters, kernel_size, strides, padding, data_format, activation, use_bias)
        self.dilation_rate = sizes(dilation_rate, rank, "dilation_rate")
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    return __init__


class Convolution(Layer):
    """activation(x * kernel + bias), over `rank` axes."""

    rank = 0
    filters: int
    padding: Any
    data_format: Any
    kernel_initializer: Any
    kernel_regularizer: Any
    kernel_constraint: Any
    bias_initializer: Any
    bias_regularizer: Any
    bias_constraint: Any
    dilation_rate: tuple[int, ...] = ()
    kernel: Any = None
    bias: Any = None

    def _set(
        self, filters: int, kernel_size: Any, strides: Any, padding: str, data_format: str,
        activation: Any, use_bias: bool,
    ) -> None:  # fmt: skip
        self.filters = int(filters)
        self.kernel_size = sizes(kernel_size, self.rank, "kernel_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding, self.data_format = padding.lower(), data_format.lower()
        self.activation, self.use_bias = activation, use_bias

    def _channels(self, input_shape: Any) -> int:
        axis = 1 if self.data_format == "channels_first" else -1
        channels = input_shape[axis].value
        if channels is None:
            raise ShapeError(f"{self._base_name}: the number of channels must be known")
        return int(channels)

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(
            "kernel", self._kernel_shape(self._channels(input_shape)),
            initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )  # fmt: skip
        self._build_bias()

    def _build_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.filters], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, constraint=self.bias_constraint,
            )  # fmt: skip

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, channels, self.filters]

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        y = self._convolved(inputs)
        if self.use_bias:
            y = K.bias_add(y, self.bias, self.data_format)
        return activated(self.activation, y)

    def _convolved(self, x: Any) -> Any:
        if self.rank == 1:
            moves = self.strides[0], self.padding, self.data_format, self.dilation_rate[0]
            return K.conv1d(x, self.kernel, *moves)
        function = K.conv2d if self.rank == 2 else K.conv3d
        return function(
            x, self.kernel, self.strides, self.padding, self.data_format, self.dilation_rate
        )


class Conv1D(Convolution):
    """A convolution over steps."""

    rank = 1
    __init__ = _maker(1)


class Conv2D(Convolution):
    """A convolution over rows and columns."""

    rank = 2
    __init__ = _maker(2)


class Conv3D(Convolution):
    """A convolution over three axes."""

    rank = 3
    __init__ = _maker(3)


# Transposed ---------------------------------------------------------------------------------------


def _transposed_maker(rank: int) -> Callable[..., None]:
    plain = _maker(rank)

    def __init__(
        self: Any,
        filters: int,
        kernel_size: Any,
        strides: Any = ONES[rank],
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        plain(
            self, filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
            activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip

    return __init__


class Transposed(Convolution):
    """The transpose of a convolution: what has its size becomes what that one takes."""

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, self.filters, channels]

    def _convolved(self, x: Any) -> Any:
        first = self.data_format == "channels_first"
        places = range(2, 2 + self.rank) if first else range(1, 1 + self.rank)
        longer = [
            self._longer(K.shape(x)[i] if x.shape[i] is None else x.shape[i], k, s)
            for i, k, s in zip(places, self.kernel_size, self.strides, strict=True)
        ]
        batch = K.shape(x)[0] if x.shape[0] is None else x.shape[0]
        shape = (batch, self.filters, *longer) if first else (batch, *longer, self.filters)
        function = K.conv2d_transpose if self.rank == 2 else K.conv3d_transpose
        return function(x, self.kernel, shape, self.strides, self.padding, self.data_format)

    def _longer(self, size: Any, kernel: int, stride: int) -> Any:
        return size * stride + (max(kernel - stride, 0) if self.padding == "valid" else 0)


class Conv2DTranspose(Transposed):
    """The transpose of a convolution over rows and columns."""

    rank = 2
    __init__ = _transposed_maker(2)


class Conv3DTranspose(Transposed):
    """The transpose of a convolution over three axes."""

    rank = 3
    __init__ = _transposed_maker(3)


# Separable ----------------------------------------------------------------------------------------


def _separable_maker(rank: int) -> Callable[..., None]:
    plain = _maker(rank)

    def __init__(
        self: Any,
        filters: int,
        kernel_size: Any,
        strides: Any = ONES[rank],
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = ONES[rank],
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = Zeros(),
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        plain(
            self, filters, kernel_size, strides, padding, data_format, dilation_rate, activation,
            use_bias, None, bias_initializer, None, bias_regularizer, activity_regularizer, None,
            bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.parts = {
            "depthwise": (depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            "pointwise": (pointwise_initializer, pointwise_regularizer, pointwise_constraint),
        }

    return __init__


class Separable(Convolution):
    """A convolution of each channel alone, then one that mixes channels at each place."""

    depth_multiplier: int
    parts: dict[str, tuple[Any, Any, Any]]

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        ones = [1] * self.rank
        shapes = {
            "depthwise": [*self.kernel_size, channels, self.depth_multiplier],
            "pointwise": [*ones, channels * self.depth_multiplier, self.filters],
        }
        for part, (initializer, regularizer, constraint) in self.parts.items():
            kernel = self.add_weight(
                f"{part}_kernel", shapes[part], initializer=initializer, regularizer=regularizer,
                constraint=constraint,
            )  # fmt: skip
            setattr(self, f"{part}_kernel", kernel)
        self._build_bias()

    def _convolved(self, x: Any) -> Any:
        kernels = vars(self)["depthwise_kernel"], vars(self)["pointwise_kernel"]
        if self.rank == 1:
            step, rate = self.strides[0], self.dilation_rate[0]
            return K.separable_conv1d(x, *kernels, step, self.padding, self.data_format, rate)
        return K.separable_conv2d(
            x, *kernels, self.strides, self.padding, self.data_format, self.dilation_rate
        )


class SeparableConv1D(Separable):
    """A separable convolution over steps."""

    rank = 1
    __init__ = _separable_maker(1)


class SeparableConv2D(Separable):
    """A separable convolution over rows and columns."""

    rank = 2
    __init__ = _separable_maker(2)


# Pooling ------------------------------------------------------------------------------------------


class Pooling(Layer):
    """The largest or the mean of each window."""

    rank = 0
    mode: PoolMode = "max"
    padding: Any
    data_format: Any

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self.pool_size = sizes(pool_size, self.rank, "pool_size")
        self.strides = sizes(strides, self.rank, "strides")
        self.padding, self.data_format = padding.lower(), data_format.lower()

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        window: tuple[Sequence[int], Sequence[int]] = (self.pool_size, self.strides)
        if self.rank == 1:
            axis = 3 if self.data_format == "channels_first" else 2
            flat = K.expand_dims(inputs, axis)
            size, step = ((n, 1) for (n,) in window)
            y = K.pool2d(flat, size, step, self.padding, self.data_format, self.mode)
            return K.squeeze(y, axis)
        function = K.pool2d if self.rank == 2 else K.pool3d
        return function(inputs, *window, self.padding, self.data_format, self.mode)


POOLINGS: dict[str, Any] = {
    f"{words}Pooling{rank}D": type(f"{words}Pooling{rank}D", (Pooling,), {"rank": rank, "mode": m})
    for words, m in (("Max", "max"), ("Average", "avg"))
    for rank in (1, 2, 3)
}
CONVOLUTIONS: dict[str, Any] = {
    "conv1d": Conv1D, "conv2d": Conv2D, "conv3d": Conv3D, "conv2d_transpose": Conv2DTranspose,
    "conv3d_transpose": Conv3DTranspose, "separable_conv1d": SeparableConv1D,
    "separable_conv2d": SeparableConv2D,
}  # fmt: skip
NAMES: dict[str, Any] = {}
PLAIN: dict[str, Any] = {
    **{f"layers.{name}": kind for name, kind in POOLINGS.items()},
    **{f"layers.{kind.__name__}": kind for kind in CONVOLUTIONS.values()},
    **{f"layers.{name}": as_function(kind, name) for name, kind in CONVOLUTIONS.items()},
    **{
        f"layers.{words.lower()}_pooling{rank}d": as_function(
            POOLINGS[f"{words}Pooling{rank}D"], f"{words.lower()}_pooling{rank}d", shared=False
        )
        for words in ("Max", "Average")
        for rank in (1, 2, 3)
    },
}
