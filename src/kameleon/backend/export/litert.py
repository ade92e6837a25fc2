"""LiteRT: a function as a file that TensorFlow's small interpreter runs on phones and boards."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.lite.tools import flatbuffer_utils

from ..._utils import files
from ...engines._profiles import marked
from ...errors import UnsupportedError
from ...graph.ir.program import Graph, all_nodes
from ...runtime.compiler import prepared
from ..interop.pure import KEY, Stateless
from ..interop.tensorflow_module import specs_of, unique_names
from .litert_rules import LiteEngine, LiteTracing
from .refusals import refusal
from .savedmodel import output_names, refuse_calls

RELOAD = '''
import json, warnings

import numpy as np
import tensorflow as tf
from tensorflow.lite.tools import flatbuffer_utils


def load(path):
    """A callable: arrays for the inputs in order -> outputs, then new values."""
    warnings.simplefilter("ignore")  # the interpreter says that it has a new name
    notes = json.loads(flatbuffer_utils.read_model(path).description)
    runner = tf.lite.Interpreter(model_path=path)
    keys = [np.array(key, np.uint32) for key in notes["keys"]]

    def call(arrays):
        given = list(zip(runner.get_input_details(), [*arrays, *keys]))
        for detail, array in given:
            runner.resize_tensor_input(detail["index"], array.shape)
        runner.allocate_tensors()
        for detail, array in given:
            runner.set_tensor(detail["index"], array)
        runner.invoke()
        return [runner.get_tensor(x["index"]).copy() for x in runner.get_output_details()]

    return call
'''


def write(program: Stateless, path: str, select_tf_ops: bool = False) -> None:
    """Write a function as a LiteRT file (`.tflite`), of the format's built-in operations.

    Inputs and outputs are in the function's order, and by name in the signature `serving_default`;
    unknown sizes stay open: `resize_tensor_input` says what they are. Variables are constants of
    the file. New values of variables are further outputs, `<name>_new`, which the file doesn't
    keep. A random stream is a further input, `random_key` (2,) of uint32, whose present value is in
    the file's description. Checks, and what is printed, are left out. Some of LiteRT's kernels
    take infinity for the largest number, and its interpreter takes no empty inputs.

    Args:
        program: what to write.
        path: of the file; one that exists is replaced.
        select_tf_ops: take operations of TensorFlow where LiteRT has none of its own; whoever runs
            the file needs LiteRT's Flex delegate then.

    Raises:
        UnsupportedError: LiteRT lacks an operation, or has it for other dtypes; names the line.
    """
    graph = program.pure().graph
    refuse_calls(graph, "LiteRT")
    graph = prepared(graph, LiteEngine())
    inputs, outputs = _names(program)
    held = [tf.constant(x) for x in program.values]
    first = len(program.inputs)

    def traced(*given: Any) -> dict[str, Any]:
        values = [*given[:first], *held, *given[first:]]
        found = map(tf.convert_to_tensor, LiteTracing(graph, values).run())
        return dict(zip(outputs, map(tf.identity, found), strict=True))

    types = [*specs_of(program), *(tf.TensorSpec((2,), tf.uint32) for _ in program.sources)]
    pairs = zip(types, inputs, strict=True)
    specs = [tf.TensorSpec(x.shape, x.dtype, name) for x, name in pairs]
    holder = tf.Module()
    holder.function = tf.function(traced, input_signature=specs, autograph=False)
    made = marked(tf.name_scope, holder.function.get_concrete_function)
    data = _converted(made, holder, graph, select_tf_ops)
    keys_now = [key.tolist() for key in program.keys]
    files.replace(path, _in_order(data, inputs, outputs, json.dumps({"keys": keys_now})))


def _names(program: Stateless) -> tuple[list[str], list[str]]:
    inputs = [*(x.name for x in specs_of(program)), *(KEY for _ in program.sources)]
    new = [f"{program.names[i]}_new" for i in program.updated]
    plain = [re.sub(r"\W", "_", name) for name in (*inputs, *output_names(program), *new)]
    names = unique_names(plain)
    return names[: len(inputs)], names[len(inputs) :]


def _converted(function: Any, holder: Any, graph: Graph, select_tf_ops: bool) -> bytes:
    """
    Raises:
        UnsupportedError: the converter fails.
    """
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], holder)
    builtins, select = tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS
    converter.target_spec.supported_ops = [builtins, select] if select_tf_ops else [builtins]
    try:
        data: bytes = converter.convert()
    except Exception as error:
        raise UnsupportedError(_refusal(str(error), function, graph)) from error
    return data


# How the converter's messages name operations.
_OPERATION = re.compile(r"'?\btfl?\.(\w+)")
_MARK = re.compile(r"\bnode(\d+)\b")


def _refusal(said: str, function: Any, graph: Graph) -> str:
    """What can't be converted, and the user's line, as far as the converter tells."""
    kinds = set(_OPERATION.findall(said))
    nodes = {x.serial: x for x in all_nodes(graph)}
    operations = function.graph.as_graph_def()
    found = [
        nodes[int(marks[-1])]
        for x in (*operations.node, *(y for f in operations.library.function for y in f.node_def))
        if x.op in kinds and (marks := _MARK.findall(x.name)) and int(marks[-1]) in nodes
    ]
    first = said.strip().splitlines()[0]
    remedy = (
        "select_tf_ops=True writes it with operations of TensorFlow; ONNX and SavedModel hold more"
        " as well"
    )
    if not found:
        return (
            f"export: LiteRT can't hold this: its converter fails\n  it says: {first}\n  {remedy}"
        )
    dtypes = " and ".join(dict.fromkeys(str(x.dtype) for x in found[0].operands))
    why = f"it has no such operation for {dtypes}"
    return refusal("LiteRT", found[0], why, f"its converter says: {first}\n  {remedy}")


def _in_order(data: bytes, inputs: Sequence[str], outputs: Sequence[str], notes: str) -> bytes:
    """The file with inputs and outputs in the program's order; the converter sorts them."""
    model = flatbuffer_utils.read_model_from_bytearray(bytearray(data))
    model.description = notes.encode()
    signature, main = model.signatureDefs[0], model.subgraphs[model.signatureDefs[0].subgraphIndex]
    for names, tensors, attribute in (
        (inputs, signature.inputs, "inputs"),
        (outputs, signature.outputs, "outputs"),
    ):
        places = {x.name.decode(): x.tensorIndex for x in tensors}
        setattr(main, attribute, [places[name] for name in names])
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))
