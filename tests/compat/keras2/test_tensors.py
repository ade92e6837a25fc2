"""What programs ask of tensors, variables and dtypes while Keras runs on K."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
from _support.programs import run_code, write_small_keras

from kameleon.compat.keras2.hosted import shapes
from kameleon.compat.keras2.hosted.shapes import Dimension, TensorShape

ASKS = """
import kameleon.as_keras
import keras
import numpy as np
from keras import backend as K

x = K.placeholder((None, 2, 3))
assert x.get_shape().as_list() == x.shape.as_list() == [None, 2, 3]
assert x.shape[1].value == 2 and np.prod(x.shape[1:]).value == 6 and int(x.shape[2]) == 3
x.set_shape((4, None, 3))
assert x.get_shape().as_list() == [4, 2, 3]
try:
    x.set_shape((5, 2, 3))
except ValueError as error:
    assert "set_shape" in str(error), error
y = K.sum(x)
assert y.op.inputs and y.op.outputs == [y] and y.op.name == y.name.partition(":")[0]
assert x.op.type == "Placeholder"
ones = np.ones((4, 2, 3))
assert y.eval({x: ones}) == y.eval(K.get_session(), {x: ones}) == 24
v = K.variable(1.0)
K.get_session().run([v.assign_add(2.0), v.assign_sub(0.5)])
assert v.value().eval() == v.read_value().eval() == v.initialized_value().eval() == 2.5
v.load(7.0, K.get_session())
K.get_session().run(v.assign(K.get_value(v) + 1))
assert K.get_value(v) == 8
assert x.dtype.as_numpy_dtype is np.float32 and x.dtype.is_floating and x.dtype.size == 4
assert x.dtype.is_compatible_with("float32") and x.device == "" and x.graph is y.graph
try:
    x.numpy()
except AttributeError as error:
    assert "K.eval" in str(error)
"""


def test_programs_see_what_tensorflows_tensors_had(tmp_path: Path) -> None:
    settings = write_small_keras(tmp_path / "original") | {"KAMELEON_KERAS_ON": "kameleon"}
    done = run_code(ASKS, tmp_path, settings)
    assert done.returncode == 0, done.stderr


def test_the_examples_of_shapes() -> None:
    assert doctest.testmod(shapes) == (0, 4)


def test_sizes_that_are_unknown_stay_so() -> None:
    unknown = Dimension(None)
    assert (unknown * 2 + 1).value is (2 - unknown).value is (7 // unknown).value is None
    assert (unknown == 3) is (unknown != 3) is (unknown < 3) is None
    shape = TensorShape([None, 3])
    assert shape.merge_with((2, None)) == (2, 3) and shape.concatenate([4]).as_list() == [
        None,
        3,
        4,
    ]
    assert shape.num_elements() is None and not shape.is_fully_defined()
    assert TensorShape(None) == TensorShape(None) and not TensorShape(None)
    assert np.asarray(TensorShape([2, 3])).tolist() == [2, 3]
    assert str(TensorShape([None])) == "(?,)" and str(TensorShape(None)) == "<unknown>"
