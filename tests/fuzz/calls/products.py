"""Products of tensors; convolutions and pools."""

from __future__ import annotations

import numpy as np

from ..draft import Draft, Entry
from .table import Call, Table, float_of, layout

CALLS = Table()
call = CALLS.add


def _kernel(d: Draft, shape: tuple[int, ...], known: int) -> Entry:
    """A kernel of these sizes, the first ones known when it's built.

    Its numbers are finite, since engines may or may not multiply them by a margin's zeros.
    """

    def fits(e: Entry) -> bool:
        good = e.is_float and e.shape == shape and None not in e.node.shape[:known]
        return good and bool(np.isfinite(e.value).all())

    found = d.pick(fits) if d.flag(0.4) else None
    return found or d.input(shape, d.choice(["normal", "ties"]), known=known)


@call
def dot(d: Draft) -> str:
    x = d.float(2, 3)
    rest = () if d.flag(0.7) else (d.size(),)
    return f"K.dot({x.name}, {float_of(d, (*rest, x.shape[-1], d.size())).name})"


@call
def batch_dot(d: Draft) -> str:
    x = d.float(2, 3)
    a = d.int(1, x.ndim - 1)
    sizes = [x.shape[0], *(d.size() for _ in range(d.int(1, 2)))]
    b = d.int(1, len(sizes) - 1)
    sizes[b] = x.shape[a]
    return f"K.batch_dot({x.name}, {float_of(d, tuple(sizes)).name}, axes={[a, b]})"


@call
def bias_add(d: Draft) -> str:
    x = d.float(2, 5)
    form = layout(d)
    channels = x.shape[1] if form == "channels_first" else x.shape[-1]
    return f"K.bias_add({x.name}, {float_of(d, (channels,)).name}, {form!r})"


def _window(d: Draft, rank: int) -> tuple[Entry, str, int, str]:
    """An input with spatial axes, its layout, its channels, and padding."""
    form = layout(d)
    x = d.float(rank + 2, rank + 2)
    channels = x.shape[1] if form == "channels_first" else x.shape[-1]
    return x, form, channels, d.choice(["same", "valid"])


def _strides(d: Draft, rank: int) -> tuple[str, str]:
    """Strides and dilations: only one of them isn't 1."""
    one = (1,) * rank
    numbers = tuple(d.int(1, 3) for _ in range(rank))
    pair = [numbers, one] if d.flag(0.7) else [one, numbers]
    texts = [str(p[0] if rank == 1 else p) for p in pair]
    return texts[0], texts[1]


def _convolution(rank: int) -> Call:
    def draw(d: Draft) -> str:
        x, form, channels, padding = _window(d, rank)
        kernel = _kernel(d, (*(d.int(1, 3) for _ in range(rank)), channels, d.int(1, 3)), rank)
        strides, dilation = _strides(d, rank)
        return (
            f"K.conv{rank}d({x.name}, {kernel.name}, strides={strides}, padding={padding!r},"
            f" data_format={form!r}, dilation_rate={dilation})"
        )

    return draw


def _pool(rank: int) -> Call:
    def draw(d: Draft) -> str:
        x, form, _, padding = _window(d, rank)
        sizes, strides = (tuple(d.int(1, 3) for _ in range(rank)) for _ in range(2))
        return (
            f"K.pool{rank}d({x.name}, {sizes}, strides={strides}, padding={padding!r},"
            f" data_format={form!r}, pool_mode={d.choice(['max', 'avg'])!r})"
        )

    return draw


for _rank in (1, 2, 3):
    CALLS[f"conv{_rank}d"] = _convolution(_rank)
for _rank in (2, 3):
    CALLS[f"pool{_rank}d"] = _pool(_rank)


@call
def depthwise_conv2d(d: Draft) -> str:
    x, form, channels, padding = _window(d, 2)
    kernel = _kernel(d, (d.int(1, 3), d.int(1, 3), channels, d.int(1, 2)), 2)
    s = d.int(1, 2)
    return (
        f"K.depthwise_conv2d({x.name}, {kernel.name}, strides={(s, s)}, padding={padding!r},"
        f" data_format={form!r})"
    )


@call
def separable_conv(d: Draft) -> str:
    rank = d.choice([1, 2])
    x, form, channels, padding = _window(d, rank)
    deep = d.int(1, 2)
    depth = _kernel(d, (*(d.int(1, 3) for _ in range(rank)), channels, deep), rank)
    point = _kernel(d, (*(1,) * rank, channels * deep, d.int(1, 3)), rank)
    return (
        f"K.separable_conv{rank}d({x.name}, {depth.name}, {point.name}, padding={padding!r},"
        f" data_format={form!r})"
    )


def _transposed(rank: int) -> Call:
    def draw(d: Draft) -> str:
        x, form, channels, padding = _window(d, rank)
        made = d.int(1, 3)
        kernel = _kernel(d, (*(d.int(1, 3) for _ in range(rank)), made, channels), rank)
        strides = tuple(d.int(1, 2) for _ in range(rank))
        spatial = x.shape[2:] if form == "channels_first" else x.shape[1:-1]
        sizes = [
            n * s + (max(k - s, 0) if padding == "valid" else 0)
            for n, s, k in zip(spatial, strides, kernel.shape, strict=False)
        ]
        out = (made, *sizes) if form == "channels_first" else (*sizes, made)
        return (
            f"K.conv{rank}d_transpose({x.name}, {kernel.name}, {(x.shape[0], *out)},"
            f" strides={strides}, padding={padding!r}, data_format={form!r})"
        )

    return draw


def _local(rank: int) -> Call:
    """Each place has a kernel of its own; K asks for sizes that are known."""

    def draw(d: Draft) -> str | None:
        x, form, channels, _ = _window(d, rank)
        first = form == "channels_first"
        spatial = x.node.shape[2:] if first else x.node.shape[1:-1]
        sizes, strides = (tuple(d.int(1, 3) for _ in range(rank)) for _ in range(2))
        if None in x.node.shape[1:] or any(n < k for n, k in zip(spatial, sizes, strict=True)):
            return None
        out = [(n - k) // s + 1 for n, k, s in zip(spatial, sizes, strides, strict=True)]
        shape = (int(np.prod(out)), int(np.prod(sizes)) * channels, d.int(1, 3))
        shown = f", {tuple(out)}" if rank == 2 else ""
        return (
            f"K.local_conv{rank}d({x.name}, {_kernel(d, shape, 3).name}, {sizes}, {strides}{shown},"
            f" data_format={form!r})"
        )

    return draw


for _rank in (2, 3):
    CALLS[f"conv{_rank}d_transpose"] = _transposed(_rank)
for _rank in (1, 2):
    CALLS[f"local_conv{_rank}d"] = _local(_rank)
