"""Strategies of distribution, on one device; iterators that deal elements out; divided batches."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main, raised
from tensorflow.python.client.device_lib import list_local_devices
from tensorflow.python.compiler.xla import xla
from tensorflow.python.data.experimental.ops import distribute
from tensorflow.python.data.ops.multi_device_iterator_ops import MultiDeviceIterator

FOLDER = tempfile.mkdtemp()
X = np.random.RandomState(0).randn(12, 4).astype("float32")
Y = X[:, :1] * 2.0
STRATEGIES = [
    lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    lambda: tf.distribute.MirroredStrategy(["/cpu:0"]),
    tf.distribute.experimental.CentralStorageStrategy,
    tf.distribute.experimental.MultiWorkerMirroredStrategy,
    tf.contrib.distribute.ParameterServerStrategy,
]


def everywhere(program):
    """What a program gives with each strategy, in a graph of its own."""
    found = []
    for make in STRATEGIES:
        with tf.Graph().as_default():
            found.append(program(make()))
    return found


def elements(dataset):
    """The shapes of a dataset's elements, and these."""
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = [str(each.shape) for each in tf.nest.flatten(following)]
    with tf.Session() as session:
        try:
            while True:
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            return found


@case
def dealt_out():
    iterator = MultiDeviceIterator(tf.data.Dataset.range(7), ["/cpu:0"])
    following, found = iterator.get_next(), []
    [optional] = iterator.get_next_as_optional()
    with tf.Session() as session:
        session.run(iterator.initializer)
        try:
            while True:
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            found.append("end")
        session.run(iterator.initializer)
        found.append(session.run(following))
        return [*found, session.run([optional.has_value(), optional.get_value()])]


@case
def divided_batches():
    counted = tf.data.Dataset.range
    pairs = counted(8).batch(4).map(lambda x: (x, x * 2))
    datasets = [
        (1, counted(8).batch(3)), (2, counted(8).batch(4)), (2, counted(9).batch(4)),
        (2, counted(9).batch(4, drop_remainder=True)), (2, counted(9).batch(3)),
        (4, counted(9).batch(2)), (3, counted(8).batch(4)), (2, pairs),
        (2, tf.data.Dataset.from_tensors(tf.ones([4, 2]))),
    ]  # fmt: skip
    found = [elements(distribute._RebatchDataset(each, count)) for count, each in datasets]
    return [*found, raised(lambda: distribute._RebatchDataset(counted(5), 2))[0]]


@case
def replicas():
    def program(strategy):
        with strategy.scope():
            v = tf.get_variable("v", initializer=1.5)

        def step(x):
            context = tf.distribute.get_replica_context()
            return v * x, context.all_reduce("sum", x * 2)

        given = strategy.experimental_run_v2(step, (tf.constant(3.0),))
        sums = [strategy.reduce("sum", each, axis=None) for each in given]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return [*session.run(sums), strategy.num_replicas_in_sync]

    return everywhere(program)


@case
def steps_over_a_dataset():
    def program(strategy):
        dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(2)
        with strategy.scope():
            w = tf.get_variable("w", [4, 1], initializer=tf.zeros_initializer())
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            iterator = strategy.make_dataset_iterator(dataset)

            def step(batch):
                x, y = batch
                loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
                with tf.control_dependencies([optimizer.minimize(loss)]):
                    return tf.identity(loss)

            loss = strategy.reduce("mean", strategy.experimental_run(step, iterator), axis=None)
        found = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(iterator.initialize())
            try:
                while True:
                    found.append(session.run(loss))
            except tf.errors.OutOfRangeError:
                return [found, session.run(w)]

    return everywhere(program)


@case
def models():
    def program(strategy):
        layers, constant = tf.keras.layers, tf.keras.initializers.Constant
        with strategy.scope():
            model = tf.keras.Sequential([
                layers.Dense(3, "tanh", kernel_initializer=constant(0.1), input_shape=(4,)),
                layers.Dense(1, kernel_initializer="ones"),
            ])  # fmt: skip
            model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4, drop_remainder=True)
        history = model.fit(dataset, epochs=2, verbose=0).history
        return [history, model.evaluate(dataset, verbose=0), model.predict(dataset)]

    found = []
    for make in STRATEGIES[:3]:
        with tf.Graph().as_default(), tf.Session().as_default():
            found.append(program(make()))
    return found


def linear(features, labels, mode):
    """A linear model."""
    y = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer(), name="y")
    loss = tf.reduce_mean(tf.square(y - labels))
    train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, train)


def batches():
    """Rows in order."""
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(4).batch(4)


@case
def estimators():
    found = []
    for at, make in enumerate(STRATEGIES[:2]):
        strategy, folder = make(), os.path.join(FOLDER, str(at))
        config = tf.estimator.RunConfig(
            folder, tf_random_seed=1, train_distribute=strategy, eval_distribute=strategy
        )
        estimator = tf.estimator.Estimator(linear, config=config)
        estimator.train(batches, steps=5)
        evaluated = estimator.evaluate(batches, steps=2)
        found += [evaluated, estimator.get_variable_value("y/kernel")]
    return found


@case
def names_of_devices():
    with tf.Session() as session:
        listed = [each.name for each in session.list_devices()]
    return [
        name for name in [*listed, *(d.name for d in list_local_devices())] if "XLA" not in name
    ]


@case
def compiled_by_xla():
    v, x = tf.Variable(2.0, use_resource=True), tf.placeholder(tf.float32, [2])
    step = tf.train.GradientDescentOptimizer(0.1)

    def trained(x, y):
        loss = tf.reduce_sum(x * y * v)
        return loss, step.minimize(loss, var_list=[v])

    (loss,), session = xla.compile(trained, [x, X[0, :2]]), tf.Session()
    session.run(tf.global_variables_initializer())
    return [loss.shape.as_list(), [session.run(loss, {x: [1.0, 2.0]}) for _ in range(3)]]


if __name__ == "__main__":
    main()
