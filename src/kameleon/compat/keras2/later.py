"""Models that Keras 2.4 and later, and TensorFlow's own Keras, have written, as 2.3.1 reads them.

Their configurations say the same in other words: classes have new names, objects tell their modules
beside their names, layers have options that are off. What 2.3.1 can't do is an error that names it.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import warnings
from collections.abc import Container, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from ..._utils.around import Function, around

# By name of a class: what 2.3.1 calls it, and what its configuration says beside.
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "Functional": ("Model", {}),
    "L1": ("L1L2", {}),
    "L2": ("L1L2", {}),
    "IdentityInitializer": ("Identity", {}),
    **{
        f"{name}{kind}": (
            "VarianceScaling",
            {"scale": scale, "mode": mode, "distribution": kind.lower()},
        )
        for name, scale, mode in (
            ("Glorot", 1.0, "fan_avg"),
            ("He", 2.0, "fan_in"),
            ("Lecun", 1.0, "fan_in"),
        )
        for kind in ("Normal", "Uniform")
    },
}
# Of an object, beside its class and its configuration.
BESIDE = frozenset(("module", "registered_name", "build_config", "compile_config"))
# What of a model's configuration says which tensors are its ends.
ENDS = frozenset(("input_layers", "output_layers"))
# Options that 2.3.1 hasn't, and what it does; options that are None or False are off.
OWN_WAY: dict[str, Any] = {"groups": 1}
# What layers take by keywords of the base class.
OF_ALL = frozenset("name dtype trainable weights input_shape batch_input_shape batch_size".split())


# The version that wrote the file that is being read.
_version = ContextVar("keras_version", default="2.3.1")


def _is_later(version: Any) -> bool:
    """Whether a version writes other words; TensorFlow's own Keras did so before (`2.2.4-tf`)."""
    number = tuple(map(int, re.findall(r"\d+", str(version))[:2]))
    if number >= (3,):
        raise ValueError(
            f"Keras {version} has written this model; those of Keras 3 are of another kind, which"
            " Keras 2 can't read: build the model by its program, and set its weights"
        )
    return str(version).endswith("-tf") or number > (2, 3)


@around
def deserialize(
    theirs: Function, config: Any, custom_objects: Mapping[str, Any] | None = None
) -> Any:
    """What makes models and layers; it takes the words of later versions."""
    if isinstance(config, Mapping) and _is_later(config.get("keras_version", _version.get())):
        utils = sys.modules["keras.utils.generic_utils"]
        own = {*(custom_objects or ()), *utils.get_custom_objects()}
        config = translated(config, vars(sys.modules["keras.layers"]), own)
    return theirs(config, custom_objects)


@around
def uncompiled(
    theirs: Function, h5dict: Any, custom_objects: Any = None, compile: bool = True
) -> Any:
    """What reads a model's file; of one by later versions without how it was compiled, which 2.3.1
    can't take over.
    """
    version = h5dict["keras_version"].decode() if "keras_version" in h5dict else "1"
    if compile and "training_config" in h5dict and _has_name(h5dict["training_config"]):
        warnings.warn(
            f"Keras {version} has written this file: its optimizer, losses and metrics aren't"
            " taken over. Compile the model: model.compile(…)",
            stacklevel=7,
        )
        compile = False
    reset = _version.set(version)
    try:
        return theirs(h5dict, custom_objects, compile)
    finally:
        _version.reset(reset)


def _has_name(training: bytes) -> bool:
    """Whether an optimizer has a name: then it's of a later version, with other options, too."""
    optimizer = json.loads(training).get("optimizer_config") or {}
    return "name" in (optimizer.get("config") or {})


