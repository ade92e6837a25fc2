"""HDF5 files as the original Keras expects them of h5py 2: texts in attributes are bytes.

h5py 3 reads such texts as str. The classes here are given to modules of Keras alone; h5py itself,
and files that the program opens, stay as they are.
"""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np

from ..._utils import files
from ..._utils.around import Around, Function, around
from ...errors import FileFormatError, warn


class NotHDF5Error(FileFormatError, OSError):
    """A file that should hold a model or weights doesn't, or is damaged; programs know OSError."""


class Text(str):
    """A text that was written as text and not as bytes; `decode` gives it as it is.

    h5py 2 gave a plain str, which has no `decode`. Later versions of Keras write as text what
    Keras 2.3 decodes.

    >>> Text("2.2.4-tf").decode("utf8")
    '2.2.4-tf'
    """

    __slots__ = ()

    def decode(self, *args: Any, **kwargs: Any) -> str:
        """The text itself."""
        return str(self)


def as_h5py_2(value: Any, ascii_only: bool) -> Any:
    """What h5py 2 gave where h5py 3 gives `value`: bytes for ASCII, an array of bytes for more.

    Args:
        value: an attribute's value.
        ascii_only: whether the file declares its texts as ASCII; bytes are written so.

    >>> as_h5py_2("model", True), as_h5py_2("model", False), as_h5py_2(3, False)
    (b'model', 'model', 3)
    >>> as_h5py_2(np.array(["a", "bc"], dtype=object), True)
    array([b'a', b'bc'], dtype='|S2')
    """
    if isinstance(value, str):
        return value.encode("utf-8") if ascii_only else Text(value)
    if isinstance(value, np.ndarray) and value.dtype == object and ascii_only and value.size:
        texts = [x.encode("utf-8") if isinstance(x, str) else x for x in value.flat]
        if all(isinstance(x, bytes) for x in texts):
            return np.array(texts).reshape(value.shape)
    return value


@functools.cache
def classes(h5py: Any) -> tuple[type, type]:
    """Subclasses of `h5py.Group` and `h5py.File` for Keras."""

    class AttributeManager(h5py.AttributeManager):  # type: ignore[misc]
        def __getitem__(self, name: Any) -> Any:
            stored = self.get_id(name).get_type()
            is_text = isinstance(stored, h5py.h5t.TypeStringID)
            ascii_only = is_text and stored.get_cset() == h5py.h5t.CSET_ASCII
            return as_h5py_2(super().__getitem__(name), ascii_only)

        def __setitem__(self, name: Any, value: Any) -> None:
            # h5py 3 writes a list of bytes with variable lengths, and reads that as objects.
            if isinstance(value, list) and value and all(isinstance(x, bytes) for x in value):
                value = np.array(value)
            super().__setitem__(name, value)

    class Group(h5py.Group):  # type: ignore[misc]
        @property
        def attrs(self) -> Any:
            return AttributeManager(self)

        def __getitem__(self, name: Any) -> Any:
            return adopted(super().__getitem__(name), h5py)

        def create_group(self, *args: Any, **kwargs: Any) -> Any:
            return adopted(super().create_group(*args, **kwargs), h5py)

    class File(Group, h5py.File):  # type: ignore[misc]
        def __init__(self, name: Any, mode: Any = None, *args: Any, **kwargs: Any) -> None:
            # Without a mode, h5py 2 made a file where it found none; h5py 3 only reads.
            in_memory = kwargs.get("driver") == "core" and not kwargs.get("backing_store", True)
            mode = mode or ("w" if in_memory else "r")
            if not kwargs and isinstance(name, str | bytes | os.PathLike):
                name = _checked(name, mode)
            try:
                super().__init__(name, mode, *args, **kwargs)
            except OSError as error:
                if mode != "r" or not isinstance(name, str) or not os.path.isfile(name):
                    raise
                raise NotHDF5Error(
                    f"{name} isn't an HDF5 file, or it's damaged: {error}"
                ) from error

        @property
        def fid(self) -> Any:
            """The file's handle, which h5py 3 has no name for."""
            return h5py.h5i.get_file_id(self.id)

    return Group, File


KERAS_3 = ".keras"  # its files' ending, under which it reads no HDF5


def _checked(path: Any, mode: str) -> str:
    """The path of a file to open, which can be written as far as can be told."""
    if mode == "r":
        return files.path_of("load", path)
    name = files.checked("save", path)
    if name.endswith(KERAS_3):
        warn(
            f"{name} will be in HDF5 format, which Keras 3 doesn't read from a file whose name ends"
            f" in {KERAS_3}: name it {name.removesuffix(KERAS_3)}.h5",
            UserWarning,
            "keras",
        )
    return name


def adopted(thing: Any, h5py: ModuleType) -> Any:
    """A group of h5py's, as one of the class for Keras; anything else as it is."""
    group, _ = classes(h5py)
    if isinstance(thing, h5py.Group) and not isinstance(thing, group):
        return group(thing.id)
    return thing


# Functions of `keras.engine.saving` that may be handed a group of the program's own.
HANDED = (
    "save_attributes_to_hdf5_group",
    "load_attributes_from_hdf5_group",
    "save_weights_to_hdf5_group",
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
)


def adopting(at: int) -> Around:
    """For a function, one that adopts a group that it gets as that argument."""

    @around
    def call(function: Function, *args: Any, **kwargs: Any) -> Any:
        h5py: Any = sys.modules.get("h5py")  # where it isn't loaded, no argument is its group
        if h5py is not None:
            args = tuple(adopted(x, h5py) if i == at else x for i, x in enumerate(args))
            kwargs = {name: adopted(x, h5py) for name, x in kwargs.items()}
        return function(*args, **kwargs)

    return call
