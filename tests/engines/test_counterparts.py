"""Functions of TensorFlow and PyTorch on K tensors are K functions where these mean the same."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kameleon
from kameleon import backend as K
from kameleon.backend.counterparts import COUNTERPARTS
from kameleon.graph.ir.program import Graph
from kameleon.runtime import engines

GIVEN = {
    "x": np.array([[0.5, -1.0, 2.5], [1.5, 0.25, -0.75]], "float32"),
    "y": np.array([[0.3, 2.0, -1.5], [0.5, -0.25, 1.75]], "float32"),
    "p": np.array([[0.5, 1.0, 2.5], [1.5, 0.25, 0.75]], "float32"),
    "s": np.array([[1.5, -0.25, 0.75]], "float32"),
    "i": np.array([1, 0, 1, 1], "int32"),
    "long": np.array([1, 0, 1, 1], "int64"),
    "b": np.array([[True, False, True], [False, False, True]]),
    "c": np.array([[True, True, True], [False, True, False]]),
}
# By the name that the library gives the function: what a program writes.
CASES: dict[str, dict[str, str]] = {
    "tensorflow": {
        **{name: f"tf.math.{name}(x)" for name in "exp square tanh sin cos abs sign round".split()},
        **{name: f"tf.math.{name}(p)" for name in "log sqrt rsqrt sigmoid softplus".split()},
        **{name: f"tf.nn.{name}(x)" for name in "softsign relu elu relu6 leaky_relu".split()},
        "neg": "tf.negative(x)", "negative": "-tf.identity(x)",
        **{name: f"tf.math.{name}(x, y)" for name in "add subtract multiply divide".split()},
        "truediv": "tf.truediv(x, y)",
        **{name: f"tf.math.{name}(x, y)" for name in "maximum minimum squared_difference".split()},
        **{name: f"tf.math.{name}(x, x)" for name in "equal not_equal".split()},
        **{name: f"tf.math.{name}(x, y)" for name in "less less_equal greater".split()},
        "greater_equal": "tf.greater_equal(x, 0.25)", "pow": "tf.pow(p, 2.)",
        "softmax_v2": "tf.nn.softmax(x)", "log_softmax_v2": "tf.nn.log_softmax(x, axis=0)",
        **{f"reduce_{name}": f"tf.reduce_{name}(x, 1)" for name in "sum mean max min prod".split()},
        "reduce_std": "tf.math.reduce_std(x, axis=[0])",
        "reduce_variance": "tf.math.reduce_variance(x, 1, True)",
        "reduce_logsumexp": "tf.reduce_logsumexp(x, keepdims=True)",
        "argmax_v2": "tf.argmax(x, 1)", "argmin_v2": "tf.argmin(x, output_type=tf.int32)",
        "cumsum": "tf.cumsum(x, 1)", "cumprod": "tf.math.cumprod(x)",
        "matmul": "tf.matmul(x, tf.transpose(y))", "clip_by_value": "tf.clip_by_value(x, -0.5, 1.)",
        "where_v2": "tf.where(b, x, y)",
        "sigmoid_cross_entropy_with_logits":
            "tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=x)",
        "identity": "tf.identity(i)", "stop_gradient": "tf.stop_gradient(x)",
        "zeros_like_v2": "tf.zeros_like(i)", "ones_like_v2": "tf.ones_like(x)",
        "cast": "tf.cast(x, tf.int32)", "shape": "tf.shape(x)", "reshape": "tf.reshape(x, [3, -1])",
        "transpose": "tf.transpose(x, perm=[1, 0])", "expand_dims_v2": "tf.expand_dims(i, -1)",
        "squeeze": "tf.squeeze(s, 0)", "concat": "tf.concat([x, y], 1)",
        "stack": "tf.stack([x, y], axis=1)", "tile": "tf.tile(x, [1, 2])",
        "reverse_v2": "tf.reverse(x, [1])", "gather": "tf.gather(x, i)",
        "one_hot": "tf.one_hot(i, 3)", "logical_and": "tf.logical_and(b, c)",
        "logical_or": "tf.logical_or(b, c)", "logical_not": "tf.logical_not(b)",
        "reduce_any": "tf.reduce_any(b, 0)", "reduce_all": "tf.reduce_all(b, axis=1)",
    },
    "torch": {
        **{name: f"torch.{name}(x)" for name in "exp square tanh sin cos abs sign round".split()},
        "neg": "torch.neg(x)",
        **{name: f"torch.{name}(p)" for name in "log sqrt rsqrt sigmoid".split()},
        "negative": "torch.negative(x)", "softsign": "F.softsign(x)",
        **{name: f"F.{name}(x)" for name in "relu relu6 elu leaky_relu".split()},
        "softmax": "F.softmax(x, dim=-1)", "log_softmax": "torch.log_softmax(x, 0)",
        "sum": "torch.sum(x, 1, keepdim=True)", "mean": "torch.mean(x, dim=(0, 1))",
        "prod": "torch.prod(x, 1)", "amax": "torch.amax(x, 1)", "amin": "torch.amin(x, 0)",
        "logsumexp": "torch.logsumexp(x, 1)", "argmax": "torch.argmax(x, 1)",
        "argmin": "torch.argmin(x, dim=0)", "max": "torch.max(x)", "min": "torch.min(x)",
        "cumsum": "torch.cumsum(x, 1)", "cumprod": "torch.cumprod(x, dim=0)",
        "clamp": "torch.clamp(x, -0.5, 1.)", "matmul": "torch.matmul(x, torch.transpose(y, 0, 1))",
        "mm": "torch.mm(x, torch.permute(y, (1, 0)))", "add": "torch.add(x, 1.)",
        "sub": "torch.sub(x, y)", "mul": "torch.mul(x, y)", "div": "torch.div(x, y)",
        "pow": "torch.pow(x, 2)", "maximum": "torch.maximum(x, y)",
        "minimum": "torch.minimum(x, y)",
        **{name: f"torch.{name}(x, y)" for name in "eq ne lt le gt ge".split()},
        "where": "torch.where(b, x, y)", "zeros_like": "torch.zeros_like(x)",
        "ones_like": "torch.ones_like(long)", "cat": "torch.cat([x, y], 1)",
        "stack": "torch.stack([x, y])", "permute": "torch.permute(x, (1, 0))",
        "transpose": "torch.transpose(x, 0, -1)", "reshape": "torch.reshape(x, (3, 2))",
        "squeeze": "torch.squeeze(s, 0)", "unsqueeze": "torch.unsqueeze(x, 1)",
        "flip": "torch.flip(x, [0])", "tile": "torch.tile(x, (1, 2))",
        "logical_and": "torch.logical_and(b, c)", "logical_or": "torch.logical_or(b, c)",
    },
}  # fmt: skip
ALL = [(library, name) for library, cases in CASES.items() for name in cases]


def _names(library: str) -> dict[str, Any]:
    """What a program has imported; the test is skipped where the library isn't installed."""
    if not engines.runs_here(library):
        pytest.skip(f"{library} isn't installed")
    module = importlib.import_module(library)
    if library == "tensorflow":
        kameleon.extend_tensorflow()
        return {"tf": module}
    return {"torch": module, "F": importlib.import_module("torch.nn.functional")}


