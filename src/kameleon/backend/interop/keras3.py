"""Compiled functions as layers of Keras 3, on whichever of its backends is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._utils.tracebacks import boundary
from ...config.external import others_can_read
from ...errors import EngineError, MissingLibraryError

if TYPE_CHECKING:
    from .keras3_layer import FunctionLayer

BACKENDS = ("tensorflow", "jax", "torch")


@boundary
def to_keras3(function: Any, **options: Any) -> FunctionLayer:
    """A compiled function as a layer of Keras 3, run and differentiated by its backend.

    The layer's weights are made of the present values of K's variables; from then on these and
    those change independently. It's a layer as others: part of functional models, compiled, fit,
    saved in `.keras` files. Whoever loads such a file calls `kameleon.to_keras3` beforehand or
    imports `kameleon.backend.interop.keras3_layer`, which makes the layer known to Keras.

    Args:
        function: what `K.function` gives. Inputs and outputs are of any shapes and dtypes that the
            backend has; sparse ones are refused.
        options: what any layer takes: name, trainable.

    Returns:
        A layer. It's called with a tensor for each input: one, or a list of them. A learning phase
        among the inputs isn't given: `training` is. Outputs come in the function's structure, and
        updates become the weights' new values.

    Raises:
        MissingLibraryError: (an ImportError) Keras 3 isn't installed; or `import keras` gives an
            older one.
        EngineError: Keras's backend is none of TensorFlow, JAX and PyTorch.
        ArgumentError: it's no such function, or one with sparse inputs or outputs.

    Gradients are K's own, to any order that the backend's tapes ask for. Those that
    `K.custom_gradient` defines aren't in files: the graph is written there without them.
    """
    check_keras()
    from .keras3_layer import FunctionLayer

    return FunctionLayer(function, **options)


def check_keras() -> Any:
    """Keras 3 with a backend that differentiates.

    Raises:
        MissingLibraryError, EngineError: see `to_keras3`.
    """
    with others_can_read():
        try:
            import keras
        except ImportError as error:
            raise MissingLibraryError(
                f"to_keras3: Keras 3 can't be imported ({error}): pip install keras"
            ) from error
    version = str(getattr(keras, "__version__", "?"))
    if not version.startswith("3."):
        raise MissingLibraryError(
            f"to_keras3: `import keras` gives Keras {version} in this process, not Keras 3: run"
            " this part in a process of its own, where nothing stands in for Keras"
        )
    if keras.backend.backend() not in BACKENDS:
        raise EngineError(
            f"to_keras3: Keras runs on {keras.backend.backend()!r} here, without gradients: set"
            f" KERAS_BACKEND to one of {', '.join(BACKENDS)} before Keras is imported"
        )
    return keras
