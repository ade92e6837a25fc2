"""Dtypes for which TensorFlow's operations have no kernel on a CPU, and what carries them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

# What stands in for a dtype that a kernel lacks. Sums and products of integers are the same
# modulo 2**bits, and all integers but those of uint64 keep their order.
WIDER = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "float16": "float32",
    "bfloat16": "float32",
}
WIDEST = {"int32": "int64", "int64": "float64", "float32": "float64"}


class Carriers(Mapping[str, Mapping[str, str]]):
    """See `Engine.carriers`. They follow from the operations that rules call, and are found when
    first asked for, since TensorFlow's registry is slow.
    """

    def __init__(self, operations: Mapping[str, tuple[str, ...]]):
        self._operations = operations

    def __getitem__(self, name: str) -> Mapping[str, str]:
        return _carried(self._operations[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._operations)

    def __len__(self) -> int:
        return len(self._operations)


@functools.cache
def _carried(operations: tuple[str, ...]) -> Mapping[str, str]:
    """By dtype without a kernel, the dtype that carries it."""
    found = {}
    for known in filter(None, map(_dtypes, operations)):
        for dtype, wide in WIDER.items():
            while wide and wide not in known:
                wide = WIDEST.get(wide, "")
            if dtype not in known and wide:
                found[dtype] = wide
    return found


def _dtypes(operation: str) -> frozenset[str] | None:
    """The dtypes that an operation takes and a CPU has a kernel for; None where they aren't known,
    or where these are all dtypes."""
    try:
        from tensorflow.python.framework.kernels import get_registered_kernels_for_op
        from tensorflow.python.framework.op_def_registry import get as definition

        registered = get_registered_kernels_for_op(operation).kernel
        taken = [_names(a.allowed_values) for a in definition(operation).attr if a.name == "T"]
    except (ImportError, AttributeError):
        return None
    found: set[str] = set()
    for kernel in registered:
        if kernel.device_type != "CPU" or kernel.label:
            continue
        of_t = [c for c in kernel.constraint if c.name == "T"]
        if not of_t:
            return None
        found.update(name for c in of_t for name in _names(c.allowed_values))
    return frozenset(found.intersection(*filter(None, taken)))


def _names(values: Any) -> frozenset[str]:
    return frozenset(tf.as_dtype(t).name for t in values.list.type)
