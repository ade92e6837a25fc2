"""Hosting the original Keras 2.3.1: it runs unmodified, with `KERAS_BACKEND=kameleon.backend`.

Keras imports Kameleon by that name. What Keras needs beyond a backend is done from outside, by an
import hook: for modules of Keras alone, before or after they run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from .. import config
from ..config.processes import this_process
from . import (
    byte_code,
    hdf5,
    layers,
    naming,
    older,
    older_names,
    recorded,
    refused,
    shims,
    wrappers,
)
from .loading import KerasFinder, Steps, is_of_original
from .settings import SharedGlobals

__all__ = ["begin", "is_loading", "is_running"]


def is_loading() -> bool:
    """Whether the original Keras imports Kameleon, or has imported it.

    >>> is_loading()
    False
    """
    loader = sys.modules.get("keras.backend.load_backend")
    return getattr(loader, "_BACKEND", None) == config.HOSTED


def is_running() -> bool:
    """Whether `begin` was called in this process."""
    return any(isinstance(finder, KerasFinder) for finder in sys.meta_path)


def begin() -> None:
    """Prepare the modules that Keras has loaded by now, and those that it's going to load.

    Called when Keras imports `kameleon.backend`, or earlier, before Keras is imported. A second
    call changes nothing. Another Keras in the process stays as it is.
    """
    if is_running():
        return
    loaded = dict(sys.modules) if is_of_original() else {}
    for name in dict.fromkeys(shim.module for shim in shims.SHIMS):
        if name in loaded:
            shims.after(loaded[name])
    for name, finish in AFTER.items():
        if name in loaded:
            finish(loaded[name])
    sys.meta_path.insert(0, KerasFinder(AFTER, INSTEAD))


def begin_if_asked() -> None:
    """Begin where Keras imports Kameleon, or is told to."""
    if is_loading() or config.is_hosted():
        begin()


# --- what is done with single modules ----------------------------------------------------------


def _share_settings(load_backend: ModuleType) -> None:
    # By now Keras has set its globals from keras.json, so this puts what calls have set over them.
    config.settings.keep_calls_in(SharedGlobals(sys.modules["keras.backend.common"]))


def _ask_us(backend: ModuleType) -> None:
    """Let `keras.backend`, which has a fixed list of names, take other names from Kameleon."""
    naming.name_backend(backend)

    def ask(name: str) -> Any:
        if f"{backend.__name__}.{name}" in INSTEAD:
            return import_module(f"{backend.__name__}.{name}")
        ours = sys.modules[config.HOSTED]
        return getattr(ours, name) if name in ours.__all__ else ours.__getattr__(name)

    vars(backend)["__getattr__"] = ask


def _be_backend(module: ModuleType) -> None:
    """Fill `keras.backend.tensorflow_backend`, or that of Theano, from which programs import, with
    the names of `keras.backend` and Kameleon's.
    """
    keras_backend = sys.modules["keras.backend"]
    vars(module)["__getattr__"] = lambda name: getattr(keras_backend, name)


def _keep_in_files(saving: ModuleType) -> None:
    hdf5.adopt_handed(saving)
    recorded.record_convention(saving)
    byte_code.add_safe_mode(saving)


def _share_generators(loops: ModuleType) -> None:
    if this_process() is not None:
        import_module(f"{refused.HOSTED}.generators").share(loops)


def _both(*steps: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def both(module: ModuleType) -> None:
        for step in steps:
            step(module)

    return both


AFTER: Steps = {
    **dict.fromkeys(older_names.MODULES, older_names.serve),
    "keras.backend": _ask_us,
    "keras.backend.load_backend": _share_settings,
    **dict.fromkeys(hdf5.HANDED, hdf5.adopt_handed),
    **dict.fromkeys(recorded.RECORDERS, recorded.record_convention),
    "keras.callbacks.callbacks": older.sum_as_doubles,
    "keras.engine.base_layer": naming.name_backend,  # by now, all of the backend has run
    "keras.engine.saving": _keep_in_files,
    "keras.engine.training": _both(older_names.serve, older.serve_metrics_tensors),
    "keras.engine.training_generator": _share_generators,
    "keras.layers.core": layers.mend_lambda,
    "keras.layers.cudnn_recurrent": layers.serve_cudnn,
    "keras.metrics": refused.serve_metrics,
    "keras.optimizers": refused.serve_optimizers,
    "keras.utils.multi_gpu_utils": refused.serve_multi_gpu,
    "keras.wrappers.scikit_learn": wrappers.describe_estimators,
}
INSTEAD: Steps = {
    **dict.fromkeys(older_names.RENAMED, older_names.serve),
    "keras.backend.tensorflow_backend": _be_backend,
    "keras.backend.theano_backend": _be_backend,
    "keras.callbacks.tensorboard_v1": refused.serve_tensorboard,
}
