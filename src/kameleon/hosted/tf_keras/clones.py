"""`tf.keras.models.clone_model`: a model of the same layers, or of others in their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras.layers as theirs
from keras import backend as K
from keras.utils.generic_utils import to_list

from ...errors import ArgumentError
from . import places
from .files import known
from .models import Model, Sequential


def again(layer: Any) -> Any:
    """A layer like another, with weights of its own."""
    return type(layer).from_config(layer.get_config())


def clone_model(
    model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None
) -> Any:
    """A model of the same layers with weights of its own.

    Args:
        model: of layers.
        input_tensors: what the new model begins with; inputs like the model's by default.
        clone_function: gives, for each layer but inputs, the one that takes its place; by default a
            layer like it.

    Raises:
        ArgumentError: (a ValueError) the model's `call` is written by a subclass.
    """
    with known(None):
        if isinstance(model, theirs.Layer) and type(model).__name__ == "Sequential":
            return _sequence(model, input_tensors, clone_function or again)
        if not getattr(model, "_is_graph_network", False):
            raise ArgumentError(
                f"clone_model: {model} isn't a model of layers; make another object of its class"
            )
        return _network(model, input_tensors, clone_function or again)


def _sequence(model: Any, input_tensors: Any, clone_function: Callable[[Any], Any]) -> Any:
    layers = [clone_function(layer) for layer in model.layers]
    if input_tensors is not None:
        layers.insert(0, _input(*to_list(input_tensors, allow_tuple=True)))
    made = Sequential(layers, name=model.name)
    if model.inputs and not made.inputs:
        made.build(K.int_shape(model.inputs[0]))
    return made


def _input(x: Any, like: Any = None) -> Any:
    """A model's input: a tensor that is one already, or one that is a given tensor."""
    if places.is_output(x):
        return x
    return theirs.Input(tensor=x, name=like and f"input_wrapper_for_{like.name.split(':')[0]}")


def _network(model: Any, input_tensors: Any, clone_function: Callable[[Any], Any]) -> Any:
    if input_tensors is None:
        inputs = [
            theirs.Input(batch_shape=K.int_shape(x), dtype=K.dtype(x), sparse=K.is_sparse(x),
                         name=places.layer_of_tensor(x).name)
            for x in model.inputs
        ]  # fmt: skip
    else:
        pairs = zip(to_list(input_tensors, allow_tuple=True), model.inputs, strict=True)
        inputs = [_input(x, like) for x, like in pairs]
    found = dict(zip(model.inputs, inputs, strict=True))
    clones: dict[Any, Any] = {}
    for depth in sorted(model._nodes_by_depth, reverse=True):
        for node in model._nodes_by_depth[depth]:
            layer = places.layer_of(node)
            if not node.input_tensors or isinstance(layer, theirs.InputLayer):
                continue
            if layer not in clones:
                clones[layer] = clone_function(layer)
            given, more = places.call_of(node, [found[x] for x in node.input_tensors])
            outputs = clones[layer](given, **more)
            flat = list(outputs.values()) if isinstance(outputs, dict) else to_list(outputs)
            found.update(zip(node.output_tensors, flat, strict=True))
    return Model(inputs, [found[x] for x in model.outputs], name=model.name)


NAMES: dict[str, Any] = {"models.clone_model": clone_model}
