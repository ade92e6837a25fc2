"""Kameleon: the classic Keras backend API over one symbolic graph, on any engine.

    from kameleon import backend as K

Importing this package alone loads no engine, reads no settings and writes nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself would take longer to import than all of this
if TYPE_CHECKING:
    import os

    from .runtime.function import Function

__version__ = "0.1.0"

__all__ = ["__version__", "load"]


def load(path: str | os.PathLike[str]) -> Function:
    """The function that `K.function(…).save(path)` wrote, with variables of its own.

    Args:
        path: the file. Loading runs no code from it.

    Returns:
        A callable that takes a list of values and returns a list of arrays.

    Raises:
        GraphError: it's no such file, or one of another version.

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
    from .runtime.storage import load as load_function

    return load_function(path)
