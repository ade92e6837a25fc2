"""Which engine runs: who may ask for one, in which order, and the errors where one isn't there."""

from __future__ import annotations

import os
import sys

from ..errors import ConfigWarning, EngineNotFoundError, MissingLibraryError, warn
from . import cntk
from .file import load
from .table import CALL, DEFAULT, settings

# Spelled out rather than imported: `typing` alone would double the time this module takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ENVIRONMENT = "KERAS_BACKEND"  # a source of the choice, beside the sources of any setting
OWN = "KAMELEON_ENGINE"  # a source, too; Kameleon alone reads this variable, and Keras doesn't

WRITTEN_BY_KERAS = "tensorflow"  # the documented default of "backend" in keras.json

# The original Keras, when hosted on Kameleon, is told `KERAS_BACKEND=kameleon.backend`. This name
# is for Keras: taken as the name of an engine, it would make the module import itself. Which engine
# runs then is said by `KAMELEON_ENGINE`.
HOSTED = "kameleon.backend"

# Where that variable's value comes from, if somebody else has put it there: errors name this.
OWN_BY = "KAMELEON_ENGINE_BY"

# Programs that the hosted Keras runs are told another name: one that they know, as this variable
# says. `KERAS_BACKEND` may then hold that name, and says nothing of the engine.
AS = "KAMELEON_AS"
KNOWN_AS = {"tensorflow": "tensorflow", "theano": "theano", "kameleon": HOSTED}

# Which TensorFlow old programs import: the Python files of TensorFlow 1.15 above K's graph, or the
# library that is installed.
TENSORFLOW = "KAMELEON_TENSORFLOW"
WHICH_TENSORFLOW = ("original", "installed")

# Whether the files of TensorFlow 1.15 have the names and the behaviour of TensorFlow 1 or 2.
TF_KERAS = "KAMELEON_TF_KERAS"
WHICH_TF_KERAS = ("1", "2")

# What the original Keras that old programs import runs on: K, or its own TensorFlow backend, above
# the Python files of TensorFlow 1.15.
KERAS_ON = "KAMELEON_KERAS_ON"
WHICH_KERAS_ON = ("kameleon", "tensorflow")

STAND_IN = "kameleon"  # the origin of modules that Kameleon puts in the place of others


class Library:
    """An engine's library: what to tell pip, the module that pip installs then, and the title.

    A library that runs elsewhere has a line of its own that installs it, and a function that tells
    whether it's there.
    """

    __slots__ = ("found", "install", "module", "requirement", "title")

    def __init__(
        self,
        requirement: str,
        module: str,
        title: str,
        install: str = "",
        found: Callable[[], bool] | None = None,
    ) -> None:
        self.requirement, self.module, self.title = requirement, module, title
        self.install, self.found = install or f"pip install {requirement}", found


# Other names of engines.
ALIASES = {"pytensor": "theano", "pytorch": "torch"}

# The names that choose an engine; any other name is that of an engine which another package
# brings, or the path of an external backend module.
ENGINES = {
    "tensorflow": Library("tensorflow", "tensorflow", "TensorFlow"),
    "theano": Library("pytensor", "pytensor", "Theano"),  # goes on as PyTensor
    "cntk": Library("cntk", "cntk", "CNTK", cntk.INSTALL, cntk.installed),  # on Python 3.6
    "numpy": Library("numpy", "numpy", "NumPy"),
    "jax": Library("jax", "jax", "JAX"),
    "torch": Library("torch", "torch", "PyTorch"),
    "onnxruntime": Library("onnxruntime onnx", "onnxruntime", "ONNX Runtime"),
}


def installed(name: str) -> bool:
    """Whether the library of the engine `name` is installed; nothing is imported.

    A mere folder with the library's name, which Python would take for a package, doesn't count.

    >>> installed("numpy")
    True
    """
    from importlib.util import find_spec  # late, as above

    module, found = ENGINES[name].module, ENGINES[name].found
    if found is not None:
        return found()
    if module in sys.modules:
        spec = getattr(sys.modules[module], "__spec__", None)
        return getattr(spec, "origin", None) != STAND_IN
    spec = find_spec(module)
    return spec is not None and spec.origin not in (None, STAND_IN)


def require(name: str, what: str) -> None:
    """See that the library of the engine `name` is installed, for the function `what`.

    Raises:
        MissingLibraryError: it isn't; the message holds the line that installs it.
    """
    if not installed(name):
        library = ENGINES[name]
        raise MissingLibraryError(f"{what}: {library.module} isn't installed: {library.install}")


def ask(name: str, said: str) -> None:
    """Ask for an engine in this process and those that it starts, by `KAMELEON_ENGINE`.

    Args:
        name: the engine, or the module of an external backend.
        said: what has named it, such as "--engine torch"; ends with the name.
    """
    os.environ.update(asking(name, said))


def asking(name: str, said: str) -> dict[str, str]:
    """The variables that ask for an engine; see `ask`."""
    return {OWN: name, OWN_BY: said}


