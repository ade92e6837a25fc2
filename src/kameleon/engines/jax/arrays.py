"""From NumPy arrays to JAX and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.experimental
import numpy as np
from jax import lax

from ..._utils.private import Private
from ...graph.ir.program import Graph
from .._codegen.fixed_arity import between_arrays

# Results of fewer elements are copied: that takes less time than sharing their memory.
LARGE = 16384

# Only with 64-bit numbers switched on does JAX keep dtypes as they are. Before JAX 0.8 the switch
# was in `jax.experimental`.
_ROOM: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
X64 = _ROOM.enable_x64
# Like `with X64(True):`, but the switch is back whatever a signal's handler raises: Python runs no
# handler between the end of the `try` block and the call of `put`, which is written in C.
SWITCHED = """old = get()
 try: put(True); {made} = CALL
 finally: put(old)"""


def on_processor() -> bool:
    """Whether JAX's default device is the processor."""
    return jax.default_backend() == "cpu"


# XLA asks for a program's working memory in one piece, anew in each call. What is above 32 MiB the
# system maps anew, too, page by page: that took up to half of a training step. Smaller pieces stay
# with the process. (The limit is soft: no array is cut.)
_PIECES = {"xla_multiheap_size_constraint_per_heap": 30 * 2**20}


@cache
def compiler_options() -> dict[str, int] | None:
    """What XLA is told about a program, if its version knows these options."""
    if not on_processor():
        return None
    try:
        jax.jit(lambda: 0, compiler_options=_PIECES)()
    except RuntimeError:
        return None
    return _PIECES


def in_64_bits(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call gives with 64-bit numbers switched on."""
    if not SWITCH.holds:
        with X64(True):
            return call(*arguments)
    old, put = X64.get_local(), X64.set_local
    traces = [(state.set_local, state.get_local()) for state in _trace_states()]
    try:
        put(True)
        return call(*arguments)
    except BaseException:
        # Where a signal's handler raises while JAX leaves a trace, the trace stays in force.
        for restore, value in traces:
            restore(value)
        raise
    finally:
        put(old)


def _trace_states() -> list[Any]:
    """The states of a thread that say which trace is in force."""
    return _TRACES if TRACES.holds else []


def given_up(array: Any) -> Any:
    """A writable NumPy array with the values of a result that nobody else holds; a large result
    isn't copied.
    """
    if math.prod(array.shape) < LARGE or array.dtype.kind == "V" or not _on_cpu(array):
        return np.array(array)
    return np.asarray(_Memory(array)) if MEMORY.holds else np.array(array)


def between(
    program: Callable[..., Any], graph: Graph, more: Sequence[Any] = ()
) -> Callable[..., list[Any] | None]:
    """A function that runs a compiled program from NumPy arrays, and `more`, to NumPy arrays.

    Making a NumPy array of a result waits for the program, so nothing reads arguments afterwards.
    """
    text = SWITCHED if SWITCH.holds else "with wide(True): {made} = CALL"
    given = ["{given}"] if graph.inputs else []
    given += ["*more"] if more else []
    return between_arrays(
        graph,
        text.replace("CALL", f"program({', '.join(given)})"),
        made="copy({}) if count({}.shape) < large else given_up({})",
        wide=X64,
        get=getattr(X64, "get_local", None),
        put=getattr(X64, "set_local", None),
        program=program,
        more=tuple(more),
        copy=np.array,
        count=math.prod,
        large=LARGE,
        given_up=given_up,
    )


class _Memory:
    """The memory of a result of JAX that nobody else holds: NumPy may write to it."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: Any):
        self.array = array.block_until_ready()  # lives as long as NumPy's array over it
        self.__array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.unsafe_buffer_pointer(), False),
            "version": 3,
        }


def _on_cpu(array: Any) -> bool:
    devices = array.devices()
    return len(devices) == 1 and next(iter(devices)).platform == "cpu"


def _memory_is_its_own() -> bool:
    """Whether writing to the memory of a result leaves all else as it was: arguments that are
    handed on, constants, and the results of other calls.
    """

    copied: Callable[[Any], Any] = lax.copy_p.bind

    def program(x: Any) -> list[Any]:
        return [copied(x), x + 1, lax.full((LARGE,), 3.0, np.float32)]

    compiled = jax.jit(program)
    given = np.arange(LARGE, dtype=np.float32)
    held = jax.device_put(given)
    wanted = [given, given + 1, np.full(LARGE, 3.0, np.float32)]
    for argument in (held, given, held):
        arrays = [np.asarray(_Memory(y)) for y in compiled(argument)]
        if not all(map(np.array_equal, arrays, wanted)):
            return False
        for array in arrays:
            array[...] = -1.0
    return np.array_equal(held, given) and given[-1] == LARGE - 1


def _switches_alone() -> bool:
    """Whether JAX's own context manager sets this one value of the thread, and nothing else."""
    if getattr(X64, "_update_thread_local_hook", 0) is not None:
        return False
    config: Any = jax.config
    before, old = bool(config.jax_enable_x64), X64.get_local()
    found = []
    for value in (True, False):
        try:
            X64.set_local(value)
            found.append(bool(config.jax_enable_x64) is value)
        finally:
            X64.set_local(old)
        with X64(value):
            found.append(X64.get_local() is value)
    return all(found) and bool(config.jax_enable_x64) is before and X64.get_local() is old


_NAMES = ("trace_state_strong_ref", "trace_state", "axis_env_state")
_CORE = getattr(getattr(jax, "_src", None), "core", None)
_TRACES: list[Any] = [getattr(_CORE, name, None) for name in _NAMES]


def _traces_are_kept() -> bool:
    """Whether `_TRACES` change while JAX traces, and are what they were afterwards."""

    def now() -> list[Any]:
        return [state.get_local() for state in _TRACES]

    def traced(x: Any) -> Any:
        inside.extend(now())
        return x

    inside: list[Any] = []
    before = now()
    jax.jit(traced)(np.float32(1))
    for state, value in zip(_TRACES, before, strict=True):
        state.set_local(value)
    changed = inside[0] is not before[0] and inside[1] is not before[1]
    return changed and all(a is b for a, b in zip(now(), before, strict=True))


TRACES = Private("JAX", "the states that say which trace is in force", _traces_are_kept)
SWITCH = Private("JAX", "`get_local` and `set_local` of the 64-bit switch", _switches_alone)
MEMORY = Private("JAX", "`unsafe_buffer_pointer`, written to", _memory_is_its_own)
