"""`kameleon convert`: files that predict what the original predicts, and what's refused.

The command itself tries each file in a fresh process; here, some are held against what was
recorded of the originals on TensorFlow 1.15 and Theano.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from _support.commands import Ended, kameleon
from _support.common import TESTS
from _support.originals import needs_original
from _support.programs import COMMAND, run, run_without_original

pytest.importorskip("rich", reason="the command line needs Rich")
pytest.importorskip("google.protobuf", reason="protobuf reads graphs")

from kameleon import backend as K
from kameleon import load as saved_function
from kameleon.backend.export import verification
from kameleon.backend.export.examples import Call
from kameleon.backend.export.formats import FORMATS as EXPORTS
from kameleon.cli.convert import keras3, targets
from kameleon.compat.keras2.byte_code import ALLOWED_BY

PAGE = (TESTS.parent / "docs" / "converting.md").read_text("utf-8")
PROGRAM = TESTS / "cli" / "convert_program.py"
FILES = TESTS / "compat" / "keras2" / "files"
GRAPHS = TESTS / "compat" / "tensorflow" / "graphs"
ORIGINALS = ("tensorflow", "theano")
RECORDED = [
    f"{original}/{path.name.removesuffix('.h5.gz')}"
    for original in ORIGINALS
    for path in sorted((FILES / original).glob("*.h5.gz"))
]
OWN = ["own/lstm", "own/transformer", "own/twice"]
LARGE = ["large/vgg16", "large/resnet50", "large/mobilenet", "large/inception_v3"]
# The modules with custom objects of those that have some.
CUSTOM = {"tensorflow/custom": FILES / "networks.py", "own/transformer": PROGRAM}
# Weights alone: the program has their configurations.
CONFIGURED = ("tensorflow/by_topology", "tensorflow/by_name")
FORMATS = list(targets.TARGETS)
NEEDS = {**{name: list(row.needs) for name, row in EXPORTS.items()}, "keras3": ["keras", "jax"]}
# What a format can't hold: layers that Keras 3 hasn't, and random numbers.
REFUSED = {
    ("tensorflow/custom", "keras3"): "layer 'dense_1' (Dense) has activation='bent'",
    ("tensorflow/locally_connected", "keras3"): (
        "(LocallyConnected2D) has no counterpart in Keras 3"
    ),
    ("tensorflow/by_topology", "keras3"): "(Lambda) has no counterpart in Keras 3",
    ("tensorflow/bidirectional", "keras3"): "(RNN) has no counterpart in Keras 3",
    ("own/transformer", "keras3"): "(Positions) has no counterpart in Keras 3",
    ("own/twice", "keras3"): "--no-check writes it all the same",
    ("own/twice", "litert"): "LiteRT can't hold shift_left: it has no such operation for uint32",
}
QUICK = {
    ("tensorflow/mlp", "kameleon"),
    ("tensorflow/graph", "onnx"),
    ("tensorflow/graph", "torch"),
    ("tensorflow/custom", "onnx"),
    ("tensorflow/stateful", "onnx"),
    ("tensorflow/by_name", "onnx"),
    ("tensorflow/masked", "stablehlo"),
    ("theano/conv2d_channels_first", "onnx"),
    ("own/lstm", "onnx"),
    ("own/transformer", "onnx"),
    ("own/twice", "onnx"),
    ("tensorflow/nested", "keras3"),
    ("tensorflow/by_topology", "keras3"),
}


def skipped_without(*modules: str) -> pytest.MarkDecorator:
    """Skips where a module isn't installed."""
    missing = [name for name in modules if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {' and '.join(missing)}")


def pair(model: str, target: str) -> Any:
    """A model and a format; most of them at night."""
    marks = [skipped_without(*NEEDS[target])]
    if (model, target) not in QUICK:
        marks.append(pytest.mark.nightly)
    return pytest.param(model, target, id=f"{model}-{target}", marks=marks)


def pairs() -> list[Any]:
    """Each model with each format."""
    models = (*RECORDED, *OWN, *LARGE)
    return [pair(model, target) for model in models for target in FORMATS]


def programs(folder: Path, *names: str) -> None:
    """Let the program write models."""
    line = ["run", "--engine", "numpy", str(PROGRAM), str(folder), *names]
    ended = run(["-W", "ignore", "-c", COMMAND, *line], folder)
    assert ended.returncode == 0, ended.stderr


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recorded models, and those of the program but the large ones."""
    folder = tmp_path_factory.mktemp("models")
    for original in ORIGINALS:
        (folder / original).mkdir()
        for path in (FILES / original).glob("*"):
            if path.suffix == ".gz":
                data = gzip.decompress(path.read_bytes())
                (folder / original / path.name.removesuffix(".gz")).write_bytes(data)
            else:
                shutil.copy(path, folder / original)
    programs(folder / "tensorflow", "by_topology", "by_name")
    (folder / "own").mkdir()
    programs(folder / "own", "lstm", "transformer", "twice", "sparse")
    return folder


@pytest.fixture(scope="session")
def large(models: Path) -> Path:
    """The same folder, with the large models as well."""
    (models / "large").mkdir()
    programs(models / "large", *(name.removeprefix("large/") for name in LARGE))
    return models


def converted(folder: Path, model: str, target: str, out: Path) -> Ended:
    """Convert a model of the folder."""
    path = str(folder / model)
    source = [f"{path}.h5"]
    if model in CONFIGURED:
        source = [f"{path}.json", "--weights", f"{path}.h5"]
    if model in CUSTOM:
        source += ["--custom", str(CUSTOM[model])]
    return kameleon(
        "convert", *source, "--to", target, "--out", str(out), settings={ALLOWED_BY: "1"}
    )


# Models -----------------------------------------------------------------------------------------


@needs_original
@pytest.mark.slow
@pytest.mark.parametrize(("model", "target"), pairs())
def test_models(
    model: str, target: str, models: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if model in LARGE:
        request.getfixturevalue("large")
    out = tmp_path / f"made{targets.target(target).suffix}"
    ended = converted(models, model, target, out)
    if (model, target) in REFUSED:
        assert ended.status == 1 and REFUSED[model, target] in ended.err, ended.said
        assert not list(tmp_path.iterdir())
        return
    assert ended.status == 0, ended.said
    assert f"{out} (" in ended.out and out.exists()
    rows = [line for line in ended.out.splitlines() if "output 0" in line]
    assert len(rows) == 2, ended.out  # two sets of inputs


class Reload(NamedTuple):
    """How a file is read without Kameleon."""

    title: str
    code: str
    alone: bool = True


def reload_of(target: str) -> Reload:
    """What reads a format."""
    if target == "keras3":
        return Reload("Keras 3", keras3.RELOAD)
    module = __import__(
        f"kameleon.backend.export.{targets.target(target).module}", fromlist=["RELOAD"]
    )
    return Reload(target, module.RELOAD, target != "kameleon")


def recorded(model: str) -> tuple[list[Any], list[Any]]:
    """Inputs and outputs that were recorded of the original."""
    with np.load(FILES / f"{model}.npz") as kept:
        return tuple(  # type: ignore[return-value]
            [kept[f"{kind}{i}"] for i in range(len(kept.files)) if f"{kind}{i}" in kept.files]
            for kind in ("input", "output")
        )


@needs_original
@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "target"),
    [
        pair(model, target)
        for target in FORMATS
        for model in (RECORDED if target == "onnx" else ["tensorflow/graph", "theano/recurrent"])
        if not model.endswith("by_name")  # those predictions are of another network
    ],
)
def test_files_give_what_was_recorded(
    model: str, target: str, models: Path, tmp_path: Path
) -> None:
    out = tmp_path / f"made{targets.target(target).suffix}"
    ended = converted(models, model, target, out)
    assert ended.status == 0, ended.said
    inputs, outputs = recorded(model)
    reload = reload_of(target)
    [found] = verification._reloaded(
        reload.title, reload.code, str(out), [Call(inputs, [])], reload.alone
    )
    first = outputs[: len(outputs) // (2 if model.endswith("stateful") else 1)]  # of its first call
    for got, want in zip(found, first, strict=False):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


# How the page says that files are read.
READ = {
    "ONNX": "onnx",
    "TensorFlow": "tensorflow",
    "LiteRT": "litert",
    "JAX": "jax",
    "PyTorch": "torch",
    "Keras 3": "keras3",
}


@needs_original
@pytest.mark.parametrize(
    ("title", "target"),
    [
        pytest.param(
            title,
            target,
            marks=[
                skipped_without(*NEEDS[targets.target(target).name]),
                *([] if target == "onnx" else [pytest.mark.nightly]),
            ],
        )
        for title, target in READ.items()
    ],
)
def test_the_code_of_the_page_reads_files(
    title: str, target: str, models: Path, tmp_path: Path
) -> None:
    [code] = re.findall(rf"^{title}:\n\n```python\n(.*?)```$", PAGE, re.DOTALL | re.MULTILINE)
    out = tmp_path / f"model{targets.target(target).suffix}"
    ended = converted(models, "tensorflow/mlp", target, out)
    assert ended.status == 0, ended.said
    [x], [y] = recorded("tensorflow/mlp")
    np.save(tmp_path / "x.npy", x)
    lines = ["import numpy", "x = numpy.load('x.npy')", code, "numpy.save('y.npy', y)"]
    done = run(["-I", "-c", "\n".join(lines)], tmp_path, {"KERAS_BACKEND": "jax"})
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), y, rtol=1e-5, atol=1e-6)


def test_the_page_has_all_formats() -> None:
    rows = re.findall(r"^\| (`[^|]*?) \| `(\.\w+)`", PAGE, re.MULTILINE)
    listed = {name: suffix for names, suffix in rows for name in re.findall(r"`(\w+)`", names)}
    assert listed == {name: targets.target(name).suffix for name in targets.NAMES}


@needs_original
def test_configurations_in_yaml_and_json_are_the_same(models: Path, tmp_path: Path) -> None:
    path = models / "tensorflow" / "graph"
    made = []
    for suffix in ("json", "yaml"):
        out = tmp_path / f"{suffix}.safetensors"
        line = [f"{path}.{suffix}", "--weights", f"{path}.h5", "--to", "kameleon", "-o", str(out)]
        ended = kameleon("convert", *line)
        assert ended.status == 0, ended.said
        made.append(saved_function(out)(recorded("tensorflow/graph")[0]))
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)


@needs_original
def test_the_default_place_is_beside_the_source(models: Path, tmp_path: Path) -> None:
    source = shutil.copy(models / "tensorflow" / "mlp.h5", tmp_path)
    ended = kameleon("convert", source, "--to", "kameleon", "--no-check")
    assert (ended.status, "largest" in ended.out) == (0, False), ended.said
    assert (tmp_path / "mlp.safetensors").exists()


# Graphs -----------------------------------------------------------------------------------------

# The graph, the format, more of the line, and what is told.
OF_GRAPHS = [
    ("saved", "onnx", "", ["inputs: x:0", "outputs: out/dense/BiasAdd:0", "('prediction')"]),
    ("saved", "jax", "", ["inputs: x:0", "StableHLO"]),
    ("saved", "torch", "", ["inputs: x:0"]),
    ("saved", "tensorflow", "", ["inputs: x:0", "SavedModel"]),
    ("saved", "litert", "", ["inputs: x:0"]),
    ("convolutions.pb", "onnx", "", ["outputs: means:0, wide:0", "output 8 ('best')"]),
    ("convolutions.pb", "torch", "", ["outputs: means:0, wide:0"]),
    ("convolutions.pb", "savedmodel", "", ["outputs: means:0, wide:0"]),
    ("convolutions.pb", "stablehlo", "", ["outputs: means:0, wide:0"]),
    ("functions.pb", "onnx", "--outputs looped,called:0", ["outputs: looped, called:0"]),
    (
        "trained/model.ckpt.meta",
        "onnx",
        "--outputs out/dense/BiasAdd",
        ["inputs: x:0\n", "outputs: out/dense/BiasAdd"],
    ),
    (
        "trained/model.ckpt.meta",
        "onnx",
        "--inputs hidden/Tanh:0 --outputs out/dense/BiasAdd:0",
        ["inputs: hidden/Tanh:0\n"],
    ),
]
AT_ONCE = ("onnx", "jax")


@pytest.mark.parametrize(
    ("graph", "target", "more", "told"),
    [
        pytest.param(
            *row,
            id="-".join(row[:3]),
            marks=[
                skipped_without(*NEEDS[targets.target(row[1]).name]),
                *([] if row[1] in AT_ONCE else [pytest.mark.nightly]),
            ],
        )
        for row in OF_GRAPHS
    ],
)
def test_graphs(graph: str, target: str, more: str, told: list[str], tmp_path: Path) -> None:
    out = tmp_path / f"made{targets.target(target).suffix}"
    line = [str(GRAPHS / graph), "--to", target, "--out", str(out), *more.split()]
    ended = kameleon("convert", *line)
    assert ended.status == 0 and out.exists(), ended.said
    for words in told:
        assert words in ended.out, ended.out


@skipped_without("onnx", "onnxruntime")
def test_saved_functions(tmp_path: Path) -> None:
    x, w = K.placeholder((None, 2), name="x"), K.variable([[1.0], [2.0]], name="w")
    K.function([x], [K.dot(x, w)], [(w, w * 2.0)]).save(tmp_path / "f.safetensors")
    ended = kameleon("convert", str(tmp_path / "f.safetensors"), "--to", "onnx")
    assert ended.status == 0 and "the new value of 'w" in ended.out, ended.said
    import onnxruntime

    found = onnxruntime.InferenceSession(tmp_path / "f.onnx").run(None, {"x": [[1.0, 1.0]]})
    assert [each.ravel().tolist() for each in found] == [[3.0], [2.0, 4.0]]


@skipped_without("tensorflow")
def test_operations_of_tensorflow_go_into_files_of_litert(tmp_path: Path) -> None:
    x = K.placeholder((2, 3), name="x")
    K.function([x], [K.cumprod(x)]).save(tmp_path / "f.safetensors")
    line = ["convert", str(tmp_path / "f.safetensors"), "--to"]
    ended = kameleon(*line, "litert")
    assert (ended.status, "--select-tf-ops writes it" in ended.err) == (1, True), ended.said
    # The interpreter of the Python package doesn't run these everywhere.
    ended = kameleon(*line, "litert", "--select-tf-ops", "--no-check")
    assert ended.status == 0 and (tmp_path / "f.tflite").exists(), ended.said
    ended = kameleon(*line, "jax", "--select-tf-ops")
    assert (ended.status, "is for LiteRT, not for StableHLO" in ended.err) == (2, True), ended.said


@skipped_without("onnx", "onnxruntime")
def test_names_are_those_of_the_signature(tmp_path: Path) -> None:
    import onnxruntime

    out = tmp_path / "made.onnx"
    assert kameleon("convert", str(GRAPHS / "saved"), "--to", "onnx", "-o", str(out)).status == 0
    session = onnxruntime.InferenceSession(out)
    assert [x.name for x in session.get_inputs()] == ["features"]
    assert [x.name for x in session.get_outputs()] == ["prediction"]


# What's wrong -----------------------------------------------------------------------------------

SAVED = str(GRAPHS / "saved")
META = str(GRAPHS / "trained" / "model.ckpt.meta")
# Words of the line, the exit status, and words of what is said; `{models}` is the folder of models.
WRONG = [
    ("absent.h5 --to onnx", 2, "'absent.h5' doesn't exist"),
    (f"{META.removesuffix('.meta')} --to onnx", 2, "doesn't exist; name "),
    (f"{SAVED} --to onxx", 2, "'onxx' is none of jax, "),
    (f"{SAVED} --to onxx", 2, "did you mean 'onnx'?"),
    (f"{SAVED}", 2, "the following arguments are required: --to"),
    (f"{SAVED} --to onnx --outputs ,", 2, "takes names with commas between"),
    (f"{SAVED} --to onnx --weights absent.h5", 2, "'absent.h5' doesn't exist"),
    (f"{SAVED} --to onnx --custom m", 1, "--custom is for models of Keras"),
    (f"{SAVED} --to keras3 --out x.h5", 1, "Keras loads .keras alone, and not x.h5"),
    (f"{SAVED} --to keras3", 1, "keras.layers.TFSMLayer(folder)"),
    (f"{SAVED} --to onnx --outputs ouut", 1, "no operation is called 'ouut'"),
    (f"{SAVED} --to onnx --out nowhere/x.onnx", 1, "there is no folder nowhere: make it first"),
    (f"{META} --to onnx", 1, "choose them by --outputs. Nobody takes global_step/read:0, loss:0"),
    (f"{GRAPHS} --to onnx", 1, "this folder has no saved_model.pb"),
    (f"{GRAPHS}/boxes.pbtxt --to onnx", 1, "ONNX can't hold call"),
    (f"{GRAPHS}/boxes.pbtxt --to onnx", 1, 'boxes.pbtxt" [[{{node '),
    (f"{FILES}/README.md --to onnx", 1, "is neither: what's taken are models of Keras 2"),
    ("damaged.h5 --to onnx", 1, "damaged.h5 is no HDF5 file, or it's damaged"),
    ("cut.h5 --to onnx", 1, "this HDF5 file can't be read"),
    ("damaged.pb --to onnx", 1, "that's no GraphDef of TensorFlow's, or it's damaged"),
    ("model.keras --to onnx", 1, "is a file of Keras 3's, or another archive"),
    ("{models}/mlp.h5 --to onnx --outputs x", 1, "--outputs names tensors of a graph"),
    ("{models}/by_name.h5 --to onnx", 1, "holds weights, and no model"),
    ("{models}/graph.json --to onnx", 1, "name their file (.h5) by --weights"),
    ("{models}/graph.json --to onnx --weights {models}/mlp.h5", 1, "ValueError: "),
    ("list.json --to onnx --weights {models}/mlp.h5", 1, "this is no model's configuration"),
    (
        "{models}/custom.h5 --to onnx",
        1,
        "activation function:bent: name the module that has it",
    ),
    ("{models}/custom.h5 --to onnx --custom absent", 1, "No module named 'absent'"),
    ("{models}/custom.h5 --to onnx --custom broken.py", 1, "NameError: name 'oops'"),
    (
        "{models}/by_topology.json --to onnx --weights {models}/by_topology.h5",
        1,
        "the Lambda layer 'lambda_1' has its function as byte code",
    ),
    ("{models}/mlp.h5 --to kameleon --out {models}/mlp.h5", 1, "is the source itself"),
    ("{models}/../own/sparse.h5 --to onnx", 1, "'given:0' is sparse"),
]


@pytest.fixture
def place(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with files that are wrong."""
    whole = (models / "tensorflow" / "mlp.h5").read_bytes()
    (tmp_path / "damaged.h5").write_bytes(b"HDF" + bytes(100))
    (tmp_path / "cut.h5").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "damaged.pb").write_bytes(b"no graph at all")
    (tmp_path / "model.keras").write_bytes(b"PK\x03\x04 and more")
    (tmp_path / "list.json").write_text("[1, 2]", "utf-8")
    (tmp_path / "broken.py").write_text("oops", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(line: str, status: int, said: str) -> Any:
    """A row of what's wrong; what its format needs is looked for first."""
    asked = re.search(r"--to (\w+)", line)
    needs = NEEDS[targets.target(asked[1]).name] if asked and asked[1] in targets.NAMES else []
    return pytest.param(line, status, said, id=line[-60:], marks=skipped_without(*needs))


@needs_original
@pytest.mark.parametrize(("line", "status", "said"), [refused(*row) for row in WRONG])
def test_what_cannot_be_converted(
    line: str, status: int, said: str, place: Path, models: Path
) -> None:
    before = set(os.listdir(place))
    ended = kameleon("convert", *line.replace("{models}", str(models / "tensorflow")).split())
    assert (ended.status, ended.out) == (status, ""), ended.said
    assert said in ended.err and "Traceback" not in ended.err, ended.err
    assert set(os.listdir(place)) - {"__pycache__"} == before


def test_what_to_install_for_models(tmp_path: Path) -> None:
    source = tmp_path / "model.h5"
    source.write_bytes(b"\x89HDF\r\n\x1a\n")
    ended = run_without_original(["convert", str(source), "--to", "kameleon"], tmp_path)
    assert ended.returncode == 1
    assert ended.stderr == "kameleon convert: nowhere\n", ended.stderr


@needs_original
@skipped_without("onnx", "onnxruntime")
def test_what_predicts_otherwise_is_not_kept(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older file stays; the message names this command's option."""
    monkeypatch.setattr(verification, "TOLERANCES", {"float32": 1e-12})
    out = tmp_path / "made.onnx"
    out.write_bytes(b"older")
    ended = kameleon("convert", str(models / "tensorflow/mlp.h5"), "--to", "onnx", "-o", str(out))
    assert ended.status == 1 and "--no-check writes it all the same" in ended.err
    assert out.read_bytes() == b"older" and len(list(tmp_path.iterdir())) == 1
