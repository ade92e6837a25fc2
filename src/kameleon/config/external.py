"""External backends: a module of the user's that supplies the K functions itself.

`KERAS_BACKEND=my_package.my_module` (or the same path in keras.json) chooses such a module. It must
have the three functions in `REQUIRED`; any other function that it lacks raises when it's called.
Source: documentation, "Switching from one backend to another".
"""

from __future__ import annotations

import importlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from kameleon._utils.suggestions import suggestion
from kameleon.config import (
    ALIASES,
    CALL,
    ENGINES,
    ENVIRONMENT,
    WRITTEN_BY_KERAS,
    describe_remedy,
    describe_source,
    guests,
    settings,
)
from kameleon.errors import ArgumentError, EngineError, EngineNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

REQUIRED = ("placeholder", "variable", "function")

# The backends that Keras 3 accepts in the same variable, and in the same file.
KNOWN_TO_KERAS_3 = ("tensorflow", "jax", "torch", "numpy", "openvino")


@contextmanager
def others_can_read() -> Iterator[None]:
    """While a library loads, `KERAS_BACKEND` names what the Keras in this environment can use.

    The library may load that Keras: TensorFlow does. Keras reads the same variable and the same
    file, and raises for a name that it doesn't know.

    >>> os.environ[ENVIRONMENT] = "my_package.my_module"
    >>> with others_can_read():
    ...     os.environ[ENVIRONMENT] != "my_package.my_module"
    True
    >>> os.environ[ENVIRONMENT]
    'my_package.my_module'
    >>> os.environ[ENVIRONMENT] = "numpy"
    """
    before = os.environ.get(ENVIRONMENT)
    if (before or settings.in_file("backend") or WRITTEN_BY_KERAS) in KNOWN_TO_KERAS_3:
        yield
        return
    meanwhile = os.environ[ENVIRONMENT] = _known_to_keras()
    try:
        yield
    finally:
        if os.environ.get(ENVIRONMENT) == meanwhile:
            os.environ.pop(ENVIRONMENT)
            os.environ.update({} if before is None else {ENVIRONMENT: before})


def _known_to_keras() -> str:
    """A backend that the Keras in this environment knows: Kameleon, if that is the original."""
    guests.invite()
    for known in guests.KNOWN_TO_KERAS:
        if found := known():
            return found
    backend = settings.in_file("backend")
    return str(backend) if backend in KNOWN_TO_KERAS_3 else WRITTEN_BY_KERAS


def load(path: str, source: str = CALL) -> ModuleType:
    """Import the backend module `path` and check that it has the required functions.

    Args:
        path: dotted path of an importable module.
        source: where the path comes from, as `config.choose_backend` returns it.

    Raises:
        EngineNotFoundError: (an ImportError and a ValueError) if the module can't be imported;
            the error of its import is chained.
        ArgumentError: (a ValueError) if functions are missing; the message names all of them.

    >>> load("math")
    Traceback (most recent call last):
      ...
    kameleon.errors.ArgumentError: the call for 'math' can't be met: as a backend the module \
must have the functions placeholder, variable, function; it lacks placeholder, variable, function
    """
    asked = describe_source(source, path)
    try:
        with others_can_read():
            module = importlib.import_module(path)
    except Exception as error:  # a module of the user's may fail in any way
        message = f"{asked} can't be met: {_failure(path, error)}; {describe_remedy(source)}"
        raise EngineNotFoundError(message) from error
    lacking = [name for name in REQUIRED if not callable(getattr(module, name, None))]
    if lacking:
        raise ArgumentError(
            f"{asked} can't be met: as a backend the module must have the functions "
            f"{', '.join(REQUIRED)}; it lacks {', '.join(lacking)}"
        )
    return module


def _failure(path: str, error: Exception) -> str:
    """Say why an import failed: there is no such module, or the module itself raised `error`."""
    # The missing module may be `path` or a package around it, or another that `path` imports.
    absent = error.name if isinstance(error, ModuleNotFoundError) else None
    if absent is None or not f"{path}.".startswith(f"{absent}."):
        return f"importing the module {path!r} failed with {type(error).__name__}: {error}"
    return (
        f"it's neither an engine ({', '.join(ENGINES)}) nor a module that can be imported: "
        f"there is no module {absent!r}{suggestion(path.strip().lower(), [*ENGINES, *ALIASES])}"
    )


def missing(name: str, module_name: str) -> Callable[..., NoReturn]:
    """Return a function to stand for one that an external backend lacks: it raises when called.

    Args:
        name: the K function.
        module_name: the external backend.

    >>> missing("conv2d", "my_package.my_module")()
    Traceback (most recent call last):
      ...
    kameleon.errors.EngineError: conv2d: the external backend 'my_package.my_module' has no such \
function; add it there, or choose an engine (KERAS_BACKEND=numpy), which has them all
    """

    def stand_in(*args: object, **kwargs: object) -> NoReturn:
        raise EngineError(
            f"{name}: the external backend {module_name!r} has no such function; add it there, "
            "or choose an engine (KERAS_BACKEND=numpy), which has them all"
        )

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__doc__ = f"Not in the external backend {module_name}; raises EngineError."
    return stand_in
