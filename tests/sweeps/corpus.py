"""Cases that went wrong once; fields that a case leaves out are those of `USUAL`."""

from __future__ import annotations

from typing import Any

from .cases import Case

USUAL: dict[str, Any] = {
    "batch": 2,
    "channels": 1,
    "filters": 3,
    "points": 2,
    "padding": "valid",
    "layout": "channels_last",
    "known": "all",
    "view": "fed",
    "cotangent": "fed",
    "mode": "max",
    "dtype": "float32",
    "second": False,
    "seed": 1,
}


def _case(function: str, space: Any, sizes: Any, strides: Any, **others: Any) -> Case:
    given = {"dilation": (1,) * len(sizes), **USUAL, **others}
    return Case(function=function, space=space, sizes=sizes, strides=strides, **given)


CASES = {
    "the kernel gradient of a strided window of one cell": _case(
        "conv2d", (60, 60), (1, 1), (2, 2), batch=32, channels=8, filters=16, padding="same"
    ),
    "the same along three axes, dilated": _case(
        "conv3d", (9, 2, 4), (1, 1, 1), (2, 3, 2), batch=4, channels=3, dilation=(2, 1, 2)
    ),
    "one channel and one place along a strided axis": _case("conv2d", (6, 4), (2, 2), (1, 3)),
    "the same, sizes unknown": _case("conv2d", (6, 4), (2, 2), (1, 3), known="channels"),
    "the same along three axes": _case("conv3d", (9, 6, 3), (2, 2, 2), (4, 1, 4), batch=7),
    "the same with margins": _case(
        "conv3d", (3, 6, 1), (3, 3, 3), (4, 1, 2), batch=7, padding="same"
    ),
    "depthwise, of one channel": _case("depthwise_conv2d", (8, 3), (5, 3), (1, 2), filters=1),
    "a mean over a space smaller than the window": _case(
        "pool3d", (4, 4, 1), (2, 2, 2), (1, 1, 1), padding="same", mode="avg"
    ),
    "no samples": _case("conv2d", (6, 5), (3, 3), (2, 1), batch=0, channels=2, padding="same"),
    "no samples, and that isn't known": _case(
        "conv2d", (6, 5), (3, 3), (2, 1), batch=0, channels=2, padding="same", known="space"
    ),
    "no samples, dilated": _case(
        "conv1d", (9,), (3,), (1,), batch=0, channels=2, dilation=(2,), known="space"
    ),
    "no samples of a transposed convolution": _case(
        "conv2d_transpose", (5, 5), (3, 3), (2, 2), batch=0, channels=2, known="space"
    ),
    "no samples of a depthwise convolution": _case(
        "depthwise_conv2d", (5, 7), (3, 3), (1, 1), batch=0, dilation=(2, 3), dtype="float64"
    ),
    "no samples of a pool": _case(
        "pool2d", (5, 7), (5, 5), (2, 1), batch=0, known="channels", second=True
    ),
    "no places": _case("conv2d", (2, 9), (3, 3), (1, 1), channels=2, known="channels"),
    "no places along three axes, strided": _case(
        "conv3d", (4, 1, 5), (2, 5, 3), (1, 2, 1), known="channels", second=True
    ),
    "no places of a maximum": _case("pool2d", (2, 7), (3, 3), (2, 2), known="channels"),
    "margins wider than strides, three axes": _case(
        "conv3d", (7, 3, 30), (7, 1, 7), (2, 1, 1), filters=36, padding="same", channels=2
    ),
    "no places of a mean": _case(
        "pool2d", (2, 7), (3, 3), (2, 2), known="channels", mode="avg", second=True
    ),
    "no places of a mean that moves on by one": _case(
        "pool2d", (9, 5), (1, 7), (1, 1), known="channels", mode="avg", cotangent="ones"
    ),
}
