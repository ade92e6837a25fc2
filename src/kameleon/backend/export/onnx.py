"""ONNX: a function as a model, which ONNX Runtime and many other libraries run."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, version_converter

from ..._utils.files import replace
from ...engines.onnxruntime.model import LATER, OPSET, Writer, declared, operators, typed
from ...errors import FOREIGN, ArgumentError, EngineError, UnsupportedError
from ...graph.analysis.agreement import agreed_sizes
from ...graph.ir.node import Node
from ...graph.ir.program import Graph, all_nodes, depth
from ...graph.primitives.elementwise import add, constant
from ...runtime.compiler import prepared
from ...runtime.container import packed
from ..interop.pure import Stateless
from .onnx_arrays import attach, merged
from .onnx_names import Names, names_of, rename
from .onnx_rules import ModelEngine, PortableEngine
from .refusals import refusal

NEWER = max(LATER.values())  # the version whose operators the portable table does without
OLDEST = 13  # of older versions some operators mean something else by the same words
NEWEST = max(row[2] for row in helper.VERSION_TABLE)  # of the installed onnx; defs has drafts, too
OLDEST_IR = 4  # older ones want each initializer among the inputs
INPUTS, UPDATES = "kameleon.inputs", "kameleon.updates"  # what the model tells of itself

STATE = ".safetensors"  # behind the model's name: the file of what inputs begin with

RELOAD = '''
import json
import os

import numpy as np
import onnxruntime


def begin(path):
    """What inputs without defaults begin with, by name; nothing, if they have defaults."""
    if not os.path.exists(path):
        return {}
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + int.from_bytes(data[:8], "little")
    entries = json.loads(data[8:start])
    entries.pop("__metadata__")
    found = {}
    for name, array in entries.items():
        kind = array["dtype"]
        dtype = "?" if kind == "BOOL" else f"{kind[0].lower()}{int(kind[1:]) // 8}"
        first, last = (start + at for at in array["data_offsets"])
        found[name] = np.frombuffer(data[first:last], dtype).reshape(array["shape"])
    return found


def load(path):
    """A callable: arrays for the inputs in order -> outputs, then new values."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = json.loads(session.get_modelmeta().custom_metadata_map["kameleon.inputs"])
    state = begin(path + ".safetensors")
    return lambda arrays: session.run(None, {**state, **dict(zip(names, arrays))})
