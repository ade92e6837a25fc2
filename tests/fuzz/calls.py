"""What programs call: by name, a function that draws the text of an expression.

Each is given the draft, picks operands that fit, and gives None where there are none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .draft import Draft, Entry

Call = Callable[[Draft], str | None]
CALLS: dict[str, Call] = {}
# How often a call is drawn, where that isn't once: loops and windows take long to compile.
WEIGHTS: dict[str, float] = {}


def call(f: Call) -> Call:
    """Put a call into the table under its name, where no other is."""
    name = f.__name__.rstrip("_")
    assert name not in CALLS, f"{name} is there already"
    CALLS[name] = f
    return f


# Element by element -----------------------------------------------------------------------------


def _unary(name: str, inner: str = "{}") -> Call:
    return lambda d: f"K.{name}({inner.format(d.float().name)})"


for _name in (
    "abs square sin cos tanh sigmoid softplus softsign hard_sigmoid sign round sqrt"
    " identity stop_gradient zeros_like ones_like exp"
).split():
    CALLS[_name] = _unary(_name)
CALLS["log"] = _unary("log", "K.abs({}) + 0.5")
CALLS["exp"] = _unary("exp", "-K.abs({})")
for _name in "maximum minimum equal not_equal greater greater_equal less less_equal".split():

    def _binary(d: Draft, name: str = _name) -> str:
        x = d.float()
        return f"K.{name}({x.name}, {d.partner(x).name})"

    CALLS[_name] = _binary


@call
def operator(d: Draft) -> str:
    x = d.float()
    pair = [x.name, d.partner(x).name]
    d.random.shuffle(pair)
    return f" {d.choice('+-*')} ".join(pair)


@call
def quotient(d: Draft) -> str:
    x = d.float()
    y = d.partner(x).name
    return d.choice([f"{x.name} / (K.square({y}) + 1)", f"{x.name} / {d.choice([2, -0.5, 3])}"])


@call
def with_number(d: Draft) -> str:
    x, number = d.float().name, d.choice([0, 1, -1, 2, 0.5, -1.5])
    return d.choice([f"{x} {o} {number}" for o in "+-*"] + [f"{number} {o} {x}" for o in "+-*"])


@call
def whole_numbers(d: Draft) -> str:
    """Arithmetic of whole numbers, with signs and division that rounds."""
    dtype = d.choice(["int32", "int64", "uint8", "int32"])
    x = _typed(d, dtype)
    y = d.pick(lambda e: str(e.value.dtype) == dtype and e.shape == x.shape) or x
    third = f"({y.name} * {y.name} + 1)" if dtype != "uint8" else "3"
    return d.choice(
        [
            f"{x.name} {d.choice('+-*')} {y.name}",
            f"{x.name} // {third}",
            f"{x.name} % {third}",
            f"{x.name} // {d.choice([2, 3, 1])}",
            f"K.abs({x.name})",
            f"K.maximum({x.name}, {y.name})",
            f"K.cast({x.name}, F)",
            f"K.sum({x.name}, axis=-1)" if x.ndim else f"{x.name} + 1",
        ]
    )


def _typed(d: Draft, dtype: str) -> Entry:
    found = d.pick(lambda e: str(e.value.dtype) == dtype) if d.flag(0.7) else None
    kind = "index 9" if dtype.startswith("u") else "whole"
    return found or d.input(d.shape(0, 3), kind, repr(dtype))


@call
def logic(d: Draft) -> str:
    x = d.pick(lambda e: e.value.dtype.kind == "b")
    if x is None:
        return f"{d.float().name} > 0"
    axis = d.choice([None, *range(-x.ndim, x.ndim)])
    return d.choice(
        [
            f"K.{d.choice(['any', 'all'])}({x.name}, axis={axis}, keepdims={d.flag()})",
            f"K.cast({x.name}, {d.choice(['F', repr('int32')])})",
            f"~{x.name}",
            f"{x.name} & ({x.name} | ~{x.name})",
        ]
    )


@call
def cast(d: Draft) -> str:
    x = d.pick(lambda e: e.value.dtype.kind in "fiu") or d.float()
    target = d.choice(["F", "F", "'int32'", "'int64'", "'uint8'", "'bool'"])
    inner = f"K.clip({x.name}, 0, 100)" if x.is_float else x.name
    return f"K.cast({inner}, {target})"


@call
def clip(d: Draft) -> str:
    """Between bounds that differ: at both, gradients pass, which differences needn't show."""
    low = d.choice([-1, 0, -0.5, 0.5])
    return f"K.clip({d.float().name}, {low}, {low + d.choice([0.5, 1, 2.5])})"


