"""Layers of Keras that behave otherwise on a backend whose name Keras doesn't know, put right."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from ..._utils.around import Function, around


@around
def load_function(load: Function, code: Any, *args: Any, **kwargs: Any) -> Any:
    """Load a function from byte code, which only the Python version that wrote it can read."""
    try:
        return load(code, *args, **kwargs)
    except (EOFError, TypeError, ValueError) as error:
        raise ValueError(
            "a Lambda layer is stored as byte code of the Python that wrote it, and this Python"
            f" ({sys.version.split()[0]}) can't read it; give the function,"
            ' custom_objects={"name of the layer": function}, or build the model by its program,'
            " and take its weights alone: model.load_weights(path)"
        ) from error


@around
def shape_of_lambda(theirs: Function, self: Any, input_shape: Any) -> Any:
    """`Lambda.compute_output_shape`; without `output_shape` the function is called on placeholders.

    Keras does so on backends that it knows by name; on others it takes the output to have the
    input's shape.
    """
    if self._output_shape is not None:
        return theirs(self, input_shape)
    K = sys.modules["keras.backend"]
    outputs = self.call(_placeholders(K, input_shape, self._input_dtypes))
    if isinstance(outputs, (list, tuple)):
        return [K.int_shape(x) for x in outputs]
    return K.int_shape(outputs)


def _placeholders(K: ModuleType, shape: Any, dtype: Any) -> Any:
    """Placeholders of these shapes and dtypes: one for a tuple, a list for a list."""
    if not isinstance(shape, list):
        return K.placeholder(shape=shape, dtype=dtype)
    dtypes = dtype if isinstance(dtype, list) else [dtype] * len(shape)
    return [K.placeholder(shape=s, dtype=d) for s, d in zip(shape, dtypes, strict=True)]


# For each layer that is bound to a kernel of cuDNN, the layer that computes the same, and its
# settings.
CUDNN: dict[str, tuple[str, dict[str, Any]]] = {
    "CuDNNLSTM": ("LSTM", {"recurrent_activation": "sigmoid"}),
    "CuDNNGRU": ("GRU", {"recurrent_activation": "sigmoid", "reset_after": True}),
}


def serve_cudnn(module: ModuleType) -> None:
    """Replace the layers that need cuDNN by those that compute the same on any engine.

    In files these are LSTM and GRU, too: Keras converts the weights of one kind to the other's.

    Args:
        module: `keras.layers.cudnn_recurrent`.
    """
    recurrent = sys.modules["keras.layers.recurrent"]
    for name, (same, settings) in CUDNN.items():
        theirs = inspect.signature(getattr(module, name).__init__).parameters
        order = [p.name for p in theirs.values() if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
        setattr(module, name, _like(getattr(recurrent, same), settings, order))


def _like(layer: Any, settings: Mapping[str, Any], order: Sequence[str]) -> Any:
    """A subclass of a layer, with the layer's name, that takes its arguments in `order`."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = dict(zip(order, args, strict=False))
        layer.__init__(self, **{**settings, **given, **kwargs})

    return type(layer.__name__, (layer,), {"__init__": __init__, "__doc__": layer.__doc__})
