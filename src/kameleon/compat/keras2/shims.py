"""What Keras 2.3.1 needs on today's Python, NumPy and h5py: a table of shims, and who sees them.

Keras was written for Python 3.7, NumPy 1 and h5py 2, and uses names that these have removed since.
A module of Keras that uses such names imports a stand-in, which has them and is the library in all
else. No other module sees a stand-in, and the libraries stay as they are.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from types import MethodType, ModuleType
from typing import Any, NamedTuple

from ... import config
from ..._utils.around import Function, around
from ..._utils.late import Late, is_sparse, library
from ..._utils.private import Private
from .plain import loads_arrays, open_settings, yaml_loader

# Gives, for a library, the names that its stand-in adds, with their values.
Gives = Callable[[ModuleType], Mapping[str, Any]]


class Shim(NamedTuple):
    """The names of a library that a module of Keras sees beside the library's own, and why.

    They may be all that it asks for: the library is then loaded if it asks for more.
    """

    module: str
    library: str
    gives: Gives
    reason: str
    are_all: bool = False


def _from_abc(*names: str) -> Gives:
    import collections.abc as abc

    return lambda collections: {name: getattr(abc, name) for name in names}


def _same_as(**names: str) -> Gives:
    return lambda library: {old: getattr(library, new) for old, new in names.items()}


def _arg_spec(inspect: ModuleType) -> Mapping[str, Any]:
    from collections import namedtuple

    return {"ArgSpec": namedtuple("ArgSpec", "args varargs keywords defaults")}


def _ragged(numpy: ModuleType) -> Mapping[str, Any]:
    def array(rows: Any, *args: Any, **kwargs: Any) -> Any:
        """`numpy.array`; lists of unequal lengths give an array of lists, as in NumPy 1.23."""
        ragged = isinstance(rows, list) and len({_length(row) for row in rows}) > 1
        if ragged and not args and not kwargs:
            kwargs = {"dtype": object}
        return numpy.array(rows, *args, **kwargs)

    return {"array": array}


def _length(row: Any) -> int | None:
    return len(row) if isinstance(row, list) else None


def _one_namespace(scipy: ModuleType) -> Mapping[str, Any]:
    ndimage = library("scipy.ndimage")  # it has the functions that were in its submodules
    return {"ndimage": StandIn(ndimage, {"interpolation": ndimage})}


@around
def saving_in_16_bits(
    save: Function, image: Any, fp: Any, format: str | None = None, **options: Any
) -> None:
    """`image.save` of Pillow's, which writes integers as the 16 bits that a PNG can have."""
    try:
        save(image, fp, format, **options)
    except OSError as error:
        if image.mode != "I" or "PNG" not in str(error):
            raise
        save(image.convert("I;16"), fp, format, **options)


def _images_of_integers(pillow: ModuleType) -> Mapping[str, Any]:
    images = library("PIL.Image")

    def fromarray(array: Any, mode: str | None = None) -> Any:
        """`PIL.Image.fromarray`; an image of integers can be saved, as until Pillow 12."""
        image = images.fromarray(array, mode)
        image.save = MethodType(saving_in_16_bits(images.Image.save), image)
        return image

    given = {"Image": StandIn(images, {"fromarray": fromarray})}
    return given | {"ImageEnhance": library("PIL.ImageEnhance")}


def _late(*names: str) -> Gives:
    return lambda package: {name: Late(f"{package.__name__}.{name}") for name in names}


_LATE = "loaded when it's used: to load it takes long"


def _h5py_2(h5py: ModuleType) -> Mapping[str, Any]:
    from .hdf5 import classes

    return {"File": classes(h5py)[1]}


def _given(**names: Any) -> Gives:
    return lambda library: names


def _numbers(version: str) -> list[int]:
    """What versions are compared by."""
    return [int(digits) for digits in re.findall(r"\d+", version)]


