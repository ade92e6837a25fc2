"""Functions of TensorFlow tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ...engines._exchange import numpy_view
from ...engines.tensorflow.arrays import eager
from ...graph.ir.types import DTYPES, TensorType
from .library import Function, Library, Values
from .results import Results

ZERO = tf.UnconnectedGradients.ZERO


class TensorflowLibrary(Library):
    """TensorFlow 2: abstract evaluation by concrete functions, gradients by tapes."""

    name, title = "tensorflow", "TensorFlow"
    takes_unknown = True

    def run(
        self, function: Function, arrays: Sequence[np.ndarray], results: Results, pure: bool
    ) -> tuple[np.ndarray, ...]:
        """See `Library.run`. A function with effects gets copies, which it may keep."""
        given = map(eager if pure else tf.constant, arrays)
        found = results.listed(function(*given))
        return results.arrays([_array(x) for x in found])

    def evaluate(self, function: Function, given: Sequence[TensorType]) -> Any:
        """See `Library.evaluate`."""
        specs = [tf.TensorSpec(t.shape, t.dtype) for t in given]
        with tf.init_scope():
            traced = tf.function(function, input_signature=specs, autograph=False)
            return traced.get_concrete_function().structured_outputs

    def type_of(self, value: Any) -> TensorType | None:
        """See `Library.type_of`."""
        if not isinstance(value, (tf.Tensor, tf.TensorSpec)) or value.shape.rank is None:
            return None
        dtype = DTYPES.get(value.dtype.name)
        return None if dtype is None else TensorType(tuple(value.shape), dtype)

    def own(self, value: Any, type: TensorType) -> Any:
        """See `Library.own`."""
        return tf.ensure_shape(value, type.shape)

    def pull(self, function: Function, xs: Values, gs: Values, held: Values) -> Values:
        """See `Library.pull`."""
        with tf.GradientTape() as tape:
            # A tensor of its own for each argument, which may be given twice.
            sources = list(map(tf.identity, xs))
            tape.watch(sources)
            outputs = list(map(tf.convert_to_tensor, function(*sources)))
        if tf.executing_eagerly():
            parts = tape.gradient(outputs, sources, list(gs), ZERO)
        else:  # where a graph is built, nothing may be recorded
            parts = tf.gradients(outputs, sources, list(gs), unconnected_gradients=ZERO)
        return [_dense(p, x) for p, x in zip(parts, sources, strict=True)]


def _dense(part: Any, x: Any) -> Any:
    """A gradient of rows as one of the whole tensor."""
    if not isinstance(part, tf.IndexedSlices):
        return part
    whole = tf.math.unsorted_segment_sum(part.values, part.indices, tf.shape(x)[0])
    return tf.ensure_shape(whole, x.shape)


def _array(value: Any) -> Any:
    """A tensor as an array, over its memory where NumPy takes it; other things as they are."""
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        return value
    view = numpy_view(value)
    return value.numpy() if view is None else view


library = TensorflowLibrary()
