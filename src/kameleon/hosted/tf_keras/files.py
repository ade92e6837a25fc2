"""Models and weights in files: HDF5 as in Keras 2.3.1; a folder of ours where TensorFlow 2 writes
one of its own.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import keras.models as theirs
from keras.utils.generic_utils import CustomObjectScope

from ...errors import ArgumentError
from . import optimizers
from .operations import TensorFlowOpLayer

HDF5 = (".h5", ".hdf5", ".keras")
MODEL, WEIGHTS = "model.h5", ".weights.h5"  # within a folder; behind the prefix of weights
SAVED_MODEL = "saved_model.pb"


def path_of(filepath: Any) -> Any:
    """A path as text; anything else, such as an open file of h5py, as it is."""
    return os.fspath(filepath) if isinstance(filepath, os.PathLike) else filepath


def _is_folder(filepath: Any, save_format: Any) -> bool:
    """Whether a model goes to a folder: TensorFlow 2 does so, but for names of HDF5 files."""
    if not isinstance(filepath, str) or filepath.endswith(HDF5):
        return False
    return save_format == "tf" or (save_format is None and not os.path.splitext(filepath)[1])


def save_model(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
    save_format: Any = None, signatures: Any = None, **_: Any,
) -> None:  # fmt: skip
    """Write a model to a file in HDF5 format; or to a folder, in which lies such a file.

    Args:
        model: the model.
        filepath: where to. Without an ending it's a folder, which `load_model` reads here, and
            TensorFlow doesn't.
        overwrite: whether a file may be replaced without asking.
        include_optimizer: whether the optimizer's state is written.
        save_format: 'h5', or 'tf' for a folder.
    """
    place = path_of(filepath)
    if _is_folder(place, save_format):
        os.makedirs(place, exist_ok=True)
        place = os.path.join(place, MODEL)
    theirs.save_model(model, place, overwrite=overwrite, include_optimizer=include_optimizer)


def load_model(
    filepath: Any, custom_objects: Any = None, compile: bool = True, **options: Any
) -> Any:
    """Read a model that `save_model` wrote, or TensorFlow's `tf.keras`, in HDF5 format.

    Raises:
        ArgumentError: (a ValueError) it's a folder that TensorFlow wrote.
    """
    place = path_of(filepath)
    if isinstance(place, str) and os.path.isdir(place):
        if not os.path.exists(os.path.join(place, MODEL)):
            raise ArgumentError(
                f"load_model: {place} is a SavedModel of TensorFlow's, which holds its own graph;"
                " where TensorFlow is installed, load it there and write it as HDF5:"
                " model.save('model.h5')"
            )
        place = os.path.join(place, MODEL)
    options.pop("options", None)
    with known(custom_objects):
        return theirs.load_model(place, custom_objects, compile, **options)


def save_weights(
    model: Any, save: Callable[..., None], filepath: Any, overwrite: bool, save_format: Any
) -> None:
    """Write weights in HDF5 format; for a name without an ending of HDF5, `.weights.h5` is added.

    TensorFlow writes checkpoints of its own under such names.
    """
    place = path_of(filepath)
    if isinstance(place, str) and not place.endswith(HDF5) and save_format != "h5":
        folder = os.path.dirname(place)
        if folder:
            os.makedirs(folder, exist_ok=True)
        place += WEIGHTS
    save(place, overwrite)


def load_weights(
    load: Callable[..., None], filepath: Any, by_name: bool, skip_mismatch: bool
) -> Any:
    """Read weights; see `save_weights`.

    Raises:
        ArgumentError: (a ValueError) it's a checkpoint that TensorFlow wrote.
    """
    place = path_of(filepath)
    if isinstance(place, str) and not os.path.exists(place):
        if os.path.exists(place + WEIGHTS):
            place += WEIGHTS
        elif os.path.exists(place + ".index"):
            raise ArgumentError(
                f"load_weights: {place} is a checkpoint of TensorFlow's; where TensorFlow is"
                " installed, write it as HDF5 there: model.save_weights('weights.h5')"
            )
    return load(place, by_name=by_name, skip_mismatch=skip_mismatch)


# --- configurations that TensorFlow wrote ---------------------------------------------------------


@functools.cache
def known_classes() -> Mapping[str, Any]:
    """By the name in configurations, the classes of `tf.keras` that differ from Keras 2.3.1's."""
    # Losses and metrics have the same names: `compile` knows which are which.
    kinds = ("layers.", "optimizers.", "models.", "initializers.")
    found = {
        name.rpartition(".")[2]: value
        for name, value in importlib.import_module(f"{__package__}.table").NAMES.items()
        if name.startswith(kinds) and isinstance(value, type)
    }
    lower = {name.lower(): kind for name, kind in optimizers.CLASSES.items()}
    own = {"Functional": found["Model"], "TensorFlowOpLayer": TensorFlowOpLayer}
    return {**found, **lower, **own}  # Keras 2.3.1 looks for optimizers by names in lower case


def known(custom_objects: Any) -> Any:
    """A block in which configurations name classes of `tf.keras`, and those that are given."""
    return CustomObjectScope({**known_classes(), **(custom_objects or {})})


def _within_known(function: Callable[..., Any]) -> Callable[..., Any]:
    def load(*args: Any, **kwargs: Any) -> Any:
        with known(kwargs.get("custom_objects")):
            return function(*args, **kwargs)

    load.__name__, load.__doc__ = function.__name__, function.__doc__
    return load


NAMES: dict[str, Any] = {
    "models.save_model": save_model,
    "models.load_model": load_model,
    **{
        f"models.{name}": _within_known(getattr(theirs, name))
        for name in ("model_from_config", "model_from_json", "model_from_yaml")
    },
}
