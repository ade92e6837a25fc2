"""The original Keras hosted on one engine: programs that a process of their own runs.

    python hosted.py numpy          # prints JSON: for each program nothing, or how it failed
    python hosted.py numpy NAME …   # runs these alone

Each program is a function that checks what it finds. They share the process, as the import of
Keras and of an engine takes seconds.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[], None]] = {}
BEFORE: dict[str, Any] = {}  # what the libraries were before Keras was imported


def program(function: Callable[[], None]) -> Callable[[], None]:
    """Let the process run the function as a program."""
    PROGRAMS[function.__name__] = function
    return function


# Training -----------------------------------------------------------------------------------


def learns(model: Any, x: Any, y: Any, loss: str = "mse", **options: Any) -> None:
    """The loss after training is less than before, and predictions repeat."""
    from keras.optimizers import Adam

    model.compile(Adam(0.01), loss, metrics=["mae"])
    before = model.evaluate(x, y, verbose=0)
    history = model.fit(x, y, epochs=4, batch_size=8, verbose=0, **options).history
    after = model.evaluate(x, y, verbose=0)
    assert after[0] < before[0], (before, after)
    assert len(history["loss"]) == 4
    np.testing.assert_array_equal(model.predict(x), model.predict(x))
    mae = np.abs(model.predict(x) - y).mean()
    np.testing.assert_allclose(after[1], mae, rtol=1e-4)


def small() -> tuple[Any, np.ndarray, np.ndarray]:
    """A compiled model of two layers, and data for it."""
    from keras.layers import Dense
    from keras.models import Sequential

    draw = np.random.RandomState(1)
    model = Sequential([Dense(4, activation="tanh", input_shape=(3,)), Dense(1)])
    model.compile("adam", "mse")
    return model, draw.rand(16, 3), draw.rand(16, 1)


@program
def dense_layers() -> None:
    from keras.layers import BatchNormalization, Dense, Dropout
    from keras.models import Sequential

    draw = np.random.RandomState(0)
    x = draw.rand(32, 5)
    layers = [Dense(8, activation="relu", input_shape=(5,)), BatchNormalization(), Dropout(0.1)]
    learns(Sequential([*layers, Dense(1)]), x, x.sum(1, keepdims=True))


@program
def convolutions() -> None:
    from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
    from keras.models import Sequential

    x = np.random.RandomState(0).rand(16, 8, 8, 2)
    layers = [Conv2D(4, 3, activation="relu", input_shape=(8, 8, 2)), MaxPooling2D(), Flatten()]
    learns(Sequential([*layers, Dense(1)]), x, 3.0 + x.mean((1, 2, 3))[:, None])


@program
def recurrent_layers() -> None:
    from keras.layers import GRU, LSTM, Dense, Embedding
    from keras.models import Sequential

    x = np.random.RandomState(0).randint(0, 9, (16, 6))
    layers = [Embedding(9, 4, mask_zero=True), LSTM(5, return_sequences=True), GRU(4), Dense(1)]
    learns(Sequential(layers), x, 2.0 + (x[:, :1] > 4), validation_split=0.25)


@program
def callbacks() -> None:
    from keras.callbacks import EarlyStopping, LambdaCallback, ModelCheckpoint, ReduceLROnPlateau

    model, x, y = small()
    seen: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "best.h5")
        model.fit(
            x, y, epochs=5, verbose=0, validation_data=(x, y), validation_freq=[1, 3, 4, 5],
            callbacks=[
                ModelCheckpoint(path, save_best_only=True, monitor="loss"),
                EarlyStopping("loss", min_delta=1e9, patience=2),
                ReduceLROnPlateau("loss", min_delta=1e9, patience=1, factor=0.5),
                LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch)),
            ],
        )  # fmt: skip
        assert os.path.exists(path)
    assert seen == [0, 1, 2], seen


@program
def outputs_by_name() -> None:
    from keras.layers import Dense, Input
    from keras.models import Model

    x = Input((3,))
    model = Model(x, [Dense(1, name="a")(x), Dense(2, name="b")(x)])
    model.compile(
        "sgd",
        loss={"a": "mse", "b": "mae"},
        loss_weights={"a": 1.0, "b": 0.5},
        metrics={"b": "mse"},
    )
    found = model.train_on_batch(np.ones((4, 3)), {"a": np.ones((4, 1)), "b": np.ones((4, 2))})
    assert model.metrics_names == ["loss", "a_loss", "b_loss", "b_mse"]
    np.testing.assert_allclose(found[0], found[1] + 0.5 * found[2], rtol=1e-5)


# What's kept in files -----------------------------------------------------------------------


@program
def files() -> None:
    import h5py
    from keras.models import load_model, model_from_json, model_from_yaml

    model, x, y = small()
    model.fit(x, y, verbose=0)
    expected = model.predict(x)
    with tempfile.TemporaryDirectory() as folder:
        whole, weights = (os.path.join(folder, name) for name in ("model.h5", "weights.h5"))
        model.save(whole)
        loaded = load_model(whole)
        np.testing.assert_array_equal(loaded.predict(x), expected)
        for mine, theirs in zip(loaded.optimizer.weights, model.optimizer.weights, strict=True):
            from keras import backend as K

            np.testing.assert_array_equal(K.get_value(mine), K.get_value(theirs))
        with h5py.File(whole, "r") as file:  # the program's own
            np.testing.assert_array_equal(load_model(file).predict(x), expected)
            assert isinstance(file.attrs["keras_version"], str)  # as h5py 3 has it
            assert type(file["model_weights"]) is h5py.Group
        model.save_weights(weights)
        for again in (model_from_json(model.to_json()), model_from_yaml(model.to_yaml())):
            again.load_weights(weights)
            np.testing.assert_array_equal(again.predict(x), expected)
        again.load_weights(weights, by_name=True)
        with h5py.File(os.path.join(folder, "own.h5"), "w") as file:
            model.save(file.create_group("inside"))
            np.testing.assert_array_equal(load_model(file["inside"]).predict(x), expected)


@program
def files_under_bad_names() -> None:
    from keras.models import load_model

    from kameleon.errors import FileFormatError

    model, *_ = small()
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.save(f"{folder}/m.keras")
            model.save_weights(f"{folder}/w.keras")
            model.save(f"{folder}/m.h5")
        told = [w for w in caught if "Keras 3" in str(w.message)]
        assert [w.filename for w in told] == [__file__, __file__], told
        assert str(told[0].message).endswith(f"name it {folder}/m.h5")
        refused = {
            "": (ValueError, "save: the path is empty; name a file"),
            folder: (OSError, f"save: {folder} is a folder"),
            f"{folder}/new/": (OSError, "is the path of a folder; name a file"),
            f"{folder}/new/m.h5": (FileNotFoundError, f"no folder {folder}/new; make it first"),
        }
        for path, (kind, message) in refused.items():
            for save in (model.save, model.save_weights):
                try:
                    save(path)
                except kind as error:
                    assert message in str(error), error
                else:
                    raise AssertionError(path)
        whole = Path(folder, "m.h5").read_bytes()
        contents = {
            "cut": whole[:-1],
            "half": whole[: len(whole) // 2],
            "text": b"no",
            "empty": b"",
        }
        for name, content in contents.items():
            path = Path(folder, f"{name}.h5")
            path.write_bytes(content)
            for load in (load_model, model.load_weights):
                try:
                    load(str(path))
                except FileFormatError as error:
                    assert isinstance(error, OSError)  # which programs expect
                    assert str(error).startswith(f"{path} isn't an HDF5 file, or it's damaged")
                else:
                    raise AssertionError(path)


@program
def attributes_are_written_as_h5py_2_did() -> None:
    import h5py

    model, *_ = small()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.h5")
        model.save(path)
        with h5py.File(path, "r") as file:
            names = file["model_weights"].attrs["layer_names"]
            assert names.dtype.kind == "S", names
            assert names.tolist() == [layer.name.encode() for layer in model.layers]


@program
def more_names_than_fit_one_attribute() -> None:
    from keras.layers import Dense
    from keras.models import Sequential, load_model

    long = [Dense(1, input_shape=(1,), name=f"{i}{'x' * 6000}") for i in range(12)]
    model = Sequential(long)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.h5")
        model.save_weights(path)
        model.load_weights(path)
        model.save(path)
        assert load_model(path).get_config()["name"] == model.name


@program
def pickles() -> None:
    import pickle

    model, x, _ = small()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


@program
def a_model_in_memory() -> None:
    import io

    from keras.engine.saving import load_model, save_model
    from keras.utils.io_utils import load_from_binary_h5py, save_to_binary_h5py

    model, x, _ = small()
    stream = io.BytesIO()
    save_to_binary_h5py(lambda file: save_model(model, file), stream)
    stream.seek(0)
    again = load_from_binary_h5py(load_model, stream)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


@program
def texts_of_later_versions() -> None:
    import h5py
    from keras.models import load_model

    model, x, _ = small()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.h5")
        model.save(path)
        with h5py.File(path, "a") as file:
            for group in (file, file["model_weights"]):
                for name in ("keras_version", "backend"):
                    group.attrs[name] = "2.2.4-tf" if name == "keras_version" else "tensorflow"
        np.testing.assert_array_equal(load_model(path).predict(x), model.predict(x))


@program
def hdf5_matrices() -> None:
    import h5py
    from keras.utils import HDF5Matrix

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.h5")
        with h5py.File(path, "w") as file:
            file["x"] = np.arange(12.0).reshape(4, 3)
        matrix = HDF5Matrix(path, "x", 1, 3)
        assert matrix.shape == (2, 3)
        np.testing.assert_array_equal(matrix[0:2], np.arange(3.0, 9.0).reshape(2, 3))
        matrix.refs.pop(path).close()


@program
def dictionaries_in_files() -> None:
    from keras.utils.io_utils import H5Dict

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "d.h5")
        written = H5Dict(path, mode="w")
        written["bytes"], written["text"], written["names"] = b"abcd", "abcd", ["a", "bc"]
        written["group"]["array"] = np.arange(3)
        written.close()
        read = H5Dict(path, mode="r")
        assert (read["bytes"], read["text"], read["names"]) == (b"abcd", "abcd", [b"a", b"bc"])
        assert type(read["group"]) is H5Dict
        np.testing.assert_array_equal(read["group"]["array"], [0, 1, 2])
        read.close()


# What else of Keras meets today's libraries ---------------------------------------------------


@program
def sequences() -> None:
    from keras.preprocessing.sequence import pad_sequences

    np.testing.assert_array_equal(pad_sequences([[1], [2, 3]], maxlen=2), [[0, 1], [2, 3]])
    padded = pad_sequences([["a"], ["b", "c"]], maxlen=2, dtype=object, value="-")
    assert padded.tolist() == [["-", "a"], ["b", "c"]]


@program
def pairs_of_words() -> None:
    from keras.preprocessing.sequence import skipgrams

    couples, labels = skipgrams([1, 2, 3], vocabulary_size=4, window_size=1, seed=1)
    assert len(couples) == len(labels) == 8
    skipgrams([1, 2, 3], vocabulary_size=4)


@program
def pictures() -> None:
    from keras.preprocessing.image import ImageDataGenerator

    made = ImageDataGenerator(rotation_range=20, width_shift_range=0.1, zoom_range=0.2, rescale=0.5)
    x = np.random.RandomState(0).rand(4, 8, 8, 3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = next(made.flow(x, np.arange(4), batch_size=4))
    assert (found[0].shape, found[1].shape) == ((4, 8, 8, 3), (4,))
    assert not told
    from keras.preprocessing.image import NumpyArrayIterator
    from keras.utils import Sequence

    bases = {base.__module__.partition(".")[0] for base in NumpyArrayIterator.__mro__}
    assert bases <= {"keras", "keras_preprocessing", "builtins"}, bases
    assert issubclass(NumpyArrayIterator, Sequence)


@program
def signatures() -> None:
    from keras.utils.generic_utils import getargspec, has_arg

    def function(a: Any, b: int = 1, *c: Any, **d: Any) -> None: ...

    found = getargspec(function)
    assert found == (["a", "b"], "c", "d", (1,)), found
    assert has_arg(function, "b")


@program
def reviews_of_unequal_lengths() -> None:
    from keras.datasets import imdb, reuters

    rows = np.empty(6, dtype=object)
    rows[:] = [[1, 2, 3], [4, 5], [6], [7, 8, 9, 9], [1], [2, 2]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "reviews.npz")
        labels = np.arange(6) % 2
        np.savez(path, x=rows, y=labels, x_train=rows, y_train=labels, x_test=rows, y_test=labels)
        for module in (imdb, reuters):
            module.get_file = lambda *args, **kwargs: path
            (x, y), (other, _) = module.load_data(num_words=8)
            assert x.dtype == other.dtype == object
            assert isinstance(x[0], list)
            assert y.shape == x.shape


@program
def the_original_of_numpys_backend() -> None:
    from keras.backend import numpy_backend

    assert numpy_backend.np.int is int
    gone = ["int", "Inf", "unicode_", "string_"]
    for name in gone:
        assert not hasattr(np, name), name


@program
def shapes_of_lambdas() -> None:
    from keras import backend as K
    from keras.layers import Dense, Embedding, Input, Lambda
    from keras.models import Model

    x, ids, z = Input((3,)), Input((5,), dtype="int32"), Input((7, 2))
    assert K.int_shape(Lambda(lambda t: K.concatenate([t, -t]))(x)) == (None, 6)
    assert K.int_shape(Lambda(lambda t: K.one_hot(t, 4))(ids)) == (None, 5, 4)
    assert K.int_shape(Lambda(lambda ts: K.sum(ts[1], axis=1))([x, z])) == (None, 2)
    parts = Lambda(lambda t: [t[:, :1], t[:, 1:]])(x)
    assert [K.int_shape(part) for part in parts] == [(None, 1), (None, 2)]
    shaped = Lambda(lambda t: K.sum(t, 1), output_shape=(2,))(z)
    assert shaped._keras_shape == (None, 2)
    whole = Lambda(lambda t: t + 1.0)(Input(batch_shape=(4, 3)))
    assert K.int_shape(whole) == (4, 3)
    masks: list[Any] = []

    def masked(t: Any, mask: Any = None) -> Any:
        masks.append(mask)
        return t * K.expand_dims(K.cast(mask, K.floatx())) if mask is not None else t

    embedded = Embedding(9, 2, mask_zero=True)(ids)
    model = Model(ids, Lambda(masked, mask=lambda inputs, mask: None)(embedded))
    assert any(mask is not None for mask in masks)
    assert not model.predict(np.zeros((1, 5)))[0].any()
    assert Model(x, Dense(2)(parts[1])).predict(np.ones((3, 3))).shape == (3, 2)


# Files hold the lambda's code alone; where it's loaded, names are those of Keras's own module.
_doubled = lambda t, by: K.concatenate([t, t * by])  # type: ignore[name-defined] # noqa: E731, F821


@program
def lambdas_in_files() -> None:
    from keras.layers import Lambda
    from keras.models import Sequential

    layer = Lambda(_doubled, input_shape=(2,), arguments={"by": 2.0})
    model = Sequential([layer])
    again = Sequential.from_config(model.get_config())
    assert again.output_shape == model.output_shape == (None, 4)
    np.testing.assert_array_equal(again.predict(np.ones((1, 2))), [[1, 1, 2, 2]])


@program
def layers_of_cudnn() -> None:
    from keras.engine import saving
    from keras.layers import GRU, LSTM, Bidirectional, CuDNNGRU, CuDNNLSTM, Input
    from keras.models import Model, model_from_json

    draw = np.random.RandomState(0)
    x, inputs = draw.rand(2, 5, 3), Input((5, 3))
    pairs: Any = (
        (CuDNNLSTM(4, "he_normal"), LSTM(4, recurrent_activation="sigmoid"), 4),
        (CuDNNGRU(4), GRU(4, recurrent_activation="sigmoid", reset_after=True), 3),
    )
    for theirs, same, gates in pairs:
        one, other = Model(inputs, theirs(inputs)), Model(inputs, same(inputs))
        stored = [draw.rand(n, 4 * gates) for n in (3, 4)] + [draw.rand(2 * 4 * gates)]
        for layer in (theirs, same):
            layer.set_weights(saving.preprocess_weights_for_loading(layer, list(stored)))
        np.testing.assert_array_equal(one.predict(x), other.predict(x))
        again = model_from_json(one.to_json())
        again.set_weights(one.get_weights())
        np.testing.assert_array_equal(one.predict(x), again.predict(x))
    assert pairs[0][0].kernel_initializer.mode == "fan_in"  # the second argument
    assert Model(inputs, Bidirectional(CuDNNLSTM(2))(inputs)).predict(x).shape == (2, 4)


# `lambda x: x * 2` as Keras stores it on Python 3.7.
OF_PYTHON_37 = """
4wEAAAAAAAAAAQAAAAIAAABDAAAAcwgAAAB8AGQBFABTACkCTukCAAAAqQApAdoBeHICAAAAcgIAAADaCDxzdHJpbmc+2gg8
bGFtYmRhPgMAAADzAAAAAA==
"""


@program
def a_lambda_of_another_python() -> None:
    from keras.layers import Lambda

    layer = {"function": [OF_PYTHON_37, None, None], "function_type": "lambda", "module": "m"}
    layer |= {"output_shape": None, "output_shape_type": "raw", "arguments": {}}
    try:
        Lambda.from_config(layer)
    except ValueError as error:
        assert "model.load_weights(path)" in str(error), error
    else:
        raise AssertionError("the code of another Python was loaded")


@program
def wrappers_for_scikit_learn() -> None:
    from keras.layers import Dense
    from keras.models import Sequential
    from keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor
    from sklearn.base import is_classifier, is_regressor
    from sklearn.model_selection import GridSearchCV

    def made(units: int = 4) -> Any:
        model = Sequential([Dense(units, activation="tanh", input_dim=3), Dense(2)])
        model.add(Dense(2, activation="softmax"))
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        return model

    x = np.random.RandomState(0).rand(40, 3)
    classifier = KerasClassifier(made, epochs=2, verbose=0)
    assert is_classifier(classifier) and is_regressor(KerasRegressor(made))
    search = GridSearchCV(classifier, {"units": [2, 5]}, cv=2).fit(x, (x[:, 0] > 0.5).astype(int))
    assert search.best_params_["units"] in (2, 5) and 0 <= search.best_score_ <= 1


# The backend as Keras and programs see it -----------------------------------------------------


@program
def settings_are_shared() -> None:
    from keras import backend as K

    from kameleon import backend as ours

    try:
        K.set_floatx("float64")
        K.set_epsilon(1e-3)
        K.set_image_data_format("channels_first")
        found = ours.floatx(), ours.epsilon(), ours.image_data_format(), ours.image_dim_ordering()
        assert found == ("float64", 1e-3, "channels_first", "th")
        assert K.dtype(K.variable(1.0)) == K.dtype(K.zeros((2,))) == "float64"
        assert K.cast_to_floatx(1).dtype == "float64"
        ours.set_floatx("float16")
        ours.set_epsilon(1e-4)
        ours.set_image_data_format("channels_last")
        assert (K.floatx(), K.epsilon(), K.image_data_format()) == (
            "float16",
            1e-4,
            "channels_last",
        )
        K.set_image_dim_ordering("th")
        assert K.image_data_format() == "channels_first"
        assert K.image_dim_ordering() == "th"
        assert (K._FLOATX, K.common._FLOATX) == ("float16", "float16")
    finally:
        K.set_floatx("float32")
        K.set_epsilon(1e-7)
        K.set_image_data_format("channels_last")


@program
def sessions() -> None:
    from keras import backend as K
    from keras.backend.tensorflow_backend import get_session, set_session

    x = K.placeholder((2,))
    y = x * 2.0
    np.testing.assert_array_equal(K.get_session().run(y, feed_dict={x: [1.0, 2.0]}), [2.0, 4.0])
    first, second = K.get_session().run([y, K.sum(y)], {x: [1.0, 2.0]})
    assert (first.tolist(), float(second)) == ([2.0, 4.0], 6.0)
    set_session(get_session())
    assert get_session() is K.get_session()
    K.manual_variable_initialization(False)


@program
def a_cleared_session() -> None:
    from keras import backend as K

    K.set_learning_phase(1)
    first = small()[0].layers[0].name
    assert K.learning_phase() == 1
    K.clear_session()
    assert not isinstance(K.learning_phase(), int)
    assert small()[0].layers[0].name == "dense_1", first
    model, x, y = small()
    model.fit(x, y, verbose=0)


@program
def names_that_keras_doesnt_hand_on() -> None:
    import keras.backend.tensorflow_backend as KTF
    from keras import backend as K
    from keras.backend import clear_session, get_session  # noqa: F401
    from keras.backend import tensorflow_backend as again

    assert again is KTF
    assert KTF.floatx is K.floatx
    assert KTF.relu is K.relu
    assert K.tensorflow_backend._get_available_gpus() == []
    assert K._BACKEND == K.backend() == "kameleon.backend"
    assert K.py_sum([1, 2]) == 3
    assert not hasattr(K, "no_such_name")
    assert not hasattr(K, "losses")  # a module of ours isn't a name of theirs
    for name, advice in (("C", "CNTK"), ("tf", "tensorflow install"), ("ctc", None)):
        try:
            found = getattr(K, name)
        except AttributeError as error:
            assert advice and advice in str(error), error
        else:
            assert advice is None
            try:
                found.ctc_beam_search_decoder  # noqa: B018
            except AttributeError as error:
                assert "K.ctc_decode" in str(error)
            else:
                raise AssertionError("no decoder of TensorFlow's is there")


@program
def tensors_as_keras_uses_them() -> None:
    from keras import backend as K

    x, v = K.ones((2, 3)) * 2.0, K.variable(np.ones(3), name="kernel")
    for name in ("_keras_shape", "_keras_history"):
        assert not hasattr(x, name)
        setattr(x, name, ())
    for name in ("_uses_learning_phase", "_metric_obj", "_is_metric"):
        setattr(x, name, True)
    for name in ("_tracked", "trainable", "constraint"):
        setattr(v, name, None)
    assert v.name == "kernel:0"
    assert v.dtype == "float32"
    assert f"{v.dtype}" == "float32"
    assert list(x.shape) == [2, 3]
    assert x in [v, x]
    assert len({x, v, x}) == 2
    assert (x == v) is False
    assert K.is_tensor(np.ones((2, 3)) * x)
    assert K.int_shape(x[..., :1]) == (2, 1)
    assert [K.is_variable(a) for a in (v, x, None, 1, "v", np.ones(2), object, K)] == [True] + [
        False
    ] * 7
    assert K.eval(K.size(K.zeros((4, 5)))) == 20
    with K.name_scope("outer") as scope, K.name_scope("inner"):
        assert scope == "outer/"
        assert K.variable(1.0, name="w").name == "outer/inner/w:0"
    counter = K.variable(0.0)
    with K.control_dependencies([K.update_add(counter, 1.0)]):
        after = counter + 10.0
    assert K.function([], [after])([])[0] == 11.0
    assert K.get_value(counter) == 1.0


@program
def metrics_show_what_updates_left() -> None:
    from keras import metrics

    model, x, y = small()
    metric = metrics.MeanAbsoluteError()
    model.compile("sgd", "mse", metrics=[metric])
    _, found = model.evaluate(x, y, verbose=0, batch_size=5)
    np.testing.assert_allclose(found, np.abs(model.predict(x) - y).mean(), rtol=1e-5)


@program
def the_learning_phase_is_fed() -> None:
    from keras import backend as K
    from keras.layers import Dropout, Input

    x = Input((200,))
    y = Dropout(0.5)(x)
    f = K.function([x, K.learning_phase()], [y])
    ones = np.ones((1, 200), "float32")
    np.testing.assert_array_equal(f([ones, 0])[0], ones)
    assert (f([ones, 1.0])[0] == 0).any()


# Interrupts -----------------------------------------------------------------------------------


def _state(model: Any) -> list[np.ndarray]:
    return [*model.get_weights(), *model.optimizer.get_weights()]


@program
def fit_is_atomic_under_interrupts() -> None:
    """Whatever is raised in `fit`, the model is one that an undisturbed twin was, too."""
    sys.path.append(str(Path(__file__).parents[2]))
    from _support.interrupts import Strikes

    (model, x, y), (twin, _, _) = small(), small()
    twin.set_weights(model.get_weights())
    for each in (model, twin):
        each.fit(x, y, epochs=1, batch_size=len(x), shuffle=False, verbose=0)
    reached, strikes = [_state(twin)], Strikes()  # by number of steps, from the first on

    def fit() -> None:
        done = strikes.count
        while strikes.count == done:
            model.fit(x, y, epochs=50, batch_size=len(x), shuffle=False, verbose=0)

    wanted = int(os.environ.get("STRIKES", "80"))
    with strikes.listening():
        while strikes.count < wanted:
            strikes.hit(fit, 0.02)
            found = _state(model)
            step = int(model.optimizer.get_weights()[0])
            while len(reached) < step:
                twin.fit(x, y, epochs=1, batch_size=len(x), shuffle=False, verbose=0)
                reached.append(_state(twin))
            for a, b in zip(found, reached[step - 1], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=f"step {step}")


# What stays as it is ----------------------------------------------------------------------------

LIBRARIES = """numpy collections collections.abc inspect builtins
    h5py h5py._hl.files h5py._hl.group h5py._hl.attrs""".split()
CLASSES = ("File", "Group", "AttributeManager", "Dataset")


def state_of_libraries() -> dict[str, Any]:
    """The names of the libraries that Keras uses, and what they hold."""
    import h5py

    found: dict[str, Any] = {}
    for name in LIBRARIES:
        module = vars(importlib.import_module(name))
        found[name] = {k: v for k, v in module.items() if k not in ("__warningregistry__", "_")}
    for name in CLASSES:
        found[f"h5py.{name}"] = dict(vars(getattr(h5py, name)))
    return found


@program
def libraries_are_untouched() -> None:
    from kameleon.compat.keras2 import shims

    for shim in shims.SHIMS:
        importlib.import_module(shim.module)
    after = state_of_libraries()
    for name, held in BEFORE.items():
        lost = {k for k, v in held.items() if k not in after[name] or after[name][k] is not v}
        assert not lost, (name, lost)
        # Submodules that somebody imports become attributes of their package.
        new = {k for k in after[name].keys() - held.keys() if not inspect.ismodule(after[name][k])}
        new = {k for k in new if not k.startswith("__pybind11")}  # an engine's own doing
        assert not new, (name, new)
    assert not hasattr(np, "int")


@program
def keras_alone_sees_stand_ins() -> None:
    from kameleon.compat.keras2 import shims

    found = {
        (name, value.__name__)
        for name, module in list(sys.modules.items())
        for value in list(vars(module).values())
        if type(value) is shims.StandIn
    }
    assert {name.partition(".")[0] for name, _ in found} <= {"keras", "keras_preprocessing"}, found
    assert {("keras.utils.io_utils", "h5py"), ("keras.callbacks.callbacks", "numpy")} <= found


@program
def sources_are_found() -> None:
    from keras.callbacks import callbacks

    assert "class EarlyStopping" in inspect.getsource(callbacks)
    assert type(callbacks.__loader__).__name__ == "SourceFileLoader"
    assert callbacks.__spec__.loader is callbacks.__loader__


@program
def no_other_keras_is_mixed_in() -> None:
    import keras

    home = Path(keras.__file__).parent
    assert keras.__version__ == "2.3.1"
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "keras" and getattr(module, "__file__", None):
            assert Path(module.__file__).is_relative_to(home), name
    if sys.argv[1] != "tensorflow":  # saving would load it
        assert "tensorflow" not in sys.modules
    assert not [name for name in sys.modules if name.startswith("keras.src")]


@program
def what_is_left_behind() -> None:
    home = Path(os.environ["KERAS_HOME"])
    assert [path.name for path in home.iterdir()] == ["keras.json"]
    left = json.loads((home / "keras.json").read_text())
    assert left.pop("backend", "tensorflow") == "tensorflow"
    assert left == {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def main() -> None:
    """Run all programs; print how they went."""
    from kameleon.compat.keras2 import location
    from kameleon.config import ENGINES

    if sys.argv[1] != "tensorflow":  # which would look for its own Keras
        importlib.import_module(ENGINES[sys.argv[1]].module)  # some replace functions of Python's
    sys.path[:0] = [path for path in [location.find()] if path]
    BEFORE.update(state_of_libraries())
    import keras

    globals()["K"] = keras.backend
    failures = {}
    chosen = sys.argv[2:] or list(PROGRAMS)
    for name in chosen:
        function = PROGRAMS[name]
        np.random.seed(0)  # for the first values of weights
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                # Old code; it tells its users what they can't change.
                warnings.filterwarnings("ignore", module=r"keras(_preprocessing)?\.")
                function()
        except BaseException:
            failures[name] = traceback.format_exc()
    print(json.dumps({name: failures.get(name, "") for name in chosen}))


if __name__ == "__main__":
    main()
