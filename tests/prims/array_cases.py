"""Cases of primitives that move, reduce, pick, order and contract elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kameleon.ir.primitive import REGISTRY
from kameleon.prims import indexing, linalg, movement, reduce, sparse
from kameleon.prims.elementwise import constant
from kameleon.prims.sizes import dims_of, size_of

from .case import (
    ALL,
    FLOATS,
    INTEGERS,
    Array,
    Build,
    Case,
    array_of,
    einsum,
    flags,
    lined,
    normal,
    placed,
    pool,
    reduced,
    spaced,
    whole,
    wrap,
)

NAN = math.nan
CUBE = normal(2, 3, 4)

# Sizes and movement ------------------------------------------------------------------------


def reshaped(label: str, dims: Sequence[int], x: Array, to: Sequence[int]) -> Case:
    """Row-major order is kept; -1 stands for what is left."""
    return Case(
        primitive="reshape",
        label=label,
        build=lambda x: movement.reshape(x, dims),
        operands=(x,),
        oracle=lambda x: array_of(x.ravel().tolist(), to, x.dtype),
        wrt=(0,) if x.dtype == "float64" else (),
    )


def stretched(label: str, x: Array, dims: Sequence[int]) -> Case:
    """New leading axes, and axes of size 1, are repeated."""

    def oracle(x: Array) -> Array:
        def element(*at: int) -> Any:
            inner = at[len(dims) - x.ndim :]
            return x[tuple(0 if d == 1 else i for i, d in zip(inner, x.shape, strict=True))].item()

        return placed(dims, x.dtype, element)

    return Case(
        primitive="broadcast_to",
        label=label,
        build=lambda x: movement.broadcast_to(x, dims),
        operands=(x,),
        oracle=oracle,
        wrt=(0,),
    )


def counted(label: str, dims: Sequence[int], axis: int, dtype: str) -> Case:
    """Each element is its index along the axis."""
    return Case(
        primitive="iota",
        label=label,
        build=lambda: movement.iota(dims, axis, dtype),
        operands=(),
        oracle=lambda: placed(dims, dtype, lambda *at: at[axis]),
    )


def permuted(perm: tuple[int, ...], x: Array) -> Case:
    """Axis i of the result is axis perm[i]."""
    to = [x.shape[p] for p in perm]
    return Case(
        primitive="transpose",
        label=f"{perm}",
        build=lambda x: movement.transpose(x, perm),
        operands=(x,),
        oracle=lambda x: placed(
            to, x.dtype, lambda *at: x[tuple(at[perm.index(i)] for i in range(x.ndim))]
        ),
        wrt=(0,),
    )


def reversed_along(*axes: int) -> Case:
    """The order along some axes turned round."""

    def oracle(x: Array) -> Array:
        return placed(
            x.shape,
            x.dtype,
            lambda *at: x[
                tuple(
                    d - 1 - i if a in axes else i
                    for a, (i, d) in enumerate(zip(at, x.shape, strict=True))
                )
            ],
        )

    return Case(
        primitive="reverse",
        label=f"{axes}",
        build=lambda x: REGISTRY["reverse"](x, axes=axes),
        operands=(CUBE,),
        oracle=oracle,
        wrt=(0,),
    )


def picked(
    windows: Sequence[tuple[int | None, int | None, int]], size: Sequence[int]
) -> list[list[int]]:
    """The indices that windows select along each axis."""
    return [list(range(d))[slice(*w)] for w, d in zip(windows, size, strict=True)]


def sliced(label: str, x: Array, *windows: tuple[int | None, int | None, int]) -> Case:
    """Python's slices along each axis."""

    def oracle(x: Array) -> Array:
        indices = picked(windows, x.shape)
        return placed(
            [len(i) for i in indices],
            x.dtype,
            lambda *at: x[tuple(i[j] for i, j in zip(indices, at, strict=True))],
        )

    return Case(
        primitive="slice",
        label=label,
        build=lambda x: movement.slice_(x, windows),
        operands=(x,),
        oracle=oracle,
        wrt=(0,),
    )


