"""What changes in Keras for a backend whose name it doesn't know, and is put right."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def infer_outputs_of_lambda(core: ModuleType) -> None:
    """Let a `Lambda` without `output_shape` find it by calling its function on placeholders.

    Keras does so on backends that it knows by name, and for others it takes the output to have
    the input's shape.

    Args:
        core: `keras.layers.core`.
    """
    K, theirs = core.K, core.Lambda.compute_output_shape

    def compute_output_shape(self: Any, input_shape: Any) -> Any:
        if self._output_shape is not None:
            return theirs(self, input_shape)
        outputs = self.call(_placeholders(K, input_shape, self._input_dtypes))
        if isinstance(outputs, (list, tuple)):
            return [K.int_shape(x) for x in outputs]
        return K.int_shape(outputs)

    compute_output_shape.__wrapped__ = theirs  # type: ignore[attr-defined]
    core.Lambda.compute_output_shape = compute_output_shape


def _placeholders(K: ModuleType, shape: Any, dtype: Any) -> Any:
    """Placeholders of these shapes and dtypes: one for a tuple, a list for a list."""
    if not isinstance(shape, list):
        return K.placeholder(shape=shape, dtype=dtype)
    dtypes = dtype if isinstance(dtype, list) else [dtype] * len(shape)
    return [K.placeholder(shape=s, dtype=d) for s, d in zip(shape, dtypes, strict=True)]
