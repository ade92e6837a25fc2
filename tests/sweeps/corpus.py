"""Cases that went wrong once: what is left out of a case is that of `USUAL`."""

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
}
