"""The primitive by which tangents go through a program, and cotangents back: see `jax_gradients`.

`slope` is what computes either: it has `tangents(kept, tangents, types of results)`, and
`cotangents(kept, cotangents or None where they're zero, types of outputs)`, which transposes that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
from jax.extend import core
from jax.interpreters import ad, batching, mlir

from ...engines.jax.arrays import in_64_bits
from .jax_tracing import varying

Value = Any
Values = Sequence[Any]

linear_p: Any = core.Primitive("kameleon_linear")
linear_p.multiple_results = True


def linear(kept: Values, tangents: Values, slope: Any, like: Values) -> list[Value]:
    """`slope.tangents(kept, tangents)`, whose transpose is `slope.cotangents`."""
    arguments = varying([*kept, *tangents])
    count = len(kept)
    found: list[Value] = linear_p.bind(*arguments, slope=slope, count=count, like=tuple(like))
    return found


def _computed(*arguments: Value, slope: Any, count: int, like: Values) -> list[Value]:
    found = in_64_bits(slope.tangents, arguments[:count], arguments[count:], like)
    return found  # type: ignore[no-any-return]


def _tangents(
    primals: Values, tangents: Values, *, slope: Any, count: int, like: Values
) -> tuple[Values, Values]:
    """The tangents of tangents: linear in these, and as it comes in what is kept."""
    bound = partial(linear_p.bind, slope=slope, count=count, like=like)
    still = [isinstance(t, ad.Zero) for t in tangents]
    if all(still[:count]):
        given = [_instantiated(t) for t in tangents[count:]]
        kept = primals[:count]
        return bound(*primals), bound(*kept, *varying([*given, *kept])[: len(given)])
    live = [i for i, is_still in enumerate(still) if not is_still]

    def moved(*values: Value) -> list[Value]:
        new = dict(zip(live, values, strict=True))
        whole = [new.get(i, x) for i, x in enumerate(primals)]
        return _computed(*whole, slope=slope, count=count, like=like)

    found = in_64_bits(jax.jvp, moved, [primals[i] for i in live], [tangents[i] for i in live])
    return found  # type: ignore[no-any-return]


# Before JAX 0.8 it's elsewhere.
_unmapped: Any = getattr(core, "unmapped_aval", None) or getattr(jax.core, "unmapped_aval", None)
_instantiated: Callable[[Value], Value] = ad.instantiate_zeros


def _cotangents(
    given: Values, *arguments: Value, slope: Any, count: int, like: Values
) -> list[Value | None]:
    found = in_64_bits(
        slope.cotangents,
        arguments[:count],
        [None if isinstance(g, ad.Zero) else g for g in given],
        like,
    )
    pairs = zip(arguments[count:], found, strict=True)
    return [None] * count + [ad.Zero(x.aval) if g is None else g for x, g in pairs]


def _batched(
    arguments: Values, dims: Sequence[int | None], *, slope: Any, count: int, like: Values
) -> tuple[Values, list[int]]:
    pairs = zip(arguments, dims, strict=True)
    size = next(x.shape[d] for x, d in pairs if d is not None)
    many = Batch(slope, count, tuple(dims), tuple(like))
    found = linear_p.bind(
        *arguments, slope=many, count=count, like=tuple(_unmapped(size, 0, x) for x in like)
    )
    return found, [0] * len(like)


@dataclass(frozen=True)
class Batch:
    """A slope for many samples at once.

    Attributes:
        slope: for one sample.
        count: how much is kept.
        dims: for what is kept, and for tangents, the axis of samples; None, if all have the same.
        one: the types of outputs of one sample.
    """

    slope: Any
    count: int
    dims: tuple[int | None, ...]
    one: Values

    def tangents(self, kept: Values, given: Values, like: Values) -> list[Value]:
        """See `Slope.tangents`."""

        def one(*arguments: Value) -> list[Value]:
            kept, given = arguments[: self.count], arguments[self.count :]
            return self.slope.tangents(kept, given, self.one)  # type: ignore[no-any-return]

        found: list[Value] = jax.vmap(one, self.dims)(*kept, *given)
        return found

    def cotangents(self, kept: Values, given: Values, like: Values) -> list[Value | None]:
        """See `Slope.cotangents`."""
        there = [g is not None for g in given]

        def one(kept: Values, found: Values) -> list[Value | None]:
            rest = iter(found)
            whole = [next(rest) if has else None for has in there]
            return self.slope.cotangents(kept, whole, self.one)  # type: ignore[no-any-return]

        live = [g for g in given if g is not None]
        found = jax.vmap(one, (list(self.dims[: self.count]), 0))(list(kept), live)
        pairs = zip(found, self.dims[self.count :], strict=True)
        return [None if g is None else _for_axis(g, axis) for g, axis in pairs]


def _for_axis(g: Value, axis: int | None) -> Value:
    """Cotangents of samples, for samples along an axis, or for one that all of them share."""
    return jax.numpy.sum(g, 0) if axis is None else jax.numpy.moveaxis(g, 0, axis)


linear_p.def_impl(_computed)
linear_p.def_abstract_eval(lambda *_, like, **__: list(like))
ad.primitive_jvps[linear_p] = _tangents
ad.primitive_transposes[linear_p] = _cotangents
batching.primitive_batchers[linear_p] = _batched
mlir.register_lowering(linear_p, mlir.lower_fun(_computed, multiple_results=True))
