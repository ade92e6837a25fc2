"""Functions on tensors between layers (`x + 1`, `tf.reshape(x, …)`), which become layers.

Where a layer or a model is given a tensor that isn't a layer's output, but was computed from such
outputs, what lies between becomes a `TensorFlowOpLayer`, as with TensorFlow. What a program writes
between two layers is one layer here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from keras import backend as K
from keras.engine.base_layer import Layer

from ..._scopes import Scope
from ...backend._tensors import as_tensor
from ...errors import ArgumentError
from ...ir.leaves import input_node
from ...ir.node import Node, Update, Variable, walk
from ...ir.program import Graph
from ...ir.rewrite import closed, substitute
from ...ir.serial import graph_from_data, graph_to_data

_inside: ContextVar[bool] = ContextVar("kameleon_inside_of_a_layer", default=False)


class TensorFlowOpLayer(Layer):  # type: ignore[misc]
    """What a program computes between layers, as a layer.

    Args:
        graph: outputs as a function of the inputs.
        variables: those that are read; they're no weights of the layer.
    """

    def __init__(self, graph: Any, variables: Any = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.__dict__["operations"] = graph if isinstance(graph, Graph) else _graph_of(graph)
        self.__dict__["read"] = tuple(variables)
        self.uses_learning_phase = any(n.__dict__.get("is_phase") for n in self.read)
        self.trainable = False
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The operations on other inputs."""
        graph = self.__dict__["operations"]
        given = [*(inputs if isinstance(inputs, list) else [inputs]), *self.read]
        found = substitute(graph.outputs, dict(zip(graph.inputs, given, strict=True)))
        return found[0]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """By inference."""
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        inputs = self.__dict__["operations"].inputs
        given = [K.placeholder(s, dtype=n.dtype) for s, n in zip(shapes, inputs, strict=False)]
        return K.int_shape(self.call(given))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None: functions know no masks."""
        return None

    def get_config(self) -> dict[str, Any]:
        """The operations as data.

        Raises:
            ArgumentError: (a ValueError) they read a variable, which isn't a layer's weight.
        """
        others = [n for n in self.read if not n.__dict__.get("is_phase")]
        if others:
            raise ArgumentError(
                f"{self.name} reads {', '.join(n.name for n in others)}, which belongs to no layer:"
                " a model with it can't be saved. Write a layer of your own, or a Lambda, that"
                " makes these variables or random numbers"
            )
        arrays: dict[str, np.ndarray] = {}
        data = graph_to_data(self.__dict__["operations"], arrays)
        kept = {name: _encoded(array) for name, array in arrays.items()}
        config = {"graph": {"data": data, "arrays": kept, "phases": len(self.read)}}
        return {**super().get_config(), **config}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The layer of a configuration."""
        if "node_def" in config:
            raise ArgumentError(
                "this model holds a TensorFlowOpLayer that TensorFlow wrote, as a node of its own"
                " graph: build the model by its program, and take its weights: load_weights(path)"
            )
        phases = [K.learning_phase()] * config["graph"]["phases"]
        return cls(variables=phases, **config)


def _encoded(array: np.ndarray) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def _graph_of(config: dict[str, Any]) -> Graph:
    arrays = {
        name: np.frombuffer(base64.b64decode(a["data"]), a["dtype"]).reshape(a["shape"])
        for name, a in config["arrays"].items()
    }
    return graph_from_data(config["data"], arrays)


def with_history(x: Any) -> Any:
    """A tensor that a model can be built of: the output of a layer, if it depends on one."""
    if not isinstance(x, Node) or "_keras_history" in x.__dict__ or isinstance(x, Update):
        return x
    nodes = walk([x], stop=_KNOWN)
    inputs = [n for n in nodes if "_keras_history" in n.__dict__]
    if not inputs:
        return x
    if isinstance(x, Variable):
        return x
    read = [n for n in nodes if _is_read(n)]
    graph = closed([*inputs, *read], [x])
    layer = TensorFlowOpLayer(_opened(graph, [*inputs, *read]), read, name=_name_of(x))
    with Scope(_inside, lambda _: True):
        return layer(inputs if len(inputs) > 1 else inputs[0])


def _is_read(n: Node) -> bool:
    """Whether a node is a leaf that a layer's operations can't hold by themselves."""
    return "_keras_history" not in n.__dict__ and (
        isinstance(n, Variable) or n.primitive.name in ("input", "random_source")
    )


class _Known(frozenset[Node]):
    """The tensors that are outputs of layers."""

    def __contains__(self, n: Any) -> bool:
        return "_keras_history" in n.__dict__


_KNOWN = _Known()


def _opened(graph: Graph, inputs: list[Node]) -> Graph:
    """The graph, with inputs of its own."""
    own = [input_node(n.type) for n in graph.inputs]
    outputs = substitute(graph.outputs, dict(zip(graph.inputs, own, strict=True)))
    return Graph(own, outputs)


def _name_of(x: Node) -> str:
    kind = f"tf_op_layer_{x.primitive.title}"
    count = K.get_uid(kind)
    return kind if count == 1 else f"{kind}_{count - 1}"


# --- calls of layers ------------------------------------------------------------------------------


@contextmanager
def calling(layer: Any, inputs: Any) -> Iterator[Any]:
    """A block in which a layer is called; gives the inputs as Keras takes them."""
    if isinstance(inputs, tuple):
        inputs = list(inputs)
    inputs = _tensors(inputs)
    if not _inside.get():
        inputs = [with_history(x) for x in inputs] if isinstance(inputs, list) else inputs
        inputs = with_history(inputs)
    with Scope(_inside, lambda _: True):
        yield inputs


def _tensors(inputs: Any) -> Any:
    """Arrays and numbers as tensors."""
    if isinstance(inputs, list):
        if inputs and not any(isinstance(x, (Node, np.ndarray, list)) for x in inputs):
            return as_tensor(np.asarray(inputs), "a layer")
        return [_tensors(x) if isinstance(x, np.ndarray) else x for x in inputs]
    if isinstance(inputs, (np.ndarray, np.generic, int, float)):
        array = np.asarray(inputs)
        kind = K.floatx() if array.dtype == np.float64 else array.dtype.name
        return K.constant(array, dtype=kind)
    return inputs
