"""Saving and restoring, by their operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checkpoints import opened, reported, tensor
from ..dtypes import NUMBERS, enumerated
from ..failures import invalid
from ..formats import bundles, older
from ..formats.bundles import Part
from ..formats.slices import is_whole, parsed
from ..graph import Operation, shape_text
from .table import host
from .values import text

VARIANT = NUMBERS["variant"]


def _texts(value: Any) -> list[str]:
    return [text(each) for each in np.ravel(np.asarray(value, object))]


def _by_name(names: Any, parts: Any, tensors: Any) -> dict[str, Any]:
    """Arrays, or parts of tensors, by name."""
    found: dict[str, Any] = {}
    for name, part, value in zip(_texts(names), _texts(parts), tensors, strict=True):
        array = np.asarray(value)
        if not part:
            found[name] = array
            continue
        shape, extents = parsed(part)
        found.setdefault(name, []).append(Part(shape, extents, array))
    return found


@host("SaveV2")
def _save(prefix: str, names: Any, parts: Any, *tensors: Any) -> None:
    with reported(prefix):
        bundles.write(prefix, _by_name(names, parts, tensors))


@host("MergeV2Checkpoints")
def _merge(prefixes: Any, prefix: str, *, delete_old_dirs: bool) -> None:
    with reported(prefix):
        bundles.merge(_texts(prefixes), prefix, delete_old_dirs)


@host("Save SaveSlices")
def _save_old(operation: Operation, path: str, names: Any, *given: Any) -> None:
    are_whole = operation.type == "Save"
    parts, *tensors = ([""] * len(given), *given) if are_whole else given
    with reported(path):
        older.write(path, _by_name(names, parts, tensors))


@host("RestoreV2")
def _restore(prefix: str, names: Any, parts: Any, *, dtypes: list[int]) -> list[Any]:
    return _restored(prefix, list(zip(_texts(names), _texts(parts), dtypes, strict=True)))


@host("Restore RestoreSlice")
def _restore_old(pattern: str, name: str, part: str = "", *, dt: int) -> list[Any]:
    return _restored(pattern, [(name, part, dt)])


def _restored(prefix: str, wanted: list[tuple[str, str, int]]) -> list[Any]:
    checkpoint = opened(prefix)
    found = []
    for name, part, dtype in wanted:
        extents = None
        if part:
            shape, extents = parsed(part)
            stored = checkpoint.entry(name).shape if name in checkpoint else shape
            if stored != shape:
                raise invalid(
                    f"Shape in shape_and_slice spec {shape_text(shape)} does not match the shape"
                    f" stored in checkpoint: {shape_text(stored)}"
                )
            extents = None if is_whole(extents, shape) else extents
        value = tensor(checkpoint, name, extents)
        if dtype not in (checkpoint.entry(name).dtype, VARIANT):
            raise invalid(
                f"tensor_name = {name}; expected dtype {enumerated(dtype)} does not equal original"
                f" dtype {enumerated(checkpoint.entry(name).dtype)}"
            )
        found.append(value)
    return found