def unsliced(label: str, size: Sequence[int], *windows: tuple[int | None, int | None, int]) -> Case:
    """Zeros but for the slice."""
    indices = picked(windows, size)

    def oracle(g: Array) -> Array:
        out = np.zeros(size, g.dtype)
        for at in np.ndindex(*g.shape):
            out[tuple(i[j] for i, j in zip(indices, at, strict=True))] = g[at]
        return out

    return Case(
        primitive="unslice",
        label=label,
        build=lambda g: movement.unslice(g, size, windows),
        operands=(normal(*(len(i) for i in indices)),),
        oracle=oracle,
        wrt=(0,),
    )


def padded(label: str, x: Array, value: Any, *margins: tuple[int, int]) -> Case:
    """A value around the tensor."""

    def oracle(x: Array) -> Array:
        def element(*at: int) -> Any:
            inner = tuple(i - low for i, (low, _) in zip(at, margins, strict=True))
            inside = all(0 <= i < d for i, d in zip(inner, x.shape, strict=True))
            return x[inner].item() if inside else value

        sizes = [d + a + b for d, (a, b) in zip(x.shape, margins, strict=True)]
        return placed(sizes, x.dtype, element)

    return Case(
        primitive="pad",
        label=label,
        build=lambda x: movement.pad(x, margins, value),
        operands=(x,),
        oracle=oracle,
        wrt=(0,) if x.dtype == "float64" and math.isfinite(value) else (),
    )


def joined(label: str, axis: int, *parts: Array) -> Case:
    """One part behind the other."""

    def oracle(*parts: Array) -> Array:
        lines = [row for p in parts for row in np.moveaxis(p, axis, 0)]
        return np.moveaxis(np.array(lines), 0, axis)

    return Case(
        primitive="concatenate",
        label=label,
        build=lambda *xs: movement.concatenate(xs, axis),
        operands=parts,
        oracle=oracle,
        wrt=tuple(range(len(parts))) if parts[0].dtype == "float64" else (),
    )


