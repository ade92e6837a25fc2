"""Arrays whose parts lie in several processes, which run one program together."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from ...config.processes import this_process

_DISTRIBUTED: Any = jax.distributed
_CONFIG: Any = jax.config
# JAX declares no types for these.
_PARTS: Any = jax.make_array_from_process_local_data
_SPEC: Any = jax.sharding.PartitionSpec
# A process that doesn't come within this time, in seconds, is missing.
PATIENCE = 120


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
        _DISTRIBUTED.initialize(
            process.coordinator,
            process.processes,
            process.number,
            cluster_detection_method="deactivate",
            initialization_timeout=PATIENCE,
        )
    return 1 if process is None else process.processes


def ask_for(count: int) -> None:
    """Let JAX's processor be as many devices, where JAX hasn't made its devices yet."""
    try:
        if _CONFIG.jax_num_cpu_devices < count:
            _CONFIG.update("jax_num_cpu_devices", count)
    except (RuntimeError, AttributeError):  # it has; or this version doesn't know the setting
        pass


def put(array: Any, sharding: NamedSharding) -> Any:
    """An array laid out; every process gives all of it, and keeps the parts of its own devices."""
    if sharding.is_fully_addressable:
        return jax.device_put(array, sharding)
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        return jax.jit(_same, out_shardings=sharding)(array)
    given = np.asarray(array)
    return jax.make_array_from_callback(given.shape, sharding, lambda index: given[index])


def rows(part: Any, sharding: NamedSharding) -> Any:
    """An array of rows, of which each process gives its own.

    Raises:
        ValueError: the processes' parts don't make an array that lies so.
    """
    return _PARTS(sharding, np.asarray(part))


def whole(array: Any) -> np.ndarray[Any, Any]:
    """All of an array, in each process. Where parts lie in others, all processes ask together."""
    if not isinstance(array, jax.Array) or array.is_fully_addressable:
        return np.array(array)
    if not array.is_fully_replicated:
        sharding: Any = array.sharding
        everywhere = NamedSharding(sharding.mesh, _SPEC())
        array = jax.jit(_same, out_shardings=everywhere)(array)
    return np.array(array.addressable_data(0))


def _same(array: Any) -> Any:
    return array