def translated(config: Any, layers: Mapping[str, Any], own: Container[str] = ()) -> Any:
    """A configuration in the words of 2.3.1; one of its own stays as it is.

    Args:
        config: of an object, or a part of it.
        layers: Keras's layers, by name.
        own: the names of the program's own classes, whose configurations stay.

    Raises:
        ValueError: 2.3.1 can't do it.

    >>> translated({"class_name": "HeNormal", "config": {"seed": 1}, "module": "keras"}, {})
    {'class_name': 'VarianceScaling', 'config': {'seed': 1, 'scale': 2.0, 'mode': 'fan_in', \
'distribution': 'normal'}}
    """
    if isinstance(config, list):
        return [translated(x, layers, own) for x in config]
    if not isinstance(config, Mapping):
        return config
    if not isinstance(config.get("class_name"), str):
        return {name: translated(x, layers, own) for name, x in config.items()}
    name = config["class_name"].rpartition(">")[2]  # of a package's classes, `package>name`
    if name in own:
        return {**config, "class_name": name}
    known, beside = CLASSES.get(name, (name, {}))
    found = {key: translated(x, layers, own) for key, x in config.items() if key not in BESIDE}
    found["class_name"] = known
    if isinstance(found.get("config"), dict):
        found["config"].update(beside)
        if found["config"].get("distribution") == "truncated_normal":
            found["config"]["distribution"] = "normal"  # which it is to 2.3.1
        if "layers" in found["config"]:
            _tell_shape(found["config"]["layers"])
            for ends in ENDS & found["config"].keys():
                found["config"][ends] = _in_a_row(found["config"][ends])
        elif isinstance(layers.get(known), type):
            found["config"] = _options(layers[known], found["config"])
    return found


def _in_a_row(ends: Any) -> Any:
    """The tensors of a model, if they have names: in the order in which `tf.keras` has them."""
    return [ends[name] for name in sorted(ends)] if isinstance(ends, Mapping) else ends


def _tell_shape(layers: Sequence[Any]) -> None:
    """Tell the layer behind an `InputLayer` its shape, too: `Sequential` of 2.3.1 leaves the first
    one out of the files that it writes.
    """
    shape = "batch_input_shape"
    if len(layers) < 2 or layers[1].get("inbound_nodes"):
        return
    first, second = (layer.get("config") or {} for layer in layers[:2])
    if shape in first and "layers" not in second:
        second.setdefault(shape, first[shape])


def _options(layer: type, config: Mapping[str, Any]) -> dict[str, Any]:
    """What a layer of 2.3.1 takes of a configuration."""
    found = dict(config)
    dtype = found.get("dtype")
    if isinstance(dtype, Mapping):  # a policy
        found["dtype"] = dtype["config"]["name"]
    if str(found.get("dtype", "")).startswith("mixed_"):
        raise ValueError(f"{_called(layer, found)} has dtype={found['dtype']!r}, {UNKNOWN}")
    if layer.__name__ == "BatchNormalization" and isinstance(found.get("axis"), list):
        (found["axis"],) = found["axis"]
    for name in sorted(found.keys() - _taken(layer)):
        value = found.pop(name)
        if value is not None and value is not False and value != OWN_WAY.get(name):
            raise ValueError(f"{_called(layer, found)} has {name}={value!r}, {UNKNOWN}")
    if layer.__name__ == "UpSampling2D" and found.get("interpolation") == "bilinear":
        raise ValueError(f"{_called(layer, found)} has interpolation='bilinear', {OTHERWISE}")
    return found


UNKNOWN = "which Keras 2.3.1 can't do"
OTHERWISE = "for which Keras 2.3.1 takes other points of the image than later ones"


def _called(layer: type, config: Mapping[str, Any]) -> str:
    return f"the layer {config.get('name')!r} ({layer.__name__})"


def _taken(layer: type) -> set[str]:
    """The names that a configuration of a layer may have: all, where it takes it as it is."""
    found = set(OF_ALL)
    for base in layer.__mro__:
        if "__init__" in vars(base):
            found.update(inspect.signature(base.__init__).parameters)  # type: ignore[misc]
    return found