WHOLE = (None, None, 1)
MOVEMENT: list[Case] = [
    *(
        Case(
            primitive="size",
            label=f"axis{axis}",
            build=lambda x, axis=axis: REGISTRY["size"](x, axis=axis),
            operands=(np.zeros((2, 0, 5)),),
            oracle=lambda x, axis=axis: np.int32((2, 0, 5)[axis]),
        )
        for axis in range(3)
    ),
    reshaped("flat", [24], CUBE, [24]),
    reshaped("inferred", [4, -1], CUBE, [4, 6]),
    reshaped("scalar", [], np.array([[3.5]]), []),
    reshaped("from-scalar", [1, 1], np.array(2.5), [1, 1]),
    reshaped("empty", [0, 7], np.zeros((3, 0)), [0, 7]),
    reshaped("empty-inferred", [2, -1], np.zeros((0, 3)), [2, 0]),
    reshaped("bools", [3, 2], flags(2, 3), [3, 2]),
    Case(
        primitive="reshape",
        label="sizes-from-another",
        build=lambda x, like: movement.reshape(x, dims_of(like)),
        operands=(CUBE, np.zeros((6, 4))),
        oracle=lambda x, like: array_of(x.ravel().tolist(), (6, 4), x.dtype),
        wrt=(0,),
    ),
    stretched("scalar", np.array(2.5), (2, 3)),
    stretched("scalar-empty", np.array(2.5), (2, 0)),
    stretched("lead", normal(3), (2, 4, 3)),
    stretched("ones", normal(1, 3, 1), (2, 3, 4)),
    stretched("both", normal(1, 3), (4, 5, 3)),
    stretched("to-none", normal(1, 3), (0, 3)),
    Case(
        primitive="broadcast_to",
        label="sizes-from-another",
        build=lambda x, like: movement.broadcast_to(x, dims_of(like)),
        operands=(normal(1, 3), np.zeros((2, 4, 3))),
        oracle=lambda x, like: placed((2, 4, 3), x.dtype, lambda i, j, k: x[0, k]),
        wrt=(0,),
    ),
    counted("vector", [5], 0, "int32"),
    counted("rows", [2, 3], 0, "int64"),
    counted("columns", [2, 3], 1, "float32"),
    counted("empty", [0, 3], 1, "uint8"),
    Case(
        primitive="iota",
        label="sizes-from-another",
        build=lambda like: movement.iota(dims_of(like), 1, "float64"),
        operands=(normal(2, 3),),
        oracle=lambda like: placed((2, 3), "float64", lambda i, j: j),
    ),
    *(permuted(p, CUBE) for p in itertools.permutations(range(3)) if p != (0, 1, 2)),
    permuted((1, 0), normal(2, 0)),
    reversed_along(0),
    reversed_along(1, 2),
    reversed_along(),
    sliced("middle", CUBE, WHOLE, (1, 2, 1), WHOLE),
    sliced("steps", normal(7, 5), (None, None, 2), (1, None, 3)),
    sliced("negative", normal(7, 5), (-4, -1, 1), (None, -2, 2)),
    sliced("beyond", normal(4), (2, 99, 1)),
    sliced("empty", normal(4, 2), (3, 1, 1), WHOLE),
    unsliced("middle", (4, 5), (1, 3, 1), WHOLE),
    unsliced("steps", (7, 5), (None, None, 2), (1, None, 3)),
    unsliced("negative", (7,), (-4, -1, 1)),
    unsliced("empty", (4, 2), (2, 2, 1), WHOLE),
    padded("zeros", normal(2, 3), 0, (1, 2), (0, 1)),
    padded("value", normal(2, 3), 1.5, (0, 0), (2, 0)),
    padded("infinity", normal(2), -math.inf, (1, 1)),
    padded("integers", whole(2, 3), 7, (1, 0), (0, 1)),
    padded("nothing", normal(0, 2), 0.5, (1, 1), (0, 0)),
    joined("rows", 0, normal(2, 3), normal(1, 3), normal(4, 3)),
    joined("columns", 1, normal(2, 3), normal(2, 0), normal(2, 2)),
    joined("same", 0, normal(2), normal(2)),
    joined("integers", 0, whole(2), whole(3, seed=1)),
    Case(
        primitive="concatenate",
        label="one-operand-twice",
        build=lambda x: REGISTRY["concatenate"](x, x, axis=0),
        operands=(normal(2, 2),),
        oracle=lambda x: np.array([*x, *x]),
        wrt=(0,),
    ),
]

# Reductions --------------------------------------------------------------------------------

AXES: list[tuple[int, ...]] = [(0,), (2,), (0, 2), (0, 1, 2)]


def highest(better: Callable[[Any, Any], bool]) -> Callable[[list[Any]], int]:
    """Where the first extremum is; a NaN counts as one."""

    def where(items: list[Any]) -> int:
        best = 0
        for i, x in enumerate(items):
            if items[best] == items[best] and (x != x or better(x, items[best])):
                best = i
        return best

    return where


def value_at(where: Callable[[list[Any]], int]) -> Callable[[list[Any]], Any]:
    return lambda items: items[where(items)]


def total(items: list[Any]) -> Any:
    """The exact sum, of integers as of floats."""
    floats = any(isinstance(i, float) for i in items) and all(map(math.isfinite, items))
    return math.fsum(items) if floats else sum(items)


LARGEST = highest(lambda a, b: a > b)
SMALLEST = highest(lambda a, b: a < b)
# The meaning for a list of Python numbers, where it is smooth, and whether nothing will do.
REDUCTIONS: dict[str, tuple[Callable[[list[Any]], Any], Array, bool]] = {
    "reduce_sum": (total, CUBE, True),
    "reduce_prod": (math.prod, CUBE, True),
    "reduce_max": (value_at(LARGEST), spaced(2, 3, 4), False),
    "reduce_min": (value_at(SMALLEST), spaced(2, 3, 4), False),
}
SPECIAL = np.array([[1.0, NAN, 3.0], [2.0, 2.0, -1.0], [math.inf, 0.0, -math.inf]])


