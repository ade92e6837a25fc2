"""Keras 2.3.1 on its own TensorFlow backend: models, and TensorFlow's operations within them."""

import keras
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import layers
from recording import case, main, raised


def drawn(*shape):
    """Numbers of a normal distribution."""
    return np.random.normal(size=shape).astype("float32")


def seeded():
    """Seeds for what a program draws."""
    np.random.seed(7)
    tf.set_random_seed(11)


def told(model, x, y, **options):
    """What training tells, by name, and the model's predictions."""
    history = model.fit(x, y, batch_size=8, verbose=0, **options).history
    return [[name, history[name]] for name in sorted(history)] + [model.predict(x)]


@case
def lambdas_of_tensorflow():
    seeded()
    inputs = keras.Input((6,))
    x = layers.Dense(8, activation=tf.nn.elu)(inputs)
    x = layers.Lambda(lambda t: tf.concat([tf.sin(t), tf.nn.l2_normalize(t, 1)], 1))(x)
    x = layers.Lambda(lambda t: tf.where(t > 0, t, 0.1 * t), output_shape=(16,))(x)
    outputs = layers.Dense(2)(x)
    model = keras.Model(inputs, outputs)
    model.compile("adam", lambda y, p: tf.reduce_mean(tf.abs(y - p), axis=-1))
    return told(model, drawn(32, 6), drawn(32, 2), epochs=3)


@case
def sessions_are_shared():
    seeded()
    session = tf.Session()
    K.set_session(session)
    model = keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Activation("softmax")])
    model.compile("sgd", "categorical_crossentropy")
    slopes = tf.gradients(tf.reduce_sum(model.output[:, 0]), model.trainable_weights)
    x, y = drawn(8, 4), np.eye(3)[np.arange(8) % 3]
    model.train_on_batch(x, y)
    found = session.run([model.output, *slopes], {model.input: x})
    session.run(tf.assign(model.weights[0], tf.ones((4, 3))))
    kept = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
    return [
        K.get_session() is session,
        found,
        model.get_weights(),
        [[v.name, str(v.shape)] for v in kept],
        isinstance(model.output, tf.Tensor),
    ]


@case
def steps_of_tensorflows_optimizer():
    seeded()
    model = keras.Sequential(
        [layers.Dense(5, activation="tanh", input_shape=(3,)), layers.Dense(1)]
    )
    goal = tf.placeholder(tf.float32, (None, 1))
    loss = tf.losses.mean_squared_error(goal, model.output)
    step = tf.train.AdamOptimizer(0.05).minimize(loss, var_list=model.trainable_weights)
    session = K.get_session()
    session.run(tf.global_variables_initializer())
    model.set_weights([np.full(w.shape, 0.1 * (i + 1)) for i, w in enumerate(model.get_weights())])
    feeds = {model.input: drawn(16, 3), goal: drawn(16, 1)}
    return [session.run([loss, step], feeds)[0] for _ in range(4)] + model.get_weights()


@case
def convolutions_and_normalization():
    seeded()
    model = keras.Sequential([
        layers.Conv2D(4, 3, padding="same", use_bias=False, input_shape=(8, 8, 3)),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.1),
        layers.MaxPooling2D(),
        layers.SeparableConv2D(6, 3, padding="same", activation="relu"),
        layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
        layers.BatchNormalization(scale=False, momentum=0.8),
        layers.DepthwiseConv2D(3, strides=2),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3, activation="softmax"),
    ])  # fmt: skip
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "categorical_crossentropy", ["acc"])
    x, y = drawn(24, 8, 8, 3), np.eye(3)[np.arange(24) % 3]
    found = told(model, x, y, epochs=2, validation_split=0.25, shuffle=False)
    moving = [w for layer in (model.layers[1], model.layers[6]) for w in layer.get_weights()]
    return found + moving


@case
def dropout_follows_the_phase():
    seeded()
    inputs = keras.Input((50,))
    outputs = layers.SpatialDropout1D(0.4)(layers.Reshape((10, 5))(layers.Dropout(0.3)(inputs)))
    outputs = layers.AlphaDropout(0.2)(layers.GaussianNoise(0.1)(outputs))
    x = np.ones((4, 50), "float32")
    function = K.function([inputs, K.learning_phase()], [outputs])
    return [function([x, 0])[0], function([x, 1])[0], function([x, 1])[0]]


