"""Choices, loops, and gradients."""

from __future__ import annotations

from ..draft import Draft
from .table import WEIGHTS, Table, float_of

CALLS = Table()
call = CALLS.add


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
    kernel, own = float_of(d, (width, units)), float_of(d, (units, units))
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
    body = d.choice(["K.sin(v) + 0.1", "v * 0.5", "K.tanh(v) * v", f"K.tanh(v * {x.name})"])
    bound = d.choice(["", f", maximum_iterations={count + 1}"])
    return (
        f"K.while_loop(lambda i, v: i < {count}, lambda i, v: [i + 1, {body}],"
        f" [K.constant(0, dtype='int32'), {x.name}]{bound})[1]"
    )


@call
def gradient(d: Draft) -> str | None:
    """The gradient of a tensor by an earlier one; of a gradient it's one of second order."""
    y = d.pick(lambda e: e.is_float and e.name.startswith("t"))
    x = d.pick(lambda e: e.is_float and (e.name[0] in "xw" or d.flag(0.2)), 99)
    if y is None or x is None:
        return None
    return f"K.gradients(K.sum({y.name} * {d.choice([1, 0.5, y.name])}), [{x.name}])[0]"


WEIGHTS.update(
    gradient=8, operator=4, with_number=2, indexed=3, whole_numbers=2, logic=2, rnn=0.7,
    while_loop=0.5, conv3d=0.4, pool3d=0.4, ctc=0.4, separable_conv=0.6, conv3d_transpose=0.4,
    local_conv1d=1, local_conv2d=1, resize_volumes=0.4,
)  # fmt: skip
