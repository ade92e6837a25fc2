"""Kameleon: the classic Keras backend API over one symbolic graph, on any engine.

    from kameleon import backend as K

Importing this package alone loads no engine, reads no settings and writes nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself would take longer to import than all of this
if TYPE_CHECKING:
    import os

    from . import backend as backend
    from .backend.calling import call as call
    from .backend.dispatch import extend_tensorflow as extend_tensorflow
    from .backend.interop.jax import to_jax as to_jax
    from .backend.interop.keras3 import to_keras3 as to_keras3
    from .backend.interop.pytensor import to_pytensor as to_pytensor
    from .backend.interop.tensorflow import to_tensorflow as to_tensorflow
    from .backend.interop.torch import to_torch as to_torch
    from .compat.tensorflow.loading import load_graph as load_graph
    from .distributed import checkpoint as checkpoint
    from .distributed.distribution import Distribution as Distribution
    from .distributed.distribution import distribute as distribute
    from .graph.ir.node import Tensor as Tensor
    from .graph.ir.node import Variable as Variable
    from .runtime.saving import SavedFunction
    from .testing.comparison import compare as compare

__version__ = "1.0.0rc1"

__all__ = [
    "Distribution",
    "Tensor",
    "Variable",
    "__version__",
    "call",
    "checkpoint",
    "compare",
    "distribute",
    "distributed",
    "extend_tensorflow",
    "load",
    "load_graph",
    "set_engine",
    "to_jax",
    "to_keras3",
    "to_pytensor",
    "to_tensorflow",
    "to_torch",
]


# What is imported when it's first asked for: the module that has it, or is it.
LATE = {
    "Distribution": "config.layouts",
    "Tensor": "graph.ir.node",
    "Variable": "graph.ir.node",
    "backend": "backend",
    "call": "backend.calling",
    "checkpoint": "distributed.checkpoint",
    "compare": "testing.comparison",
    "distribute": "distributed.distribution",
    "distributed": "distributed",
    "extend_tensorflow": "backend.dispatch",
    "load_graph": "compat.tensorflow.loading",
    "to_jax": "backend.interop.jax",
    "to_keras3": "backend.interop.keras3",
    "to_pytensor": "backend.interop.pytensor",
    "to_tensorflow": "backend.interop.tensorflow",
    "to_torch": "backend.interop.torch",
}


if not TYPE_CHECKING:  # to type checkers, what isn't there is a mistake

    def __getattr__(name: str) -> object:
        if name not in LATE:
            import sys

            message = f"module 'kameleon' has no attribute {name!r}"
            # Python adds what was meant, perhaps, of what `dir` tells.
            raise AttributeError(message, name=name, obj=sys.modules[__name__])
        from importlib import import_module

        try:
            module = import_module(f"{__name__}.{LATE[name]}")
        except Exception as error:
            _hide(error)
            raise
        return module if LATE[name].split(".")[-1] == name else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *LATE})


def set_engine(name: str) -> None:
    """Choose the engine that runs K functions; `K.set_engine` does the same.

    Called before `kameleon.backend` is first imported, it decides what that import chooses, so that
    no other engine is loaded.

    Args:
        name: of an engine, such as 'numpy' or 'torch'; `kameleon engines` lists them.

    Raises:
        EngineNotFoundError: there's no such engine here; the message says what to install.

    >>> import kameleon
    >>> kameleon.set_engine('numpy')
    """
    import sys

    from .config import CALL, settings

    before, source = settings.backend, settings.source("backend")
    try:
        if "kameleon.backend" not in sys.modules:
            settings.backend = name
        from . import backend

        backend.set_engine(name)
    except BaseException as error:
        if "kameleon.backend" not in sys.modules:
            settings.forget_call("backend")
            if source == CALL:
                settings.backend = before
        _hide(error)
        raise


def load(path: str | os.PathLike[str]) -> SavedFunction:
    """The function that `K.function(…).save(path)` wrote, with variables of its own.

    Args:
        path: the file. Loading runs no code from it.

    Returns:
        A callable that takes a list of values and returns a list of arrays.

    Raises:
        GraphError: the file holds no saved function, or one of another version.

    >>> import os, tempfile
    >>> from kameleon import backend as K
    >>> x, w = K.placeholder((2,)), K.variable([3., 4.])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, 'scale.safetensors')
    ...     K.function([x], [x * w]).save(path)
    ...     scale = load(path)
    >>> scale([[1., 2.]])
    [array([3., 8.], dtype=float32)]
    """
    from .runtime.saving import load as load_function

    try:
        return load_function(path)
    except Exception as error:
        _hide(error)
        raise


def _hide(error: BaseException) -> None:
    from ._utils.tracebacks import hide

    hide(error)