@case
def several_outputs():
    seeded()
    a, b = keras.Input((5,), name="a"), keras.Input((4,), name="b")
    shared = layers.Dense(6, activation="relu", name="shared")
    both = layers.concatenate([shared(a), shared(layers.Dense(5)(b))])
    first = layers.Dense(1, activation="sigmoid", name="first")(both)
    second = layers.Dense(3, activation="softmax", name="second")(both)
    model = keras.Model([a, b], [first, second])
    model.compile(
        "rmsprop",
        {"first": "binary_crossentropy", "second": "sparse_categorical_crossentropy"},
        metrics={"first": "acc", "second": ["acc", "mse"][:1]},
        loss_weights={"first": 0.5, "second": 2.0},
    )
    x = {"a": drawn(16, 5), "b": drawn(16, 4)}
    y = {"first": np.arange(16) % 2, "second": np.arange(16).reshape(16, 1) % 3}
    weights = {"first": np.linspace(0, 1, 16), "second": np.linspace(1, 2, 16)}
    history = model.fit(x, y, epochs=2, verbose=0, batch_size=8, sample_weight=weights).history
    found = model.evaluate(x, y, verbose=0, batch_size=4)
    return [[name, history[name]] for name in sorted(history)] + [
        model.metrics_names,
        found,
        model.predict(x),
        model.train_on_batch(x, y),
        model.test_on_batch(x, y),
    ]


@case
def generators_and_callbacks():
    seeded()
    x, y = drawn(40, 4), drawn(40, 1)

    class Batches(keras.utils.Sequence):
        def __len__(self):
            return 5

        def __getitem__(self, at):
            return x[8 * at : 8 * at + 8], y[8 * at : 8 * at + 8]

    seen = []
    model = keras.Sequential(
        [layers.Dense(8, activation="relu", input_shape=(4,)), layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(0.05), "mse", ["mae"])
    told_of = keras.callbacks.LambdaCallback(
        on_batch_end=lambda batch, logs: seen.append([batch, float(logs["loss"])]),
        on_epoch_end=lambda epoch, logs: seen.append(
            [epoch, float(K.get_value(model.optimizer.lr))]
        ),
    )
    history = model.fit_generator(
        Batches(),
        epochs=6,
        verbose=0,
        shuffle=False,
        validation_data=(x[:8], y[:8]),
        callbacks=[
            told_of,
            keras.callbacks.ReduceLROnPlateau("val_loss", 0.5, patience=0, min_delta=0.3),
            keras.callbacks.EarlyStopping("val_loss", min_delta=0.05, patience=1),
        ],
    ).history
    model.fit(
        x, y, epochs=2, verbose=0,
        callbacks=[keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)],
    )  # fmt: skip
    names = sorted(history)
    return seen + [[name, history[name]] for name in names] + [
        model.evaluate_generator(Batches()), model.predict_generator(Batches()),
    ]  # fmt: skip


OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1, 0.9, nesterov=True, clipnorm=0.5),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01, clipvalue=0.05),
    "adagrad": lambda: keras.optimizers.Adagrad(0.1),
    "adadelta": lambda: keras.optimizers.Adadelta(),
    "adam": lambda: keras.optimizers.Adam(0.05, amsgrad=True),
    "adamax": lambda: keras.optimizers.Adamax(0.05),
    "nadam": lambda: keras.optimizers.Nadam(0.05),
    "of_tensorflow": lambda: keras.optimizers.TFOptimizer(tf.train.MomentumOptimizer(0.1, 0.9)),
}


@case
def optimizers():
    found = []
    for name in sorted(OPTIMIZERS):
        seeded()
        model = keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(1)])
        model.compile(OPTIMIZERS[name](), "mse")
        x, y = drawn(16, 4), drawn(16, 1)
        found.append([name, [model.train_on_batch(x, y) for _ in range(4)], model.get_weights()])
    return found


