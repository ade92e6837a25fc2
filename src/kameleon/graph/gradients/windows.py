"""Gradients of convolutions, pools and patches: the adjoints, and the adjoints' own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.node import Node
from ..primitives.conv import (
    conv,
    conv_input,
    conv_kernel,
    depthwise_conv,
    depthwise_input,
    depthwise_kernel,
)
from ..primitives.pool import pool_pick, sum_pool, sum_unpool, unpool
from ..primitives.sizes import Size, dims_of
from ..primitives.windows import fold, patches
from .rules import Rule, jointly, of_first


def _space(x: Node) -> list[Size]:
    return dims_of(x)[1:-1]


def _conv_input_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    g, k, window = *y.operands[:2], y.attrs["window"]
    to_g = conv(gs[0], k, window=window) if needed[0] else None
    to_k = conv_kernel(gs[0], g, window=window) if needed[1] else None
    return [to_g, to_k] + [None] * (len(needed) - 2)


def _depthwise_input_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    g, k, window = *y.operands[:2], y.attrs["window"]
    multiplier = k.shape[-1]
    to_g = depthwise_conv(gs[0], k, window=window) if needed[0] else None
    to_k = depthwise_kernel(gs[0], g, window=window, multiplier=multiplier) if needed[1] else None
    return [to_g, to_k] + [None] * (len(needed) - 2)


def _max_pool_back(y: Node, gs: Any, needed: tuple[bool, ...]) -> Sequence[Node | None]:
    x, window = y.operands[0], y.attrs["window"]
    return [unpool(gs[0], y.results[1], _space(x), window)]


RULES: dict[str, Rule] = {
    "conv": [
        lambda g, y, x, k, window: conv_input(g, k, _space(x), window),
        lambda g, y, x, k, window: conv_kernel(x, g, window=window),
    ],
    "conv_input": jointly(_conv_input_back),
    "conv_kernel": [
        lambda g, y, x, up, window: conv_input(up, g, _space(x), window),
        lambda g, y, x, up, window: conv(x, g, window=window),
    ],
    "depthwise_conv": [
        lambda g, y, x, k, window: depthwise_input(g, k, _space(x), window),
        lambda g, y, x, k, window: depthwise_kernel(x, g, window=window, multiplier=k.shape[-1]),
    ],
    "depthwise_input": jointly(_depthwise_input_back),
    "depthwise_kernel": [
        lambda g, y, x, up, window, multiplier: depthwise_input(up, g, _space(x), window),
        lambda g, y, x, up, window, multiplier: depthwise_conv(x, g, window=window),
    ],
    "max_pool": jointly(_max_pool_back),
    "unpool": of_first(lambda g, y, space, window: pool_pick(g, y.operands[1], window=window)),
    "pool_pick": [lambda g, y, x, index, window: unpool(g, index, _space(x), window), None],
    "sum_pool": [lambda g, y, x, window: sum_unpool(g, _space(x), window)],
    "sum_unpool": of_first(lambda g, y, space, window: sum_pool(g, window=window)),
    "patches": [lambda g, y, x, window: fold(g, _space(x), window)],
    "fold": of_first(lambda g, y, space, window: patches(g, window)),
}