@call
def relu(d: Draft) -> str:
    x = d.float().name
    if d.flag():
        return f"K.relu({x})"
    top = d.choice([None, 1.0, 6])
    return (
        f"K.relu({x}, alpha={d.choice([0.0, 0.1, 1])}, max_value={top},"
        f" threshold={d.choice([0.0, 0.5, -0.5])})"
    )


@call
def elu(d: Draft) -> str:
    x = d.float().name
    return d.choice([f"K.elu({x})", f"K.elu({x}, {d.choice([1.0, 0.5, 2])})"])


@call
def pow(d: Draft) -> str:
    x = d.float().name
    return d.choice([f"K.pow({x}, {d.choice([2, 3, 1, 0])})", f"K.pow(K.abs({x}) + 0.5, 1.5)"])


# Reductions -------------------------------------------------------------------------------------


def _axis(d: Draft, x: Entry) -> str:
    options: list[str] = ["None", *map(str, range(-x.ndim, x.ndim))]
    if x.ndim > 1:
        options += [str(sorted(d.random.choice(x.ndim, 2, replace=False).tolist()))]
    return str(d.choice(options))


for _name in "sum prod mean var std max min logsumexp".split():

    def _reduction(d: Draft, name: str = _name) -> str:
        x = d.float(0 if name in ("sum", "mean") else 1, filled=name not in ("sum", "prod"))
        inner = f"K.tanh({x.name})" if name == "prod" else x.name
        return f"K.{name}({inner}, axis={_axis(d, x)}, keepdims={d.flag()})"

    CALLS[_name] = _reduction

for _name in "argmax argmin cumsum cumprod softmax".split():

    def _along(d: Draft, name: str = _name) -> str | None:
        x = d.float(2 if name == "softmax" else 1, filled=name != "cumsum")
        inner = f"K.sin({x.name})" if name == "cumprod" else x.name
        return f"K.{name}({inner}, axis={d.int(-x.ndim, x.ndim - 1)})"

    CALLS[_name] = _along


@call
def l2_normalize(d: Draft) -> str:
    x = d.float(1)
    return f"K.l2_normalize({x.name}, axis={d.choice([None, *range(-x.ndim, x.ndim)])})"


# Shapes -----------------------------------------------------------------------------------------


@call
def reshape(d: Draft) -> str:
    x = d.float(1)
    sizes = list(x.shape)
    if x.value.size:
        d.random.shuffle(sizes)
        if len(sizes) > 1 and d.flag():
            sizes = [sizes[0] * sizes[1], *sizes[2:]]
        if d.flag(0.4):
            sizes[d.int(0, len(sizes) - 1)] = -1
    return f"K.reshape({x.name}, {tuple(sizes)})"


@call
def symbolic_reshape(d: Draft) -> str:
    x = d.float(1)
    return (
        f"K.reshape({x.name}, K.concatenate([K.shape({x.name}), K.constant([1], dtype='int32')]))"
    )


@call
def permute_dimensions(d: Draft) -> str:
    x = d.float(1, 5)
    return f"K.permute_dimensions({x.name}, {tuple(d.random.permutation(x.ndim).tolist())})"


CALLS["transpose"] = lambda d: f"K.transpose({d.float(0, 5).name})"
CALLS["flatten"] = lambda d: f"K.flatten({d.float().name})"
CALLS["batch_flatten"] = lambda d: f"K.batch_flatten({d.float(2, filled=True).name})"
CALLS["shape"] = lambda d: f"K.shape({d.float(1).name})"
CALLS["size"] = lambda d: f"K.cast(K.size({d.float().name}), F)"


@call
def expand_dims(d: Draft) -> str:
    x = d.float(0, 3)
    return f"K.expand_dims({x.name}, {d.int(-x.ndim - 1, x.ndim)})"


@call
def squeeze(d: Draft) -> str | None:
    x = d.pick(lambda e: any(s == 1 for s in e.node.shape))
    if x is None:
        return None
    axes = [i for i, s in enumerate(x.node.shape) if s == 1]
    return f"K.squeeze({x.name}, {d.choice(axes)})"


