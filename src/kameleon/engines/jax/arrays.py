"""From NumPy arrays to JAX and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.experimental
import numpy as np

from ...ir.program import Graph
from .._written import between_arrays

# Results of fewer elements are copied: that takes less time than sharing their memory.
LARGE = 16384

# Only with 64-bit numbers switched on does JAX keep dtypes as they are. The switch was among its
# experiments before 0.8.
_ROOM: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
X64 = _ROOM.enable_x64
# What `with X64(True):` does, in a quarter of the time.
SWITCHED = """old = swap(True)
 try: {made} = program({given})
 finally: put(old)"""


def given_up(array: Any) -> Any:
    """A writable NumPy array with the values of a result that nobody else holds: a large one
    isn't copied.
    """
    if math.prod(array.shape) < LARGE or array.dtype.kind == "V" or not _on_cpu(array):
        return np.array(array)
    return np.asarray(_Memory(array))


def between(program: Callable[..., Any], graph: Graph) -> Callable[..., list[Any] | None]:
    """What runs a compiled program from NumPy arrays to NumPy arrays.

    Who takes a result as an array waits for it, so nothing reads an argument any longer.
    """
    return between_arrays(
        graph,
        SWITCHED if _has_quick_switch(X64) else "with x64(True): {made} = program({given})",
        made="copy({}) if count({}.shape) < large else given_up({})",
        x64=X64,
        swap=getattr(X64, "swap_local", None),
        put=getattr(X64, "set_local", None),
        program=program,
        copy=np.array,
        count=math.prod,
        large=LARGE,
        given_up=given_up,
    )


def _has_quick_switch(switch: Any) -> bool:
    """Whether its context manager swaps one value of the thread, and nothing else."""
    has_both = hasattr(switch, "swap_local") and hasattr(switch, "set_local")
    return has_both and getattr(switch, "_update_thread_local_hook", 0) is None


class _Memory:
    """The memory of a result of JAX that nobody else holds: NumPy may write to it."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: Any):
        self.array = array.block_until_ready()  # lives as long as what is made of this
        self.__array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.unsafe_buffer_pointer(), False),
            "version": 3,
        }


def _on_cpu(array: Any) -> bool:
    devices = array.devices()
    return len(devices) == 1 and next(iter(devices)).platform == "cpu"
