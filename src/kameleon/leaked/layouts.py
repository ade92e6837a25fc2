"""Private functions of the TensorFlow backend that bring images to TensorFlow's layout and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import surface as K
from ..backend._tensors import Tensor
from ..errors import ArgumentError

# By number of spatial axes, TensorFlow's name of its layout.
CHANNELS_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def preprocess(rank: int) -> Callable[..., tuple[Tensor, str]]:
    """`_preprocess_conv1d_input` and its like, for `rank` spatial axes."""

    def input_(x: Tensor, data_format: str, force_transpose: bool = False) -> tuple[Tensor, str]:
        """The images with their channels last, and TensorFlow's name of that layout."""
        if data_format == "channels_first":
            x = K.permute_dimensions(x, (0, *range(2, rank + 2), 1))
        return x, CHANNELS_LAST[rank]

    return input_


def postprocess(rank: int) -> Callable[..., Tensor]:
    """`_postprocess_conv2d_output` and its like, for `rank` spatial axes."""

    def output(x: Tensor, data_format: str) -> Tensor:
        """Images whose channels are last, in the layout `data_format`."""
        if data_format == "channels_first":
            x = K.permute_dimensions(x, (0, rank + 1, *range(1, rank + 1)))
        return x

    return output


def padding(padding: str) -> str:
    """`_preprocess_padding`: TensorFlow's name for 'same' or 'valid'.

    Raises:
        ArgumentError: (a ValueError) another name.
    """
    if padding not in ("same", "valid"):
        raise ArgumentError(
            f"_preprocess_padding: padding is {padding!r}; expected 'same' or 'valid'"
        )
    return padding.upper()


LAYOUTS: dict[str, Any] = {
    "_preprocess_padding": padding,
    **{f"_preprocess_conv{n}d_input": preprocess(n) for n in CHANNELS_LAST},
    **{f"_postprocess_conv{n}d_output": postprocess(n) for n in (2, 3)},
}
