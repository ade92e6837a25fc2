"""The backend's name that Keras records in files of weights and in configurations of networks.

Keras uses the recorded name for one thing: it says whether the kernels of convolutions are applied
as they are stored (correlation: "tensorflow", "cntk") or mirrored ("theano"). Kameleon's are
applied as they are stored. From a name that it doesn't know, Keras on Theano takes the kernels as
mirrored, and predicts something else; with "tensorflow", Keras reads them right on every backend.
"""

from __future__ import annotations

from types import ModuleType

from .shims import StandIn

NAME = "tensorflow"

# Modules of Keras that ask for the backend's name only to record it, or to compare it with the
# recorded one.
RECORDERS = ("keras.engine.saving", "keras.engine.network")


def record_convention(module: ModuleType) -> None:
    """Let one of the `RECORDERS` write the name that says how Kameleon applies kernels."""
    backend = vars(module)["K"]
    if not isinstance(backend, StandIn):
        vars(module)["K"] = StandIn(backend, {"backend": lambda: NAME})