def reduction_cases(name: str) -> list[Case]:
    f, smooth, over_nothing = REDUCTIONS[name]
    apply = getattr(reduce, name)

    def case(label: str, x: Array, axes: tuple[int, ...], wrt: tuple[int, ...] = ()) -> Case:
        return Case(
            primitive=name,
            label=label,
            build=lambda x: apply(x, axes),
            operands=(x,),
            oracle=reduced(f, axes),
            wrt=wrt,
            units=32,
        )

    return [
        *(case(f"smooth{axes}", smooth, axes, (0,)) for axes in AXES),
        *(
            case(dtype, np.array([pool(dtype)[-4:], pool(dtype)[:4]], dtype), (1,))
            for dtype in INTEGERS
        ),
        *(case(dtype, normal(5, 4, dtype=dtype), (0,)) for dtype in FLOATS),
        case("special", SPECIAL, (1,)),
        case("nothing-left", np.zeros((0, 3)), (1,), (0,)),
        *(
            [
                case("nothing", np.zeros((2, 0)), (1,), (0,)),
                case("none", np.zeros((0, 0)), (0, 1), (0,)),
            ]
            if over_nothing
            else []
        ),
    ]


def logic_case(name: str, f: Callable[[list[Any]], bool], x: Array, axes: tuple[int, ...]) -> Case:
    return Case(
        primitive=name,
        label=f"{x.shape}{axes}",
        build=lambda x: getattr(reduce, name)(x, axes),
        operands=(x,),
        oracle=reduced(f, axes),
    )


def argument_case(name: str, label: str, x: Array, axis: int) -> Case:
    where = {"argmax": LARGEST, "argmin": SMALLEST}[name]
    return Case(
        primitive=name,
        label=label,
        build=lambda x: REGISTRY[name](x, axis=axis),
        operands=(x,),
        oracle=reduced(where, (axis,), "int64"),
    )


def cumulative_case(name: str, label: str, x: Array, axis: int) -> Case:
    step = {"cumsum": lambda a, b: a + b, "cumprod": lambda a, b: a * b}[name]
    return Case(
        primitive=name,
        label=label,
        build=lambda x: REGISTRY[name](x, axis=axis),
        operands=(x,),
        oracle=lined(lambda line: list(itertools.accumulate(line, step)), axis),
        wrt=(0,) if x.dtype == "float64" else (),
        units=32,
    )


def linear_scan_case(label: str, a: Array, b: Array, axis: int) -> Case:
    def line(a: list[float], b: list[float]) -> list[float]:
        return list(
            itertools.accumulate(
                zip(a, b, strict=True), lambda y, ab: ab[0] * y + ab[1], initial=0.0
            )
        )[1:]

    return Case(
        primitive="linear_scan",
        label=label,
        build=lambda a, b: REGISTRY["linear_scan"](a, b, axis=axis),
        operands=(a, b),
        oracle=lined(line, axis),
        wrt=(0, 1),
        units=32,
    )


TIES = np.array([[2, 5, 5, 1], [3, 3, 3, 3]])
REDUCE: list[Case] = [
    *(case for name in REDUCTIONS for case in reduction_cases(name)),
    *(
        logic_case(name, f, x, axes)
        for name, f in (("reduce_any", any), ("reduce_all", all))
        for x, axes in (
            (flags(3, 4), (1,)),
            (flags(3, 4), (0, 1)),
            (np.ones((2, 2), bool), (0,)),
            (np.zeros((2, 0), bool), (1,)),
        )
    ),
    *(
        argument_case(name, label, x, axis)
        for name in ("argmax", "argmin")
        for label, x, axis in (
            ("ties", TIES, 1),
            ("rows", TIES, 0),
            ("special", SPECIAL, 1),
            ("cube", CUBE, 1),
            ("bools", flags(2, 5), 1),
            ("nothing-left", np.zeros((0, 3)), 1),
        )
    ),
    *(
        cumulative_case(name, label, x, axis)
        for name in ("cumsum", "cumprod")
        for label, x, axis in (
            ("first", CUBE, 0),
            ("last", CUBE, 2),
            ("empty", np.zeros((2, 0)), 1),
            ("wraps", np.full((9,), 100, "int8"), 0),
            ("unsigned", np.full((9,), 3, "uint8"), 0),
            ("half", normal(6, dtype="float16"), 0),
        )
    ),
    linear_scan_case("first", normal(5, 2), normal(5, 2, seed=1), 0),
    linear_scan_case("last", normal(2, 4), normal(2, 4, seed=1), 1),
    linear_scan_case("one", normal(2, 1), normal(2, 1, seed=1), 1),
    linear_scan_case("empty", normal(0, 2), normal(0, 2), 0),
]

