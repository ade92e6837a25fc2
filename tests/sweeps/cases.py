"""Random uses of the K functions that move a window over space, and their values by brute force.

Nothing here knows Kameleon: a case is data, and what it must give is computed with NumPy in
float64 from the definition, one cell of the window after the other. Internally the layout is
(batch, *space, channels).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Ints = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]

RANKS = {
    "conv1d": 1,
    "conv2d": 2,
    "conv3d": 3,
    "depthwise_conv2d": 2,
    "separable_conv1d": 1,
    "separable_conv2d": 2,
    "conv2d_transpose": 2,
    "conv3d_transpose": 3,
    "pool2d": 2,
    "pool3d": 3,
}
PLACED = ("channels_last", "channels_first")
# What is known when the graph is built: all sizes, all but the batch, the numbers of channels.
KNOWN = ("all", "space", "channels")
# How the tensors that go in come about: as they are fed, by a transposition, by a slice.
VIEWS = ("fed", "transposed", "sliced")
# The cotangent of the result: an input of its own, or ones that are broadcast.
COTANGENTS = ("fed", "ones")


@dataclass(frozen=True)
class Case:
    """One use of a K function.

    Attributes:
        space: the sizes over which the window moves; of a transposed convolution, those of its
            result.
        filters: output channels, or how many of them each channel gives (depthwise).
        points: output channels of a separable convolution.
        mode: of a pool.
        second: whether gradients of gradients are wanted, too.
    """

    function: str
    batch: int
    space: Ints
    channels: int
    sizes: Ints
    filters: int
    points: int
    strides: Ints
    dilation: Ints
    padding: str
    layout: str
    known: str
    view: str
    cotangent: str
    mode: str
    dtype: str
    second: bool
    seed: int

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return RANKS[self.function]

    @property
    def transposed(self) -> bool:
        """Whether it's a transposed convolution."""
        return self.function.endswith("transpose")

    @property
    def deep(self) -> bool:
        """Whether each channel has kernels of its own."""
        return self.function.startswith(("depthwise", "separable"))

    @property
    def spans(self) -> Ints:
        """How many cells the window reaches over."""
        return tuple((n - 1) * d + 1 for n, d in zip(self.sizes, self.dilation, strict=True))

    @property
    def refused(self) -> bool:
        """Whether the sizes known when the graph is built leave no room for the window."""
        small = any(d < s for d, s in zip(self.space, self.spans, strict=True))
        return self.padding == "valid" and small and self.known != "channels"

    def text(self) -> str:
        """As a line of JSON."""
        return json.dumps(asdict(self))


def case_of(line: str) -> Case:
    """What `Case.text` wrote."""
    fields = json.loads(line)
    return Case(**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})


# Drawing -----------------------------------------------------------------------------------------

# Numbers of channels for which libraries have code of their own are drawn more often.
COMMON_CHANNELS = (1, 1, 2, 3, 4, 8, 16, 32, 64)
MOST_ELEMENTS = 200_000
MOST_PRODUCTS = 8_000_000


def _size(rng: np.random.Generator) -> int:
    low, high = ((1, 3), (1, 12), (1, 12), (1, 64))[rng.integers(4)]
    return int(rng.integers(low, high + 1))


def _channels(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 65) if rng.random() < 0.3 else rng.choice(COMMON_CHANNELS))


def _moves(rng: np.random.Generator, rank: int, function: str) -> tuple[Ints, Ints, Ints]:
    """Sizes, strides and dilation."""
    sizes = rng.choice([1, 1, 2, 3, 3, 4, 5, 7], rank)
    strides = rng.choice([1, 1, 2, 3, 4], rank)
    if rng.random() < 0.4:
        strides[:] = strides[0]
    if rng.random() < 0.3:
        sizes[:] = sizes[0]
    dilation = np.ones(rank, int)
    can = function not in ("pool2d", "pool3d", "conv3d_transpose")
    if can and rng.random() < 0.3:
        dilation = rng.choice([1, 2, 3], rank)
        if function == "conv2d_transpose":
            dilation[:] = dilation[0]
        if "depthwise" in function or "separable" in function:
            strides[:] = 1  # strides with dilation have a meaning of their own, tested elsewhere
    found = (sizes, strides, dilation)
    return tuple(tuple(int(v) for v in line) for line in found)  # type: ignore[return-value]


