"""Models of Keras 2 as models of Keras 3, of its own layers: files of these need no Kameleon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from ..._utils.tracebacks import boundary
from ...errors import ArgumentError
from .keras3_layers import RECURRENT, Config, Converted, converted, refuse, unchanged

MODELS = ("Sequential", "Model", "Functional")
Weights = Sequence[np.ndarray] | Mapping[str, Sequence[np.ndarray]]


@boundary
def convert_model(config: Config, weights: Weights) -> Any:
    """A model of Keras 2 as a model of Keras 3, of layers of Keras 3's own, that predicts the same.

    Args:
        config: what `json.loads(model.to_json())` gives in Keras 2: a dict with "class_name" and
            "config".
        weights: what `model.get_weights()` gives there: a list of arrays; or such a list for each
            layer, by its name.

    Returns:
        A `keras.Model` (or `keras.Sequential`). Its `save("….keras")` is loaded by Keras 3 alone,
        on any of its backends. It isn't compiled. Names, regularizers and constraints are kept,
        initializers aren't. Weights before a hard sigmoid are 1.2 times those of Keras 2, whose
        hard sigmoid is steeper by that.

    Raises:
        ArgumentError: it's no configuration of a model, or other weights than it has.
        UnsupportedError: Keras 3 has no layer that gives the same; names the layer.

    >>> import numpy as np
    >>> dense = {"name": "d", "units": 1, "activation": "hard_sigmoid", "use_bias": False}
    >>> layers = [{"class_name": "Dense", "config": {**dense, "batch_input_shape": [None, 2]}}]
    >>> config = {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}
    >>> model = convert_model(config, [np.ones((2, 1), "float32")])
    >>> np.round(model.predict(np.ones((1, 2)), verbose=0), 4)
    array([[0.9]], dtype=float32)
    """
    if not isinstance(config, Mapping) or config.get("class_name") not in MODELS:
        raise ArgumentError(
            f"convert: {config!r:.80} is no configuration of a model: json.loads(model.to_json())"
        )
    found = _model(config["class_name"], config["config"])
    _set(found, weights)
    return found.layer


def layer_of(described: Config) -> Converted:
    """A layer, or a model that is one."""
    kind, config = described["class_name"], described["config"]
    return _model(kind, config) if kind in MODELS else converted(kind, config, layer_of)


def _model(kind: str, config: Any) -> Converted:
    made = _sequential(config) if kind == "Sequential" else _Functional(config).made()
    return Converted(made[0], unchanged, made[1])


def _sequential(config: Any) -> tuple[Any, list[Converted]]:
    described = config if isinstance(config, list) else config["layers"]
    name = "sequential" if isinstance(config, list) else config.get("name")
    found = [(x, layer_of(x)) for x in described if x["class_name"] != "InputLayer"]
    first = described[0]["config"]
    first = first["layers"][0]["config"] if "layers" in first else first
    shape = first.get("batch_input_shape")
    if shape is None:
        raise ArgumentError(
            f"convert: model '{name}' doesn't say what its input is: build it before, or give its"
            " first layer an input_shape"
        )
    dtype = first.get("dtype") or "float32"
    if described[0]["class_name"] == "Embedding":
        dtype = "int32" if dtype == "float32" else dtype
    start = keras.Input(batch_shape=tuple(shape), dtype=dtype)
    layers = [made for _, made in found]
    return keras.Sequential([start, *(x.layer for x in layers)], name=name), layers


class _Functional:
    """A graph of layers, called anew."""

    def __init__(self, config: Config):
        self.config = config
        self.layers: dict[str, Converted] = {}
        # By name of a layer and number of its call, its outputs.
        self.outputs: dict[tuple[str, int], list[Any]] = {}

    def made(self) -> tuple[Any, list[Converted]]:
        """The model and its layers."""
        pending: list[tuple[Config, int, Any]] = []
        for described in self.config["layers"]:
            name = described.get("name") or described["config"]["name"]
            if described["class_name"] == "InputLayer":
                self.outputs[name, 0] = [_input(described["config"])]
                continue
            self.layers[name] = layer_of(described)
            first = 1 if described["class_name"] in MODELS else 0
            calls = enumerate(described["inbound_nodes"], first)
            pending += [(described, number, node) for number, node in calls]
        while pending:
            late = [call for call in pending if not self._called(*call)]
            if len(late) == len(pending):
                raise ArgumentError("convert: layers of the model wait for each other")
            pending = late
        ends = [self._ends(self.config[key]) for key in ("input_layers", "output_layers")]
        inputs, outputs = (x[0] if len(x) == 1 else x for x in ends)
        model = keras.Model(inputs, outputs, name=self.config.get("name"))
        return model, list(self.layers.values())

    def _ends(self, places: Any) -> list[Any]:
        places = [places] if places and isinstance(places[0], str) else places
        return [self.outputs[name, node][tensor] for name, node, tensor, *_ in places]

    def _called(self, described: Config, number: int, node: Sequence[Any]) -> bool:
        """Call a layer, if all that it's called with is there."""
        if not all((name, at) in self.outputs for name, at, *_ in node):
            return False
        kind, name = described["class_name"], described.get("name") or described["config"]["name"]
        given = [self.outputs[name, at][tensor] for name, at, tensor, *_ in node]
        options = {k: v for part in node for k, v in (part[3] if len(part) > 3 else {}).items()}
        if options.keys() - {"training"}:
            raise refuse(kind, name, f"is called with {', '.join(options)}")
        layer = self.layers[name].layer
        if len(given) > 1 and kind in RECURRENT:
            # Keras 3 hands masks on by itself only to layers that are called with one tensor.
            mask = getattr(given[0], "_keras_mask", None)
            found = layer(given[0], initial_state=given[1:], mask=mask, **options)
        else:
            found = layer(given[0] if len(given) == 1 else given, **options)
        self.outputs[name, number] = list(found) if isinstance(found, list | tuple) else [found]
        return True


