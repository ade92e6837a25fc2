"""Checkpoints, of whichever version, and TensorFlow's errors for what's wrong with them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .dtypes import enumerated
from .failures import failure, invalid, refused
from .formats.bundles import Bundle, MissingPartError
from .formats.older import OldCheckpoint
from .formats.tables import DamagedError
from .graph import shape_text


def opened(prefix: str) -> Bundle:
    """A checkpoint to read.

    Raises:
        NotFoundError, DataLossError: (TensorFlow's) it isn't there, or isn't whole.
    """
    if os.path.exists(f"{prefix}.index"):
        with reported(f"{prefix}.index"):
            return Bundle(prefix)
    if not glob.glob(prefix):
        message = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files"
        raise failure("NOT_FOUND", f"{message} for {prefix}")
    with reported(prefix):
        return OldCheckpoint(prefix)


@contextmanager
def reported(path: str) -> Iterator[None]:
    """What's wrong with files is said by TensorFlow's errors."""
    try:
        yield
    except DamagedError as error:
        message = (
            str(error) if path.endswith(".index") else f"Unable to open table file {path}: {error}"
        )
        raise failure("DATA_LOSS", message) from error
    except OSError as error:
        raise refused(error, error.filename) from error


def described(checkpoint: Bundle) -> str:
    """The tensors of a checkpoint, one in a line."""
    lines = []
    for name in checkpoint.names():
        entry = checkpoint.entry(name)
        lines.append(f"{name} ({enumerated(entry.dtype)}) {shape_text(entry.shape)}\n")
    return "".join(lines)


def tensor(checkpoint: Bundle, name: str, extents: Any = None) -> Any:
    """A tensor of a checkpoint, or a part of it.

    Raises:
        NotFoundError, DataLossError, InvalidArgumentError: (TensorFlow's) it isn't there, is
            damaged, or lacks parts that are asked for.
    """
    if name not in checkpoint:
        raise failure("NOT_FOUND", f"Key {name} not found in checkpoint")
    try:
        return checkpoint.tensor(name, extents)
    except DamagedError as error:
        raise failure("DATA_LOSS", str(error)) from error
    except MissingPartError as error:
        raise invalid(f"{error} to restore") from error
