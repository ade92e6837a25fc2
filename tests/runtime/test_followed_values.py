"""Values that libraries follow, given to compiled functions: an error says what to use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _support.common import run_python

from kameleon import backend as K
from kameleon.errors import FeedError

X = np.array([1.0, 2.0], "float32")


def squares(**options: Any) -> Any:
    x = K.placeholder((2,), name="followed")
    return K.function([x], [x * x, *K.gradients(K.sum(x * x), [x])], **options)


def test_tensors_that_pytorch_differentiates_by_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="the tensors are PyTorch's")
    f = squares(engine="torch", as_numpy=False)
    leaf = torch.tensor(X, requires_grad=True)
    for value in (leaf, leaf * 1, torch.nn.Parameter(torch.tensor(X))):
        with pytest.raises(
            FeedError, match=r"'followed\S*' has requires_grad=True.*to_torch.*K.gradients"
        ):
            f([value])
    with torch.no_grad():
        assert f([leaf])[0].tolist() == [1.0, 4.0]
    values, slopes = f([leaf.detach()])
    assert (values.tolist(), slopes.tolist()) == ([1.0, 4.0], [2.0, 4.0])


def test_arrays_remember_nothing_of_such_tensors(engine_name: str) -> None:
    torch = pytest.importorskip("torch", reason="the tensors are PyTorch's")
    leaf = torch.tensor(X, requires_grad=True)
    assert squares(engine=engine_name)([leaf])[1].tolist() == [2.0, 4.0]
    v = K.zeros((2,))
    K.set_value(v, leaf)
    assert K.get_value(v).tolist() == X.tolist()
    if engine_name != "torch":
        with pytest.raises(FeedError, match="has requires_grad=True"):
            squares(engine=engine_name, as_numpy=False)([leaf])


@pytest.mark.parametrize("engine", ["jax", "numpy"])
@pytest.mark.parametrize("as_numpy", [True, False])
def test_tracers_are_refused(engine: str, as_numpy: bool) -> None:
    jax = pytest.importorskip("jax", reason="the tracers are JAX's")
    f = squares(engine=engine, as_numpy=as_numpy)
    v = K.zeros((2,))
    for follow in (jax.jit, jax.grad, jax.vmap):
        with pytest.raises(FeedError, match=re.escape("kameleon.to_jax(function)")):
            follow(lambda x: f([x])[0].sum())(np.float32([[1, 2]]) if follow is jax.vmap else X)
    with pytest.raises(FeedError, match="is a tracer of JAX"):
        jax.jit(lambda x: K.set_value(v, x))(X)
    assert f([jax.numpy.asarray(X)])[0].tolist() == [1.0, 4.0]


def test_symbols_of_tensorflow_are_refused() -> None:
    tf = pytest.importorskip("tensorflow", reason="the tensors are TensorFlow's")
    f = squares(engine="tensorflow", as_numpy=False)
    with pytest.raises(FeedError, match=r"a symbolic tensor of TensorFlow.*\.to_tensorflow"):
        tf.function(lambda x: f([x])[0], autograph=False)(X)
    assert f([tf.constant(X)])[0].numpy().tolist() == [1.0, 4.0]


def test_symbols_of_keras_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow", reason="Keras 3 comes with TensorFlow")
    program = """
import warnings
warnings.simplefilter('ignore')
from kameleon import backend as K
x = K.placeholder((None, 2))
f = K.function([x], [x * x], engine='numpy')
import keras
f([keras.Input((2,))])
"""
    done = run_python(program, tmp_path, {"KERAS_BACKEND": "tensorflow"})
    assert "a symbolic tensor of Keras 3" in done.stderr and "kameleon.to_keras3" in done.stderr
