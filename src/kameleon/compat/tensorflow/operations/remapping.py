"""Rows and columns of a checkpoint's matrix in the order of another vocabulary."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..checkpoints import opened, tensor
from ..dtypes import NUMBERS, enumerated
from ..failures import failure, invalid
from .table import host
from .tables import lines_of
from .values import text

Array = np.ndarray


@host("GenerateVocabRemapping")
def _places(
    new: Any, old: Any, *, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int
) -> list[Any]:
    """Of each new word its number in the old vocabulary, or -1; and how many are there."""
    if not text(new) or not text(old):
        raise invalid("new vocab filename cannot be empty.")
    words, end = list(lines_of(text(new))), new_vocab_offset + num_new_vocab
    if end > len(words):
        raise invalid("lookup table size must be larger than last new vocab entry's line")
    count = old_vocab_size if old_vocab_size >= 0 else None
    numbers = {word: at for at, word in enumerate(itertools.islice(lines_of(text(old)), count))}
    if count is not None and count > len(numbers):
        raise invalid(f"Invalid vocab_size in {text(old)}: expected {count}, got {len(numbers)}")
    found = np.array([numbers.get(each, -1) for each in words[new_vocab_offset:end]], np.int64)
    return [found, np.int32((found >= 0).sum())]


@host("LoadAndRemapMatrix")
def _moved(
    path: Any, name: Any, rows: Array, columns: Array, values: Array, *, num_rows: int,
    num_cols: int,
) -> Array:  # fmt: skip
    """The old rows and columns where they belong now; the values, in order, everywhere else."""
    _demand_places("row", rows, num_rows)
    old = _matrix(text(path), text(name))
    if len(columns):
        _demand_places("col", columns, num_cols)
    elif old.shape[1] != num_cols:
        raise invalid(
            f"Tensor {text(name)} has shape {list(old.shape)}, where the size of its 2nd dimension"
            f" is {old.shape[1]} instead of being equal to num_cols={num_cols}"
        )
    across = columns if len(columns) else np.arange(num_cols)
    if rows.max(initial=-1) >= old.shape[0] or across.max(initial=-1) >= old.shape[1]:
        raise invalid(f"Tensor {text(name)} has no rows or columns that are remapped")
    is_there = (rows >= 0)[:, None] & (across >= 0)
    missing = is_there.size - int(is_there.sum())
    if missing != values.size:
        raise invalid(
            f"initializing_values contained {values.size} elements, but {missing} are missing"
        )
    found = np.empty(is_there.shape, np.float32)
    found[is_there] = old[np.ix_(rows[rows >= 0], across[across >= 0])].ravel()
    found[~is_there] = values.ravel()
    return found


def _demand_places(axis: str, places: Array, count: int) -> None:
    if (size := len(places)) != count:
        raise invalid(f"Size of {axis}_remapping is {size} instead of being equal to {count}")
    kept = places[places >= 0]
    if len(np.unique(kept)) < len(kept):
        message = "an old ID is mapped to several new IDs, which is not supported."
        raise failure("UNIMPLEMENTED", message)


def _matrix(path: str, name: str) -> Array:
    checkpoint = opened(path)
    found: Array = tensor(checkpoint, name)
    if (kind := checkpoint.entry(name).dtype) != NUMBERS["float32"]:
        raise invalid(f"Tensor {name} has invalid type {enumerated(kind)}, not DT_FLOAT")
    if found.ndim != 2:
        raise invalid(f"Tensor {name} has shape {list(found.shape)} of invalid rank {found.ndim}")
    return found
