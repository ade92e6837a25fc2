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
from ..graph import Operation
from ..variables import Store
from .files import text
from .table import host

VARIANT = NUMBERS["variant"]


def _texts(value: Any) -> list[str]:
    return [text(each) for each in np.ravel(np.asarray(value, object))]


def _by_name(names: Any, parts: Any, tensors: Any) -> dict[str, Any]:
    """Arrays, or parts of tensors, by name."""
    found: dict[str, Any] = {}
    for name, told, value in zip(_texts(names), _texts(parts), tensors, strict=True):
        array = np.asarray(value)
        if not told:
            found[name] = array
            continue
        shape, extents = parsed(told)
        found.setdefault(name, []).append(Part(shape, extents, array))
    return found


@host("SaveV2")
def _save(
    store: Store, operation: Operation, prefix: Any, names: Any, parts: Any, *tensors: Any
) -> list[Any]:
    with reported(text(prefix)):
        bundles.write(text(prefix), _by_name(names, parts, tensors))
    return []


@host("MergeV2Checkpoints")
def _merge(store: Store, operation: Operation, prefixes: Any, prefix: Any) -> list[Any]:
    with reported(text(prefix)):
        bundles.merge(_texts(prefixes), text(prefix), operation.attribute("delete_old_dirs"))
    return []


@host("Save")
def _save_old(
    store: Store, operation: Operation, path: Any, names: Any, *tensors: Any
) -> list[Any]:
    return _save_slices(store, operation, path, names, [""] * len(tensors), *tensors)


@host("SaveSlices")
def _save_slices(
    store: Store, operation: Operation, path: Any, names: Any, parts: Any, *tensors: Any
) -> list[Any]:
    with reported(text(path)):
        older.write(text(path), _by_name(names, parts, tensors))
    return []


@host("RestoreV2")
def _restore(store: Store, operation: Operation, prefix: Any, names: Any, parts: Any) -> list[Any]:
    wanted = zip(_texts(names), _texts(parts), operation.attribute("dtypes"), strict=True)
    return _restored(text(prefix), list(wanted))


@host("Restore RestoreSlice")
def _restore_old(
    store: Store, operation: Operation, pattern: Any, name: Any, part: Any = b""
) -> list[Any]:
    return _restored(text(pattern), [(text(name), text(part), operation.attribute("dt"))])


def _restored(prefix: str, wanted: list[tuple[str, str, int]]) -> list[Any]:
    checkpoint = opened(prefix)
    found = []
    for name, told, dtype in wanted:
        extents = None
        if told:
            shape, extents = parsed(told)
            stored = checkpoint.entry(name).shape if name in checkpoint else shape
            if stored != shape:
                raise invalid(
                    f"Shape in shape_and_slice spec {_shown(shape)} does not match the shape stored"
                    f" in checkpoint: {_shown(stored)}"
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


def _shown(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"
