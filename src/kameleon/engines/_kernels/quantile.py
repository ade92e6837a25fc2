"""Normal quantiles for the NumPy engine: in blocks that stay in cache, tails where there are any.

The same operations in the same order as the expansion of the primitive, so the same bits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...graph.primitives.quantile import CENTRE_32, CENTRE_64, MIDDLE_64, ROOT_TWO, TAIL_32, TAIL_64

Array = Any

# Elements in a block: three arrays of so many in float64 fit a usual second-level cache.
_BLOCK: Final = 16_384


def normal_quantile(x: Array) -> Array:
    """The standard normal's quantile at (1 + x) / 2: an array of the type of `x`."""
    x = np.asarray(x)
    if x.dtype == np.float16:
        return normal_quantile(x.astype(np.float32)).astype(np.float16)
    flat = np.ascontiguousarray(x).reshape(-1)
    out = np.empty_like(flat)
    block = _block_64 if x.dtype == np.float64 else _block_32
    for start in range(0, flat.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        block(flat[part], out[part])
    return out.reshape(x.shape)[()]


def _exponent(x: Array) -> Array:
    """-log((1 - x)(1 + x)), at least 0."""
    w = np.subtract(1, x)
    np.multiply(w, np.add(1, x), w)
    np.negative(np.log(w, w), w)
    return np.maximum(w, 0, out=w)


def _horner(x: Array, table: tuple[float, ...], out: Array) -> Array:
    out.fill(table[0])
    for coefficient in table[1:]:
        np.multiply(out, x, out)
        np.add(out, x.dtype.type(coefficient), out)
    return out


def _set_tail(out: Array, w: Array, at: Array, table: tuple[float, ...], offset: float) -> None:
    """Replace the elements `at` by the polynomial in sqrt(w) - offset."""
    if at.size:
        root = np.sqrt(w[at])
        np.subtract(root, offset, root)
        out[at] = _horner(root, table, np.empty_like(root))


def _block_32(x: Array, out: Array) -> None:
    w = _exponent(x)
    _horner(np.subtract(w, 1), CENTRE_32, out)
    _set_tail(out, w, np.flatnonzero(w >= 5), TAIL_32, 2)
    np.multiply(x, out, out)


def _block_64(x: Array, out: Array) -> None:
    w = _exponent(x)
    _horner(np.subtract(w, 3.125), CENTRE_64, out)
    outer = np.flatnonzero(w >= 6.25)
    far = w[outer] >= 16
    _set_tail(out, w, outer[~far], MIDDLE_64, 3.25)
    _set_tail(out, w, outer[far], TAIL_64, 5)
    np.multiply(x, out, out)
    np.multiply(out, ROOT_TWO, out)