def _said(name: str) -> str:
    """What has named the engine that `KAMELEON_ENGINE` asks for."""
    said = os.environ.get(OWN_BY, "")
    return said if said.endswith(name) else f"{OWN}={name}"


def describe_source(source: str, name: str) -> str:
    """Return the words with which an error begins that say who asked for `name`.

    >>> describe_source("KERAS_BACKEND", "torch")
    'KERAS_BACKEND=torch'
    """
    if source == OWN:
        return _said(name)
    if source == ENVIRONMENT:
        return f"{source}={name}"
    return f"the call for {name!r}" if source == CALL else f'"backend": "{name}" in {source}'


def describe_remedy(source: str) -> str:
    """Return the words that say how to get the embedded engine instead of the one asked for.

    >>> describe_remedy("KERAS_BACKEND")
    'to run on NumPy, which is always there, set KERAS_BACKEND=numpy'
    """
    said = _said(os.environ.get(OWN, "").strip())
    if source == OWN and said.startswith("--"):
        return "to run on NumPy, which is always there, use --engine numpy"
    own = is_hosted() if source != OWN else said.startswith(OWN)
    variable = OWN if own else ENVIRONMENT
    remedy = f"to run on NumPy, which is always there, set {variable}=numpy"
    if source == CALL:
        return "to run on NumPy, which is always there, ask for 'numpy'"
    named = source in (OWN, ENVIRONMENT)
    return remedy if named else f'{remedy} or write "backend": "numpy" in {source}'


def _require(name: str, source: str, available: Callable[[str], bool]) -> None:
    """Raise EngineNotFoundError unless the known engine `name` can run."""
    missing = ""
    if not available(name):  # then the library would be of no use
        have = ", ".join(filter(available, ENGINES))
        missing = f"this version of Kameleon has no engine {name!r} (it has: {have})"
    elif not installed(name):
        missing = f"its library isn't installed: {ENGINES[name].install}"
    if missing:
        raise EngineNotFoundError(
            f"{describe_source(source, name)} can't be met: {missing}; {describe_remedy(source)}"
        )


def known_as() -> str:
    """The name of the backend that a hosted Keras tells programs, as `KAMELEON_AS` says.

    >>> known_as()
    'kameleon.backend'
    """
    return KNOWN_AS.get(os.environ.get(AS, "").strip(), HOSTED)


def keras_on() -> str:
    """What the original Keras runs on in this process, as `KAMELEON_KERAS_ON` says.

    >>> keras_on()
    'kameleon'
    """
    return os.environ.get(KERAS_ON, "").strip() or WHICH_KERAS_ON[0]


def is_hosted() -> bool:
    """Whether the original Keras is told to run on Kameleon, by the environment or keras.json.

    >>> is_hosted()
    False
    """
    choice = os.environ.get(ENVIRONMENT, "").strip()
    return known_as() != HOSTED or (choice or settings.in_file("backend")) == HOSTED


def _asked() -> tuple[tuple[str, str], ...]:
    """Return (source, name) for all places that may name an engine, the strongest first."""
    environment = [(name, os.environ.get(name, "").strip()) for name in (OWN, ENVIRONMENT)]
    if environment[1][1] == known_as():  # what the program was written for
        environment.pop()
    setting = (settings.source("backend"), settings.backend or "")
    return (setting, *environment) if setting[0] == CALL else (*environment, setting)


def choose_backend(available: Callable[[str], bool]) -> tuple[str, str]:
    """Return the engine (or external module) to run on, and where it was named.

    The order: a call (`settings.backend`), `KAMELEON_ENGINE`, `KERAS_BACKEND`, keras.json,
    TensorFlow if Kameleon has an engine for it and it's installed, NumPy. Reads keras.json if
    that hasn't been done.

    Args:
        available: says whether Kameleon has the engine of a name in `ENGINES`.

    Returns:
        (name, source): source is 'call', 'KAMELEON_ENGINE', 'KERAS_BACKEND', the path of
        keras.json, or 'default'. A name not in `ENGINES` is the path of an external module.

    Raises:
        EngineNotFoundError: for an engine that was asked for and isn't there. No other engine
            takes its place. Only where keras.json names the documented default, which any Keras
            writes by itself, there's a ConfigWarning instead, and the choice goes on.

    >>> choose_backend(lambda name: name == "numpy")[0]
    'numpy'
    """
    load()
    for source, name in _asked():
        if name and name != HOSTED:
            if name not in ENGINES:
                return name, source
            try:
                _require(name, source, available)
                return name, source
            except EngineNotFoundError as error:
                if name != WRITTEN_BY_KERAS or source in (CALL, OWN, ENVIRONMENT):
                    raise
                # Any Keras writes this name by itself, so it's nobody's choice. A hosted Keras
                # runs on Kameleon whatever the file says, so there's no need to warn.
                if not is_hosted():
                    warn(f"{error}; NumPy is used now", ConfigWarning)
    preferred = available("tensorflow") and installed("tensorflow")
    return "tensorflow" if preferred else "numpy", DEFAULT
