"""Layers that both Kerases have, with other defaults, or with arguments that Keras 2.3.1 lacks.

The table was drawn up by comparing the signatures of TensorFlow 1.15 and 2.3 with Keras 2.3.1's.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import keras.layers as theirs

from ...errors import UnsupportedError
from .time_axes import refuse_time_first, with_time_first
from .version import of_version


class Variant(NamedTuple):
    """How a layer of `tf.keras` differs.

    Args:
        defaults: arguments that both have, with TensorFlow's defaults: of 1.15, and of 2.x.
        silent: arguments that Keras 2.3.1 lacks and that change nothing here.
        only: arguments that Keras 2.3.1 lacks, each with the value that means what it does.
        use: by argument in `only`, what to use for other values.
        kept: arguments that Keras 2.3.1 lacks and that are attributes of the layer here.
    """

    defaults: Mapping[str, tuple[Any, Any]] = {}
    silent: tuple[str, ...] = ()
    only: Mapping[str, Any] = {}
    use: Mapping[str, str] = {}
    kept: tuple[str, ...] = ()


RECURRENT = Variant(kept=("time_major",))
HARD = {"recurrent_activation": ("hard_sigmoid", "sigmoid")}
BLOCKS = Variant(silent=("implementation",))
GROUPED = Variant(only={"groups": 1}, use={"groups": "a convolution for each part, concatenated"})

LAYERS: dict[str, Variant] = {
    "LSTM": RECURRENT._replace(defaults=HARD),
    "GRU": RECURRENT._replace(defaults={**HARD, "reset_after": (False, True)}),
    "LSTMCell": Variant(HARD),
    "GRUCell": Variant({**HARD, "reset_after": (False, True)}),
    "SimpleRNN": RECURRENT,
    "RNN": RECURRENT,
    "Bidirectional": Variant(
        only={"backward_layer": None},
        use={"backward_layer": "two layers, one with go_backwards=True, and Concatenate"},
    ),
    "Conv1D": GROUPED,
    "Conv2D": GROUPED,
    "Conv3D": GROUPED,
    "LocallyConnected1D": BLOCKS,
    "LocallyConnected2D": BLOCKS,
}


def variant(name: str, layer: Any, told: Variant) -> Any:
    """A subclass of a layer, with the layer's name, that takes TensorFlow's arguments."""
    if "time_major" in told.kept:
        layer = with_time_first(layer)
    order = list(inspect.signature(layer.__init__).parameters)[1:]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = dict(zip(order, args, strict=False)) | kwargs
        for key, default in told.defaults.items():
            given.setdefault(key, of_version(*default))
        for key in told.silent:
            given.pop(key, None)
        for key, same in told.only.items():
            value = given.pop(key, same)
            if value != same:
                raise UnsupportedError(f"{name}({key}={value!r}): use {told.use[key]}")
        kept = {key: given.pop(key) for key in told.kept if key in given}
        if name == "Bidirectional":
            refuse_time_first(given.get("layer"))
        layer.__init__(self, **given)
        for key, value in kept.items():
            setattr(self, key, value)

    made = type(name, (layer,), {"__init__": __init__, "__doc__": layer.__doc__})
    made.__module__ = __name__
    vars(__init__)["__signature__"] = _signature(layer, told)
    return made


def _signature(layer: Any, told: Variant) -> inspect.Signature:
    """The layer's signature with TensorFlow's defaults."""
    theirs = inspect.signature(layer.__init__)
    changed = [
        p.replace(default=of_version(*told.defaults[p.name])) if p.name in told.defaults else p
        for p in theirs.parameters.values()
    ]
    return theirs.replace(parameters=changed)


VARIANTS: dict[str, Any] = {
    name: variant(name, getattr(theirs, name), told) for name, told in LAYERS.items()
}
# Layers that need cuDNN there are the ones that compute the same, as in the hosted Keras.
CUDNN: dict[str, Any] = {name: getattr(theirs, name) for name in ("CuDNNLSTM", "CuDNNGRU")}
globals().update(VARIANTS)  # so that pickle finds them

NAMES: dict[str, Any] = {
    **{f"layers.{name}": kind for name, kind in VARIANTS.items()},
    "layers.SeparableConvolution1D": theirs.SeparableConv1D,
    "layers.SeparableConvolution2D": theirs.SeparableConv2D,
    "layers.Convolution2DTranspose": theirs.Conv2DTranspose,
    "layers.Convolution3DTranspose": theirs.Conv3DTranspose,
    "layers.Convolution1D": VARIANTS["Conv1D"],
    "layers.Convolution2D": VARIANTS["Conv2D"],
    "layers.Convolution3D": VARIANTS["Conv3D"],
}
