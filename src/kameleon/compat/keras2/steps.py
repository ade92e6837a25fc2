"""What is done with single modules of Keras once they have run: on any backend, and on ours.

Some modules aren't run at all: a function fills them.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from ... import config
from ..._utils.around import Around
from ...config.processes import this_process
from . import (
    byte_code,
    hdf5,
    later,
    layers,
    naming,
    older,
    older_names,
    recorded,
    refused,
    wrappers,
)
from .loading import Steps
from .settings import SharedGlobals

# --- what people feed today ----------------------------------------------------------------------


def _serve_pipelines(training: ModuleType) -> None:
    import_module(f"{refused.HOSTED}.pipelines").serve(training)


def _keep(last: ModuleType) -> None:
    """Look for no garbage in what has been loaded, neither while a graph is built, nor at the end:
    it lives as long as the process.
    """
    gc.freeze()


# --- what Kameleon's backend needs ---------------------------------------------------------------


def _share_settings(load_backend: ModuleType) -> None:
    # By now Keras has set its globals from keras.json, so this puts what calls have set over them.
    config.settings.keep_calls_in(SharedGlobals(sys.modules["keras.backend.common"]))


def _ask_us(backend: ModuleType) -> None:
    """Let `keras.backend`, which has a fixed list of names, take other names from Kameleon."""
    naming.name_backend(backend)

    def ask(name: str) -> Any:
        if f"{backend.__name__}.{name}" in BACKENDS:
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


def _share_generators(loops: ModuleType) -> None:
    if this_process() is not None:
        import_module(f"{refused.HOSTED}.generators").share(loops)


# --- functions in the place of Keras's -----------------------------------------------------------

# By module and path of a function in it, what gives the one that stands in its place.
REPLACED: Mapping[str, Mapping[str, Around]] = {
    "keras.callbacks.callbacks": {"BaseLogger.on_batch_end": older.summing_doubles},
    "keras.engine.saving": {
        **dict.fromkeys(hdf5.HANDED, hdf5.adopting(at=0)),
        "_deserialize_model": later.uncompiled,
        **dict.fromkeys(byte_code.LOADERS, byte_code.with_safe_mode),
        "unpickle_model": byte_code.trusting,
    },
    "keras.layers": {"deserialize": later.deserialize},
    "keras.layers.core": {
        "func_dump": byte_code.noting,
        "func_load": layers.load_function,
        "Lambda.from_config": byte_code.guarded,
    },
    "keras.utils.io_utils": {"H5Dict.__init__": hdf5.adopting(at=1)},
    "keras.utils.multi_gpu_utils": {"multi_gpu_model": refused.multi_gpu_model},
}
REPLACED_ON_OURS: Mapping[str, Mapping[str, Around]] = {
    "keras.layers.core": {"Lambda.compute_output_shape": layers.shape_of_lambda},
    "keras.optimizers": {"get": refused.optimizer},
}


def _replace(ways: Mapping[str, Around], module: ModuleType) -> None:
    """Put functions in the place of those that are there: another Keras may lack some."""
    for path, way in ways.items():
        owner, _, name = path.rpartition(".")
        place = getattr(module, owner) if owner else module
        theirs = inspect.getattr_static(place, name, None)
        if isinstance(theirs, classmethod):
            setattr(place, name, classmethod(way(theirs.__func__)))
        elif theirs is not None:
            setattr(place, name, way(theirs))


# --- the tables ----------------------------------------------------------------------------------

BACKENDS = ("keras.backend.tensorflow_backend", "keras.backend.theano_backend")

# On any backend: what today's libraries do otherwise, and what they feed; names of older versions;
# and layers that would need a device of their own.
ALWAYS: tuple[Steps, ...] = (
    dict.fromkeys(older_names.MODULES, older_names.serve),
    {module: partial(_replace, ways) for module, ways in REPLACED.items()},
    {"keras.engine.training": _serve_pipelines},
    {"keras.wrappers": _keep},  # of what `import keras` loads, the last one
    {
        "keras.engine.training": older.serve_metrics_tensors,
        "keras.layers.cudnn_recurrent": layers.serve_cudnn,
        "keras.wrappers.scikit_learn": wrappers.describe_estimators,
    },
)
# What Keras does otherwise, or not at all, on a backend whose name it doesn't know.
OURS: tuple[Steps, ...] = (
    dict.fromkeys(recorded.RECORDERS, recorded.record_convention),
    {module: partial(_replace, ways) for module, ways in REPLACED_ON_OURS.items()},
    {
        "keras.backend": _ask_us,
        "keras.backend.load_backend": _share_settings,
        "keras.engine.base_layer": naming.name_backend,  # by now, all of the backend has run
        "keras.engine.training_generator": _share_generators,
        "keras.metrics": refused.serve_metrics,
        "keras.optimizers": refused.serve_optimizers,
    },
)
AFTER: dict[str, tuple[Steps, ...]] = {"kameleon": (*ALWAYS, *OURS), "tensorflow": ALWAYS}
INSTEAD: dict[str, Steps] = {
    "kameleon": {
        **dict.fromkeys(older_names.RENAMED, older_names.serve),
        **dict.fromkeys(BACKENDS, _be_backend),
        "keras.callbacks.tensorboard_v1": refused.serve_tensorboard,
    },
    "tensorflow": dict.fromkeys(older_names.RENAMED, older_names.serve),
}


def after(base: str) -> Steps:
    """For names of modules, what is done when they have run, where Keras runs on `base`."""
    found: dict[str, list[Callable[[ModuleType], None]]] = {}
    for steps in AFTER[base]:
        for name, step in steps.items():
            found.setdefault(name, []).append(step)
    return {name: _each(steps) for name, steps in found.items()}


def _each(steps: list[Callable[[ModuleType], None]]) -> Callable[[ModuleType], None]:
    def each(module: ModuleType) -> None:
        for step in steps:
            step(module)

    return each