'''


def write(
    program: Stateless,
    path: str,
    opset: int | None = None,
    ir_version: int | None = None,
    defaults: bool = True,
) -> None:
    """Write a function as an ONNX model.

    Inputs and outputs are typed, with the program's own names; sizes that aren't known have names,
    too. Variables are initializers. Those that the function updates, the keys of random streams and
    the learning phase are inputs with their present values as defaults: whoever feeds `w_new` back
    as `w` goes on training.

    Args:
        program: what to write.
        path: of the file. Where arrays are larger than 2 GiB together, they're written to another
            one beside it.
        opset: the version of ONNX's operators: 13 or later; None: 21, or what the program needs.
        ir_version: the version of the format; None: the first one that knows these operators.
        defaults: whether these inputs have defaults. ONNX Runtime Web feeds no input that has one:
            with False their values are in a file beside the model, `path` with `.safetensors`
            behind it, which has the model's metadata, too.

    Raises:
        ArgumentError: there's no such version, or nothing to compute.
        UnsupportedError: ONNX, or that version of it, can't hold a node; names the line.
        DTypeError: there's bfloat16.
    """
    _check("opset", opset, OLDEST, NEWEST)
    _check("ir_version", ir_version, OLDEST_IR, onnx.IR_VERSION)
    graph = _graph(program)
    if not graph.outputs:
        raise ArgumentError(f"export: {program.name} has no outputs and no updates to be written")
    engine: ModelEngine = ModelEngine() if (opset or OPSET) >= NEWER else PortableEngine()
    graph = prepared(graph, engine)
    _refuse(graph, engine)
    names = names_of(program)
    writer = Writer()
    model, made_for = _model(graph, engine, writer, names)
    model = _converted(model, opset, writer.shared.opset, made_for)
    least = helper.find_min_ir_version_for(model.opset_import)
    model.ir_version = least if ir_version is None else ir_version
    metadata = _describe(model, program, names)
    arrays = dict(zip(names.variables, program.values, strict=True))
    arrays |= dict(zip(names.keys, program.keys, strict=True))
    arrays |= _defaults(program, names)
    kept = {*names.inputs, *names.state, *names.keys}
    if not defaults:
        state = {name: arrays.pop(name) for name in [*arrays] if name in kept}
        replace(path + STATE, packed(state, metadata))
    attach(model.graph, arrays | merged(model.graph, writer.shared.large), kept, path)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    _prove(model, path)


def _check(what: str, version: Any, oldest: int, newest: int) -> None:
    if version is None or (type(version) is int and oldest <= version <= newest):
        return
    raise ArgumentError(
        f"export: {what}={version!r}: it's a number from {oldest} to {newest}, the newest that the"
        f" installed onnx {onnx.__version__} knows"
    )


def _graph(program: Stateless) -> Graph:
    """Inputs, variables and keys in; outputs, new values and the keys of the next call out."""
    graph = program.pure().graph
    keys = graph.inputs[len(graph.inputs) - len(program.sources) :]
    drawn = constant(np.array([0, 1], "uint32"))
    return graph.to([*graph.outputs, *(add(key, drawn) for key in keys)])


# What ONNX can't hold ----------------------------------------------------------------------------


def _refuse(graph: Graph, engine: ModelEngine) -> None:
    """
    Raises:
        UnsupportedError: there's a node that a model can't hold.
    """
    for node in all_nodes(graph):
        why = engine.refusal(node)
        if node.primitive.host_callback:
            why = "a model can't call Python"
        elif why is None and engine.deepest and depth(node) > engine.deepest:
            why = f"more than {engine.deepest} loops and conditions lie within one another"
        if why is not None:
            raise UnsupportedError(refusal("ONNX", node, why))


# The model ---------------------------------------------------------------------------------------


def _model(
    graph: Graph, engine: ModelEngine, writer: Writer, names: Names
) -> tuple[onnx.ModelProto, dict[str, Node]]:
    """The model, in which all arrays but small constants are inputs still; and by the name of an
    operator, what it's for.
    """
    sizes = agreed_sizes(graph)
    inputs = [writer.shared.name() for _ in graph.inputs]
    outputs = writer.owned(engine.lowering(graph, inputs, writer).run())
    model = writer.model([typed(x, "float32", None) for x in inputs], outputs)
    given = [*names.inputs, *names.variables, *names.keys]
    found = [*names.outputs, *names.new, *names.drawn]
    made_for = dict(_named_lines(model.graph, writer))
    public = dict(zip([*inputs, *outputs], [*given, *found], strict=True))
    called = _without_clashes(public, writer)
    rename(model.graph, called)
    writer.shared.large = {called.get(name, name): x for name, x in writer.shared.large.items()}
    labels: dict[Any, str] = {}
    for protos, nodes, public_names in (
        (model.graph.input, graph.inputs, given),
        (model.graph.output, graph.outputs, found),
    ):
        for proto, node, name in zip(protos, nodes, public_names, strict=False):
            proto.CopyFrom(declared(name, node, sizes, labels))
    return model, made_for


def _without_clashes(public: dict[str, str], writer: Writer) -> dict[str, str]:
    """The names of the program, and other ones for values inside that have the same."""
    used, shared = set(public.values()), writer.shared
    numbers = range(int(shared.name()[1:]))
    inner = [name for i in numbers if (name := f"v{i}") in used and name not in public]
    return public | {name: shared.name() + "_" for name in inner}


def _named_lines(
    graph: onnx.GraphProto, writer: Writer, prefix: str = ""
) -> Iterator[tuple[str, Node]]:
    """Give operators names, of the primitive that they're for and a number; tells what that is."""
    for number, line in enumerate(graph.node):
        node = writer.shared.made_for.get(line.output[0])
        kind = line.op_type if node is None else node.primitive.name
        line.name = f"{prefix}{kind}_{number}"
        if node is not None:
            yield line.name, node
        for attribute in line.attribute:
            if attribute.HasField("g"):
                inner = f"{line.name}/{attribute.name}/"
                yield from _named_lines(attribute.g, writer, inner)


def _describe(model: onnx.ModelProto, program: Stateless, names: Names) -> dict[str, str]:
    """Say who wrote the model, what of it is the function's own, and what a loop feeds back: these
    two are returned, too.
    """
    package = sys.modules[__name__.partition(".")[0]]
    model.producer_name, model.producer_version = "Kameleon", package.__version__
    model.graph.name = re.sub(r"\W", "_", program.name, flags=re.ASCII)
    model.doc_string = f"{program.name}, exported by Kameleon"
    metadata = {INPUTS: json.dumps(names.inputs), UPDATES: json.dumps(names.updates)}
    helper.set_model_props(model, metadata)
    return metadata


# Versions ----------------------------------------------------------------------------------------


def _converted(
    model: onnx.ModelProto, opset: int | None, needed: int, made_for: Mapping[str, Node]
) -> onnx.ModelProto:
    """The model in the version that is asked for.

    Most operators are the same in several versions: then the number alone changes.
    """
    if opset is None or opset == needed:
        return model
    late = next((x for x in operators(model.graph) if LATER.get(x.op_type, 0) > opset), None)
    if late is not None:
        node = made_for[late.name]
        raise UnsupportedError(
            f"export: opset={opset} lacks the operator {late.op_type}, which"
            f" {node.primitive.name} needs\n  which was made at {node.source}\n "
            f" opset={LATER[late.op_type]} has it"
        )
    stamped = onnx.ModelProto()
    stamped.CopyFrom(model)
    stamped.opset_import[0].version = opset
    ways: list[Callable[[], onnx.ModelProto]] = [
        lambda: stamped,
        lambda: version_converter.convert_version(model, opset),
    ]
    reasons = []
    for change in ways:
        try:
            found = change()
            onnx.checker.check_model(found, full_check=True)
            return found
        except FOREIGN:
            raise
        except Exception as error:
            reasons.append(next(iter(str(error).strip().splitlines()), ""))
    raise UnsupportedError(
        f"export: the program can't be written for opset={opset}: {reasons[0]}\n  and onnx doesn't"
        f" convert it: {reasons[1]}\n  opset={needed} holds it"
    )


# Arrays ------------------------------------------------------------------------------------------


def _defaults(program: Stateless, names: Names) -> dict[str, np.ndarray[Any, Any]]:
    """The values of inputs that needn't be fed: the learning phase."""
    pairs = zip(program.inputs, names.inputs, strict=True)
    return {
        name: np.array(x.default, x.dtype)
        for x, name in pairs
        if hasattr(x, "default") and x.type.is_static
    }


# Proof -------------------------------------------------------------------------------------------


def _prove(model: onnx.ModelProto, path: str) -> None:
    """Have ONNX's own checks look at the file, and at the types and sizes that it infers.

    Raises:
        EngineError: they find a fault.
    """
    foreign = {x.domain for x in model.opset_import} - {""}
    try:
        onnx.checker.check_model(path, full_check=True)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except FOREIGN:
        raise
    except Exception as error:
        raise EngineError(f"export: onnx {onnx.__version__} refuses the model: {error}") from error
    if foreign:
        raise EngineError(f"export: the model has operators of other domains: {foreign}")
