"""What files of weights and texts of networks say about the backend they come from.

Keras records a name, and its readers take it for one thing: whether the kernels of convolutions
are applied as they lie there (correlation: "tensorflow", "cntk") or turned ("theano"). Ours are
applied as they lie. A name that Keras on Theano doesn't know makes it take the kernels as its
own, without turning them, and predict something else; by "tensorflow" it reads them right, and
so do all others.
"""

from __future__ import annotations

from types import ModuleType

from .shims import StandIn

NAME = "tensorflow"

# Modules of Keras that ask for the backend's name only to record it, or to compare it with what
# is recorded.
RECORDERS = ("keras.engine.saving", "keras.engine.network")


def record_convention(module: ModuleType) -> None:
    """Let one of the `RECORDERS` write the name that says how our kernels are meant."""
    backend = vars(module)["K"]
    if not isinstance(backend, StandIn):
        vars(module)["K"] = StandIn(backend, {"backend": lambda: NAME})