@call
def concatenate(d: Draft) -> str:
    x = d.float(1)
    axis = d.int(0, x.ndim - 1)

    def fits(e: Entry) -> bool:
        same = [i for i in range(x.ndim) if i != axis]
        return (
            e.ndim == x.ndim
            and e.value.dtype == x.value.dtype
            and all(e.shape[i] == x.shape[i] for i in same)
        )

    others = [d.pick(fits) or x for _ in range(d.int(1, 2))]
    names = ", ".join(e.name for e in (x, *others))
    return f"K.concatenate([{names}], axis={d.choice([axis, axis - x.ndim])})"


@call
def stack(d: Draft) -> str:
    x = d.float(0, 3)
    y = d.pick(lambda e: e.is_float and e.shape == x.shape) or x
    return f"K.stack([{x.name}, {y.name}], axis={d.int(0, x.ndim)})"


@call
def tile(d: Draft) -> str:
    x = d.float(1, 3)
    return f"K.tile({x.name}, {tuple(d.int(1, 3) for _ in x.shape)})"


@call
def repeat_elements(d: Draft) -> str:
    x = d.float(1, 4)
    return f"K.repeat_elements({x.name}, {d.int(1, 3)}, {d.int(0, x.ndim - 1)})"


CALLS["repeat"] = lambda d: f"K.repeat({d.float(2, 2).name}, {d.int(1, 3)})"


@call
def reverse(d: Draft) -> str:
    x = d.float(1)
    axes = sorted(set(d.random.integers(0, x.ndim, 2).tolist()))
    return f"K.reverse({x.name}, {d.choice([axes, axes[0]])})"


@call
def indexed(d: Draft) -> str:
    """As NumPy means it; bounds of axes are never left by whole numbers."""
    x = d.float(1, filled=True)
    parts = []
    for size in x.shape[: 0 if (last := d.flag(0.2)) else d.int(1, x.ndim)] or x.shape[-1:]:
        parts.append(
            d.choice(
                [
                    ":", "1:", ":-1", "::2", "::-1", "-2:", ":2", f"{d.int(0, size - 1)}",
                    f"{-d.int(1, size)}", "None, :", f"{d.int(0, size)}:{d.int(0, size)}",
                ]
            )
        )  # fmt: skip
    return f"{x.name}[{', '.join(['...'] * last + parts)}]"


@call
def slice_(d: Draft) -> str:
    x = d.float(1, filled=True)
    starts = [d.int(0, s - 1) for s in x.shape]
    sizes = [d.choice([-1, d.int(0, s - a)]) for a, s in zip(starts, x.shape, strict=True)]
    return f"K.slice({x.name}, {starts}, {sizes})"


@call
def gather(d: Draft) -> str:
    x = d.float(1, filled=True)
    index = d.input(d.shape(0, 2), f"index {x.shape[0]}", "'int32'")
    return f"K.gather({x.name}, {index.name})"


@call
def one_hot(d: Draft) -> str:
    count = d.int(1, 5)
    index = d.input(d.shape(1, 2), f"index {count + 1}", "'int32'")
    return f"K.cast(K.one_hot({index.name}, {count}), F)"


@call
def padding(d: Draft) -> str:
    if d.flag():
        return f"K.temporal_padding({d.float(3, 3).name}, {(d.int(0, 2), d.int(0, 2))})"
    pairs = ((d.int(0, 2), d.int(0, 2)), (d.int(0, 2), d.int(0, 2)))
    return f"K.spatial_2d_padding({d.float(4, 4).name}, {pairs}, {_format(d)!r})"


@call
def resize_images(d: Draft) -> str:
    how = d.choice(["nearest", "nearest", "bilinear"])
    x = d.float(4, 4, filled=True)
    return f"K.resize_images({x.name}, {d.int(1, 3)}, {d.int(1, 3)}, {_format(d)!r}, {how!r})"


def _format(d: Draft) -> str:
    return str(d.choice(["channels_last", "channels_last", "channels_first"]))


# Products and windows ---------------------------------------------------------------------------


def _float_of(d: Draft, shape: tuple[int, ...]) -> Entry:
    """A float tensor of these sizes."""
    found = d.pick(lambda e: e.is_float and e.shape == shape) if d.flag(0.4) else None
    return found or d.input(shape)


