"""Calls that move elements, and that read sizes."""

from __future__ import annotations

from ..draft import Draft, Entry
from .table import Table, layout

CALLS = Table()
call = CALLS.add


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
    """Indexing as NumPy means it; whole numbers stay within the bounds of their axes."""
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
    rank = d.choice([2, 2, 3])
    pairs = tuple((d.int(0, 2), d.int(0, 2)) for _ in range(rank))
    x = d.float(rank + 2, rank + 2)
    return f"K.spatial_{rank}d_padding({x.name}, {pairs}, {layout(d)!r})"


@call
def resize_images(d: Draft) -> str:
    how = d.choice(["nearest", "nearest", "bilinear"])
    x = d.float(4, 4, filled=True)
    return f"K.resize_images({x.name}, {d.int(1, 3)}, {d.int(1, 3)}, {layout(d)!r}, {how!r})"


@call
def resize_volumes(d: Draft) -> str:
    x = d.float(5, 5, filled=True)
    factors = ", ".join(str(d.int(1, 2)) for _ in range(3))
    return f"K.resize_volumes({x.name}, {factors}, {layout(d)!r})"