def draw(rng: np.random.Generator, functions: Sequence[str] = tuple(RANKS)) -> Case:
    """A random case, small enough for brute force."""
    function = str(rng.choice(functions))
    rank = RANKS[function]
    sizes, strides, dilation = _moves(rng, rank, function)
    batch = int(rng.choice([0, 1, 1, 2, 4, 7, 32], p=[0.06, 0.2, 0.2, 0.2, 0.14, 0.1, 0.1]))
    space = [_size(rng) for _ in range(rank)]
    channels, filters = _channels(rng), _channels(rng)
    filters = int(rng.integers(1, 4)) if function.startswith(("dep", "sep")) else filters
    spans = [(n - 1) * d + 1 for n, d in zip(sizes, dilation, strict=True)]
    if rng.random() < 0.9:  # the window mostly fits
        space = [max(a, b) for a, b in zip(space, spans, strict=True)]
    while batch * np.prod(space) * (channels + filters) > MOST_ELEMENTS or (
        batch * np.prod(space) * np.prod(sizes) * channels * filters
        > MOST_PRODUCTS * np.prod(strides)
    ):
        parts = [channels, filters, batch, *space]
        largest = int(np.argmax(parts))
        parts[largest] = (parts[largest] + 1) // 2
        channels, filters, batch, *space = parts
    case = Case(
        function=function,
        batch=batch,
        space=tuple(space),
        channels=channels,
        sizes=sizes,
        filters=filters,
        points=int(rng.integers(1, 9)),
        strides=strides,
        dilation=dilation,
        padding=str(rng.choice(["valid", "same"])),
        layout=str(rng.choice(PLACED, p=[0.65, 0.35])),
        known=str(rng.choice(KNOWN)),
        view=str(rng.choice(VIEWS, p=[0.6, 0.25, 0.15])),
        cotangent=str(rng.choice(COTANGENTS, p=[0.75, 0.25])),
        mode=str(rng.choice(["max", "avg"])),
        dtype=str(rng.choice(["float32", "float64"], p=[0.85, 0.15])),
        second=bool(rng.random() < 0.3),
        seed=int(rng.integers(2**31)),
    )
    # A transposed convolution needs at least one place of its window.
    return draw(rng, functions) if case.transposed and 0 in places(case) else case


# The definition ----------------------------------------------------------------------------------