# Picking and ordering ----------------------------------------------------------------------


def gather_case(label: str, x: Array, index: Array, axis: int) -> Case:
    def oracle(x: Array, index: Array) -> Array:
        k = index.ndim
        shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
        return placed(
            shape, x.dtype, lambda *at: x[(*at[:axis], index[at[axis : axis + k]], *at[axis + k :])]
        )

    return Case(
        primitive="gather",
        label=label,
        build=lambda x, index: indexing.gather(x, index, axis),
        operands=(x, index),
        oracle=oracle,
        wrt=(0,) if x.dtype == "float64" else (),
    )


def scatter_case(
    label: str, g: Array, index: Array, size: int, axis: int, sized: bool = False
) -> Case:
    def oracle(g: Array, index: Array, *like: Array) -> Array:
        k = index.ndim
        out = np.zeros((*g.shape[:axis], size, *g.shape[axis + k :]), g.dtype)
        for at in np.ndindex(*g.shape):
            where = (*at[:axis], index[at[axis : axis + k]], *at[axis + k :])
            out[where] = wrap(out[where].item() + g[at].item(), g.dtype)
        return out

    return Case(
        primitive="scatter_add",
        label=label,
        build=lambda g, index, *like: indexing.scatter_add(
            g, index, size_of(like[0], 0) if like else size, axis
        ),
        operands=(g, index, *([np.zeros(size)] if sized else [])),
        oracle=oracle,
        wrt=(0,) if g.dtype == "float64" else (),
    )


def line_index(index: Array, at: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*at[:axis], int(index[at]), *at[axis + 1 :])


def take_case(label: str, x: Array, index: Array, axis: int) -> Case:
    return Case(
        primitive="take_along",
        label=label,
        build=lambda x, index: indexing.take_along(x, index, axis),
        operands=(x, index),
        oracle=lambda x, index: placed(
            index.shape, x.dtype, lambda *at: x[line_index(index, at, axis)]
        ),
        wrt=(0,),
    )


