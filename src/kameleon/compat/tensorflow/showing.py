"""Values as messages and prints show them."""

from __future__ import annotations

from typing import Any

import numpy as np

_ESCAPED = {
    **{code: f"\\{code:03o}" for code in (*range(32), *range(127, 256))},
    **{ord(sign): f"\\{name}" for sign, name in zip("\n\r\t\"'\\", "nrt\"'\\", strict=True)},
}


def escaped(x: bytes) -> str:
    """Bytes as a string of C's source has them.

    >>> print(escaped("it's\\té".encode()))
    it\\'s\\t\\303\\251
    """
    return x.decode("latin-1").translate(_ESCAPED)


def element(x: Any) -> str:
    """One element of a tensor as TensorFlow prints it."""
    if isinstance(x, bytes):
        return f'"{escaped(x)}"'
    if isinstance(x, bool | np.bool_):
        return str(int(x))
    if isinstance(x, np.complexfloating):
        return "?"
    if isinstance(x, np.floating):
        kind, few, many = (np.float32, 6, 9) if x.dtype.itemsize < 8 else (np.float64, 15, 17)
        written = f"{x:.{few}g}"
        return written if kind(written) == kind(x) else f"{x:.{many}g}"
    return str(x)


def summary(given: np.ndarray, most: int) -> str:
    """An array as messages show it: so many elements, -1: all; rows in brackets.

    >>> summary(np.arange(6.0).reshape(2, 3), 2), summary(np.array([1, 2]), 3)
    ('[0 1...]...', '1 2')
    """
    limit = given.size if most < 0 else min(most, given.size)
    parts = [_element(each) for each in given.ravel()[:limit]]
    shown = _rows(parts, given.shape, limit, 0, given.ndim) if given.ndim else "".join(parts)
    return shown + "..." * (limit < given.size)


def _element(value: Any) -> str:
    return escaped(value) if isinstance(value, bytes) else element(value)


def _rows(parts: list[str], shape: tuple[int, ...], limit: int, start: int, rank: int) -> str:
    """What begins at a place of the numbers that are shown."""
    if len(shape) == 1:
        kept = parts[start : start + shape[0]]
        return " ".join(kept) + "..." * (rank > 1 and len(kept) < shape[0])
    size = int(np.prod(shape[1:]))
    starts = [start + size * row for row in range(shape[0]) if start + size * row < limit]
    return "".join(f"[{_rows(parts, shape[1:], limit, at, rank)}]" for at in starts)
