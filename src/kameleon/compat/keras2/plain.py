"""Files that Keras reads hold data, no code: YAML without objects, pickles of arrays alone.

Settings are read from regular files alone.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ..._utils.files import open_regular

# YAML ----------------------------------------------------------------------------------------

# By tag that Keras's configurations have beside YAML's own tags, what makes the value.
_YAML_TAGS: Mapping[str, Callable[[Any, Any], Any]] = {
    "tuple": lambda loader, node: tuple(loader.construct_sequence(node, deep=True)),
    "list": lambda loader, node: loader.construct_sequence(node, deep=True),
    "dict": lambda loader, node: loader.construct_mapping(node, deep=True),
    "unicode": lambda loader, node: loader.construct_scalar(node),
    "str": lambda loader, node: loader.construct_scalar(node),
    "none": lambda loader, node: loader.construct_yaml_null(node),
    "bool": lambda loader, node: loader.construct_yaml_bool(node),
    "int": lambda loader, node: loader.construct_yaml_int(node),
    "long": lambda loader, node: loader.construct_yaml_int(node),
    "float": lambda loader, node: loader.construct_yaml_float(node),
}


def yaml_loader(yaml: ModuleType) -> type:
    """A loader of PyYAML's that makes numbers, texts, lists, tuples and dicts, and nothing else."""
    loader: Any = type("PlainLoader", (yaml.SafeLoader,), {})
    for tag, construct in _YAML_TAGS.items():
        loader.add_constructor(f"tag:yaml.org,2002:python/{tag}", construct)
    return loader  # type: ignore[no-any-return]


# Pickles -------------------------------------------------------------------------------------

# By module, the globals that a pickled array or number of NumPy's refers to, in NumPy 1 and 2.
_OF_ARRAYS = {
    "numpy": ("ndarray", "dtype", "str_", "bytes_"),
    **dict.fromkeys(
        ("numpy.core.multiarray", "numpy._core.multiarray"), ("_reconstruct", "scalar")
    ),
    **dict.fromkeys(("numpy.core.numeric", "numpy._core.numeric"), ("_frombuffer",)),
    "_codecs": ("encode",),
}


class _Arrays(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """One of the globals above; any other is refused."""
        if name not in _OF_ARRAYS.get(module, ()):
            raise pickle.UnpicklingError(
                f"{module}.{name} in a pickle: a model holds arrays of numbers alone"
            )
        return super().find_class(module, name)


def loads_arrays(pickled: bytes) -> Any:
    """`pickle.loads` of an array, or of a number, of NumPy's; anything else is refused."""
    return _Arrays(io.BytesIO(pickled)).load()


# Files ---------------------------------------------------------------------------------------


def open_settings(path: Any, mode: str = "r") -> Any:
    """`open` for the module of Keras that reads keras.json: a file that can't be read raises
    ValueError, which that module handles as bad JSON.
    """
    if mode != "r":
        return open(path, mode)
    try:
        return open_regular(path)
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from error
