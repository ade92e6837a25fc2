"""Arrays whose parts lie in several processes, which run one program together."""

from __future__ import annotations

import importlib
import inspect
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from ..._utils.private import Private
from ...config.processes import Process, patience, this_process
from ...errors import EngineError
from .divergence_check import DivergenceCheck, stop

_DISTRIBUTED: Any = jax.distributed
_CONFIG: Any = jax.config
# JAX declares no types for these.
_PARTS: Any = jax.make_array_from_process_local_data
_SPEC: Any = jax.sharding.PartitionSpec
# How long JAX's service waits for a sign of life, in seconds.
ALIVE = 100

_check: DivergenceCheck | None = None


def join() -> int:
    """Meet the other processes, where the environment says that there are some.

    Returns:
        How many processes there are.

    Raises:
        ArgumentError: the environment says a part of it.
        RuntimeError: JAX has made its devices, or other processes don't come.
    """
    process = this_process()
    if process is not None and not _DISTRIBUTED.is_initialized():
        _meet(process)
    return 1 if process is None else process.processes


def _meet(process: Process) -> None:
    global _check
    waits = max(1, int(patience()))
    times = {
        "initialization_timeout": waits,
        "heartbeat_timeout_seconds": max(10, min(ALIVE, waits)),  # since JAX 0.7, as the next one
        "shutdown_timeout_seconds": waits,
    }
    known = inspect.signature(_DISTRIBUTED.initialize).parameters
    _DISTRIBUTED.initialize(
        process.coordinator,
        process.processes,
        process.number,
        cluster_detection_method="deactivate",
        **{name: seconds for name, seconds in times.items() if name in known},
    )
    if CLIENT.holds:
        _check = DivergenceCheck(_state().client, process, patience(), stop)
        _check.watch()


def _state() -> Any:
    """Where JAX keeps the client of the service by which processes meet."""
    return importlib.import_module("jax._src.distributed").global_state


CLIENT = Private(
    "JAX", "the client of the service by which processes meet", lambda: hasattr(_state(), "client")
)


def is_many() -> bool:
    """Whether several processes run this program."""
    return _check is not None


def take_step(program: str, arrays: Iterable[Any]) -> None:
    """Begin what all processes have to ask for; nothing where there's one.

    Raises:
        EngineError: another process asks for something else, or doesn't come.
    """
    if _check is not None:
        _check.take(program, arrays)


def ask_for(count: int) -> None:
    """Let JAX's processor be as many devices, where JAX hasn't made its devices yet."""
    try:
        if _CONFIG.jax_num_cpu_devices < count:
            _CONFIG.update("jax_num_cpu_devices", count)
    except (RuntimeError, AttributeError):  # it has; or this version doesn't know the setting
        pass


def put(array: Any, sharding: NamedSharding, note: bool = False) -> Any:
    """An array laid out; every process gives all of it, and keeps the parts of its own devices.

    Args:
        array: what to lay out.
        sharding: how.
        note: whether the processes compare what they give, at the next new step.
    """
    if sharding.is_fully_addressable:
        return jax.device_put(array, sharding)
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        take_step(f"layout {sharding.spec}", [array])
        return jax.jit(_same, out_shardings=sharding)(array)
    given = np.asarray(array)
    if note and _check is not None:
        _check.note(given)
    return jax.make_array_from_callback(given.shape, sharding, lambda index: given[index])


def rows(part: Any, sharding: NamedSharding) -> Any:
    """An array of rows, of which each process gives its own.

    Raises:
        ValueError: the processes' parts don't make an array that lies so.
    """
    return _PARTS(sharding, np.asarray(part))


def gather_to_host(array: Any) -> np.ndarray[Any, Any]:
    """All of an array, in each process. Where parts lie in others, all processes ask together."""
    if not isinstance(array, jax.Array) or array.is_fully_addressable:
        return np.array(array)
    if not array.is_fully_replicated:
        sharding: Any = array.sharding
        take_step("whole", [array])
        everywhere = NamedSharding(sharding.mesh, _SPEC())
        array = jax.jit(_same, out_shardings=everywhere)(array)
    return np.array(array.addressable_data(0))


def from_first(function: Callable[[], Any]) -> Any:
    """What a function gives in the first process, in all of them; others don't call it.

    Raises:
        EngineError: in the others, where it raised in the first one.
    """
    if _check is None:
        return function()
    value: Any = None
    error: BaseException | None = None
    data = b""
    if _check.number == 0:
        try:
            value = function()
            data = pickle.dumps((value, ""), pickle.HIGHEST_PROTOCOL)
        except Exception as raised:
            error = raised
            data = pickle.dumps((None, f"{type(error).__name__}: {error}"))
    size = int(_broadcast_from_first(np.array(len(data), np.uint32)))
    # Sizes are rounded up: each one means code of its own.
    room = np.zeros(1 << max(10, (size - 1).bit_length()), np.uint8)
    room[: len(data)] = np.frombuffer(data, np.uint8)
    received = _broadcast_from_first(room)
    if error is not None:
        raise error
    if _check.number == 0:
        return value
    value, message = pickle.loads(received[:size].tobytes())
    if message:
        raise EngineError(f"in process 0: {message}")
    return value


def _broadcast_from_first(array: np.ndarray[Any, Any]) -> Any:
    """The first process's array; all give one of that size."""
    take_step("from the first process", [array.shape])
    return np.asarray(_together().broadcast_one_to_all(array))


def _together() -> Any:
    """JAX's functions for several processes."""
    return importlib.import_module("jax.experimental.multihost_utils")


def _same(array: Any) -> Any:
    return array
