"""`import kameleon.as_keras`: from then on, `import keras` in this process is Keras 2, on Kameleon.

Where the original Keras 2.3.1 is installed (`kameleon keras2 install`), that's what the program
gets, hosted on `kameleon.backend`. Where it isn't, `keras.backend` and `keras.layers` are
Kameleon's own, and whatever else is asked for says what to install.

The import comes before any other that loads a Keras; TensorFlow is one that does. The command
`kameleon run script.py` does it for a program that isn't to be changed.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import config, hosting
from .errors import EngineNotFoundError, HostingError, MissingLibraryError
from .hosting import location

__all__ = ["alias_tensorflow", "export", "folder", "hosts_original"]

BACKEND, LAYERS, TF_KERAS = "keras.backend", "keras.layers", "tensorflow.keras"
OURS = {BACKEND: "kameleon.backend", LAYERS: "kameleon.layers"}  # what serves as what
# Parts of later Keras that TensorFlow reaches for when a program says `tf.keras`.
OF_TENSORFLOW = ("keras.api", "keras._tf_keras")
LEGACY = "TF_USE_LEGACY_KERAS"  # TensorFlow's own switch to the package tf_keras

# What is said -----------------------------------------------------------------------------------

INSTEAD = (
    "tensorflow.keras is TensorFlow's own Keras: it doesn't run on Kameleon, and can't share a"
    " process with the Keras that does. In this program, write `from keras` instead of"
    " `from tensorflow.keras`, and `keras` instead of `tf.keras`; or have these names stand for"
    " the Keras on Kameleon: `kameleon run --tf-keras script.py`, or"
    " `kameleon.as_keras.alias_tensorflow()`"
)
NO_TENSORFLOW = (
    "TensorFlow isn't installed; its name stands for tensorflow.keras alone, the Keras on Kameleon"
)
BEFORE = (
    "import kameleon.as_keras before everything that imports a Keras (TensorFlow does, and so"
    " does Kameleon's engine of that name), or start the program by: kameleon run script.py"
)


def _not_here(name: str) -> str:
    """The sentence for a part of Keras that only the original has."""
    ours = importlib.import_module(OURS[LAYERS]).__all__
    return (
        f"{name} is a part of the original Keras {location.VERSION}, which isn't installed; to"
        f" install it: {location.INSTALL}. Without it, Kameleon serves keras.backend, and of"
        f" keras.layers {', '.join(ours)}"
    )


# What this process has been given ---------------------------------------------------------------


class _Given:
    """What this process has been given for `keras`."""

    def __init__(self) -> None:
        self.original = False  # or what Kameleon has of its own
        self.folder: str | None = None  # where it is, if it had to be put on the path
        self.aliased = False  # whether tensorflow.keras is the same


_given = _Given()


def hosts_original() -> bool:
    """Whether `import keras` gives the original; else it gives what Kameleon has of its own."""
    return _given.original


def folder() -> str | None:
    """The folder of the original that was put on the path; None if there was no need."""
    return _given.folder


# Finding modules --------------------------------------------------------------------------------


class _Finder(MetaPathFinder):
    """Answers for `keras`, and for what is asked for in its name.

    To refuse, it answers with modules that can't be loaded: those who only look whether there
    is such a module aren't stopped.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        answers = {"keras": self._keras, "tensorflow": self._tensorflow}
        answer = answers.get(fullname.partition(".")[0])
        return answer(fullname, path) if answer else None

    def _keras(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        if name == "keras" and _is_loading("tensorflow"):
            # It looks for the parts of its own Keras, and takes no for an answer. Kameleon may
            # be waiting for it: Keras would find a backend that is half there.
            return _refusal(name, "TensorFlow's own Keras isn't there")
        if name.startswith(OF_TENSORFLOW):
            return _refusal(name, INSTEAD)
        if not _given.original:
            return _own_spec(name)
        spec = self._others(name, path) if name == "keras" else None
        return spec and _loaded_within(spec, _hosted)

    def _tensorflow(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        if not _given.aliased:
            legacy = os.environ.get(LEGACY) in ("1", "true", "True")
            return _refusal(name, INSTEAD) if name == TF_KERAS and not legacy else None
        if f"{name}.".startswith(f"{TF_KERAS}."):
            return _made(name, partial(_stand_for, name.removeprefix("tensorflow.")))
        if name != "tensorflow":
            return None
        spec = self._others(name, path)
        return _loaded_within(spec, _with_our_keras) if spec else _made(name, _fill)

    def _others(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """What is found without this finder."""
        others = (finder.find_spec(name, path) for finder in sys.meta_path if finder is not self)
        return next(filter(None, others), None)


def _is_loading(name: str) -> bool:
    """Whether the module is in the middle of being imported."""
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))


def _loaded_within(
    spec: ModuleSpec, context: Callable[[ModuleType], AbstractContextManager[None]]
) -> ModuleSpec:
    """The same module, which runs inside of `context(module)`."""
    loader: Any = spec.loader
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        with context(module):
            run(module)

    loader.exec_module = exec_module
    return spec


class _Loader(Loader):
    """Loads a module by a function that gets it empty."""

    def __init__(self, run: Callable[[ModuleType], None]) -> None:
        self._run = run

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        self._run(module)


def _made(name: str, run: Callable[[ModuleType], None]) -> ModuleSpec:
    return ModuleSpec(name, _Loader(run), origin=config.STAND_IN, is_package=True)


def _refusal(name: str, sentence: str | Callable[[str], str]) -> ModuleSpec:
    """A module that says why it can't be loaded."""

    def refuse(module: ModuleType) -> None:
        said = sentence if isinstance(sentence, str) else sentence(name)
        raise MissingLibraryError(said, name=name)

    return _made(name, refuse)


# The original -----------------------------------------------------------------------------------


def _settings() -> dict[str, str]:
    """What Keras is told: to run on us. The engine it would be told goes to us."""
    told = os.environ.get(config.ENVIRONMENT, "").strip()
    settings = {config.ENVIRONMENT: config.HOSTED}
    if told not in ("", config.HOSTED) and not os.environ.get(config.OWN, "").strip():
        settings[config.OWN] = told
    return settings


@contextmanager
def _hosted(module: ModuleType) -> Iterator[None]:
    """While Keras loads: the environment tells it to run on us."""
    hosting.begin()
    settings = _settings()
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    except ValueError as error:
        if isinstance(error.__context__, EngineNotFoundError):
            raise error.__context__ from None  # it says more than Keras makes of it
        raise
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


def export() -> None:
    """Tell the processes that this one starts, too, by the environment.

    `kameleon run` does so, for programs that use several processes. Nothing is told where the
    original isn't installed.
    """
    if not _given.original:
        return
    os.environ.update(_settings())
    if _given.folder:
        paths = [_given.folder, os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


# What Kameleon has of its own -------------------------------------------------------------------


def _own_spec(name: str) -> ModuleSpec:
    """How to load what Kameleon has of Keras; a refusal for what it hasn't."""
    if name == BACKEND:
        return _made(name, partial(_stand_for, OURS[BACKEND]))
    if name in CONTENT:
        return _made(name, _fill)
    return _refusal(name, _not_here)


def _stand_for(meant: str, module: ModuleType) -> None:
    """Load the module `meant` in the place of `module`."""
    name = module.__name__
    try:
        sys.modules[name] = importlib.import_module(meant)  # from there, imports take it
    except ModuleNotFoundError as error:
        if error.name != meant or not name.startswith(TF_KERAS):
            raise
        raise ModuleNotFoundError(
            f"{name}: the Keras on Kameleon, {location.VERSION}, has no {meant}", name=name
        ) from None


def _layers() -> dict[str, Any]:
    ours = importlib.import_module(OURS[LAYERS])
    return {name: getattr(ours, name) for name in ("__all__", *ours.__all__)}


# What is in the modules that stand in for others.
CONTENT: dict[str, Callable[[], dict[str, Any]]] = {
    "keras": lambda: {"__version__": location.VERSION, "__doc__": "Kameleon's own part of Keras."},
    LAYERS: _layers,
    "tensorflow": lambda: {"keras": _Later("keras")},
}


def _fill(module: ModuleType) -> None:
    """Give the module its content, and words for what it lacks."""
    name = module.__name__

    def absent(attribute: str) -> Any:
        child = f"{name}.{attribute}"
        if child in OURS:  # nobody must import them one by one
            return importlib.import_module(child)
        if attribute.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
        raise AttributeError(
            f"{child}: {NO_TENSORFLOW}" if name == "tensorflow" else _not_here(child)
        )

    vars(module).update(CONTENT[name](), __getattr__=absent)


# tensorflow.keras -------------------------------------------------------------------------------


class _Later(ModuleType):
    """`tensorflow.keras` as an attribute: the Keras on Kameleon, loaded when it's asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("keras"), name)

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module("keras"))


@contextmanager
def _with_our_keras(module: ModuleType) -> Iterator[None]:
    yield
    vars(module)["keras"] = _Later("keras")


def alias_tensorflow() -> None:
    """From now on, `tensorflow.keras` and what is in it are the Keras on Kameleon.

    Also where TensorFlow isn't installed: then there's nothing else in `tensorflow`. Tensors
    are Kameleon's: other functions of TensorFlow can't take them.

    Raises:
        HostingError: TensorFlow's Keras has been imported in this process before.
    """
    if _given.aliased:
        return
    if TF_KERAS in sys.modules:
        raise HostingError(f"{TF_KERAS} is already imported; {BEFORE}")
    _given.aliased = True
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        vars(loaded)["keras"] = _Later("keras")


# Beginning --------------------------------------------------------------------------------------


def _refuse_another() -> None:
    """Raise where a Keras that can't be replaced any more is there."""
    theirs, backend = sys.modules.get("keras"), sys.modules.get(BACKEND)
    if theirs is None:
        return
    on = backend.backend() if backend and hasattr(backend, "backend") else "another backend"
    if on != config.HOSTED:
        version = getattr(theirs, "__version__", "of an unknown version")
        raise HostingError(
            f"Keras {version}, on {on}, is already imported in this process; {BEFORE}"
        )


def _begin() -> None:
    _refuse_another()
    try:
        _given.folder = location.find()
        _given.original = True
    except MissingLibraryError:
        if os.environ.get(location.VARIABLE, "").strip():
            raise  # it was said to be there
    if _given.folder and _given.folder not in sys.path:
        # Behind the program's own folder, before what is installed.
        sys.path.insert(0 if sys.flags.safe_path else 1, _given.folder)
    sys.meta_path.insert(0, _Finder())
    config.load()
    config.write_if_missing()  # before Keras or TensorFlow does, which would name a backend in it


_begin()