# In the order in which Keras loads the modules.
SHIMS = (
    Shim("keras.utils.generic_utils", "inspect", _arg_spec, "removed in Python 3.11"),
    Shim("keras.utils.io_utils", "numpy", _same_as(string_="bytes_"), "removed in NumPy 2"),
    Shim("keras.utils.io_utils", "h5py", _h5py_2, "attributes, modes and names of h5py 2"),
    Shim("keras.utils.io_utils", "pickle", _given(loads=loads_arrays), "a file is data"),
    Shim(
        "keras.engine.training_utils",
        "collections",
        _from_abc("Container", "Mapping", "Sequence"),
        "removed in Python 3.10",
    ),
    Shim("keras.engine.saving", "h5py", _h5py_2, "as above"),
    Shim(
        "keras.engine.saving",
        "yaml",
        lambda yaml: {"FullLoader": yaml_loader(yaml)},
        "a file is data",
    ),
    Shim("keras.engine.network", "h5py", _h5py_2, "as above"),
    Shim("keras.engine.sequential", "h5py", _h5py_2, "as above"),
    Shim("keras.models", "h5py", _h5py_2, "as above"),
    Shim(
        "keras.callbacks.callbacks", "collections", _from_abc("Iterable"), "removed in Python 3.10"
    ),
    Shim("keras.callbacks.callbacks", "numpy", _same_as(Inf="inf"), "removed in NumPy 2"),
    Shim("keras_preprocessing.sequence", "numpy", _same_as(unicode_="str_"), "removed in NumPy 2"),
    Shim(
        "keras_preprocessing.sequence",
        "random",
        lambda random: {"randint": lambda a, b: random.randint(int(a), int(b))},
        "an error since Python 3.12",
    ),
    Shim(
        "keras_preprocessing.image.affine_transformations",
        "scipy",
        _one_namespace,
        "warned about since SciPy 1.8",
    ),
    Shim("keras_preprocessing.image.utils", "PIL", _images_of_integers, "an error since Pillow 13"),
    Shim("keras.callbacks.callbacks", "requests", _late("exceptions"), _LATE),
    Shim("keras_preprocessing.image.image_data_generator", "scipy", _late("linalg"), _LATE),
    Shim("keras.engine.training_arrays", "scipy.sparse", _given(issparse=is_sparse), _LATE),
    Shim("keras.datasets.imdb", "numpy", _ragged, "an error since NumPy 1.24"),
    Shim("keras.datasets.reuters", "numpy", _ragged, "an error since NumPy 1.24"),
    Shim("keras.backend.numpy_backend", "numpy", _given(int=int), "removed in NumPy 1.24"),
    Shim(
        "keras.backend.tensorflow_backend",
        "distutils.version",
        _given(StrictVersion=_numbers),
        "removed in Python 3.12; before, it takes setuptools along, which takes long",
        are_all=True,
    ),
)

# Modules that load TensorFlow where it's installed, on any backend: for files in Google's cloud,
# and to make a class a subclass of one of another Keras. For these modules TensorFlow is hidden.
WITHOUT_TENSORFLOW = frozenset(
    {
        "keras.engine.saving",
        "keras.utils.test_utils",
        "keras_preprocessing.image.dataframe_iterator",
        "keras_preprocessing.image.directory_iterator",
        "keras_preprocessing.image.numpy_array_iterator",
    }
)

# Modules that open keras.json, which may be a pipe or a device, from which reading never ends.
OPENS_SETTINGS = frozenset({"keras.backend.load_backend"})

# Modules that Python warns about when it compiles them, as they compare numbers by identity.
WARNED_ABOUT = frozenset({"keras.losses", "keras.backend.numpy_backend"})