def _input(config: Config) -> Any:
    if config.get("sparse"):
        raise refuse("InputLayer", config["name"], "is sparse")
    name = config["name"].replace("/", "_")
    return keras.Input(
        batch_shape=tuple(config["batch_input_shape"]), dtype=config.get("dtype"), name=name
    )


# Weights ------------------------------------------------------------------------------------


def _set(model: Converted, weights: Weights) -> None:
    """Give a model's layers their weights.

    Raises:
        ArgumentError: there's another number of them, or one of another shape.
    """
    order = [w for part in model.layers or () for w in _in_order(part)]
    if isinstance(weights, Mapping):
        flat = [x for part in model.layers or () for x in weights.get(part.layer.name, ())]
    else:
        flat = list(weights)
    if len(flat) != len(order):
        raise ArgumentError(
            f"convert: {len(flat)} weights are given, the model has {len(order)}:"
            f" {', '.join(w.path for w in order[:5])} …"
        )
    given = {id(w): np.asarray(x) for w, x in zip(order, flat, strict=True)}
    for part in _leaves(model):
        own = part.layer.weights
        for variable, array in zip(own, part.weights([given[id(w)] for w in own]), strict=True):
            if tuple(variable.shape) != array.shape:
                raise ArgumentError(
                    f"convert: '{variable.path}' has shape {tuple(variable.shape)} in Keras 3, the"
                    f" weight given for it {array.shape}"
                )
            variable.assign(array)


def _in_order(part: Converted) -> list[Any]:
    """A layer's weights in Keras 2's order: of a model those that are trained come first."""
    if part.layers is None:
        return list(part.layer.weights)
    inner = [w for x in part.layers for w in _in_order(x)]
    trained = {id(w) for x in _leaves(part) for w in x.layer.trainable_weights}
    return sorted(inner, key=lambda w: id(w) not in trained)


def _leaves(part: Converted) -> Iterator[Converted]:
    if part.layers is None:
        yield part
    for x in part.layers or ():
        yield from _leaves(x)
