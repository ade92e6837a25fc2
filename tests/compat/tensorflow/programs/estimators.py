"""Estimators: trained, evaluated, asked, exported; monitored sessions and their hooks."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from recording import case, main

FOLDER = tempfile.mkdtemp()
RNG = np.random.RandomState(0)
X = RNG.randn(24, 3).astype("float32")
Y = (X[:, :1] * 2.0 - X[:, 1:2] + 0.5).astype("float32")
LABELS = (Y[:, 0] > 0).astype("int32")


def place(name):
    """A folder's path."""
    return os.path.join(FOLDER, name)


def settings(name, **more):
    """What an estimator is told, so that it's the same each time."""
    return tf.estimator.RunConfig(model_dir=place(name), tf_random_seed=1, **more)


def feeding(batch=8, repeats=None):
    """A function that gives batches in order."""
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(repeats).batch(batch)


def linear(features, labels, mode, params):
    """A linear model."""
    x = features["x"]
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.ones_initializer())
    y = tf.matmul(x, w) + b
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": y})}
        return tf.estimator.EstimatorSpec(mode, {"y": y}, export_outputs=outputs)
    loss = tf.losses.mean_squared_error(labels, y)
    tf.summary.scalar("mine", loss)
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    train = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)


@case
def trained_and_evaluated():
    estimator = tf.estimator.Estimator(linear, config=settings("one"), params={"rate": 0.1})
    estimator.train(feeding(), steps=10)
    first = estimator.evaluate(feeding(repeats=1))
    estimator.train(feeding(), max_steps=25)
    second = estimator.evaluate(feeding(repeats=1), steps=2)
    return [first, second, estimator.get_variable_names(), estimator.get_variable_value("w"),
            os.path.basename(estimator.latest_checkpoint())]  # fmt: skip


@case
def predicted():
    estimator = tf.estimator.Estimator(linear, config=settings("two"), params={"rate": 0.1})
    estimator.train(feeding(), steps=5)
    given = tf.estimator.inputs.numpy_input_fn({"x": X[:5]}, batch_size=2, shuffle=False)
    return [each["y"] for each in estimator.predict(given)]


@case
def exported_and_served():
    estimator = tf.estimator.Estimator(linear, config=settings("three"), params={"rate": 0.1})
    estimator.train(feeding(), steps=5)
    features = {"x": tf.FixedLenFeature([3], tf.float32)}
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(features)
    folder = estimator.export_saved_model(place("exported"), receiver)
    told = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0, 3.0]))}
    example = tf.train.Example(features=tf.train.Features(feature=told)).SerializeToString()
    predict = tf.contrib.predictor.from_saved_model(folder)
    raw = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 3])}
    )
    other = tf.contrib.predictor.from_saved_model(estimator.export_saved_model(place("raw"), raw))
    return [predict({"examples": [example]})["y"], other({"x": X[:2]})["y"]]


@case
def trained_and_evaluated_by_turns():
    config = settings("four", save_checkpoints_steps=5)
    estimator = tf.estimator.Estimator(linear, config=config, params={"rate": 0.1})
    exporter = tf.estimator.FinalExporter(
        "final", tf.estimator.export.build_raw_serving_input_receiver_fn(
            {"x": tf.placeholder(tf.float32, [None, 3])}))  # fmt: skip
    found = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(feeding(), max_steps=12),
        tf.estimator.EvalSpec(feeding(repeats=1), steps=2, throttle_secs=0, exporters=exporter),
    )
    return [found[0], len(os.listdir(place("four/export/final")))]


@case
def hooks_and_logs():
    seen = []

    class Noting(tf.train.SessionRunHook):
        def begin(self):
            seen.append("begin")

        def after_create_session(self, session, coord):
            seen.append("created")

        def before_run(self, context):
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, context, values):
            seen.append(int(values.results))
            if values.results >= 3:
                context.request_stop()

        def end(self, session):
            seen.append("end")

    estimator = tf.estimator.Estimator(linear, config=settings("five"), params={"rate": 0.1})
    estimator.train(feeding(), hooks=[Noting()], steps=10)
    return seen