def put_case(label: str, g: Array, index: Array, size: int, axis: int) -> Case:
    def oracle(g: Array, index: Array) -> Array:
        out = np.zeros((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
        for at in np.ndindex(*g.shape):
            out[line_index(index, at, axis)] += g[at]
        return out

    return Case(
        primitive="put_along",
        label=label,
        build=lambda g, index: indexing.put_along(g, index, size, axis),
        operands=(g, index),
        oracle=oracle,
        wrt=(0,),
    )


def sort_case(label: str, x: Array, axis: int) -> Case:
    """Ascending, stable, NaN last."""

    def order(line: list[Any]) -> list[int]:
        return sorted(
            range(len(line)),
            key=lambda i: (line[i] != line[i], line[i] if line[i] == line[i] else 0),
        )

    return Case(
        primitive="argsort",
        label=label,
        build=lambda x: REGISTRY["argsort"](x, axis=axis),
        operands=(x,),
        oracle=lined(order, axis, "int64"),
    )


def nonzero_case(label: str, x: Array) -> Case:
    def oracle(x: Array) -> Array:
        rows = [at for at in np.ndindex(*x.shape) if x[at]]
        return np.array(rows, "int64").reshape(len(rows), x.ndim)

    return Case(
        primitive="nonzero",
        label=label,
        build=REGISTRY["nonzero"],
        operands=(x,),
        oracle=oracle,
        data_dependent=True,
    )


INDEXING: list[Case] = [
    gather_case("rows", normal(5, 3), np.array([4, 0, 0, 2]), 0),
    gather_case("columns", CUBE, np.array([[1, 0], [2, 2]], "int32"), 1),
    gather_case("scalar", normal(5, 3), np.array(3), 0),
    gather_case("nothing", normal(5, 3), np.zeros(0, "int64"), 0),
    gather_case("unsigned", whole(4), np.array([3, 1], "uint8"), 0),
    scatter_case("rows", normal(4, 3), np.array([4, 0, 0, 2]), 5, 0),
    scatter_case("columns", normal(2, 2, 2, 4), np.array([[1, 0], [2, 2]], "int32"), 3, 1),
    scatter_case("nothing", normal(0, 3), np.zeros(0, "int64"), 2, 0),
    scatter_case("sized", normal(4, 3), np.array([4, 0, 0, 2]), 5, 0, sized=True),
    scatter_case("wraps", np.full(3, 100, "int8"), np.zeros(3, "int64"), 2, 0),
    take_case("rows", normal(4, 3), whole(2, 3, below=4), 0),
    take_case("last", CUBE, whole(2, 3, 6, below=4, dtype="int64"), 2),
    take_case("nothing", normal(4, 3), whole(4, 0), 1),
    put_case("rows", normal(2, 3), whole(2, 3, below=4), 4, 0),
    put_case("last", normal(2, 3, 6), whole(2, 3, 6, below=4, dtype="int64"), 4, 2),
    put_case("nothing", normal(4, 0), whole(4, 0), 2, 1),
    sort_case("ties", TIES, 1),
    sort_case("rows", TIES, 0),
    sort_case("special", SPECIAL, 1),
    sort_case("infinities", np.array([math.inf, NAN, -math.inf, 0.0, NAN]), 0),
    sort_case("cube", CUBE, 1),
    sort_case("bools", flags(9), 0),
    sort_case("empty", np.zeros((2, 0)), 1),
    nonzero_case("floats", np.array([[0.0, 1.5, NAN], [-0.0, 0.0, -2.0]])),
    nonzero_case("bools", flags(2, 3, 2)),
    nonzero_case("none", np.zeros((2, 2))),
    nonzero_case("empty", np.zeros((0, 2))),
]

# Contraction -------------------------------------------------------------------------------


def contract_case(
    label: str, spec: str, a: Array, b: Array, over: Any, batch: Any = ((), ())
) -> Case:
    return Case(
        primitive="contract",
        label=label,
        build=lambda a, b: linalg.contract(a, b, over, batch),
        operands=(a, b),
        oracle=einsum(spec),
        wrt=(0, 1) if a.dtype == "float64" else (),
        units=64,
    )


CONTRACT: list[Case] = [
    contract_case("matmul", "ij,jk->ik", normal(2, 3), normal(3, 4), ((1,), (0,))),
    contract_case("first-by-first", "ji,jk->ik", normal(3, 2), normal(3, 4), ((0,), (0,))),
    contract_case("last-by-last", "ij,kj->ik", normal(2, 3), normal(4, 3), ((1,), (1,))),
    contract_case("vectors", "i,i->", normal(5), normal(5, seed=1), ((0,), (0,))),
    contract_case("outer", "i,j->ij", normal(2), normal(3), ((), ())),
    contract_case("scalars", ",->", normal(), normal(seed=1), ((), ())),
    contract_case("matrix-vector", "ij,j->i", normal(2, 3), normal(3), ((1,), (0,))),
    contract_case("dense", "aij,jk->aik", CUBE, normal(4, 2), ((2,), (0,))),
    contract_case("two-axes", "aij,jia->", CUBE, normal(4, 3, 2), ((0, 1, 2), (2, 1, 0))),
    contract_case("crossed", "aij,jak->ik", CUBE, normal(4, 2, 5), ((2, 0), (0, 1))),
    contract_case("batch", "aij,ajk->aik", CUBE, normal(2, 4, 3), ((2,), (1,)), ((0,), (0,))),
    contract_case("batch-last", "ija,kja->aik", CUBE, normal(5, 3, 4), ((1,), (1,)), ((2,), (2,))),
    contract_case(
        "two-batches",
        "abij,bajk->abik",
        normal(2, 3, 2, 2),
        normal(3, 2, 2, 4),
        ((3,), (2,)),
        ((0, 1), (1, 0)),
    ),
    contract_case(
        "batch-alone", "ai,ai->ai", normal(2, 3), normal(2, 3, seed=1), ((), ()), ((0, 1), (0, 1))
    ),
    contract_case(
        "batch-dots", "ai,ai->a", normal(2, 3), normal(2, 3, seed=1), ((1,), (1,)), ((0,), (0,))
    ),
    contract_case("over-nothing", "ij,jk->ik", normal(2, 0), normal(0, 3), ((1,), (0,))),
    contract_case("empty", "ij,jk->ik", normal(0, 2), normal(2, 3), ((1,), (0,))),
    contract_case(
        "empty-batch", "aij,ajk->aik", normal(0, 2, 3), normal(0, 3, 1), ((2,), (1,)), ((0,), (0,))
    ),
    contract_case(
        "wraps", "ij,jk->ik", np.full((2, 3), 100, "int8"), np.full((3, 1), 7, "int8"), ((1,), (0,))
    ),
    contract_case(
        "int64", "ij,jk->ik", whole(2, 3, dtype="int64"), whole(3, 2, dtype="int64"), ((1,), (0,))
    ),
    *(
        contract_case(d, "ij,jk->ik", normal(2, 3, dtype=d), normal(3, 2, dtype=d), ((1,), (0,)))
        for d in ("float16", "float32")
    ),
]

# Constants are leaves: what they hold is what they give, for every dtype.
CONSTANTS: list[Case] = [
    Case(
        primitive="identity",
        label=f"constant-{dtype}",
        build=lambda dtype=dtype: REGISTRY["identity"](constant(np.array(pool(dtype), dtype))),
        operands=(),
        oracle=lambda dtype=dtype: np.array(pool(dtype), dtype),
    )
    for dtype in ALL
]

# Sparse tensors ----------------------------------------------------------------------------

# Elements of a (3, 4) matrix in no order, one of them twice.
WHERE, VALUES = np.array([[2, 3], [0, 1], [2, 3], [1, 0]]), normal(4)


def scattered(where: Array, values: Array) -> Array:
    out = np.zeros((3, 4), values.dtype)
    for (i, j), value in zip(where.tolist(), values, strict=True):
        out[i, j] += value
    return out


def sparse_case(name: str, label: str, build: Build, *operands: Array) -> Case:
    def oracle(where: Array, values: Array, *dense: Array) -> Array:
        matrix = scattered(where, values)
        return einsum("ij,jk->ik")(matrix, dense[0]) if name == "sparse_dense_dot" else matrix

    floats = tuple(i for i, x in enumerate(operands) if x.size and x.dtype == "float64")
    return Case(
        primitive=name,
        label=label,
        build=build,
        operands=operands,
        oracle=oracle,
        wrt=floats if label == "few" else (),
        rigid=(0,),
    )


SPARSE: list[Case] = [
    case
    for label, where, values in (("few", WHERE, VALUES), ("none", WHERE[:0], VALUES[:0]))
    for case in (
        sparse_case(
            "sparse_to_dense",
            label,
            lambda i, v: sparse.sparse_to_dense(i, v, (3, 4)),
            where,
            values,
        ),
        sparse_case(
            "sparse_to_dense",
            f"{label}-sizes-from-another",
            lambda i, v, like: sparse.sparse_to_dense(i, v, dims_of(like)),
            where,
            values,
            np.zeros((3, 4)),
        ),
        sparse_case(
            "sparse_dense_dot",
            label,
            lambda i, v, y: sparse.sparse_dense_dot(i, v, y, 3),
            where,
            values,
            normal(4, 2),
        ),
    )
]

CASES: list[Case] = [*MOVEMENT, *REDUCE, *INDEXING, *CONTRACT, *CONSTANTS, *SPARSE]
