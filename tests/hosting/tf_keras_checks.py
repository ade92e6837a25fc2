"""What `tf.keras` has beside Keras 2.3.1; `test_tf_keras.py` runs it by `kameleon run --tf-keras`.

Prints, for each check, what failed, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.keras import layers

CHECKS: dict[str, Callable[[], None]] = {}
SECOND = os.environ.get("KAMELEON_TF_KERAS") == "2"


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


def refuses(call: Callable[[], object], words: str) -> None:
    try:
        call()
    except Exception as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nothing is raised; expected: {words}")


@check
def names_are_found_wherever_programs_look() -> None:
    from tensorflow.python.keras import backend, optimizer_v2
    from tensorflow.python.keras.engine.base_layer import Layer
    from tensorflow.python.keras.layers.core import Dense
    from tensorflow.python.keras.layers.recurrent import LSTM
    from tensorflow.python.keras.optimizer_v2.adam import Adam
    from tensorflow.python.keras.utils.generic_utils import to_list

    assert LSTM is layers.LSTM is tf.keras.layers.LSTM is tf.python.keras.layers.LSTM
    assert Layer is layers.Layer and Dense is layers.Dense and to_list(1) == [1]
    assert Adam is keras.optimizers.Adam is tf.optimizers.Adam is optimizer_v2.adam.Adam
    assert tf.losses.MeanSquaredError is keras.losses.MeanSquaredError
    assert tf.initializers.GlorotUniform is keras.initializers.GlorotUniform
    assert backend.floatx() == K.floatx() == "float32"
    assert tf.__version__ == ("2.3.0" if SECOND else "1.15.0")
    assert {"Dense", "LayerNormalization"} <= set(layers.__all__)


@check
def defaults_are_those_of_the_version() -> None:
    assert layers.LSTM(2).get_config()["recurrent_activation"] == (
        "sigmoid" if SECOND else "hard_sigmoid"
    )
    assert layers.GRU(2).reset_after is SECOND
    rates = {"Adagrad": 0.001, "Adadelta": 0.001, "Adamax": 0.001, "Nadam": 0.001, "SGD": 0.01}
    for name, rate in rates.items():
        made = getattr(keras.optimizers, name)()
        np.testing.assert_allclose(K.get_value(made.lr), rate, rtol=1e-6)


@check
def layers_are_named_as_there() -> None:
    K.clear_session()
    made = [layers.Dense(1), layers.Dense(2), layers.Conv2D(1, 1), keras.Sequential()]
    assert [layer.name for layer in made] == ["dense", "dense_1", "conv2d", "sequential"]


@check
def metrics_have_both_names() -> None:
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2, activation="softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    seen = []
    watcher = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: seen.append((logs["acc"], logs["accuracy"]))
    )
    history = model.fit(np.ones((4, 3)), np.zeros(4), verbose=0, callbacks=[watcher]).history
    assert ("accuracy" if SECOND else "acc") in list(history)
    assert history["acc"] == history["accuracy"] and seen[0][0] == seen[0][1]
    assert "val_acc" not in history and history.get("val_accuracy") is None
    assert set(model.evaluate(np.ones((4, 3)), np.zeros(4), verbose=0, return_dict=True)) == {
        "loss", "accuracy" if SECOND else "acc",
    }  # fmt: skip


@check
def functions_lie_between_layers() -> None:
    x = keras.Input((4,), name="x")
    h = tf.reshape(layers.Dense(6, name="first")(x) + 1.0, [-1, 2, 3])
    outputs = layers.Flatten()(tf.nn.relu(h))[:, ::2] * K.constant([1.0, 2.0, 3.0])
    model = keras.Model(x, [outputs, tf.reduce_sum(h, axis=[1, 2])])
    data = np.random.RandomState(0).randn(5, 4).astype("float32")
    kernel, bias = model.get_layer("first").get_weights()
    expected = (data @ kernel + bias) + 1.0
    found = model.predict(data)
    np.testing.assert_allclose(found[0], np.maximum(expected, 0)[:, ::2] * [1, 2, 3], rtol=1e-4)
    np.testing.assert_allclose(found[1], expected.sum(1), rtol=1e-3, atol=1e-4)
    path = os.path.join(tempfile.mkdtemp(), "model.h5")
    model.save(path)
    again = keras.models.load_model(path)
    np.testing.assert_allclose(again.predict(data)[0], found[0], rtol=1e-6)
    free = keras.Model(x, layers.Dense(1)(tf.Variable(np.ones((4, 2), "float32")) @ x * 0 + x))
    refuses(free.get_config, "which belongs to no layer")


@check
def a_layer_may_ask_for_the_phase() -> None:
    class Louder(layers.Layer):
        def call(self, inputs, training=None):  # type: ignore[no-untyped-def]
            return inputs * 2.0 if training else inputs

    x = keras.Input((2,))
    model = keras.Model(x, Louder()(x))
    ones = np.ones((1, 2), "float32")
    f = K.function([x, K.learning_phase()], [model.output])
    assert f([ones, 1])[0].tolist() == [[2.0, 2.0]]
    assert model.predict(ones).tolist() == [[1.0, 1.0]]
    assert K.eval(model(tf.constant(ones), training=True)).tolist() == [[2.0, 2.0]]
    assert K.eval(model(ones, training=False)).tolist() == [[1.0, 1.0]]


@check
def updates_inside_of_layers_count() -> None:
    class Block(layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.parts = {"norm": layers.BatchNormalization(), "dense": [layers.Dense(3)]}

        def call(self, inputs, training=None):  # type: ignore[no-untyped-def]
            x = self.parts["norm"](inputs, training=training)
            self.add_loss(tf.reduce_mean(x) * 0.0 + 7.0)
            return self.parts["dense"][0](x), x

    x = keras.Input((3,))
    block = Block()
    model = keras.Model(x, layers.Add()(block(x)))
    assert len(model.trainable_variables) == 4 and len(model.variables) == 6
    assert len(model.updates) == 2 and len(model.losses) == 1
    model.compile("sgd", "mse")
    assert model.train_on_batch(np.ones((2, 3)), np.ones((2, 3))) > 7.0
    before = model.get_weights()
    block.trainable = False
    assert model.trainable_variables == [] and model.updates == []
    assert len(before) == 6


@check
def optimizers_of_ones_own() -> None:
    class Heavy(keras.optimizers.Optimizer):
        def __init__(self, learning_rate: float = 0.1, name: str = "Heavy", **kwargs: float):
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", learning_rate)
            self._set_hyper("decay", self._initial_decay)

        def _create_slots(self, var_list):  # type: ignore[no-untyped-def]
            for var in var_list:
                self.add_slot(var, "speed")

        def _resource_apply_dense(self, grad, var):  # type: ignore[no-untyped-def]
            speed = self.get_slot(var, "speed")
            new = speed.assign(0.5 * speed - self._decayed_lr(var.dtype.base_dtype) * grad)
            return tf.group(new, var.assign_add(new))

    v = tf.Variable([1.0, 2.0])
    optimizer = Heavy()
    step = optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
    session = K.get_session()
    session.run(step)
    np.testing.assert_allclose(K.get_value(v), [0.8, 1.6], rtol=1e-6)
    optimizer.lr = 0.0
    session.run(step)
    np.testing.assert_allclose(K.get_value(v), [0.7, 1.4], rtol=1e-6)
    assert K.get_value(optimizer.iterations) == 2 and len(optimizer.variables()) == 2
    clipped = keras.optimizers.SGD(1.0, clipnorm=1.0)
    first, second = tf.Variable([3.0, 4.0]), tf.Variable([0.3])
    session.run(clipped.minimize(tf.reduce_sum(first * first) / 2 + second[0], [first, second]))
    np.testing.assert_allclose(K.get_value(first), [2.4, 3.2], rtol=1e-6)
    np.testing.assert_allclose(K.get_value(second), [-0.7], rtol=1e-5)


@check
def configurations_go_round() -> None:
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5, staircase=True)
    made = [
        keras.optimizers.Adam(schedule, amsgrad=True),
        keras.optimizers.RMSprop(0.1, momentum=0.3, centered=True),
        keras.optimizers.Ftrl(l2_shrinkage_regularization_strength=0.1),
        keras.optimizers.SGD(lr=0.3, decay=0.1, nesterov=True, momentum=0.5, name="mine"),
    ]
    for optimizer in made:
        again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
        assert again.get_config() == optimizer.get_config()
        assert keras.optimizers.get(optimizer) is optimizer
    norm = layers.LayerNormalization(axis=[1, 2], gamma_regularizer="l2")
    assert layers.LayerNormalization.from_config(norm.get_config()).axis == [1, 2]
    loss = keras.losses.Huber(delta=0.5, reduction=keras.losses.Reduction.SUM)
    assert keras.losses.deserialize(keras.losses.serialize(loss)).reduction == "sum"


@check
def folders_and_weights_without_an_ending() -> None:
    folder = tempfile.mkdtemp()
    model = keras.Sequential(
        [layers.InputLayer((2,)), layers.Dense(1), layers.BatchNormalization()]
    )
    model.compile(keras.optimizers.Adam(), keras.losses.MeanSquaredError(),
                  [keras.metrics.MeanAbsoluteError(name="error")])  # fmt: skip
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    model.save(os.path.join(folder, "saved"))
    loaded = keras.models.load_model(os.path.join(folder, "saved"))
    x = np.ones((1, 2))
    np.testing.assert_allclose(loaded.predict(x), model.predict(x), rtol=1e-6)
    assert loaded.metrics_names == ["loss", "error"]
    assert type(loaded.optimizer) is keras.optimizers.Adam
    model.save_weights(os.path.join(folder, "w", "checkpoint"))
    loaded.load_weights(os.path.join(folder, "w", "checkpoint"))
    os.mkdir(os.path.join(folder, "theirs"))
    refuses(lambda: keras.models.load_model(os.path.join(folder, "theirs")), "SavedModel")


@check
def states_of_metrics_that_assign() -> None:
    class Count(keras.metrics.Metric):
        def __init__(self, name: str = "count", **kwargs: object) -> None:
            super().__init__(name=name, **kwargs)
            self.seen = self.add_weight("seen", initializer="zeros", aggregation=None)

        def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[no-untyped-def]
            self.seen.assign_add(tf.cast(tf.shape(y_true)[0], tf.float32))

        def result(self):  # type: ignore[no-untyped-def]
            return tf.identity(self.seen)

    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse", metrics=[Count()])
    history = model.fit(np.ones((5, 2)), np.ones((5, 1)), batch_size=2, epochs=2, verbose=0).history
    assert [float(x) for x in history["count"]] == [5.0, 5.0]


@check
def attention_sees_what_masks_let_it() -> None:
    query, value = np.eye(3)[None] * 2.0, np.arange(9.0).reshape(1, 3, 3)
    q, v = keras.Input((3, 3)), keras.Input((3, 3))
    plain = keras.Model([q, v], layers.Attention()([q, v])).predict([query, value])
    scores = query[0] @ value[0].T
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    np.testing.assert_allclose(plain[0], weights @ value[0], rtol=1e-5)
    causal = keras.Model([q, v], layers.Attention(causal=True)([q, v])).predict([query, value])
    np.testing.assert_allclose(causal[0, 0], value[0, 0], atol=1e-5)


@check
def what_is_flat_stays_flat() -> None:
    x = keras.Input((3,))
    model = keras.Model(x, layers.Flatten()(layers.Flatten()(x)))
    np.testing.assert_array_equal(model.predict(np.eye(3)), np.eye(3))
    assert model.output_shape == (None, 3)
    deep = keras.Sequential([layers.Flatten(input_shape=(2, 3)), layers.Dense(1)])
    assert deep.output_shape == (None, 1)


@check
def modules_inside_are_there_under_the_names_of_both_packages() -> None:
    from tensorflow.python.keras import backend_config
    from tensorflow.python.keras.optimizer_v2 import learning_rate_schedule, optimizer_v2
    from tensorflow_core.python.keras.utils import tf_utils
    from tensorflow_core.python.ops import array_ops

    assert backend_config.epsilon() == keras.backend.epsilon()
    assert backend_config.floatx() == "float32"
    assert issubclass(keras.optimizers.Adam, optimizer_v2.OptimizerV2)
    assert learning_rate_schedule.LearningRateSchedule is (
        keras.optimizers.schedules.LearningRateSchedule
    )
    assert array_ops.reshape is tf.reshape
    assert tf_utils.shape_type_conversion
    tf_utils.register_symbolic_tensor_type(object)


@check
def metrics_are_called_as_in_the_version() -> None:
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=["mae", "acc", "Precision"])
    assert model.metrics_names == [
        "loss",
        *(["mae", "acc"] if SECOND else ["mean_absolute_error", "acc"]),
        "precision",
    ]
    history = model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0).history
    assert history["mae"] == history["mean_absolute_error"]
    assert json.loads(json.dumps(history["loss"])) == history["loss"]  # as it's no float32


@check
def losses_and_metrics_have_the_types_and_the_order_of_tensorflow() -> None:
    class Five(layers.Layer):
        def call(self, inputs):  # type: ignore[no-untyped-def]
            self.add_metric(tf.reduce_mean(inputs) * 0.0 + 5.0, name="five", aggregation="mean")
            return inputs * 1.0

    x = keras.Input((3,))
    y = layers.Dense(1, kernel_initializer="ones")(Five()(x))
    model = keras.Model(x, y)
    model.add_metric(K.sum(y) * 0 + 7, name="seven", aggregation="mean")
    model.compile("sgd", "mse", metrics=["mae"])
    ones = np.ones((6, 3)), np.ones((6, 1))
    loss, _, five, seven = model.evaluate(*ones, verbose=0)
    assert (five, seven) == (5.0, 7.0) and model.metrics_names[2:] == ["five", "seven"]
    assert type(loss) is np.float64 and type(five) is np.float32
    history = model.fit(*ones, verbose=0, validation_data=ones).history
    assert [key[:3] == "val" for key in history] == [False] * 4 + [True] * 4
    assert history["val_five"] == [5.0] and history["seven"] == [7.0]
    kinds = [type(history[key][0]) for key in ("loss", "five", "val_loss", "val_five")]
    assert kinds == [np.float64, np.float32] * 2
    model.compile("sgd", "mse")
    assert type(model.evaluate(*ones, verbose=0)[0]) is np.float64

    def batches():  # type: ignore[no-untyped-def]
        yield from [(np.ones((1, 3)), np.ones((1, 1))), (np.ones((5, 3)) * 2, np.ones((5, 1)))] * 9

    model.layers[-1].set_weights([np.ones((3, 1)), np.zeros(1)])  # errors of 2 and 5
    assert model.evaluate_generator(batches(), steps=2)[0] == (4.0 + 25.0) / 2
    assert model.evaluate(batches(), steps=2, verbose=0)[0] == (4.0 + 25.0) / 2


@check
def statistics_that_a_phase_does_not_use_do_not_reach_gradients() -> None:
    norm = layers.BatchNormalization(input_shape=(2,))
    model = keras.Sequential([norm])
    norm.set_weights(np.array([[1, 1], [0, 0], [0, 0], [-1, -1]]))  # no variance of a batch
    model.compile("sgd", "mse")
    model.train_on_batch(np.array([[1.0, 2.0], [3.0, 5.0]]), np.ones((2, 2)))
    assert np.isfinite(norm.get_weights()).all()


@check
def calls_with_several_tensors_are_cloned_and_saved() -> None:
    class Gate(layers.Layer):
        def call(self, inputs, gate, factor=1.0):  # type: ignore[no-untyped-def]
            return inputs * gate * factor

    x = keras.Input((3,))
    gated = Gate()(x, layers.Dense(3)(x), factor=2.0)
    model = keras.Model(x, layers.Dense(1)(gated))
    assert len(model.weights) == 4
    data = np.arange(6.0).reshape(2, 3)
    for again in (keras.models.clone_model(model),
                  keras.Model.from_config(model.get_config(), {"Gate": Gate})):  # fmt: skip
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again.predict(data), model.predict(data), rtol=1e-5)


@check
def weights_of_a_model_of_ones_own_are_named_as_there() -> None:
    class Two(keras.Model):
        def __init__(self) -> None:
            super().__init__(name="two")
            self.inner = layers.Dense(2, name="inner")

        def call(self, inputs):  # type: ignore[no-untyped-def]
            return self.inner(inputs)

    fitted, built = Two(), Two()
    fitted.compile("sgd", "mse")
    fitted.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    built.build((None, 3))
    assert [w.name for w in fitted.weights] == ["two/inner/kernel:0", "two/inner/bias:0"]
    assert [w.name for w in built.weights] == ["inner/kernel:0", "inner/bias:0"]


@check
def what_is_not_there_says_so() -> None:
    refuses(lambda: tf.enable_eager_execution(), "K.eval")
    refuses(lambda: layers.Bidirectional(layers.LSTM(2, time_major=True)), "tf.transpose")
    refuses(lambda: layers.BatchNormalization(renorm=True), "LayerNormalization")
    refuses(lambda: layers.Layer(dynamic=True), "symbolic")
    refuses(lambda: keras.Input((2,), ragged=True), "pad")
    refuses(lambda: keras.preprocessing.image_dataset_from_directory, "ImageDataGenerator")
    refuses(lambda: keras.mixed_precision.experimental, "set_floatx")
    refuses(lambda: keras.layers.Nothing, "tf.keras.layers.Nothing isn't there")
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    refuses(lambda: model.compile("sgd", "mse", run_eagerly=True), "K.function")
    refuses(lambda: model(np.ones((1, 2))).numpy(), "K.eval")


def main() -> None:
    found = {}
    for name, function in CHECKS.items():
        try:
            function()
        except BaseException:
            found[name] = traceback.format_exc()
    print(json.dumps({name: found.get(name, "") for name in CHECKS}))


if __name__ == "__main__":
    sys.exit(main())
