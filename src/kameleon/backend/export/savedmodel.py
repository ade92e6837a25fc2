"""SavedModel: a function as a folder that TensorFlow loads, serves and trains by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...errors import UnsupportedError
from ...graph.ir.program import Graph, all_nodes
from ..interop.pure import Stateless
from ..interop.tensorflow_module import Module, is_called_back, specs_of, unique_names
from .refusals import refusal

RELOAD = '''
import tensorflow as tf


def load(path):
    """A callable: arrays for the inputs in order -> outputs, then new values."""
    model = tf.saved_model.load(path)

    def call(arrays):
        outputs = model.step(*map(tf.constant, arrays))
        return [x.numpy() for x in (*outputs, *model.updated)]

    return call
'''


def write(program: Stateless, path: str) -> None:
    """Write a function as a SavedModel.

    Its signatures take inputs by their names (of any unknown size) and give outputs by their names,
    or `output_0` and so on. `serving_default` computes outputs alone, in the inference phase where
    the learning phase is an input, and is what TensorFlow Serving runs. Where the function has
    updates, `train` assigns them, too, in the training phase. Variables keep their names and are
    trained on by whoever loads the folder; random streams are variables that each call moves on.
    Besides, the loaded object has `step(*inputs)`, which is the function as it stands, with the
    learning phase among the inputs, `weights` by name, and `updated`, the variables that it
    assigns. K's own gradients, of first order, go through all of these.

    Args:
        program: what to write.
        path: of the folder; what's there is replaced.

    Raises:
        UnsupportedError: a function of Python's, or the decoding of labels, is in the graph: the
            folder can't hold these. Names the line.
    """
    refuse_calls(program.pure().graph, "SavedModel")
    module = Module(program)
    saved = tf.Module()
    traces = module._traces
    saved.weights, saved.random_keys = module.weights, module.random_keys
    saved.updated = [traces.variables[i] for i in program.updated]
    saved.step = traces.mode(None)
    at = program.phase
    phases = (None, None) if at is None else (False, True)
    signatures = {"serving_default": _signature(module, phases[0], False)}
    if program.updated:
        signatures["train"] = _signature(module, phases[1], True)
    tf.saved_model.save(saved, path, signatures)


def _signature(module: Module, phase: bool | None, assigns: bool) -> Any:
    """A tf.function of named inputs that gives a dict of outputs."""
    traces = module._traces
    program = traces.program
    names = output_names(program)
    at = None if phase is None else program.phase

    def traced(*inputs: Any) -> dict[str, Any]:
        values = list(inputs)
        if at is not None:
            node = program.inputs[at]
            values.insert(at, tf.constant(int(bool(phase)), str(node.dtype)))
        outputs, assign = traces.computed(phase, values)
        assign(assigns)
        return dict(zip(names, outputs, strict=True))

    specs = [x for i, x in enumerate(specs_of(program)) if i != at]
    function: Callable[..., Any] = tf.function(traced, input_signature=specs, autograph=False)
    return function


def output_names(program: Stateless) -> list[str]:
    """For each output the keys of the dicts that it stands in; else its own name, if the user gave
    it one; else a number."""
    tensors = program.function.outputs
    paths = program.paths
    own = [x._name and x.name[:-2] for x in tensors]
    pairs = zip(paths, own, strict=True)
    return unique_names([path or name or f"output_{i}" for i, (path, name) in enumerate(pairs)])


def refuse_calls(graph: Graph, title: str) -> None:
    """Refuse what is computed by functions of Python's.

    Raises:
        UnsupportedError: names the node and its line.
    """
    for node in filter(is_called_back, all_nodes(graph)):
        python = node.primitive.host_callback
        why = "a function of Python's" if python else "computed by a kernel of Kameleon's"
        raise UnsupportedError(refusal(title, node, f"it's {why}"))