@case
def linear_models():
    columns = [tf.feature_column.numeric_column("x", [3])]

    def batches():
        return tf.data.Dataset.from_tensor_slices(({"x": X}, LABELS)).repeat().batch(8)

    classifier = tf.estimator.LinearClassifier(columns, config=settings("six"), optimizer="SGD")
    classifier.train(batches, steps=10)
    found = classifier.evaluate(batches, steps=3)
    regressor = tf.estimator.LinearRegressor(columns, config=settings("seven"))
    regressor.train(feeding(), steps=10)
    return [[found[key] for key in sorted(found)], regressor.evaluate(feeding(), steps=3)]


@case
def deep_models_learn():
    columns = [tf.feature_column.numeric_column("x", [3])]

    def batches():
        return tf.data.Dataset.from_tensor_slices(({"x": X}, LABELS)).repeat().batch(24)

    classifier = tf.estimator.DNNClassifier([8], columns, config=settings("eight"))
    classifier.train(batches, steps=150)
    found = classifier.evaluate(batches, steps=1)
    told = next(iter(classifier.predict(batches)))
    return [bool(found["accuracy"] > 0.9), sorted(found), sorted(told), told["classes"].shape]


@case
def warmly_started():
    one = tf.estimator.Estimator(linear, config=settings("nine"), params={"rate": 0.1})
    one.train(feeding(), steps=5)
    other = tf.estimator.Estimator(linear, config=settings("ten"), params={"rate": 0.0},
                                   warm_start_from=place("nine"))  # fmt: skip
    other.train(feeding(), steps=1)
    return [one.get_variable_value("w"), other.get_variable_value("w")]


# Sessions ---------------------------------------------------------------------------------------


def counting():
    """A graph that counts its steps, and a variable that grows with them."""
    step = tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=0.0)
    with tf.control_dependencies([tf.assign_add(v, 1.5)]):
        return v, tf.assign_add(step, 1)


@case
def monitored_training():
    found = []
    for last in (4, 7):
        with tf.Graph().as_default():
            v, train = counting()
            hooks = [tf.train.StopAtStepHook(last_step=last)]
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=place("monitored"), hooks=hooks, save_checkpoint_steps=2,
                log_step_count_steps=None,
            ) as session:  # fmt: skip
                found.append(session.run(v))
                while not session.should_stop():
                    session.run(train)
    path = tf.train.latest_checkpoint(place("monitored"))
    return [found, os.path.basename(path), tf.train.load_variable(path, "v")]


@case
def recovered_after_errors():
    _, train = counting()
    failing = tf.Variable(2, name="failing", trainable=False)
    count = failing.count_up_to(4)
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run([train, count]))
    return found


@case
def a_scaffold():
    v, train = counting()
    ready = []
    scaffold = tf.train.Scaffold(
        init_op=tf.global_variables_initializer(),
        init_fn=lambda scaffold, session: ready.append(float(session.run(v))),
        local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
    )
    creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=place("scaffold"))
    saver = tf.train.CheckpointSaverHook(place("scaffold"), save_steps=1, scaffold=scaffold)
    with tf.train.MonitoredSession(creator, [saver]) as session:
        session.run(train)
    return [ready, os.path.basename(tf.train.latest_checkpoint(place("scaffold")))]


@case
def step_functions():
    v, train = counting()

    def step(step_context):
        step_context.session.run(train)
        value = step_context.run_with_hooks(v)
        if value > 4:
            step_context.request_stop()
        return value

    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run_step_fn(step))
    return found


@case
def hooks_of_nans_and_ends():
    x = tf.placeholder_with_default(np.float32(1.0), [])
    loss = tf.log(x)
    found = []
    with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss, False)]) as session:
        found.append(session.run(loss))
        session.run(loss, {x: -1.0})
        found.append(session.should_stop())
    with tf.Graph().as_default():
        following = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
        last = tf.train.FinalOpsHook(tf.constant(7))
        with tf.train.MonitoredSession(hooks=[last]) as session:
            while not session.should_stop():
                found.append(session.run(following))
        found.append(last.final_ops_values)
    return found


@case
def supervised():
    v, train = counting()
    supervisor = tf.train.Supervisor(logdir=place("supervisor"), save_summaries_secs=0,
                                     save_model_secs=0)  # fmt: skip
    found = []
    with supervisor.managed_session() as session:
        for _ in range(3):
            found.append(session.run([train, v]))
        supervisor.saver.save(session, supervisor.save_path, global_step=3)
        supervisor.stop()
    return [found, os.path.basename(tf.train.latest_checkpoint(place("supervisor")))]


if __name__ == "__main__":
    main()
