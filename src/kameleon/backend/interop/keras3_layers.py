"""Layers of Keras 2 as Keras 3's own: what their configurations and their weights become."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from ...errors import UnsupportedError

Arrays = list[np.ndarray]
Config = Mapping[str, Any]

# Keras 2's hard sigmoid is max(0, min(1, 0.2 * x + 0.5)), Keras 3's has x / 6 in place of 0.2 * x:
# it gives the same for x that is larger by this factor, and so for weights that are.
STEEPER = 1.2

SAME_ACTIVATIONS = frozenset(
    "linear relu elu selu softplus softsign tanh sigmoid softmax exponential".split()
)
# Layers whose configurations mean the same, by the names of both.
SAME = (
    "Dense Activation Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D Flatten Reshape"
    " Permute RepeatVector ActivityRegularization Masking Conv1D Conv2D Conv3D SeparableConv1D"
    " SeparableConv2D DepthwiseConv2D Conv2DTranspose Conv3DTranspose Cropping1D Cropping2D"
    " Cropping3D UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D"
    " MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D"
    " GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D GlobalAveragePooling1D"
    " GlobalAveragePooling2D GlobalAveragePooling3D SimpleRNN GRU LSTM ConvLSTM2D Embedding Add"
    " Subtract Multiply Average Maximum Minimum Concatenate Dot LeakyReLU PReLU ELU Softmax ReLU"
    " BatchNormalization GaussianNoise GaussianDropout AlphaDropout"
).split()
# By name in Keras 2, where it's called otherwise, and names of its arguments.
RENAMED = {"ThresholdedReLU": "ReLU", "Convolution1D": "Conv1D", "Convolution2D": "Conv2D"}
ARGUMENTS = {
    "LeakyReLU": {"alpha": "negative_slope"},
    "ThresholdedReLU": {"theta": "threshold"},
}
# What Keras 3 doesn't ask for, and what predictions don't depend on.
DROPPED = frozenset("batch_input_shape input_dtype input_length implementation".split())
# How many gates the last axis of weights holds, and those that the recurrent activation is for.
GATES = {"LSTM": (4, (0, 1, 3)), "ConvLSTM2D": (4, (0, 1, 3)), "GRU": (3, (0, 1))}
RECURRENT = (*GATES, "SimpleRNN", "Bidirectional")


class Converted(NamedTuple):
    """A layer of Keras 3.

    Attributes:
        layer: itself.
        weights: what its weights are, given those in Keras 2.
        layers: where it's a model, its layers in Keras 2's order.
    """

    layer: Any
    weights: Callable[[Arrays], Arrays]
    layers: list[Converted] | None = None


def unchanged(arrays: Arrays) -> Arrays:
    """The same weights."""
    return arrays


def refuse(kind: str, name: str, why: str) -> UnsupportedError:
    """That a layer can't be converted."""
    return UnsupportedError(
        f"convert: layer '{name}' ({kind}) {why}; kameleon.to_keras3(K.function(inputs, outputs))"
        " makes one layer of Keras 3 of the whole model, for programs that have Kameleon"
    )


def converted(kind: str, config: Config, inner: Callable[[Config], Converted]) -> Converted:
    """A layer of Keras 3 for one of Keras 2, but models.

    Args:
        kind: its class in Keras 2.
        config: its configuration.
        inner: makes what a wrapper wraps, which may be a model.

    Raises:
        UnsupportedError: Keras 3 has none that gives the same.
    """
    name = str(config.get("name", kind))
    if kind in ("TimeDistributed", "Bidirectional"):
        return _wrapper(kind, name, config, inner(config["layer"]))
    own = RENAMED.get(kind, kind)
    if own not in SAME:
        raise refuse(kind, name, "has no counterpart in Keras 3")
    if kind.startswith("UpSampling") and config.get("interpolation", "nearest") != "nearest":
        raise refuse(kind, name, "interpolates otherwise in Keras 3, at other places")
    _check_activations(kind, name, config)
    if kind == "Activation" and config["activation"] == "hard_sigmoid":
        steps = [keras.layers.Rescaling(STEEPER), keras.layers.Activation("hard_sigmoid")]
        return Converted(keras.Sequential(steps, name=_name(name)), unchanged)
    layer = _made(own, kind, name, config)
    return Converted(layer, _weights(kind, config))


def _made(own: str, kind: str, name: str, config: Config) -> Any:
    make = getattr(keras.layers, own)
    parameters = inspect.signature(make.__init__).parameters
    known = set(parameters) | ({"trainable", "dtype"} if "kwargs" in parameters else set())
    renamed = ARGUMENTS.get(kind, {})
    options: dict[str, Any] = {}
    for key, value in config.items():
        if key in DROPPED or key.endswith("_initializer") or key == "name":
            continue
        key = renamed.get(key, key)
        if key in known:
            options[key] = tuple(value) if isinstance(value, list) else value
        elif value not in (None, False) and key not in ("trainable", "dtype"):
            raise refuse(kind, name, f"has {key}={value!r}, which Keras 3 doesn't know")
    try:
        return make(**options, name=_name(name))
    except (ValueError, TypeError) as error:
        raise refuse(kind, name, f"isn't taken by Keras 3: {error}") from error


def _name(name: str) -> str:
    return name.replace("/", "_")


def _wrapper(kind: str, name: str, config: Config, inner: Converted) -> Converted:
    if kind == "TimeDistributed":
        return Converted(keras.layers.TimeDistributed(inner.layer, name=_name(name)), inner.weights)
    mode = config.get("merge_mode", "concat")
    layer = keras.layers.Bidirectional(inner.layer, merge_mode=mode, name=_name(name))

    def both(arrays: Arrays) -> Arrays:
        half = len(arrays) // 2
        return [*inner.weights(arrays[:half]), *inner.weights(arrays[half:])]

    return Converted(layer, both)


# Activations --------------------------------------------------------------------------------


def _check_activations(kind: str, name: str, config: Config) -> None:
    for key in ("activation", "recurrent_activation"):
        given = config.get(key, "linear")
        if given in SAME_ACTIVATIONS or given is None:
            continue
        if given != "hard_sigmoid":
            raise refuse(kind, name, f"has {key}={given!r}, which Keras 3 doesn't know")
        if key == "activation" and kind in GATES:
            raise refuse(kind, name, "has activation='hard_sigmoid', which is flatter in Keras 3")


def _weights(kind: str, config: Config) -> Callable[[Arrays], Arrays]:
    """What makes weights for Keras 3's hard sigmoid, where there's one."""
    if config.get("recurrent_activation") == "hard_sigmoid" and kind in GATES:
        return lambda arrays: [_steeper_gates(x, *GATES[kind]) for x in arrays]
    if config.get("activation") == "hard_sigmoid":
        kept = 1 if kind.startswith("Separable") else 0  # the first of two kernels in a row
        return lambda arrays: [*arrays[:kept], *(_steeper(x) for x in arrays[kept:])]
    return unchanged


def _steeper(x: np.ndarray) -> np.ndarray:
    return np.asarray(x * STEEPER, x.dtype)


def _steeper_gates(x: np.ndarray, count: int, gates: Sequence[int]) -> np.ndarray:
    parts = np.split(x, count, axis=-1)
    return np.concatenate([_steeper(p) if i in gates else p for i, p in enumerate(parts)], axis=-1)
