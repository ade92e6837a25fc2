"""Functions of many kinds to save, and ways to damage what was saved: all deterministic."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from kameleon import backend as K
from kameleon.backend.functions import BackendFunction
from kameleon.runtime.container import CHECKSUM, TEXTS

Feeds = list[Any]
Kind = Callable[[], tuple[BackendFunction, Feeds]]


def training() -> tuple[BackendFunction, Feeds]:
    """Dense layers, a loss, gradients, updates, and something printed."""
    x, t = K.placeholder((None, 4), name="x"), K.placeholder((None,), name="t")
    w, b = K.variable(np.full((4, 3), 0.5), name="w"), K.variable(np.zeros(3), name="b")
    hidden = K.relu(K.bias_add(K.dot(x, w), b))
    loss = K.mean(K.square(K.sum(hidden, axis=-1) - t))
    steps = zip([w, b], K.gradients(loss, [w, b]), strict=True)
    updates = [K.update_sub(v, 0.1 * g) for v, g in steps]
    shown = K.print_tensor(K.cast(loss * 0.0, "int32"), "loss")
    f = K.function([x, t], [loss, K.shape(x), shown], updates)
    return f, [np.ones((5, 4), "float32"), np.arange(5, dtype="float32")]


def windows() -> tuple[BackendFunction, Feeds]:
    """Convolutions and pools, with padding, strides and dilation, and their gradients."""
    x = K.placeholder((2, 9, 8, 3), name="image")
    k, d = K.variable(np.full((3, 3, 3, 4), 0.1)), K.variable(np.full((2, 2, 4, 2), 0.1))
    y = K.conv2d(x, k, strides=(2, 1), padding="same")
    y = K.depthwise_conv2d(y, d, dilation_rate=(2, 1))
    y = K.pool2d(y, (2, 2), strides=(1, 1), padding="same", pool_mode="max")
    y = K.pool2d(y, (2, 2), strides=(1, 2), padding="same", pool_mode="avg")
    y = K.spatial_2d_padding(y)
    f = K.function([x], [y, *K.gradients(K.sum(y), [x, k, d])])
    return f, [np.linspace(-1, 1, 2 * 9 * 8 * 3).reshape(2, 9, 8, 3).astype("float32")]


def loops() -> tuple[BackendFunction, Feeds]:
    """A recurrence with its gradient, and a condition."""
    x = K.placeholder((2, None, 3), name="sequence")
    w = K.variable(np.full((3, 3), 0.2), name="w")
    step = lambda x, states: (  # noqa: E731
        (y := K.tanh(K.dot(x, w) + states[0])),
        [y],
    )
    last, outputs, _ = K.rnn(step, x, [K.zeros((2, 3))])
    chosen = K.switch(K.sum(last) > 0, lambda: last * 2.0, lambda: -last)
    f = K.function([x], [outputs, chosen, *K.gradients(K.sum(outputs), [w])])
    return f, [np.ones((2, 4, 3), "float32")]


def unbounded() -> tuple[BackendFunction, Feeds]:
    """A loop of unknown length: what is edited may never end."""
    x = K.placeholder((), dtype="int32", name="x")
    i, y = K.while_loop(lambda i, y: i < 20, lambda i, y: [i + 3, y * 2], [x, x + 1])
    return K.function([x], [i, y]), [np.array(1, "int32")]


def picking() -> tuple[BackendFunction, Feeds]:
    """Slices, indices, orders and shapes of known and unknown sizes."""
    x, i = K.placeholder((None, 6), name="x"), K.placeholder((2,), dtype="int32", name="i")
    parts = [x[:, 1:5:2], K.gather(x, i), K.reverse(x, 1), K.one_hot(i, 4), K.transpose(x)]
    parts += [K.reshape(x, (-1, 2, 3)), K.concatenate([x, x], 0), K.argmax(x), K.cumsum(x)]
    parts += [K.arange(7)[2:], K.tile(x, (1, 2)), K.softmax(x), K.max(x, (0, 1)), x[::2, None]]
    f = K.function([x, i], [*parts, *K.gradients(K.sum(parts[1]) + K.sum(parts[0]), [x])])
    return f, [np.arange(18, dtype="float32").reshape(3, 6), np.array([2, 0], "int32")]


def drawing() -> tuple[BackendFunction, Feeds]:
    """Random numbers, the learning phase and a tensor with a fixed value."""
    x, phase = K.placeholder((3, 2), name="x"), K.learning_phase()
    fixed = K.placeholder((2,), dtype="float64", name="fixed")
    y = K.in_train_phase(K.dropout(x, 0.5, seed=3), x) + K.random_normal((3, 2), seed=1)
    f = K.function([x, phase], [y, fixed * 2.0], feed_dict={fixed: [1.0, np.nan]})
    return f, [np.ones((3, 2), "float32"), 1]


def reading() -> tuple[BackendFunction, Feeds]:
    """CTC: its cost with a gradient, and both ways of decoding."""
    p = K.placeholder((2, 5, 4), name="p")
    lengths = K.constant([[5], [4]], "int32")
    cost = K.ctc_batch_cost(K.constant([[1, 2], [0, 1]], "int32"), p, lengths, lengths * 0 + 2)
    (path,), _ = K.ctc_decode(p, K.flatten(lengths), greedy=False, beam_width=3)
    f = K.function([p], [cost, path, *K.gradients(K.sum(cost), [p])])
    return f, [np.full((2, 5, 4), 0.25, "float32")]


KINDS: dict[str, Kind] = {
    made.__name__: made for made in (training, windows, loops, unbounded, picking, drawing, reading)
}

# Damage ----------------------------------------------------------------------------------------

CODE = "__import__('os').mkdir({!r})"


def hostile_values(canary: str) -> list[Any]:
    """What a field may be replaced by: code that would make a folder, and odd values."""
    code = CODE.format(canary)
    return [
        code,
        f"{code} or 2",
        f"0)+({code} or 0",
        f"'+{code}+'",
        f"x\n {code}\n#",
        {"dtype": code},
        {"float": code},
        {"array": code},
        {"tuple": [code, code]},
        {"record": code, "items": []},
        {"graph": code},
        *(-1, 0, 1, 2, 10**15, 2**63, 10**400, 1.5, True, None, [], {}, "", [None], "float32"),
    ]


def plausible_values(value: Any, texts: list[str]) -> list[Any]:
    """Other plausible values for a field with this value; `texts` occur elsewhere in the file."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 0, 1, 2, 7, 1000, None]
    if isinstance(value, str):
        return texts
    if isinstance(value, list):
        return [value[::-1], value[:-1], [*value, *value[-1:]], [*value[1:], *value[:1]]]
    return [1, 5] if value is None else []


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and body of a file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header: dict[str, Any], body: bytes) -> bytes:
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


