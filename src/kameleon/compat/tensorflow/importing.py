"""`import tensorflow_core`, from TensorFlow 1.15's Python files.

Modules of the C library are ours (`capi`); modules of protobuf's compiler are made of the
descriptors in them, in a pool of their own, as today's protobuf wants them. Nothing is called
`tensorflow` here; which programs get `tensorflow_core` by that name, others decide.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from . import late, location, source

# By name of a package that is found here: its folder among the files.
PACKAGES = {
    "tensorflow_core": "tensorflow_core",
    "tensorflow_estimator": "tensorflow_estimator",
    "tensorflow_gast": "gast",
}
C_API = "tensorflow_core.python.pywrap_tensorflow_internal"
STACK = "tensorflow_core.python._tf_stack"
TENSORRT = "tensorflow_core.compiler.tf2tensorrt.wrap_py_utils"


def _ours(name: str) -> Callable[[], ModuleType]:
    return functools.partial(importlib.import_module, f"kameleon.compat.tensorflow.{name}")


# Modules that were libraries in C++, or know an older Python's syntax alone, by what gives ours.
OURS: dict[str, Callable[[], ModuleType]] = {
    C_API: lambda: importlib.import_module("kameleon.compat.tensorflow.capi").module(),
    STACK: _ours("capi.stack"),
    TENSORRT: _ours("capi.tensorrt"),
    "tensorflow_gast.ast3": _ours("syntax"),
}


class Adapted(SourceFileLoader):
    """Loads a file as today's Python and NumPy want it; its byte code is kept beside it."""

    def source_to_code(self, data: Any, path: Any, **options: Any) -> Any:  # type: ignore[override]
        text = source.adapted(importlib.util.decode_source(data), str(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return super().source_to_code(text.encode("utf-8"), path, **options)

    def path_stats(self, path: str) -> Any:
        found = dict(super().path_stats(path))
        found["mtime"] = int(found["mtime"]) + source.REVISION
        return found


class Waiting(Adapted):
    """Loads a package that waits: what it loads at once, and not its file."""

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = late.Package
        for name in late.WAITING[module.__name__]:
            importlib.import_module(f"{module.__name__}.{name}")


class File(Loader):
    """Runs the file of a package that waits."""

    def exec_module(self, module: ModuleType) -> None:
        package = sys.modules[module.__name__.rpartition(".")[0]]
        assert isinstance(package.__loader__, Waiting)
        code = package.__loader__.get_code(package.__name__)
        assert code is not None
        exec(code, vars(package))


class Messages(Loader):
    """Loads a module of protobuf's compiler: makes its classes of the descriptor in it."""

    pool: Any = None  # of descriptors; in the default one may be an installed TensorFlow's

    def __init__(self, path: str) -> None:
        self._path = path

    def exec_module(self, module: ModuleType) -> None:
        from google.protobuf import descriptor_pb2, descriptor_pool
        from google.protobuf.internal import builder
        from google.protobuf.text_format import MessageToString

        if Messages.pool is None:
            Messages.pool = descriptor_pool.DescriptorPool()
        text = source.adapted(Path(self._path).read_text("utf-8"), self._path)
        data, imports = source.descriptor(text)
        for line in imports:
            exec(line, vars(module))
        file = descriptor_pb2.FileDescriptorProto.FromString(data)
        for name in file.dependency:
            self._add_known(name)
        self.pool.AddSerializedFile(data)
        found = vars(module)["DESCRIPTOR"] = self.pool.FindFileByName(file.name)
        builder.BuildMessageAndEnumDescriptors(found, vars(module))
        builder.BuildTopDescriptorsAndMessages(found, module.__name__, vars(module))
        for kind in _classes(found.message_types_by_name.values()):
            kind.__str__ = kind.__repr__ = MessageToString  # as ever: the keys of maps in order

    def _add_known(self, name: str) -> None:
        """Put another's file into our pool, with what it needs: protobuf's, or a library's."""
        try:
            self.pool.FindFileByName(name)
        except KeyError:
            module = importlib.import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
            for needed in module.DESCRIPTOR.dependencies:
                self._add_known(needed.name)
            self.pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)


def _classes(descriptors: Iterable[Any]) -> Iterator[Any]:
    """The classes of messages, and of those within them."""
    for descriptor in descriptors:
        yield descriptor._concrete_class
        yield from _classes(descriptor.nested_types)


class Given(Loader):
    """Gives a module that is made elsewhere."""

    def __init__(self, make: Callable[[], ModuleType]) -> None:
        self._make = make

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._make()

    def exec_module(self, module: ModuleType) -> None:
        return None


class Finder(MetaPathFinder):
    """Finds the packages in the folder of TensorFlow's files."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, _, rest = name.partition(".")
        if top not in PACKAGES:
            is_librarys = name.endswith("_pb2") and top != "google"
            return _messages(name, path) if is_librarys else None
        if name in OURS:
            return ModuleSpec(name, Given(OURS[name]))
        package, _, last = name.rpartition(".")
        if last == late.FILE and package in late.WAITING:
            return ModuleSpec(name, File())
        if rest:
            found = PathFinder.find_spec(name, path)
        else:
            found = self._package(name)
        if found is None or not (found.origin or "").endswith(".py"):
            return found
        assert found.origin is not None
        if found.origin.endswith("_pb2.py"):
            found.loader = Messages(found.origin)
        else:
            found.loader = (Waiting if name in late.WAITING else Adapted)(name, found.origin)
        return found

    def _package(self, name: str) -> ModuleSpec | None:
        """A package whose folder may have another name."""
        found = PathFinder.find_spec(PACKAGES[name], [self._folder])
        if found is None or found.origin is None:
            return found
        spec = ModuleSpec(name, found.loader, origin=found.origin, is_package=True)
        spec.submodule_search_locations = found.submodule_search_locations
        spec.has_location = True
        spec.cached = found.cached
        return spec


def _messages(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """A library's own messages, where today's protobuf can't make them."""
    found = PathFinder.find_spec(name, path)
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        return None
    if not source.is_of_early_compiler(Path(found.origin).read_text("utf-8")):
        return None
    found.loader = Messages(found.origin)
    return found


def module(name: str, second: bool = False) -> ModuleType:
    """The module that programs know by a full name in `tensorflow`.

    Args:
        name: the name.
        second: whether they are programs of TensorFlow 2, whose names and behaviour 1.15 has, too.

    Raises:
        ModuleNotFoundError: there is none.
        MissingLibraryError: (an ImportError) the files aren't installed.
    """
    root, path = begin(), name.partition(".")[2]
    if second:
        root = _second()
        found: Any = root
        for part in path.split(".") if path else ():
            found = getattr(found, part, None)
        if isinstance(found, ModuleType):
            return found
    try:
        return importlib.import_module(f"{location.PACKAGE}.{path}") if path else root
    except ModuleNotFoundError as error:  # its name is what programs look at
        names = [str(x).replace(location.PACKAGE, "tensorflow") for x in (error, error.name)]
        raise ModuleNotFoundError(names[0], name=names[1]) from None


@functools.cache
def _second() -> ModuleType:
    """TensorFlow 2's names, as of its version 2.0; from now on it behaves so."""
    found: Any = importlib.import_module(f"{location.PACKAGE}._api.v1.compat.v2")
    found.enable_v2_behavior()
    found.__version__ = "2.0.0"
    return found  # type: ignore[no-any-return]


def begin() -> ModuleType:
    """Import TensorFlow 1.15's Python files; a second call does nothing more.

    Raises:
        MissingLibraryError: (an ImportError) they aren't installed.
    """
    is_first = location.PACKAGE not in sys.modules
    if is_first:
        folder = location.find()
        sys.meta_path.insert(0, Finder(folder))
        sys.path.append(folder)  # what goes with them, where the environment hasn't got it
    root = importlib.import_module(location.PACKAGE)  # it waits where another thread imports it
    if is_first:
        # Their objects, and those of an engine's library, live as long as the process: looking
        # through them again and again would take a third of the time of building a graph.
        gc.freeze()
    return root