def margins(case: Case) -> Pads:
    """How much is added before and after each axis."""
    found = []
    for size, stride, span in zip(case.space, case.strides, case.spans, strict=True):
        total = 0
        if case.padding == "same" and size:
            total = max(0, (-(-size // stride) - 1) * stride + span - size)
        found.append((total // 2, total - total // 2))
    return tuple(found)


def places(case: Case) -> Ints:
    """How many places the window takes along each axis."""
    axes = zip(case.space, case.spans, case.strides, margins(case), strict=True)
    return tuple(max(0, (d + sum(m) - span) // stride + 1) for d, span, stride, m in axes)


def _around(x: Array, case: Case, value: float = 0) -> Array:
    pads = [(0, 0), *margins(case), (0, 0)]
    return np.pad(x, pads, constant_values=value)


def _cells(case: Case) -> Iterator[tuple[Ints, tuple[slice, ...]]]:
    """Each cell of the window, and what it sees of the padded space at all places."""
    counts = places(case)
    for cell in np.ndindex(*case.sizes):
        starts = [c * d for c, d in zip(cell, case.dilation, strict=True)]
        axes = zip(starts, counts, case.strides, strict=True)
        seen = [slice(a, a + (n - 1) * s + 1, s) if n else slice(0, 0) for a, n, s in axes]
        yield cell, (slice(None), *seen)


def convolved(case: Case, x: Array, k: Array) -> Array:
    """y (batch, *places, out) of x and a kernel (*sizes, in, out); deep: out is in * filters."""
    around = _around(x, case)
    out = k.shape[-1] * (k.shape[-2] if case.deep else 1)
    y = np.zeros((x.shape[0], *places(case), out))
    for cell, seen in _cells(case):
        if case.deep:
            y += (around[seen][..., None] * k[cell]).reshape(y.shape)
        else:
            y += around[seen] @ k[cell]
    return y


def to_input(case: Case, g: Array, k: Array) -> Array:
    """The adjoint of `convolved` in x."""
    x = np.zeros((g.shape[0], *case.space, k.shape[-2]))
    around = _around(x, case)
    for cell, seen in _cells(case):
        if case.deep:
            around[seen] += (g.reshape(*g.shape[:-1], *k.shape[-2:]) * k[cell]).sum(-1)
        else:
            around[seen] += g @ k[cell].T
    inner = [slice(m[0], m[0] + d) for m, d in zip(margins(case), case.space, strict=True)]
    return around[(slice(None), *inner)]


def to_kernel(case: Case, x: Array, g: Array) -> Array:
    """The adjoint of `convolved` in the kernel."""
    around = _around(x, case)
    k = np.zeros((*case.sizes, x.shape[-1], case.filters))
    axes = tuple(range(case.rank + 1))
    for cell, seen in _cells(case):
        if case.deep:
            split = g.reshape(*g.shape[:-1], x.shape[-1], case.filters)
            k[cell] = (around[seen][..., None] * split).sum(axes)
        else:
            k[cell] = np.tensordot(around[seen], g, (axes, axes))
    return k


def _chosen(case: Case, x: Array) -> Array:
    """For each place and channel the first cell of the largest value: its number, row-major."""
    around = _around(x, case, -np.inf)
    best = np.full((x.shape[0], *places(case), x.shape[-1]), -np.inf)
    index = np.full(best.shape, -1)
    for number, (_, seen) in enumerate(_cells(case)):
        better = around[seen] > best
        best[better], index[better] = around[seen][better], number
    return index


def _shares(case: Case, x: Array) -> list[Array]:
    """For each cell of a pool the weight with which places take what it sees."""
    if case.mode == "max":
        index = _chosen(case, x)
        return [(index == number) * 1.0 for number, _ in enumerate(_cells(case))]
    inside = _around(np.ones((1, *case.space, 1)), case)
    seen = [inside[seen] for _, seen in _cells(case)]
    return [s / sum(seen) for s in seen]


def pooled(case: Case, x: Array, shares: list[Array]) -> Array:
    """The sum over the cells of what they see, weighted."""
    around = _around(x, case)
    y = np.zeros((x.shape[0], *places(case), x.shape[-1]))
    for share, (_, seen) in zip(shares, _cells(case), strict=True):
        y += around[seen] * share
    return y


def unpooled(case: Case, g: Array, shares: list[Array]) -> Array:
    """The adjoint of `pooled`."""
    around = _around(np.zeros((g.shape[0], *case.space, g.shape[-1])), case)
    for share, (_, seen) in zip(shares, _cells(case), strict=True):
        around[seen] += g * share
    inner = [slice(m[0], m[0] + d) for m, d in zip(margins(case), case.space, strict=True)]
    return around[(slice(None), *inner)]


# What goes in, what comes out --------------------------------------------------------------------


def operands(case: Case) -> dict[str, Array]:
    """Values by name, channels last: x, the kernels, the cotangent g, and directions for second
    derivatives (of the shapes of x and the kernel)."""
    rng = np.random.default_rng(case.seed)

    def normal(*shape: int) -> Array:
        return rng.normal(size=shape).astype(case.dtype)

    wide = (case.batch, *case.space, case.channels)
    if case.function.startswith("pool"):
        x = normal(*wide)
        if case.seed % 3 == 0:  # many ties
            x = np.round(x).astype(case.dtype)
        result: tuple[int, ...] = (case.batch, *places(case), case.channels)
        return {"x": x, "g": _cotangent(case, normal(*result)), "u": normal(*wide)}
    depth = case.channels * case.filters if case.deep else case.filters
    narrow = (case.batch, *places(case), depth)
    x, k = normal(*wide), normal(*case.sizes, case.channels, case.filters)
    u, v = normal(*wide), normal(*k.shape)
    if case.transposed:
        return {"x": normal(*narrow), "k": k, "g": _cotangent(case, x), "u": normal(*narrow)}
    if case.function.startswith("separable"):
        point = normal(*(1,) * case.rank, depth, case.points)
        g = _cotangent(case, normal(*narrow[:-1], case.points))
        return {"x": x, "k": k, "p": point, "g": g}
    return {"x": x, "k": k, "g": _cotangent(case, normal(*narrow)), "u": u, "v": v}


def _cotangent(case: Case, g: Array) -> Array:
    return np.ones_like(g) if case.cotangent == "ones" else g


def expected(case: Case, given: dict[str, Array]) -> dict[str, tuple[Array, Array]]:
    """By name each result in float64, and the sum of its terms' sizes, which bounds its error.

    y: the result; x, k, p: gradients of sum(y * g); xu-k, xu-g: gradients of sum(dx * u); kv-x,
    kv-g: gradients of sum(dk * v).
    """
    wide = {name: value.astype(np.float64) for name, value in given.items()}
    rule: Callable[[Case, dict[str, Array]], dict[str, Array]] = _of_convolution
    if case.function.startswith("pool"):
        shares = _shares(case, wide["x"])
        exact, bound = (_of_pool(case, v, shares) for v in (wide, _sizes(wide)))
    else:
        if case.transposed:
            rule = _of_transposed
        elif case.function.startswith("separable"):
            rule = _of_separable
        exact, bound = rule(case, wide), rule(case, _sizes(wide))
    return {name: (exact[name], bound[name]) for name in exact}


def _sizes(given: dict[str, Array]) -> dict[str, Array]:
    return {name: np.abs(value) for name, value in given.items()}


def _of_pool(case: Case, v: dict[str, Array], shares: list[Array]) -> dict[str, Array]:
    found = {"y": pooled(case, v["x"], shares), "x": unpooled(case, v["g"], shares)}
    if case.second:
        found["xu-g"] = pooled(case, v["u"], shares)
    return found


def _of_convolution(case: Case, v: dict[str, Array]) -> dict[str, Array]:
    found = {
        "y": convolved(case, v["x"], v["k"]),
        "x": to_input(case, v["g"], v["k"]),
        "k": to_kernel(case, v["x"], v["g"]),
    }
    if case.second:
        found["xu-k"] = to_kernel(case, v["u"], v["g"])
        found["xu-g"] = convolved(case, v["u"], v["k"])
        found["kv-x"] = to_input(case, v["g"], v["v"])
        found["kv-g"] = convolved(case, v["x"], v["v"])
    return found


def _of_transposed(case: Case, v: dict[str, Array]) -> dict[str, Array]:
    found = {
        "y": to_input(case, v["x"], v["k"]),
        "x": convolved(case, v["g"], v["k"]),
        "k": to_kernel(case, v["g"], v["x"]),
    }
    if case.second:
        found["xu-k"] = to_kernel(case, v["g"], v["u"])
        found["xu-g"] = to_input(case, v["u"], v["k"])
    return found


def _of_separable(case: Case, v: dict[str, Array]) -> dict[str, Array]:
    middle = convolved(case, v["x"], v["k"])
    point = v["p"].reshape(v["p"].shape[-2:])
    back = v["g"] @ point.T
    axes = tuple(range(case.rank + 1))
    return {
        "y": middle @ point,
        "x": to_input(case, back, v["k"]),
        "k": to_kernel(case, v["x"], back),
        "p": np.tensordot(middle, v["g"], (axes, axes)).reshape(v["p"].shape),
    }
