"""Gradients of functions, by TensorFlow's own rules."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from .graph import Graph
from .library import Body, Reading, body_of, function_named, pruned
from .walks import reached


def gradient_of(graph: Graph, message: Any) -> Body:
    """What a function and the slopes of its results give: the slopes of its arguments.

    Args:
        graph: whose library has the function.
        message: names it.
    """
    function = function_named(graph, message.name)
    if function.gradients:
        return body_of(graph, function.gradients[0], message.attr)
    key = ("gradient", *sorted((name, v.SerializeToString()) for name, v in message.attr.items()))
    if key not in function.bodies:
        function.bodies[key] = _differentiated(
            graph, Reading(graph, function.definition, message.attr)
        )
    body: Body = function.bodies[key]
    return body


def _differentiated(graph: Graph, read: Reading) -> Body:
    ops: Any = importlib.import_module("tensorflow_core.python.framework.ops")
    arrays: Any = importlib.import_module("tensorflow_core.python.ops.array_ops")
    for each in graph.functions.values():
        read.message.library.function.add().CopyFrom(each.definition)
    with ops.Graph().as_default() as made:
        importlib.import_module("tensorflow_core.python.framework.importer").import_graph_def(
            read.message, name=""
        )
        xs = [made.get_tensor_by_name(f"{name}:0") for name in read.arguments]
        ys = [made.get_tensor_by_name(f"{name}:{index}") for name, index in read.results]
        slopes = [arrays.placeholder(y.dtype, y.shape) for y in ys]
        left = {
            each.outputs[0]: arrays.placeholder(each.outputs[0].dtype, each.outputs[0].shape)
            for each in made.get_operations()
            if each.type == "Exit"
        }
        module: Any = importlib.import_module("tensorflow_core.python.ops.gradients_impl")
        _rewire(left)
        found = module.gradients(
            [left.get(y, y) for y in ys], xs, slopes, stop_gradients=_entering(made, xs)
        )
        _rewire({stand_in: value for value, stand_in in left.items()})
        found = [
            arrays.zeros_like(x) if slope is None else ops.convert_to_tensor(slope)
            for x, slope in zip(xs, found, strict=True)
        ]
    arguments = [tensor.op._c_op for tensor in (*xs, *slopes)]
    results = [(tensor.op._c_op, tensor.value_index) for tensor in found]
    return pruned(arguments[0].graph, arguments, results, [])


# Nothing goes back through a loop: what came out of it is constant, and so is what a loop takes,
# all but the arguments themselves, wherever else it's used.


def _rewire(places: Mapping[Any, Any]) -> None:
    """Let all that takes a tensor take another one."""
    for old, new in places.items():
        for taker in old.consumers():
            for place, taken in enumerate(taker.inputs):
                if taken is old:
                    taker._update_input(place, new)


def _entering(made: Any, arguments: Sequence[Any]) -> list[Any]:
    """What the values that enter loops are made of, but for the arguments."""
    enters = [each for each in made.get_operations() if each.type == "Enter"]
    before = reached(enters, lambda each: {value.op for value in each.inputs})
    given = {argument.op for argument in arguments}
    return [value for each in before - given for value in each.outputs]
