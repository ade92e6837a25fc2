"""`tf.keras.applications`: the known networks, made of the layers and models of `tf.keras`."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from ..._locks import lock

# The parts of Keras that the networks are made of, as `keras.applications` names them.
PARTS = ("backend", "layers", "models", "utils")

_lock = lock()


def of_tf_keras(function: Callable[..., Any], part: Callable[[str], Any]) -> Callable[..., Any]:
    """A function of `keras.applications` that uses parts of `tf.keras`.

    Args:
        function: makes a network, or changes its inputs or outputs.
        part: gives the module of `tf.keras` of a name.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        holder = importlib.import_module("keras.applications")
        with _lock:
            before = {name: vars(holder)[name] for name in PARTS}
            vars(holder).update({name: part(name) for name in PARTS})
            try:
                return function(*args, **kwargs)
            finally:
                vars(holder).update(before)

    return call