def unchecked(data: bytes) -> bytes:
    """The file without its checksum."""
    header, body = split(data)
    del header[TEXTS][CHECKSUM]
    return joined(header, body)


def edited(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The file with another description, and without a checksum."""
    header, body = split(data)
    told = json.loads(header[TEXTS]["kameleon"])
    change(told)
    header[TEXTS] = {"kameleon": json.dumps(told)}
    return joined(header, body)


def with_numbers(data: bytes) -> bytes:
    """The file in an earlier format, in which arrays of variables are named by numbers."""
    header, body = split(data)
    told = json.loads(header[TEXTS]["kameleon"])
    numbers = {name: f"variable.{i}" for i, name in enumerate(told.pop("arrays"))}
    told["format"] = 2
    renamed = {numbers.get(name, name): part for name, part in header.items()}
    return joined({**renamed, TEXTS: {"kameleon": json.dumps(told)}}, body)


def untyped(data: bytes) -> bytes:
    """The file in the early format, which says nothing of the types of nodes."""

    def strip(graph: dict[str, Any]) -> None:
        for row in graph["nodes"]:
            del row["types"]
            for value in row["attrs"].values():
                if isinstance(value, dict) and "graph" in value:
                    strip(value["graph"])

    def change(told: dict[str, Any]) -> None:
        told["format"] = 1
        strip(told["graph"])

    return edited(with_numbers(data), change)


Path = tuple[Any, ...]
Edit = tuple[Path, Any]  # a field of the description, and what it becomes


def places(data: Any, at: Path = ()) -> Iterator[Path]:
    """Where all values of JSON data are, containers too."""
    if isinstance(data, dict):
        pairs: Any = data.items()
    elif isinstance(data, list):
        pairs = enumerate(data)
    else:
        return
    for key, value in pairs:
        yield (*at, key)
        yield from places(value, (*at, key))


def put(data: Any, at: Path, value: Any) -> None:
    """Replace a value in JSON data."""
    for key in at[:-1]:
        data = data[key]
    data[at[-1]] = value


def description(data: bytes) -> Any:
    """What a file says beside its arrays."""
    return json.loads(split(data)[0][TEXTS]["kameleon"])


def hostile_edits(data: bytes, canary: str) -> list[Edit]:
    """Every field of the description with every hostile value."""
    return [(at, value) for at in places(description(data)) for value in hostile_values(canary)]


def plausible_edits(data: bytes) -> list[Edit]:
    """Every field of the description with what might stand there as well."""
    told = description(data)
    fields = [(at, look(told, at)) for at in places(told)]
    texts = sorted({value for _, value in fields if isinstance(value, str)})
    return [(at, other) for at, value in fields for other in plausible_values(value, texts)]


def header_edits(data: bytes, canary: str) -> Iterator[tuple[str, bytes]]:
    """Files with one field of the header edited."""
    header, body = split(unchecked(data))
    for at in places(header):
        for value in hostile_values(canary):
            changed = json.loads(json.dumps(header))
            put(changed, at, value)
            yield f"header {at} = {value!r:.40}", joined(changed, body)


def applied(data: bytes, edits: Iterable[Edit]) -> Iterator[tuple[str, bytes]]:
    """Files, each with one field of the description edited."""
    for at, value in edits:
        yield f"{at} = {value!r:.40}", edited(data, partial(put, at=at, value=value))


def look(data: Any, at: Path) -> Any:
    """A value in JSON data."""
    for key in at:
        data = data[key]
    return data


def damages(data: bytes, rng: np.random.Generator, count: int) -> Iterator[tuple[str, bytes]]:
    """Files with flipped bits, other bytes, missing or swapped parts."""
    for number in range(count):
        a, b = sorted(int(i) for i in rng.integers(0, len(data), 2))
        kind = number % 5
        if kind == 0:
            flipped = data[a] ^ (1 << int(rng.integers(0, 8)))
            yield f"bit at {a}", data[:a] + bytes([flipped]) + data[a + 1 :]
        elif kind == 1:
            yield f"cut at {a}", data[:a]
        elif kind == 2:
            yield f"without {a}:{b}", data[:a] + data[b:]
        elif kind == 3:
            other = rng.integers(0, 256, min(b - a, 16), "uint8").tobytes()
            yield f"noise at {a}", data[:a] + other + data[a + len(other) :]
        else:
            middle = (a + b) // 2
            swapped = data[middle:b] + data[a:middle]
            yield f"swapped {a}:{middle}:{b}", data[:a] + swapped + data[b:]
