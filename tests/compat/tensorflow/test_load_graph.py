"""Graphs of TensorFlow 1 as tensors of K's: `kameleon.load_graph`, without TensorFlow.

`graphs/record.py` wrote the graphs with TensorFlow 1.15, and what it gave for them.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from _support.common import run_python
from _support.originals import needs_tensorflows_files
from _support.programs import ANYWHERE, COMMAND, run

import kameleon
from kameleon import backend as K
from kameleon.compat.tensorflow import location
from kameleon.compat.tensorflow.loading.built import TABLES
from kameleon.compat.tensorflow.protocol import messages
from kameleon.compat.tensorflow.protocol.messages import message, rows
from kameleon.compat.tensorflow.protocol.signatures import definition_of, definitions
from kameleon.engines import Engine
from kameleon.errors import (
    ArgumentError,
    FileFormatError,
    GraphError,
    MissingLibraryError,
    UnsupportedError,
)

from .graphs.writing import line_of

FOLDER = Path(__file__).parent / "graphs"
RECORDED = dict(np.load(FOLDER / "recorded.npz"))
PATHS = {
    "boxes": "boxes.pbtxt",
    "control": "control.pb",
    "convolutions": "convolutions.pb",
    "functions": "functions.pb",
    "sizes": "sizes.pb",
    "tables": "tables",
    "trained": "trained/model.ckpt.meta",
}


def told(graph: str, kind: str) -> dict[str, Any]:
    """What was recorded of a graph, by name."""
    head = f"{graph}|{kind}|"
    return {name.removeprefix(head): x for name, x in RECORDED.items() if name.startswith(head)}


def differences(graph: kameleon.Graph, inputs: Any, outputs: Any, near: float = 1e-5) -> list[str]:
    """The outputs that differ from what was recorded."""
    tensors = graph.tensors(list(outputs))
    found = K.function([graph[name] for name in inputs], tensors)(list(inputs.values()))
    return [
        f"{name}: {got.dtype}{got.shape}, {np.ravel(got)[:4]}, not {np.ravel(want)[:4]}"
        for (name, want), got in zip(outputs.items(), found, strict=True)
        if (got.dtype, got.shape) != (want.dtype, want.shape)
        or not np.allclose(got, want, rtol=near, atol=near * np.max(np.abs(want), initial=0))
    ]


# Values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PATHS)
def test_numbers_are_those_of_tensorflow(engine: Engine, name: str) -> None:
    graph = kameleon.load_graph(FOLDER / PATHS[name])
    assert not differences(graph, told(name, "in"), told(name, "out"))


def test_each_tensor_alone_is_the_same() -> None:
    with K.using_engine("numpy"):
        graph = kameleon.load_graph(FOLDER / PATHS["control"])
        inputs = told("control", "in")
        for name, want in told("control", "out").items():
            assert not differences(graph, inputs, {name: want})


def test_shapes_may_be_said_and_others_run_then() -> None:
    with K.using_engine("numpy"):
        inputs, outputs = told("sizes", "in"), told("sizes", "out")
        shapes = {name: value.shape for name, value in inputs.items()}
        graph = kameleon.load_graph(FOLDER / PATHS["sizes"], shapes)
        assert graph["wide"].shape == outputs["wide:0"].shape
        assert not differences(graph, inputs, outputs)


def test_it_runs_without_tensorflow_and_its_files(tmp_path: Path) -> None:
    code = f"""
        import sys
        sys.modules["tensorflow"] = sys.modules["tensorflow_core"] = None
        import kameleon, numpy as np
        kameleon.set_engine("numpy")
        from kameleon import backend as K
        graph = kameleon.load_graph({str(FOLDER / "functions.pb")!r})
        print(K.function([graph["x"]], [graph["called"]])([np.zeros((1, 2))]))
        del sys.modules["tensorflow"], sys.modules["tensorflow_core"]
        print([name for name in sys.modules if name.startswith("tensorflow")])
    """
    ended = run_python(dedent(code), tmp_path, {location.VARIABLE: "/nowhere"})
    assert ended.stdout == "[array([[1., 1.]], dtype=float32)]\n[]\n", ended.stderr


# Gradients and training -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["convolutions", "sizes"])
def test_gradients_are_those_of_the_graph_with_known_sizes(engine: Engine, name: str) -> None:
    inputs = told(name, "in")
    found = []
    for shapes in (None, {key: value.shape for key, value in inputs.items()}):
        graph = kameleon.load_graph(FOLDER / PATHS[name], shapes)
        holes = [graph[key] for key in inputs]
        loss = sum(K.sum(K.square(graph[key])) for key in graph.outputs if "top" not in key)
        found += K.function(holes, K.gradients(loss, holes))(list(inputs.values()))
    assert np.allclose(found[0], found[1], rtol=1e-4, atol=1e-4) and np.any(found[0])


@pytest.mark.parametrize("path", ["saved", PATHS["trained"]])
def test_variables_have_the_checkpoints_values_and_are_trained(engine: Engine, path: str) -> None:
    graph = kameleon.load_graph(FOLDER / path)
    before = told("trained", "before")
    assert set(graph.variables) == set(before)
    for name, value in before.items():
        assert np.array_equal(K.get_value(graph.variables[name]), value)
    names = ["hidden/kernel", "hidden/bias", "out/dense/kernel", "out/dense/bias"]
    assert graph.trainable_variables == [graph.variables[name] for name in names]
    inputs, loss = told("trained", "in"), graph["loss"]
    slopes = K.gradients(loss, graph.trainable_variables)
    updates = [(v, v - 0.1 * g) for v, g in zip(graph.trainable_variables, slopes, strict=True)]
    step = K.function([graph[name] for name in inputs], [loss], updates)
    losses = [float(step(list(inputs.values()))[0]) for _ in range(20)]
    assert losses[-1] < losses[0] / 2


def test_the_programs_own_steps_are_the_originals(engine: Engine) -> None:
    graph = kameleon.load_graph(FOLDER / PATHS["trained"])
    inputs = told("trained", "in")
    step = K.function([graph[name] for name in inputs], [graph["loss"]], graph.updates("train"))
    for _ in range(3):
        step(list(inputs.values()))
    for name, value in told("trained", "after").items():
        assert np.allclose(K.get_value(graph.variables[name]), value, rtol=1e-4, atol=1e-5), name


def test_a_tensor_inside_may_be_fed_and_differentiated_by() -> None:
    with K.using_engine("numpy"):
        graph = kameleon.load_graph(FOLDER / PATHS["trained"])
        hidden = graph["hidden/Tanh"]
        [slope] = K.gradients(graph["out/dense/BiasAdd"], [hidden])
        kernel = told("trained", "before")["out/dense/kernel"]
        assert np.allclose(K.function([hidden], [slope])([np.ones((2, 4))])[0], kernel[:, 0])


# What is in it ----------------------------------------------------------------------------------


def test_inputs_outputs_signatures() -> None:
    graph = kameleon.load_graph(FOLDER / "saved")
    assert graph.inputs == ["x:0", "y:0"]
    [(name, signature)] = graph.signatures.items()
    assert (name, signature.method) == ("serving_default", "tensorflow/serving/predict")
    assert signature.inputs == {"features": "x:0"}
    assert signature.outputs == {"prediction": "out/dense/BiasAdd:0"}
    frozen = kameleon.load_graph(FOLDER / PATHS["boxes"])
    assert frozen.outputs == ["kept:0", "above:0"] and "kept:0" in frozen
    assert "kept:1" not in frozen and "kept:x" not in frozen and "no" not in frozen
    assert frozen.signatures == {} and frozen.variables == {} and "boxes.pbtxt" in repr(frozen)


# What's wrong -----------------------------------------------------------------------------------


def written(folder: Path, *nodes: Any) -> Path:
    """A file with a graph of these nodes: name, type, inputs."""
    made = message("GraphDef")()
    for name, kind, *inputs in nodes:
        node = made.node.add(name=name, op=kind, input=inputs)
        node.attr["dtype" if kind == "Placeholder" else "T"].type = 1
        node.attr["shape"].shape.dim.add(size=-1)
    path = folder / "graph.pb"
    path.write_bytes(made.SerializeToString())
    return path


def test_types_that_are_lacking_are_named_all_at_once(tmp_path: Path) -> None:
    nodes = [("x", "Placeholder"), ("a", "NoSuchThing", "x"), ("b", "NorThis", "a")]
    graph = kameleon.load_graph(written(tmp_path, *nodes, ("c", "Relu", "b"), ("d", "Relu", "x")))
    with pytest.raises(UnsupportedError, match=r"c of .*graph\.pb needs .*: NoSuchThing, NorThis$"):
        graph["c:0"]
    assert graph["d"].dtype == "float32"


def test_types_that_functions_lack_are_named(tmp_path: Path) -> None:
    made = message("GraphDef")()
    for name, kind in (("inner", "NoSuchThing"), ("outer", "inner")):
        function = made.library.function.add()
        function.signature.name = name
        function.node_def.add(name="node", op=kind)
    made.node.add(name="called", op="PartitionedCall").attr["f"].func.name = "outer"
    made.node.add(name="nothing", op="NoOp")
    path = tmp_path / "graph.pb"
    path.write_bytes(made.SerializeToString())
    with pytest.raises(UnsupportedError, match=r"called of .*: NoSuchThing$"):
        kameleon.load_graph(path)["called"]


def test_an_unknown_name_says_what_was_meant() -> None:
    graph = kameleon.load_graph(FOLDER / PATHS["boxes"])
    with pytest.raises(ArgumentError, match="'kepd'; did you mean 'kept'"):
        graph["kepd"]
    with pytest.raises(ArgumentError, match=r"outputs of kept .*: 1"):
        graph["kept:1"]
    with pytest.raises(ArgumentError, match="'scoers'; did you mean 'scores'"):
        kameleon.load_graph(FOLDER / PATHS["boxes"], {"scoers": (3,)})
    with pytest.raises(ArgumentError, match=r"\['train'\] has no graph .*\['serve'\] have one"):
        kameleon.load_graph(FOLDER / "saved", tags=["train"])
    assert kameleon.load_graph(FOLDER / "saved", tags="serve").outputs
    with pytest.raises(ArgumentError, match="load_graph: a path is text or a Path, not None"):
        kameleon.load_graph(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", [b"", b"no graph at all", b"\0" * 100, 500, -1])
@pytest.mark.parametrize("name", ["convolutions", "trained"])
def test_damaged_files_are_errors_that_name_them(tmp_path: Path, name: str, damage: Any) -> None:
    source = FOLDER / PATHS[name]
    path = tmp_path / source.name
    data = source.read_bytes()
    path.write_bytes(damage if isinstance(damage, bytes) else data[:damage])
    with pytest.raises(FileFormatError, match=source.name):
        kameleon.load_graph(path)


def test_damaged_checkpoints_and_folders_are_errors_that_name_them(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "saved", tmp_path / "saved")
    data = tmp_path / "saved" / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-8] + bytes(8))
    with pytest.raises(FileFormatError, match="saved"):
        kameleon.load_graph(tmp_path / "saved")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileFormatError, match=r"empty: this folder has no saved_model\.pb"):
        kameleon.load_graph(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        kameleon.load_graph(tmp_path / "none.pb")
    shutil.copy(FOLDER / PATHS["trained"], tmp_path / "alone.meta")
    with pytest.raises(FileFormatError, match="alone"):
        kameleon.load_graph(tmp_path / "alone.meta")


def test_protobuf_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("descriptor_pool", "message", "message_factory"):
        monkeypatch.setitem(sys.modules, f"google.protobuf.{name}", None)
    monkeypatch.setattr(messages, "_classes", messages._classes.__wrapped__)
    with pytest.raises(MissingLibraryError, match="pip install protobuf"):
        kameleon.load_graph(FOLDER / PATHS["convolutions"])


def test_variables_without_a_checkpoint_have_no_values(tmp_path: Path) -> None:
    meta = message("MetaGraphDef").FromString((FOLDER / PATHS["trained"]).read_bytes())
    path = tmp_path / "graph.pb"
    path.write_bytes(meta.graph_def.SerializeToString())
    graph = kameleon.load_graph(path)
    with pytest.raises(GraphError, match=r"graph\.pb: .*was uninitialized.*no checkpoint"):
        graph["loss"]


# The tables -------------------------------------------------------------------------------------


def test_all_types_in_the_table_have_definitions() -> None:
    known = {kind for table in TABLES for kind in table}
    assert set(definitions()) <= known
    lacking = known - set(definitions()) - {"ToBool", "IsBranch", "NextNumber"}  # made here
    assert all("Apply" in kind for kind in lacking)  # of TensorFlow's newer optimizers
    for kind in definitions():
        line = definitions()._lines[kind]
        assert line_of(definition_of(line)) == line


@needs_tensorflows_files
def test_definitions_and_messages_are_tensorflows(tmp_path: Path) -> None:
    code = """
        import importlib, json
        import kameleon.as_keras, tensorflow.contrib.image, tensorflow.contrib.resampler
        import tensorflow.contrib.input_pipeline, tensorflow.contrib.periodic_resample
        import tensorflow.contrib.libsvm, tensorflow.contrib.text
        import tensorflow.contrib.reduce_slice_ops.python.ops.reduce_slice_ops
        from kameleon.compat.tensorflow import graph
        from kameleon.compat.tensorflow.protocol.messages import rows
        from kameleon.compat.tensorflow.protocol.signatures import definitions
        from writing import line_of
        registered = graph.definitions()
        lines = definitions()._lines
        print([k for k, line in lines.items() if line_of(registered[k]) != line])
        modules = {
            "framework": "graph node_def attr_value tensor tensor_shape tensor_slice versions"
            " function op_def variable resource_handle summary",
            "protobuf": "meta_graph saver saved_model tensor_bundle",
            "util": "event saved_tensor_slice",
        }
        names = [f"{part}.{name}_pb2" for part in modules for name in modules[part].split()]
        found = [importlib.import_module(f"tensorflow_core.core.{name}") for name in names]
        for name, fields in rows():
            outer, _, inner = name.partition(".")
            [made] = [getattr(module, outer) for module in found if outer in vars(module)][:1]
            told = (getattr(made, inner) if inner else made).DESCRIPTOR.fields_by_name
            for field, number, _ in fields:
                assert told[field.rpartition("|")[2]].number == number, (name, field)
    """
    line = ["-W", "ignore", "-c", f"import sys; sys.path.append({str(FOLDER)!r})\n{dedent(code)}"]
    ended = run(line, tmp_path, {"KERAS_BACKEND": "numpy"})
    assert ended.stdout.endswith("[]\n") and ended.returncode == 0, ended.stderr
    assert len(dict(rows())) > 20


# Larger networks --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with larger networks, which TensorFlow's Python files build and run."""
    if not location.installed():
        pytest.skip(location.INSTALL)
    folder = tmp_path_factory.mktemp("networks")
    line = ["run", "--engine", "numpy", str(FOLDER / "networks.py")]
    names = ["inception", "mobilenet", "detector"]
    ended = run(["-W", "ignore", "-c", COMMAND, *line, str(folder), *names], folder, ANYWHERE)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return folder


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["inception", "mobilenet", "detector"])
def test_larger_networks_give_what_sessions_give(engine: Engine, networks: Path, name: str) -> None:
    held = dict(np.load(networks / f"{name}.npz"))
    inputs, outputs = (
        {k.removeprefix(head): v for k, v in held.items() if k.startswith(head)}
        for head in ("in|", "out|")
    )
    shapes = {key: value.shape for key, value in inputs.items()} if name == "detector" else None
    graph = kameleon.load_graph(networks / f"{name}.pb", shapes)
    assert not differences(graph, inputs, outputs)
