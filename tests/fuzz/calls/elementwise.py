"""Calls that work element by element."""

from __future__ import annotations

from ..draft import Draft, Entry
from .table import Call, Table

CALLS = Table()
call = CALLS.add


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


SPECIAL = [0, 1, 2, 0.5, -1, 3, -0.5]


@call
def with_constant(d: Draft) -> str:
    """Beside a constant of one number, which compilers rewrite, and which stretches the tensor."""
    x = d.float()
    sizes = [d.choice([1, s]) if s != 1 else d.int(1, 3) for s in x.node.shape if s is not None]
    shape = tuple(sizes) if None not in x.node.shape else (1,) * d.int(0, 2)
    constant = f"K.constant(np.full({shape[d.int(0, len(shape)) :]}, {d.choice(SPECIAL)}), dtype=F)"
    operation = d.choice(["{} + {}", "{} - {}", "{} * {}", "K.maximum({}, {})", "K.pow({}, {})"])
    if "pow" in operation:
        return operation.format(f"(K.abs({x.name}) + 0.5)", constant)
    pair = [x.name, constant]
    d.random.shuffle(pair)
    return operation.format(*pair)


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