class StandIn(ModuleType):
    """A library with some names added, which one module alone sees.

    >>> import math
    >>> stand_in = StandIn(math, {"tau_2": 12.6})
    >>> stand_in.tau_2, stand_in.floor(1.5), hasattr(math, "tau_2")
    (12.6, 1, False)
    """

    def __init__(self, library: ModuleType, added: Mapping[str, Any]) -> None:
        super().__init__(library.__name__, library.__doc__)
        self.__dict__.update(added)
        self.__dict__["__wrapped__"] = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["__wrapped__"], name)

    def __dir__(self) -> Iterable[str]:
        return {*super().__dir__(), *dir(self.__dict__["__wrapped__"])}


class _Builtins(dict[str, Any]):
    """Live builtins: names that aren't in this dictionary are looked up in Python's own."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins)[name]


# Code that finds out whether Python looks builtins up in a dictionary of a derived class each time
# it runs code, and imports by the `__import__` in there.
_TRIED = """
def find():
    try:
        return len(known) + kameleon_tries
    except NameError:
        return None

class Seen(list):
    import anything

for known in map(Seen, ["a"] * 100):
    before = find()
"""


def _look_ups_are_live() -> bool:
    given = _Builtins(__import__=lambda name, *rest: name)
    space: dict[str, Any] = {"__builtins__": given, "__name__": __name__}
    exec(_TRIED, space)
    given["kameleon_tries"] = 1
    later = [space["find"]() for _ in range(100)]
    given["kameleon_tries"], given["len"] = 2, lambda known: 5
    last = space["find"]()
    return (space["before"], later, last, space["Seen"].anything) == (
        None, [2] * 100, 7, "anything",
    )  # fmt: skip


LIVE = Private("Python", "a derived dictionary as `__builtins__`", _look_ups_are_live)


def needs(module: str) -> dict[str, Shim]:
    """The shims of a module of Keras, by library.

    >>> sorted(needs("keras.callbacks.callbacks")), needs("numpy")
    (['collections', 'numpy', 'requests'], {})
    """
    return {shim.library: shim for shim in SHIMS if shim.module == module}


def before(module: ModuleType) -> None:
    """Let a module of Keras that is about to run import stand-ins."""
    shims = needs(module.__name__)
    without = module.__name__ in WITHOUT_TENSORFLOW and config.keras_on() != "tensorflow"
    opens = module.__name__ in OPENS_SETTINGS
    if shims or without or opens:
        own = importing(shims, {"tensorflow"} if without else set())
        vars(module)["__builtins__"] = own
        if opens:
            own["open"] = open_settings


def importing(shims: Mapping[str, Shim], hidden: Container[str] = ()) -> dict[str, Any]:
    """Builtins for one module, by which it imports stand-ins.

    Args:
        shims: by library, the names that its stand-in adds.
        hidden: libraries that aren't found.
    """
    stand_ins: dict[str, StandIn] = {}

    def import_(
        name: str, globals: Any = None, locals: Any = None, names: Any = (), level: int = 0
    ) -> Any:
        if not level and name.partition(".")[0] in hidden:
            raise ImportError(f"a hosted Keras doesn't look for {name}", name=name)
        if level or name not in shims:
            return builtins.__import__(name, globals, locals, names, level)
        if name not in stand_ins:
            shim = shims[name]
            found = Late(name) if shim.are_all else library(name)
            stand_ins[name] = StandIn(found, shim.gives(found))
        return stand_ins[name]

    if LIVE.holds:
        return _Builtins(__import__=import_)
    return {**vars(builtins), "__import__": import_}


def after(module: ModuleType) -> None:
    """Put stand-ins into a module of Keras that ran before the import hook was there."""
    for name, shim in needs(module.__name__).items():
        if name in sys.modules:
            show(module, sys.modules[name], shim.gives)


def show(module: ModuleType, library: ModuleType, gives: Gives) -> None:
    """Put a stand-in wherever a module holds a library."""
    held = [key for key, value in vars(module).items() if value is library]
    if held:
        vars(module).update(dict.fromkeys(held, StandIn(library, gives(library))))
