"""What Keras refuses by the backend's name, used on one engine, in a process of its own.

    python refused.py

Each function checks what it finds; they share the process, as the import of Keras takes long.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LABELS = [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1]]
SCORES = [[0.2, 0.1, 0.5, 0.0, 0.2], [0.9, 0.1, 0.3, 0.4, 0.35]]


def largest_scores(rows: Any, k: int) -> np.ndarray[Any, Any]:
    """Which scores are among the k largest of their row; of equal ones, the first."""
    order = np.argsort(-np.asarray(rows), axis=1, kind="stable")[:, :k]
    return np.stack([np.isin(np.arange(5), row) for row in order])


def precision_and_recall_of_the_largest() -> None:
    from keras import backend as K
    from keras import metrics

    truth, chosen = np.array(LABELS) == 1, largest_scores(SCORES, 3)
    hits = (truth & chosen).sum()
    for metric, total in ((metrics.Precision, chosen.sum()), (metrics.Recall, truth.sum())):
        made = metric(top_k=3)
        made = metric.from_config(made.get_config())
        found = K.eval(made(K.constant(LABELS), K.constant(SCORES)))
        np.testing.assert_allclose(found, hits / total, rtol=1e-6)


def mean_intersection_over_union() -> None:
    from keras import backend as K
    from keras import metrics

    draw = np.random.RandomState(3)
    labels, guesses = draw.randint(4, size=(2, 6, 5))
    weights = draw.uniform(size=(6, 5))
    metric = metrics.MeanIoU(5, name="iou")  # the fifth class doesn't occur
    metric = metrics.MeanIoU.from_config(metric.get_config())
    assert K.eval(metric.result()) == 0
    for weight in (None, weights):
        metric.reset_states()
        given = None if weight is None else K.constant(weight)
        found = K.eval(metric(K.constant(labels), K.constant(guesses + 0.5), given))
        w = np.ones((6, 5)) if weight is None else weight
        ratios = [
            (w * ((labels == c) & (guesses == c))).sum()
            / (w * ((labels == c) | (guesses == c))).sum()
            for c in range(4)
        ]
        np.testing.assert_allclose(found, np.mean(ratios), rtol=1e-5)


def a_class_that_there_is_not_is_an_error() -> None:
    from keras import backend as K
    from keras import metrics

    from kameleon.errors import EvaluationError

    result = metrics.MeanIoU(2)(K.constant([0, 2]), K.constant([0, 1]))
    try:
        K.eval(result)
    except EvaluationError as error:
        assert "index 2 is out of range" in str(error)
    else:
        raise AssertionError("no error")


class Descent:
    """An optimizer as `tf.train` has them, with momentum: its own state, and nested updates."""

    def compute_gradients(self, loss: Any, var_list: Any = None) -> list[Any]:
        from keras import backend as K

        return list(zip(K.gradients(loss, var_list), var_list, strict=True))

    def apply_gradients(self, pairs: Any, global_step: Any = None) -> list[Any]:
        from keras import backend as K

        updates = []
        for gradient, variable in pairs:
            speed = K.zeros(K.int_shape(variable))
            faster = 0.9 * speed - 0.1 * gradient
            updates.append([K.update(speed, faster), K.update_add(variable, faster)])
        return updates


def optimizers_of_tensorflow() -> None:
    from keras import optimizers
    from keras.layers import Dense
    from keras.models import Sequential

    draw = np.random.RandomState(1)
    x = draw.normal(size=(16, 3))
    weights = [draw.normal(size=(3, 2)), np.zeros(2)]
    losses = []
    given = [Descent(), optimizers.TFOptimizer(Descent()), optimizers.SGD(0.1, momentum=0.9)]
    for optimizer in given:
        model = Sequential([Dense(2, input_shape=(3,))])
        model.set_weights(weights)
        model.compile(optimizer, "mse")
        losses.append(model.fit(x, x[:, :2], epochs=4, verbose=0).history["loss"])
    np.testing.assert_allclose(losses[0], losses[2], rtol=1e-5)
    np.testing.assert_allclose(losses[1], losses[2], rtol=1e-5)
    wrapped = optimizers.get(given[0])
    assert isinstance(wrapped, optimizers.TFOptimizer) and optimizers.get(wrapped) is wrapped
    for ask in (lambda: wrapped.weights, wrapped.get_config, lambda: wrapped.from_config({})):
        try:
            ask()
        except NotImplementedError:
            continue
        raise AssertionError("the original has none of these")


def the_learning_rate_has_two_names() -> None:
    from keras import backend as K
    from keras import optimizers

    optimizer = optimizers.Adam(lr=0.25)
    optimizer.lr = 0.5
    assert K.get_value(optimizer.learning_rate) == K.get_value(optimizer.lr) == 0.5


def one_device_runs_the_model_itself() -> None:
    from keras.layers import Dense
    from keras.models import Sequential
    from keras.utils import multi_gpu_model

    model = Sequential([Dense(2, input_shape=(3,))])
    assert multi_gpu_model(model, gpus=2) is multi_gpu_model(model, [0, 1], cpu_merge=False)
    assert multi_gpu_model(model) is multi_gpu_model(model, 4, cpu_relocation=True) is model
    for few in (1, [0]):
        try:
            multi_gpu_model(model, few)
        except ValueError as error:
            assert "gpus" in str(error)
        else:
            raise AssertionError("the original refuses one device")


def tensorboard_writes_its_files() -> None:
    from keras.callbacks import LambdaCallback, TensorBoard
    from keras.layers import Conv1D, Dense, Embedding, Flatten
    from keras.models import Sequential
    from tensorboard.compat.proto.summary_pb2 import Summary

    model = Sequential([Embedding(7, 4, input_length=6), Conv1D(3, 2), Flatten(), Dense(2)])
    model.compile("sgd", "mse", metrics=["mae"])
    x = np.random.RandomState(0).randint(7, size=(20, 6))
    y = x[:, :2] / 7
    with tempfile.TemporaryDirectory() as folder:
        board = TensorBoard(
            folder,
            histogram_freq=2,
            batch_size=8,
            write_grads=True,
            write_images=True,
            embeddings_freq=1,
            embeddings_data=x,
            embeddings_metadata="names.tsv",
            update_freq="batch",
        )
        own = Summary(value=[Summary.Value(tag="of_a_program", simple_value=0.25)])
        add = LambdaCallback(on_epoch_begin=lambda *_: board.writer.add_summary(own, 1))
        model.fit(x, y, 5, epochs=2, validation_data=(x, y), callbacks=[board, add], verbose=0)
        names = sorted(os.listdir(folder))
        assert names[0].endswith("_embedding.tsv") and names[-1] == "projector_config.pbtxt"
        text = Path(folder, names[-1]).read_text()
        assert f'tensor_path: "{names[0]}"' in text and 'metadata_path: "names.tsv"' in text
        assert np.loadtxt(Path(folder, names[0])).shape == (20, 24)
        [events] = [name for name in names if ".tfevents." in name]
        data = Path(folder, events).read_bytes()
    tags = ["loss", "val_mae", "kernel_0", "kernel_0/image/2", "bias_0_grad", "_out", "Embedding"]
    tags.append("of_a_program")
    missing = [tag for tag in tags if tag.encode() not in data]
    assert not missing, missing


def tensorboard_says_what_it_needs() -> None:
    from keras.callbacks import TensorBoard
    from keras.layers import Dense
    from keras.models import Sequential

    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    for options, word in (
        ({"histogram_freq": 1}, "validation_data"),
        ({"embeddings_freq": 1}, "embeddings_data"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            try:
                board = TensorBoard(folder, **options)
                model.fit(np.ones((2, 3)), np.ones((2, 2)), callbacks=[board], verbose=0)
            except ValueError as error:
                assert word in str(error)
            else:
                raise AssertionError("no error")


def tensorboard_says_what_to_install() -> None:
    from keras.callbacks import TensorBoard

    from kameleon.errors import MissingLibraryError

    try:
        TensorBoard("logs")
    except MissingLibraryError as error:
        assert str(error).endswith("pip install tensorboard")
    else:
        raise AssertionError("no error")


PROGRAMS: tuple[Callable[[], None], ...] = (
    precision_and_recall_of_the_largest,
    mean_intersection_over_union,
    a_class_that_there_is_not_is_an_error,
    optimizers_of_tensorflow,
    the_learning_rate_has_two_names,
    one_device_runs_the_model_itself,
    *(
        (tensorboard_writes_its_files, tensorboard_says_what_it_needs)
        if find_spec("tensorboard")
        else (tensorboard_says_what_to_install,)
    ),
)


def main() -> None:
    """Run all of them."""
    from kameleon.compat.keras2 import location

    sys.path[:0] = [path for path in [location.find()] if path]
    import keras  # noqa: F401 (imported before warnings are errors)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module=r"keras(_preprocessing)?\.")
        for function in PROGRAMS:
            print(function.__name__, flush=True)
            function()


if __name__ == "__main__":
    main()
