"""Calling a concrete function with few Python layers in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..._utils.private import Private

try:
    from tensorflow.python.eager.context import context as session
except ImportError:

    def session() -> Any:
        """Nothing: this version of TensorFlow has no such context."""


Call = Callable[[list[Any]], Sequence[Any]]


def place() -> str:
    """The device that `tf.device` asks for here; "" leaves it to TensorFlow, which takes a GPU
    where it has one.
    """
    return getattr(session(), "device_name", None) or ""


def lean_call(function: Any) -> Call | None:
    """What calls a concrete function with a list of tensors (its arguments, what it captured).

    `ConcreteFunction.__call__` costs 70 µs and 15 more for each argument: it binds names, checks
    types, and looks for gradient tapes. Here the runtime is asked directly, by the function's
    name, as those layers do in the end. None where TensorFlow's inner functions differ.
    """
    return _bare_call(function) if BARE.holds else None


def _bare_call(function: Any) -> Call | None:
    try:
        from tensorflow.python import pywrap_tfe

        run = pywrap_tfe.TFE_Py_Execute
        running = session()
        running.ensure_initialized()
        handle = running._handle
        options = running.function_call_options.as_attrs()
        name = function.name.decode()
        if not running.has_function(function.name):
            return None
    except (ImportError, AttributeError):
        return None
    attrs = tuple(x for pair in options.items() for x in pair)
    count = len(function.outputs)

    def call(tensors: list[Any]) -> Sequence[Any]:
        found: Sequence[Any] = run(handle, place(), name, tensors, attrs, count)
        return found

    return call


def _bare_calls_work() -> bool:
    """Whether results come in order, captured tensors are read, and missing arguments raise."""
    with tf.init_scope():
        table = tf.constant([[1.0, 2.0], [3.0, 4.0]])

        def traced(x: Any, i: Any) -> list[Any]:
            return [tf.gather(table, i), x * 2.0, tf.size(x)]

        specs = [tf.TensorSpec((None,), tf.float32), tf.TensorSpec((None,), tf.int32)]
        function = tf.function(traced, input_signature=specs, autograph=False)
        concrete = function.get_concrete_function()
        x, i = tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 0])
    call = _bare_call(concrete)
    if call is None:
        return False
    captured = list(concrete.captured_inputs)
    values = [y.numpy().tolist() for y in call([x, i, *captured])]
    try:
        call([x, i])
    except tf.errors.InvalidArgumentError:
        return values == [[[3.0, 4.0], [1.0, 2.0]], [2.0, 4.0, 6.0], 3]
    return False


BARE = Private("TensorFlow", "`TFE_Py_Execute`", _bare_calls_work)
