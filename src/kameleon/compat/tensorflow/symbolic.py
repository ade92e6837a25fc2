"""Gradients of functions, by TensorFlow's own rules."""

from __future__ import annotations

import importlib
from typing import Any

from .failures import failure
from .graph import Graph
from .library import Body, Reading, body_of, function_named, pruned


def gradient_of(graph: Graph, told: Any) -> Body:
    """What a function and the slopes of its results give: the slopes of its arguments.

    Args:
        graph: whose library has the function.
        told: the message that names it.
    """
    function = function_named(graph, told.name)
    if function.gradients:
        return body_of(graph, function.gradients[0], told.attr)
    key = ("gradient", *sorted((name, v.SerializeToString()) for name, v in told.attr.items()))
    if key not in function.bodies:
        function.bodies[key] = _differentiated(
            graph, Reading(graph, function.definition, told.attr)
        )
    body: Body = function.bodies[key]
    return body


def _differentiated(graph: Graph, read: Reading) -> Body:
    if any(node.op == "Enter" for node in read.message.node):
        message = "the gradient of a function with a loop: call the function's body without Defun"
        raise failure("UNIMPLEMENTED", message)
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
        module: Any = importlib.import_module("tensorflow_core.python.ops.gradients_impl")
        found = module.gradients(ys, xs, slopes)
        found = [
            arrays.zeros_like(x) if slope is None else ops.convert_to_tensor(slope)
            for x, slope in zip(xs, found, strict=True)
        ]
    arguments = [tensor.op._c_op for tensor in (*xs, *slopes)]
    results = [(tensor.op._c_op, tensor.value_index) for tensor in found]
    return pruned(arguments[0].graph, arguments, results, [])