def _kernel(d: Draft, shape: tuple[int, ...], known: int) -> Entry:
    """A kernel of these sizes, the first ones known when it's built.

    Its numbers are finite: whether a margin of zeros is multiplied is the engines' own choice.
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
    return f"K.dot({x.name}, {_float_of(d, (*rest, x.shape[-1], d.size())).name})"


@call
def batch_dot(d: Draft) -> str:
    x = d.float(2, 3)
    a = d.int(1, x.ndim - 1)
    sizes = [x.shape[0], *(d.size() for _ in range(d.int(1, 2)))]
    b = d.int(1, len(sizes) - 1)
    sizes[b] = x.shape[a]
    return f"K.batch_dot({x.name}, {_float_of(d, tuple(sizes)).name}, axes={[a, b]})"


@call
def bias_add(d: Draft) -> str:
    x = d.float(2, 5)
    form = _format(d)
    channels = x.shape[1] if form == "channels_first" else x.shape[-1]
    return f"K.bias_add({x.name}, {_float_of(d, (channels,)).name}, {form!r})"


def _window(d: Draft, rank: int) -> tuple[Entry, str, int, str]:
    """An input with spatial axes, its layout, its channels, and padding."""
    form = _format(d)
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


@call
def conv2d_transpose(d: Draft) -> str:
    x, form, channels, padding = _window(d, 2)
    kernel = _kernel(d, (d.int(1, 3), d.int(1, 3), d.int(1, 3), channels), 2)
    strides = (d.int(1, 2), d.int(1, 2))
    spatial = x.shape[2:] if form == "channels_first" else x.shape[1:3]
    sizes = [
        n * s + (max(k - s, 0) if padding == "valid" else 0)
        for n, s, k in zip(spatial, strides, kernel.shape, strict=False)
    ]
    out = (
        (x.shape[0], kernel.shape[2], *sizes)
        if form == "channels_first"
        else (x.shape[0], *sizes, kernel.shape[2])
    )
    return (
        f"K.conv2d_transpose({x.name}, {kernel.name}, {out}, strides={strides},"
        f" padding={padding!r}, data_format={form!r})"
    )


# Losses and normalization -----------------------------------------------------------------------


def _classes(d: Draft) -> tuple[Entry, bool]:
    """Probabilities or logits of some classes, and which of them."""
    shape = (d.size(), *d.shape(0, 1), d.int(2, 4))
    logits = d.flag()
    return d.input(shape, "normal" if logits else "unit"), logits


@call
def categorical_crossentropy(d: Draft) -> str:
    x, logits = _classes(d)
    target = d.input(x.shape, "unit")
    return f"K.categorical_crossentropy({target.name}, {x.name}, from_logits={logits})"


@call
def binary_crossentropy(d: Draft) -> str:
    x, logits = _classes(d)
    target = d.input(x.shape, "bits")
    return f"K.binary_crossentropy({target.name}, {x.name}, from_logits={logits})"


@call
def sparse_categorical_crossentropy(d: Draft) -> str:
    x, logits = _classes(d)
    target = d.input(x.shape[:-1], f"index {x.shape[-1]}", "'int32'")
    return f"K.sparse_categorical_crossentropy({target.name}, {x.name}, from_logits={logits})"


@call
def softmax_loss(d: Draft) -> str:
    """The original traces a softmax back to its logits."""
    x, _ = _classes(d)
    target = d.input(x.shape, "unit")
    return f"K.categorical_crossentropy({target.name}, K.softmax({x.name}))"


@call
def batch_normalization(d: Draft) -> str:
    x = d.float(2, 4)
    mean, gamma, beta = (_float_of(d, (x.shape[-1],)).name for _ in range(3))
    var = d.input((x.shape[-1],), "positive").name
    beta, gamma = (d.choice([name, name, "None"]) for name in (beta, gamma))
    return f"K.batch_normalization({x.name}, {mean}, {var}, {beta}, {gamma}, epsilon=0.01)"


@call
def normalize_batch(d: Draft) -> str:
    x = d.float(2, 4, filled=True)
    gamma, beta = (_float_of(d, (x.shape[-1],)).name for _ in range(2))
    axes = list(range(x.ndim - 1))
    return (
        f"K.normalize_batch_in_training({x.name}, {gamma}, {beta}, {axes}, epsilon=0.01)"
        f"[{d.choice([0, 0, 1])}]"
    )


@call
def in_top_k(d: Draft) -> str:
    x = d.input((d.size(), d.int(2, 5)), d.choice(["normal", "ties"]))
    target = d.input(x.shape[:1], f"index {x.shape[1]}", "'int32'")
    return f"K.cast(K.in_top_k({x.name}, {target.name}, {d.int(1, 3)}), F)"


@call
def ctc(d: Draft) -> str:
    rows, steps, classes, longest = d.int(1, 3), d.int(4, 6), d.int(3, 4), 2
    labels = d.input((rows, longest), f"index {classes - 1}")
    scores = d.input((rows, steps, classes), "unit")
    lengths = f"K.constant([[{steps}]] * {rows}, dtype='int32')"
    sizes = f"K.constant({[[d.int(1, longest)] for _ in range(rows)]}, dtype='int32')"
    return f"K.ctc_batch_cost({labels.name}, {scores.name}, {lengths}, {sizes})"


# Choices and loops ------------------------------------------------------------------------------


@call
def switch(d: Draft) -> str:
    x = d.float()
    y = d.pick(lambda e: e.is_float and e.shape == x.shape and e.node.shape == x.node.shape) or x
    if d.flag():
        test = f"K.sum({d.float().name}) > {d.choice([0, 1, -1])}"
        return f"K.switch({test}, lambda: K.sin({x.name}), lambda: {y.name} * {x.name})"
    return f"K.switch({x.name} > {d.choice([0, 0.5])}, {x.name}, {y.name})"


@call
def map_fn(d: Draft) -> str:
    x = d.float(1, 3)
    inner = d.choice(["K.sin(e)", "e * e + 1", "K.sum(e)", "K.tanh(e) - e", "K.max(e)"])
    return f"K.map_fn(lambda e: {inner}, {x.name}, dtype=F)"


@call
def fold(d: Draft) -> str:
    x = d.float(1, 3, filled=True)
    inner = d.choice(["a + e", "K.tanh(a * e)", "K.maximum(a, e)", "a * 0.5 - e", "K.sin(a) * e"])
    name = d.choice(["foldl", "foldr"])
    start = f", K.zeros_like({x.name}[0])" if d.flag(0.3) else ""
    return f"K.{name}(lambda a, e: {inner}, {x.name}{start})"


@call
def rnn(d: Draft) -> str:
    x = d.float(3, 3)
    rows, steps, width = x.shape
    units = d.int(1, 3)
    kernel, own = _float_of(d, (width, units)), _float_of(d, (units, units))
    state = d.input((rows, units))
    body = d.choice(
        [
            f"K.tanh(K.dot(i, {kernel.name}) + K.dot(s[0], {own.name}))",
            f"K.sigmoid(K.dot(i, {kernel.name})) * s[0]",
            f"K.relu(K.dot(i, {kernel.name}) - K.dot(s[0], {own.name})) * 0.5",
        ]
    )
    mask = ""
    if d.flag(0.4):
        mask = f", mask={d.input((rows, steps), 'bits', repr('bool')).name}"
    unroll = d.flag(0.2) and x.node.shape[1] is not None
    keywords = f"go_backwards={d.flag(0.3)}{mask}, unroll={unroll}"
    step = f"lambda i, s: (lambda h: (h, [h]))({body})"
    picked = d.choice(["[0]", "[1]", "[2][0]"])
    return f"K.rnn({step}, {x.name}, [{state.name}], {keywords}){picked}"


@call
def while_loop(d: Draft) -> str:
    x = d.float(0, 3)
    count = d.int(0, 4)
    body = d.choice(["K.sin(v) + 0.1", "v * 0.5", "K.tanh(v) * v"])
    return (
        f"K.while_loop(lambda i, v: i < {count}, lambda i, v: [i + 1, {body}],"
        f" [K.constant(0, dtype='int32'), {x.name}], maximum_iterations={count + 1})[1]"
    )


# Gradients --------------------------------------------------------------------------------------


@call
def gradient(d: Draft) -> str | None:
    """Of a tensor by what came before it; those of gradients are second-order ones."""
    y = d.pick(lambda e: e.is_float and e.name.startswith("t"))
    x = d.pick(lambda e: e.is_float and (e.name[0] in "xw" or d.flag(0.2)), 99)
    if y is None or x is None:
        return None
    return f"K.gradients(K.sum({y.name} * {d.choice([1, 0.5, y.name])}), [{x.name}])[0]"


WEIGHTS.update(
    gradient=8, operator=4, with_number=2, indexed=3, whole_numbers=2, logic=2, rnn=0.7,
    while_loop=0.5, conv3d=0.4, pool3d=0.4, ctc=0.4, separable_conv=0.6,
)  # fmt: skip
