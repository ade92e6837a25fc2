"""The original Keras, told by environment variables to run on Kameleon."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from ... import config
from ...errors import ArgumentError, EngineNotFoundError
from .. import keras2
from ..keras2 import location
from ..tensorflow import location as files
from .given import given

# Stands first on the path of other processes: its `keras` is this process's.
CHILDREN = os.path.join(os.path.dirname(__file__), "children")
BACKENDS = {"kameleon": config.HOSTED, "tensorflow": "tensorflow"}  # what Keras is told of each
# What the environment says where Keras runs on TensorFlow's own files.
ON_TENSORFLOW = {config.TENSORFLOW: config.WHICH_TENSORFLOW[0], config.AS: "tensorflow"}
WRITTEN_FOR = "tensorflow"  # the backend that most programs were written for


def environment() -> dict[str, str]:
    """The variables that tell Keras which backend to run on, and Kameleon which engine to run on,
    if `KERAS_BACKEND` names one.
    """
    return {config.ENVIRONMENT: BACKENDS[config.keras_on()]} | _engine()


def _engine() -> dict[str, str]:
    """The variables that ask for the engine which `KERAS_BACKEND` names, if it names one."""
    asked = os.environ.get(config.ENVIRONMENT, "").strip()
    name = os.environ.get(config.OWN, "").strip()
    if name or asked in ("", config.HOSTED, config.known_as()):
        return {}
    return config.asking(asked, f"{config.ENVIRONMENT}={asked}")


def name_backend() -> None:
    """Let `KERAS_BACKEND` name the backend that the program was written for, as `KAMELEON_AS` says;
    a name of an engine moves from there to `KAMELEON_ENGINE`.

    Raises:
        ArgumentError: (a ValueError) `KAMELEON_AS` holds another name.
    """
    name = os.environ.get(config.AS, "").strip() or WRITTEN_FOR
    if name not in config.KNOWN_AS:
        expected = ", ".join(config.KNOWN_AS)
        raise ArgumentError(f"{config.AS}={name}: programs know no such backend; use {expected}")
    os.environ[config.AS] = name
    if config.known_as() != config.HOSTED:
        os.environ.update(_engine() | {config.ENVIRONMENT: config.known_as()})


def which_tensorflow() -> str:
    """Which TensorFlow old code gets: what `KAMELEON_TENSORFLOW` says; where it says nothing,
    TensorFlow 1.15's own files where they're installed, and else nothing: ''.
    """
    choice = os.environ.get(config.TENSORFLOW, "").strip()
    return choice or (config.WHICH_TENSORFLOW[0] if files.installed() else "")


def choose_base(is_here: bool) -> None:
    """Let `KAMELEON_KERAS_ON` say what Keras runs on: where nobody has said so, on TensorFlow where
    programs get its own files and are told its name, else on Kameleon.

    Args:
        is_here: whether the original Keras is installed.

    Raises:
        ArgumentError: (a ValueError) `KAMELEON_KERAS_ON` holds another word, or one that doesn't go
            with the TensorFlow that programs get, or with the backend's name.
        MissingLibraryError: (an ImportError) it says TensorFlow, and Keras isn't installed.
    """
    kameleon, tensorflow = config.WHICH_KERAS_ON
    choice = os.environ.get(config.KERAS_ON, "").strip()
    if choice not in ("", *config.WHICH_KERAS_ON):
        raise ArgumentError(f"{config.KERAS_ON}={choice}: use {kameleon} or {tensorflow}")
    says = {variable: os.environ.get(variable, "").strip() for variable in ON_TENSORFLOW}
    if choice == tensorflow:
        for variable, needed in ON_TENSORFLOW.items():
            if says[variable] not in ("", needed):
                raise ArgumentError(
                    f"{config.KERAS_ON}={choice} goes with {variable}={needed}, and not with"
                    f" {variable}={says[variable]}"
                )
        location.find()
        os.environ.update(ON_TENSORFLOW)
    says[config.TENSORFLOW] = which_tensorflow()
    fits = is_here and says == ON_TENSORFLOW
    os.environ[config.KERAS_ON] = choice or (tensorflow if fits else kameleon)


@contextmanager
def hosted(module: ModuleType) -> Iterator[None]:
    """A block in which the environment tells Keras, which loads inside, what to run on."""
    keras2.begin()
    variables = environment()
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
        if config.keras_on() == "kameleon":
            _know_tensorflow()
    except ValueError as error:
        if isinstance(error.__context__, EngineNotFoundError):
            raise error.__context__ from None  # this says more than the error that Keras made of it
        raise
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


def _know_tensorflow() -> None:
    """Let programs ask of tensors what they asked of TensorFlow's: `x.get_shape()`, `x.op` …"""
    from ..keras2.hosted import tensors  # late: it loads the K surface

    tensors.install()


def share_path() -> None:
    """Put the `keras` of other processes on the path, before the original: the processes that
    `multiprocessing` spawns begin with this process's path. In this process, it's never found.
    """
    others = [path for path in sys.path if path != CHILDREN]
    others.insert(others.index(given.folder) if given.folder else 1, CHILDREN)
    sys.path[:] = others


def export() -> None:
    """Let processes that this one starts run Keras on Kameleon, too, by their environment.

    `kameleon run` calls this for programs that use several processes. Where the original isn't
    installed, the environment stays as it is.
    """
    if not given.original:
        return
    os.environ.update(environment() | {config.ENVIRONMENT: config.known_as()})
    share_path()
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in paths if path not in ("", CHILDREN)]
    os.environ["PYTHONPATH"] = os.pathsep.join([CHILDREN, *others])