@case
def layers_of_ones_own():
    seeded()

    class Scaled(layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="ones")
            super().build(shape)

        def call(self, x):
            norm = tf.sqrt(tf.reduce_sum(tf.square(x), -1, keepdims=True) + 1e-6)
            self.add_loss(tf.reduce_mean(norm))
            return tf.einsum("ij,j->ij", x / norm, self.scale)

        def compute_output_shape(self, shape):
            return shape

    class Whole(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(4, activation="tanh", kernel_regularizer="l2")
            self.scaled = Scaled()

        def call(self, x):
            return self.scaled(self.inner(x))

    model = Whole()
    model.compile("sgd", "mse")
    return told(model, drawn(16, 3), drawn(16, 4), epochs=2)


@case
def constraints_and_regularizers():
    seeded()
    model = keras.Sequential([
        layers.Dense(
            6, input_shape=(5,), kernel_constraint=keras.constraints.MaxNorm(0.5),
            kernel_regularizer=keras.regularizers.l1_l2(0.01, 0.02),
            activity_regularizer=lambda t: 0.01 * tf.reduce_sum(tf.abs(t)),
        ),
        layers.Dense(2, kernel_constraint="unit_norm", bias_constraint="non_neg"),
    ])  # fmt: skip
    model.compile("sgd", "hinge", ["mse", "cosine_proximity", "logcosh"])
    return told(model, drawn(16, 5), np.sign(drawn(16, 2)), epochs=2) + model.get_weights()


@case
def words():
    seeded()
    model = keras.Sequential([
        layers.Embedding(12, 4, mask_zero=True, input_length=6),
        layers.LSTM(5, recurrent_initializer="glorot_uniform"),
        layers.Dense(1, activation="sigmoid"),
    ])  # fmt: skip
    model.compile("rmsprop", "binary_crossentropy", ["accuracy"])
    x = np.random.randint(0, 12, (16, 6))
    return told(model, x, np.arange(16) % 2, epochs=2, class_weight={0: 1.0, 1: 3.0})


@case
def labels_without_places():
    seeded()
    pictures = keras.Input((12, 5))
    labels, lengths = keras.Input((4,)), keras.Input((1,), dtype="int64")
    steps = keras.Input((1,), dtype="int64")
    told_letters = layers.TimeDistributed(layers.Dense(6, activation="softmax"))(pictures)
    loss = layers.Lambda(lambda args: K.ctc_batch_cost(*args), output_shape=(1,))(
        [labels, told_letters, steps, lengths]
    )
    model = keras.Model([pictures, labels, steps, lengths], loss)
    model.compile("sgd", lambda y, p: p)
    x = [
        drawn(4, 12, 5), np.random.randint(0, 5, (4, 4)), np.full((4, 1), 12),
        np.array([[4], [3], [2], [4]]),
    ]  # fmt: skip
    losses = [model.train_on_batch(x, np.zeros((4, 1))) for _ in range(3)]
    ways = K.ctc_decode(told_letters, tf.fill([4], 12), greedy=True)
    beams = K.ctc_decode(told_letters, tf.fill([4], 12), greedy=False, beam_width=5, top_paths=2)
    session = K.get_session()
    return losses + session.run([ways[0][0], ways[1], beams[0][0], beams[1]], {pictures: x[0]})


@case
def what_models_say():
    seeded()
    model = keras.Sequential([
        layers.Conv1D(4, 3, input_shape=(10, 2), name="over"),
        layers.Bidirectional(layers.GRU(3), name="both"),
        layers.Dense(1, name="last"),
    ])  # fmt: skip
    lines = []
    model.summary(print_fn=lines.append)
    model.compile("sgd", "mse")
    model._make_predict_function()
    return [
        lines,
        [[t.name, t.op.type, str(t.shape), t.dtype.name] for t in (model.input, model.output)],
        [w.name for w in model.weights],
        [layer.output.op.type for layer in model.layers],
        raised(lambda: model.fit(drawn(4, 10, 3), drawn(4, 1))),
        raised(lambda: layers.Dense(2)(keras.layers.Conv1D(4, 30)(model.input)))[:1],
    ]


@case
def functions_of_the_backend():
    seeded()
    x = K.variable(drawn(3, 4), name="x")
    y = K.placeholder((None, 4))
    step = K.function([y], [K.sum(x * y)], updates=[(x, x + 1), K.update_sub(x, y * 0 + x)][:1])
    taken = [step([drawn(3, 4)])[0] for _ in range(3)]
    return [
        taken,
        K.get_value(x),
        K.eval(K.switch(K.sum(x) > 0, lambda: x, lambda: -x)),
        K.eval(K.map_fn(lambda row: K.sum(row), x)),
        K.eval(K.foldl(lambda a, b: a + b, x)),
        K.eval(K.batch_dot(K.expand_dims(x, 1), K.expand_dims(x, 2))),
        K.eval(K.in_top_k(K.softmax(x), K.constant([0, 1, 2], dtype="int32"), 2)),
        K.eval(K.random_normal((2, 3), seed=3)),
        K.eval(K.truncated_normal((2, 3), seed=3)),
        K.eval(K.random_binomial((2, 3), 0.4, seed=3)),
        K.eval(K.l2_normalize(tf.cumsum(x), 0)),
        [K.int_shape(y), K.ndim(x), K.dtype(x), K.is_keras_tensor(tf.add(x, 1)) if 0 else False],
        K.count_params(x),
        K.backend(),
    ]


@case
def models_of_another_graph():
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.predict(drawn(2, 3))
    with tf.Graph().as_default(), tf.Session():
        return raised(lambda: model.predict(drawn(2, 3)))


@case
def averages_that_are_used_and_moved():
    """Nothing says that they're read first."""
    K.set_learning_phase(0)
    seeded()
    model = keras.Sequential(
        [
            layers.Conv2D(3, 3, input_shape=(6, 6, 2)),
            layers.BatchNormalization(),
            layers.Flatten(),
            layers.Dense(4, activation="relu"),
            layers.BatchNormalization(momentum=0.5),
            layers.Dense(1),
        ]
    )
    model.compile("sgd", "mse")
    x, y = drawn(8, 6, 6, 2), drawn(8, 1)
    before = model.evaluate(x, y, verbose=0)
    found = [model.train_on_batch(x, y) for _ in range(3)]
    return [before, found, *(model.layers[at].get_weights() for at in (1, 4))]


if __name__ == "__main__":
    main()
