"""Names that modules of Keras 2.0 to 2.2 had."""

from __future__ import annotations

from pathlib import Path

from _support.originals import assert_runs, needs_original

PROGRAM = """
import kameleon.as_keras
import numpy as np
from keras import backend as K, layers, models

# What was imported from where it lay.
from keras.applications.imagenet_utils import _obtain_input_shape
from keras.applications.mobilenet import DepthwiseConv2D, relu6
from keras.applications.mobilenetv2 import MobileNetV2
from keras.applications.vgg16 import WEIGHTS_PATH_NO_TOP, get_file
from keras.engine.topology import Container, load_weights_from_hdf5_group, to_list
from keras.engine.training import _make_batches, _slice_arrays
from keras.layers import Recurrent, Wrapper, activations
from keras.layers.recurrent import _time_distributed_dense
from keras.preprocessing.image import flip_axis, transform_matrix_offset_center
from keras.utils.training_utils import multi_gpu_model
import keras.applications.mobilenet_v2, keras.legacy.layers, keras.utils

assert DepthwiseConv2D is layers.DepthwiseConv2D
assert MobileNetV2 is keras.applications.mobilenet_v2.MobileNetV2
assert Recurrent is keras.legacy.layers.Recurrent
assert multi_gpu_model is keras.utils.multi_gpu_model
assert get_file is keras.utils.get_file and WEIGHTS_PATH_NO_TOP.endswith("h5")
assert activations.relu and issubclass(Wrapper, layers.Layer)
assert _make_batches(5, 2) == [(0, 2), (2, 4), (4, 5)]
for given in ({"include_top": False}, {"require_flatten": False}):
    shape = _obtain_input_shape(
        None, default_size=224, min_size=48, data_format="channels_last", **given
    )
    assert shape == (None, None, 3), shape
assert K.eval(relu6(K.constant([-1.0, 3.0, 7.0]))).tolist() == [0, 3, 6]
assert flip_axis(np.arange(3), 0).tolist() == [2, 1, 0]

x, w, b = np.arange(12.0).reshape(1, 3, 4), np.ones((4, 2)), np.array([1.0, -1.0])
found = _time_distributed_dense(K.constant(x), K.constant(w), K.constant(b), timesteps=3)
np.testing.assert_allclose(K.eval(found), x @ w + b)
alone = _time_distributed_dense(K.constant(x), K.constant(w), dropout=0.5)
np.testing.assert_allclose(K.eval(alone), x @ w)
trained = K.function([], [_time_distributed_dense(K.ones((1, 3, 4)), K.eye(4), None, 0.5,
                                                  training=1)])([])[0]
assert set(trained.ravel().tolist()) <= {0.0, 2.0}
np.testing.assert_array_equal(trained[:, 0], trained[:, 2])  # one dropout for all steps

inner = layers.Input((2,))
block = Container(inner, layers.Dense(3, kernel_initializer="ones")(inner))
outer = layers.Input((2,))
model = models.Model(outer, block(outer))
np.testing.assert_allclose(model.predict(np.ones((1, 2))), [[2.0, 2.0, 2.0]])

for module, name in ((layers, "nothing"), (keras.applications.vgg16, "_nothing")):
    try:
        getattr(module, name)
    except AttributeError as error:
        assert name in str(error)
    else:
        raise AssertionError(name)
"""


@needs_original
def test_older_names_are_those_of_today(tmp_path: Path) -> None:
    assert_runs(PROGRAM, tmp_path)
