"""ONNX files: checked, typed, with the program's names; their numbers, and what they train."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import engines_under_test
from _support.random_graphs import SMOOTH, STEPS, Recipe, Trial, around_a_loop, thrown

if "onnxruntime" not in engines_under_test():
    pytest.skip("needs the package onnxruntime", allow_module_level=True)

import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from kameleon import backend as K
from kameleon import call
from kameleon.backend.export import onnx_arrays
from kameleon.backend.export.onnx import NEWEST
from kameleon.backend.export.onnx_rules import PortableEngine
from kameleon.backend.interop.pure import Stateless
from kameleon.errors import ArgumentError, DTypeError, UnsupportedError
from kameleon.graph.gradients import gradients
from kameleon.graph.ir.leaves import input_node
from kameleon.graph.ir.node import REGISTRY
from kameleon.graph.ir.types import INT32, TensorType, as_dtype
from kameleon.graph.primitives import elementwise as ew
from kameleon.graph.primitives.reduce import reduce_sum
from kameleon.runtime.compiler import prepared
from kameleon.runtime.container import unpacked

from .networks import NETWORKS, OPTIMIZERS, mlp, normal
from .sweep import primitives, recorded, swept

Array = np.ndarray[Any, Any]


class Model:
    """A file, and a session that runs it.

    Attributes:
        proto: the model.
        state: what is fed beside the inputs, at first nothing.
    """

    def __init__(self, path: Path):
        self.proto = onnx.load(path, format="protobuf", load_external_data=False)
        onnx.checker.check_model(str(path), full_check=True)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        cpu = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(str(path), options, providers=cpu)
        told = self.session.get_modelmeta().custom_metadata_map
        self.inputs: list[str] = json.loads(told["kameleon.inputs"])
        self.updates: dict[str, str] = json.loads(told["kameleon.updates"])
        self.outputs = [x.name for x in self.proto.graph.output]
        self.state: dict[str, Any] = {}

    def __call__(self, *arrays: Any) -> dict[str, Array]:
        """Outputs by name; new values are fed the next time."""
        feed = dict(zip(self.inputs, arrays, strict=True)) | self.state
        found = dict(zip(self.outputs, self.session.run(None, feed), strict=True))
        self.state = {name: found[new] for name, new in self.updates.items()}
        return found

    def type_of(self, name: str) -> str:
        (x,) = (x for x in (*self.proto.graph.input, *self.proto.graph.output) if x.name == name)
        kind = x.type.tensor_type
        dims = ", ".join(d.dim_param or str(d.dim_value) for d in kind.shape.dim)
        return f"{onnx.TensorProto.DataType.Name(kind.elem_type)}[{dims}]"


@pytest.fixture
def exported(tmp_path: Path) -> Callable[..., Model]:
    """Writes a function without a process for verification, and opens the file."""

    def export(function: Any, **options: Any) -> Model:
        path = tmp_path / "model.onnx"
        function.export(path, verify=False, **options)
        return Model(path)

    return export


Exported = Callable[..., Model]

# Numbers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("primitive", primitives())
def test_primitives(primitive: str) -> None:
    assert swept("onnx", primitive) == recorded()["onnx"].get(primitive)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("network", NETWORKS)
def test_training_goes_on_where_values_are_fed_back(
    network: str, optimizer: str, exported: Exported
) -> None:
    step, given = NETWORKS[network](OPTIMIZERS[optimizer])
    model = exported(step)
    for count in (3, 2, 3):
        part = [x[:count] for x in given]
        want, got = step(part), model(*part)
        for name in want:
            np.testing.assert_allclose(got[name], want[name], rtol=2e-5, atol=1e-6)
    for variable, new in zip(step.compiled.program.updates, model.updates.values(), strict=True):
        value = K.get_value(variable[0])
        np.testing.assert_allclose(
            model.state[new.removesuffix("_new")], value, rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize("network", NETWORKS)
def test_files_are_verified(network: str, tmp_path: Path) -> None:
    step, _ = NETWORKS[network]()
    step.export(tmp_path / "step.onnx")
    Model(tmp_path / "step.onnx")


def test_the_reference_of_onnx_gives_the_same(tmp_path: Path) -> None:
    step, given = mlp(OPTIMIZERS["adam"])
    step.export(tmp_path / "step.onnx", verify=False)
    found = ReferenceEvaluator(str(tmp_path / "step.onnx")).run(
        ["loss", "w_new"], dict(zip(("x", "y"), given, strict=True))
    )
    loss = step(given)["loss"]
    np.testing.assert_allclose(found[0], loss, rtol=1e-5)
    (w,) = (v for v, _ in step.compiled.program.updates if v.name == "w:0")
    np.testing.assert_allclose(found[1], K.get_value(w), rtol=1e-4, atol=1e-6)


def test_random_streams_go_on(exported: Exported) -> None:
    x = K.placeholder((None, 4), name="x")
    f = K.function([x], [K.dropout(x, 0.5, seed=3), K.random_normal((2,), seed=4)])
    model = exported(f)
    assert model.updates == {"random_key": "random_key_new", "random_key_1": "random_key_1_new"}
    for _ in range(3):
        got = list(model(np.ones((3, 4), "float32")).values())
        for a, b in zip(got, f([np.ones((3, 4))]), strict=False):
            np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("rows", [(4, 4), (4, 1), (1, 4), (1, 1), (0, 1), (0, 0)])
def test_sizes_that_turn_out_to_be_one(rows: tuple[int, int], exported: Exported) -> None:
    x, y = (K.placeholder((None, 3), name=name) for name in "xy")
    product = K.sin(x) * y
    f = K.function(
        [x, y], [product, *K.gradients(K.sum(product), [x, y]), K.concatenate([x, y], 0)]
    )
    given = [normal(n, 3, seed=n) for n in rows]
    for got, want in zip(exported(f)(*given).values(), f(given), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def recipes(count: int, start: int = 0) -> Iterator[tuple[Recipe, bool]]:
    """Random graphs, and whether their gradients are asked for."""
    for seed in range(start, start + count):
        yield thrown(list(STEPS), 25, seed), False
        yield around_a_loop(seed), False
        yield thrown(list(SMOOTH), 12, seed), True


def check_random(recipe: Recipe, slopes: bool, exported: Exported, **options: Any) -> None:
    trial = Trial(recipe)
    outputs = trial.made[-4:]
    if slopes:
        last = next((x for x in reversed(outputs) if x.dtype.is_float), None)
        loss = None if last is None else reduce_sum(ew.sin(last), range(last.ndim))
        found = [] if loss is None else gradients(loss, trial.inputs)
        outputs = [g for g in found if g is not None]
    if outputs:
        f = K.function(trial.inputs, outputs)
        for got, want in zip(
            exported(f, **options)(*trial.feeds).values(), f(trial.feeds), strict=True
        ):
            scale = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("opset", [18, 21, 26])
def test_random_programs(opset: int, exported: Exported) -> None:
    for recipe, slopes in recipes(6, start=opset):
        check_random(recipe, slopes, exported, opset=opset)


@pytest.mark.nightly
def test_many_random_programs(exported: Exported) -> None:
    for recipe, slopes in recipes(150):
        check_random(recipe, slopes, exported)


# What a file says --------------------------------------------------------------------------------


def test_types_and_names(exported: Exported) -> None:
    step, _ = mlp()
    model = exported(step)
    assert [x.name for x in model.session.get_inputs()] == ["x", "y"]
    assert model.outputs == ["loss", "scores", "w_new", "u_new", "b_new"]
    assert model.updates == {"w": "w_new", "u": "u_new", "b": "b_new"}
    types = [model.type_of(name) for name in ("x", "y", "w", "scores", "loss", "u_new")]
    assert types == [
        "FLOAT[x_dim_0, 5]",
        "FLOAT[y_dim_0, 3]",
        "FLOAT[5, 8]",
        "FLOAT[x_dim_0, 3]",
        "FLOAT[]",
        "FLOAT[8, 3]",
    ]
    assert (model.proto.producer_name, model.proto.graph.name) == ("Kameleon", "K_function")
    assert {x.domain for x in model.proto.opset_import} == {""}
    lines = [line.name for line in model.proto.graph.node]
    assert len(set(lines)) == len(lines)


def test_variables_that_stay_are_no_inputs(exported: Exported) -> None:
    x, w = K.placeholder((None, 2), name="x"), K.variable(normal(2, 3), name="dense/kernel:1")
    model = exported(K.function([x], K.dot(x, w)))
    assert [x.name for x in model.proto.graph.input] == ["x"]
    assert [x.name for x in model.proto.graph.initializer] == ["dense_kernel_1"]


def test_names_that_clash_or_are_not_allowed(exported: Exported) -> None:
    a, b, c = (K.placeholder((2,), name=name) for name in ("v3", "v3/é", "3"))
    w = K.variable([1.0, 2.0], name="v3_1")
    f = K.function([a, b, c], {"v3": a + b, "x y": c * w, 5: K.exp(a)}, [(w, w + a)])
    model = exported(f)
    assert model.inputs == ["v3", "v3__", "_3"]
    assert model.outputs == ["v3_2", "x_y", "_5", "v3_1_new"]
    given = [normal(2, seed=n) for n in range(3)]
    for got, want in zip(model(*given).values(), f(given).values(), strict=False):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_names_inside_make_way(exported: Exported) -> None:
    """Values inside are called v0, v1 …, also in bodies; large constants, too."""
    inputs = [K.placeholder((3,), name=f"v{i}") for i in range(60)]
    total = sum(inputs[1:], inputs[0])
    looped = K.map_fn(lambda x: x * 2.0 + K.sum(total), total)
    large = K.sum(K.dot(K.expand_dims(total, 0), K.constant(normal(3, 1 << 17))))
    f = K.function(inputs[::-1], [total, looped, large])
    given = [normal(3, seed=n) for n in range(60)]
    for got, want in zip(exported(f)(*given).values(), f(given), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_the_learning_phase_has_its_default(exported: Exported) -> None:
    x = K.placeholder((2,), name="x")
    f = K.function([x, K.learning_phase()], [K.in_train_phase(x * 2.0, x)])
    model = exported(f)
    assert [x.name for x in model.session.get_inputs()] == ["x"]
    ones = np.ones(2, "float32")
    (found,) = model.session.run(None, {"x": ones})
    np.testing.assert_array_equal(found, ones)
    np.testing.assert_array_equal(next(iter(model(ones, np.array(1, "int32")).values())), ones * 2)


def test_inputs_without_defaults(tmp_path: Path) -> None:
    """As ONNX Runtime Web asks for it: what would be a default is in a file beside the model."""
    x, w = K.placeholder((None, 2), name="x"), K.variable(normal(2, 3), name="w")
    noisy = K.in_train_phase(K.dropout(x, 0.5, seed=1), x)
    loss = K.mean(K.square(K.dot(noisy, w)))
    updates = [K.update_sub(w, 0.1 * K.gradients(loss, [w])[0])]
    step = K.function([x, K.learning_phase()], {"loss": loss}, updates)
    given, path = normal(4, 2), tmp_path / "step.onnx"
    step.export(path, defaults=False, verify=[[given, 1], [given[:1], 0]])
    assert {y.name for y in tmp_path.iterdir()} == {"step.onnx", "step.onnx.safetensors"}
    model = Model(path)
    model.state, texts = unpacked((tmp_path / "step.onnx.safetensors").read_bytes())
    assert texts["kameleon.updates"] == json.dumps(model.updates)
    state = {"w", "random_key", "keras_learning_phase"}
    assert set(model.state) == state and not state & {y.name for y in model.proto.graph.initializer}
    assert {y.name for y in model.session.get_inputs()} == {"x", *state}
    phase = np.array(1, "int32")
    model.state.pop("keras_learning_phase")
    for _ in range(3):
        np.testing.assert_allclose(model(given, phase)["loss"], step([given, 1])["loss"], rtol=1e-5)
    step.export(path, verify=False)
    assert [y.name for y in tmp_path.iterdir()] == ["step.onnx"], "it goes with its model"


def test_kernels_of_older_versions() -> None:
    """The newest ONNX Runtime Web is older than 1.31: it has no `Where` for int8."""
    x = K.placeholder((None, 4, 4, 2), name="x")
    pooled = K.pool2d(x, (2, 2), strides=(2, 2), data_format="channels_last")
    step = K.function([x], K.gradients(K.sum(K.square(pooled)), [x]))
    graph = prepared(Stateless(step, "export").pure().graph, PortableEngine())
    chosen = [y.dtype for y in graph.nodes if y.primitive.name == "select"]
    assert chosen and "int8" not in chosen


DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str, exported: Exported) -> None:
    x, v = K.placeholder((None, 3), dtype=dtype, name="x"), K.variable([1, 0, 1], dtype=dtype)
    f = K.function([x], [x, K.concatenate([x, x]), K.expand_dims(v, 0)])
    given = np.array([[0, 1, 1], [1, 1, 0]], dtype)
    for got, want in zip(exported(f)(given).values(), f([given]), strict=True):
        assert got.dtype == want.dtype == dtype
        np.testing.assert_array_equal(got, want)


CONV = {"strides": (2, 2), "padding": "same"}
ODD: dict[str, Callable[[], tuple[Any, list[Any]]]] = {
    "an input as output": lambda: (K.function([x := K.placeholder((2,))], [x, x]), [[1.0, 2.0]]),
    "no inputs": lambda: (K.function([], [K.constant([1.0, 2.0])]), []),
    "updates alone": lambda: (K.function([], [], [(v := K.variable(1.0), v + 1.0)]), []),
    "a scalar": lambda: (K.function([x := K.placeholder(())], K.exp(x)), [0.5]),
    "nothing": lambda: (
        K.function([x := K.placeholder((0, 3))], [K.sum(x, 0), K.dot(x, K.ones((3, 2)))]),
        [np.zeros((0, 3))],
    ),
    "no images": lambda: (
        K.function([x := K.placeholder((0, 5, 5, 3))], K.conv2d(x, K.ones((3, 3, 3, 2)), **CONV)),
        [np.zeros((0, 5, 5, 3))],
    ),
    "a computed input": lambda: (K.function([x := K.exp(K.placeholder((2,)))], x + 1.0), [[1, 2]]),
    "a fixed input": lambda: (
        K.function([], [(x := K.placeholder((2,))) * 2.0], feed_dict={x: [1.0, 2.0]}),
        [],
    ),
    "sizes of values": lambda: (
        K.function([n := K.placeholder((), dtype="int32")], K.arange(0, n)),
        [4],
    ),
    "a loop": lambda: (
        K.function(
            [n := K.placeholder((), dtype="int32")],
            K.while_loop(
                lambda i, s: i < n, lambda i, s: (i + 1, s * 2.0), [K.constant(0), K.constant(1.0)]
            ),
        ),
        [5],
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_functions(case: str, exported: Exported) -> None:
    f, given = ODD[case]()
    nodes = f.compiled.inputs
    found = exported(f)(*(np.array(x, n.dtype) for x, n in zip(given, nodes, strict=True)))
    results = f(given)
    for got, want in zip(
        found.values(), results if isinstance(results, list) else [results], strict=False
    ):
        assert (got.shape, got.dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_allclose(got, want, rtol=1e-6)


# Versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [15, 17, 18, 20, 22, 24, 26, NEWEST])
def test_the_version_of_operators_is_the_one_asked_for(opset: int, exported: Exported) -> None:
    step, given = mlp()
    model = exported(step, opset=opset)
    assert [x.version for x in model.proto.opset_import] == [opset]
    assert model.proto.ir_version == onnx.helper.find_min_ir_version_for(model.proto.opset_import)
    np.testing.assert_allclose(model(*given)["loss"], step(given)["loss"], rtol=1e-5)


def test_the_default_is_an_old_one(exported: Exported) -> None:
    assert exported(mlp()[0]).proto.opset_import[0].version == 21
    assert exported(mlp()[0], ir_version=9).proto.ir_version == 9
    x = input_node(TensorType((2,), as_dtype("float32")))
    bits = K.function([x], [REGISTRY["bitcast"](x, dtype=INT32)])
    assert exported(bits).proto.opset_import[0].version == 26


def test_versions_that_cannot_be(tmp_path: Path) -> None:
    step, _ = mlp()
    for options in ({"opset": 12}, {"opset": 99}, {"opset": True}, {"ir_version": 3}):
        with pytest.raises(ArgumentError, match="it's a number from"):
            step.export(tmp_path / "f.onnx", **options)
    x = input_node(TensorType((2,), as_dtype("float32")))
    bits = K.function([x], [REGISTRY["bitcast"](x, dtype=INT32)])
    with pytest.raises(UnsupportedError, match=r"BitCast, which bitcast needs(.|\n)*test_onnx"):
        bits.export(tmp_path / "f.onnx", opset=21)
    with pytest.raises(UnsupportedError, match=r"for opset=13: (.|\n)*opset=21 holds"):
        step.export(tmp_path / "f.onnx", opset=13)
    assert not list(tmp_path.iterdir())


# What is refused ---------------------------------------------------------------------------------


def deep(levels: int) -> Any:
    """Loops within one another, each of which ends by a condition."""
    n = K.placeholder((), dtype="int32", name="n")

    def over(y: Any, left: int) -> Any:
        step = lambda i, s: (i + 1, over(s, left - 1))  # noqa: E731
        start = [K.constant(0), y]
        return K.while_loop(lambda i, s: i < n, step, start)[1] if left else y * 2.0

    return K.function([n], [over(K.constant(1.0), levels)])


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "labels": (
        lambda: K.function(
            [p := K.placeholder((None, 5, 4)), n := K.placeholder((None,), dtype="int32")],
            K.ctc_decode(p, n)[0],
        ),
        UnsupportedError,
        r"can't hold ctc_greedy: there is no such operator(.|\n)*test_onnx.py(.|\n)*safetensors",
    ),
    "Python": (
        lambda: K.function([p := K.placeholder((2,))], [call(lambda a: a * 2, p, "numpy", like=p)]),
        UnsupportedError,
        r"can't hold call: a model can't call Python(.|\n)*test_onnx.py",
    ),
    "Python in a loop": (
        lambda: K.function(
            [p := K.placeholder((3, 2))],
            [K.map_fn(lambda x: call(lambda a: a * 2, x, "numpy", like=x), p)],
        ),
        UnsupportedError,
        r"can't hold call: a model can't call Python",
    ),
    "bfloat16": (
        lambda: K.function([p := K.placeholder((2,), dtype="bfloat16")], [p * 2]),
        DTypeError,
        r"ONNX doesn't compute with bfloat16: .*K.cast",
    ),
    "nothing": (
        lambda: K.function([K.placeholder((2,))], []),
        ArgumentError,
        "no outputs and no updates",
    ),
    "depth": (lambda: deep(21), UnsupportedError, "more than 20 loops and conditions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_onnx_cannot_hold(case: str, tmp_path: Path) -> None:
    make, error, message = REFUSED[case]
    if case == "bfloat16":
        pytest.importorskip("ml_dtypes")
    path = tmp_path / "f.onnx"
    path.write_text("old", "utf-8")
    with pytest.raises(error, match=message):
        make().export(path)
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


# Arrays ------------------------------------------------------------------------------------------


def of_large_arrays() -> tuple[Any, Any, list[Array]]:
    """A function of a variable and two equal constants."""
    x, w = K.placeholder((None, 8), name="x"), K.variable(normal(8, 64), name="w")
    large = [K.constant(normal(8, 1 << 16)) for _ in range(2)]
    return K.function([x], [K.dot(x, w), *(K.sum(x @ c, 1) for c in large)]), w, [normal(3, 8)]


def test_equal_constants_are_kept_once(exported: Exported) -> None:
    f, _, given = of_large_arrays()
    model = exported(f)
    large = [x for x in model.proto.graph.initializer if x.dims[-1:] == [1 << 16]]
    assert len(large) == 1
    for got, want in zip(model(*given).values(), f(given), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


def test_large_arrays_lie_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_arrays, "LIMIT", 1 << 12)
    f, w, given = of_large_arrays()
    path, backup = tmp_path / "f.onnx", tmp_path / "f.onnx.00000000.backup"
    backup.touch()
    seen = []
    for value in (normal(8, 64), np.ones((8, 64)), np.ones((8, 64))):
        K.set_value(w, value)
        f.export(path)
        model = Model(path)
        for got, want in zip(model(*given).values(), f(given), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
        (data,) = tmp_path.glob("*.data")
        seen.append(data.name)
        assert {x.data_location for x in model.proto.graph.initializer if len(x.dims) == 2} == {1}
    assert seen[0] != seen[1] == seen[2]
    monkeypatch.undo()
    f.export(path)
    assert sorted(x.name for x in tmp_path.iterdir()) == ["f.onnx", backup.name]


def test_the_same_function_gives_the_same_file(tmp_path: Path) -> None:
    step, _ = mlp()
    for name in "ab":
        step.export(tmp_path / f"{name}.onnx", verify=False)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_paths_of_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    step, _ = mlp()
    for path in ("relative.onnx", b"bytes.onnx", "é ü.ONNX"):
        step.export(path)
    step.export("model.json", format="onnx")
    for found in tmp_path.iterdir():
        Model(found)


def test_a_stateless_function_is_left_as_it_is(tmp_path: Path) -> None:
    step, _ = mlp()
    before = Stateless(step, "test").values
    step.export(tmp_path / "f.onnx")
    for a, b in zip(Stateless(step, "test").values, before, strict=True):
        np.testing.assert_array_equal(a, b)