def _tensors() -> dict[str, Any]:
    return {name: K.placeholder(x.shape, dtype=x.dtype.name) for name, x in GIVEN.items()}


@pytest.mark.parametrize(("library", "name"), ALL)
def test_they_are_k_functions_and_mean_the_same(library: str, name: str) -> None:
    names, tensors, text = _names(library), _tensors(), CASES[library][name]
    module = next(iter(names.values()))
    arrays = module.as_tensor if library == "torch" else module.constant
    y = eval(text, {**names, **tensors})
    want = eval(text, {**names, **{n: arrays(x) for n, x in GIVEN.items()}}).numpy()
    nodes = Graph(list(tensors.values()), [y]).nodes
    assert not [n for n in nodes if n.primitive.name == "call"]
    assert (K.int_shape(y), str(y.dtype)) == (want.shape, str(want.dtype))
    got = K.function(list(tensors.values()), [y])(list(GIVEN.values()))[0]
    assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", CASES)
def test_every_row_has_its_case(library: str) -> None:
    assert {name for table in COUNTERPARTS[library] for name in table} == CASES[library].keys()


# Arguments that K hasn't, or that mean something else there.
OTHERS = {
    "tensorflow": (
        "tf.cumsum(x, reverse=True)", "tf.gather(x, [0, 2], axis=1)", "tf.reduce_mean(i)",
        "tf.where(b, x, 0.)", "tf.squeeze(s)", "tf.one_hot(i, 3, on_value=2., off_value=1.)",
        "tf.matmul(x, y, transpose_b=True)", "tf.constant(1.) + x", "tf.reduce_sum(i)",
        "tf.nn.relu(i)", "tf.transpose(x, conjugate=True)",
    ),
    "torch": (
        "torch.sum(i)", "torch.add(x, y, alpha=2)", "torch.div(x, y, rounding_mode='floor')",
        "torch.clamp(x, min=0.)", "torch.argmax(x)", "torch.argmax(x, 1, keepdim=True)",
        "torch.softmax(x, 1, dtype=torch.float64)", "torch.where(b, x, torch.ones(3))",
        "torch.squeeze(x, 0)", "torch.tile(x, (2,))", "torch.logical_and(x, b)",
        "torch.zeros_like(x, dtype=torch.int64)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("library", "text"), [(n, t) for n, texts in OTHERS.items() for t in texts]
)
def test_other_arguments_are_the_librarys(library: str, text: str) -> None:
    names, tensors = _names(library), _tensors()
    module = next(iter(names.values()))
    arrays = module.as_tensor if library == "torch" else module.constant
    y = eval(text, {**names, **tensors})
    want = eval(text, {**names, **{n: arrays(x) for n, x in GIVEN.items()}}).numpy()
    got = K.function(list(tensors.values()), [y])(list(GIVEN.values()))[0]
    assert got.dtype == want.dtype
    assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_tensorflows_names_of_results_are_kept() -> None:
    tf = _names("tensorflow")["tf"]
    x = K.placeholder((2, 3))
    assert tf.nn.relu(x, name="above").name.startswith("above")


def test_reductions_are_of_one_function_and_ranks_are_there_all_the_same() -> None:
    """TensorFlow's reductions ask for the rank first."""
    tf = _names("tensorflow")["tf"]
    x = K.placeholder((None, None))
    assert K.int_shape(tf.reduce_sum(x)) == () and K.int_shape(tf.rank(x)) == ()
    assert K.function([x], [tf.rank(x)])([GIVEN["x"]])[0] == 2


def test_functions_of_python() -> None:
    tf = _names("tensorflow")["tf"]
    x = K.placeholder((None, 3))
    y = tf.py_function(lambda a: a * a, [x], tf.float32)
    z, count = tf.numpy_function(lambda a: (a + 1, np.int64(a.size)), [x], [tf.float32, tf.int64])
    assert K.int_shape(y) == K.int_shape(z) == (None, None) and K.int_shape(count) == ()
    slope = K.gradients(K.sum(y), [x])[0]
    found = K.function([x], [y, z, count, slope])([GIVEN["x"]])
    for got, want in zip(found, (GIVEN["x"] ** 2, GIVEN["x"] + 1, 6, 2 * GIVEN["x"]), strict=True):
        assert_allclose(got, want)


def test_the_error_of_a_conversion_says_how_tensorflow_takes_tensors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tf, x = _names("tensorflow")["tf"], K.placeholder((2,))
    with pytest.raises(TypeError, match=r"make it an output of K\.function$"):
        np.asarray(x)
    monkeypatch.delattr(tf, "_kameleon_dispatcher")
    with pytest.raises(TypeError, match=r"take it after kameleon\.extend_tensorflow\(\)$"):
        np.asarray(x)
